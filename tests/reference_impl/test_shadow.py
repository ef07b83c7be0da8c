"""Every byte is marked with what is known about it, and copies and results carry the marks along."""

import numpy as np
import pytest
import stridecheck.reference_impl as ref
from stridecheck.reference_impl import shadow


def marks(t):
    found = ref.element_marks(t)
    return np.zeros(t.shape, np.uint8).tolist() if found is None else found.tolist()


def test_a_root_of_what_may_as_well_be_negative_is_not_known():
    """Numbers known within a tolerance of the largest have no sign near zero, and no root then."""
    inexact = ref.nn.functional.gelu(ref.tensor([1.0, -1e-9, -6.0]))
    assert marks(inexact.sqrt()) == [shadow.TOLERANCE, shadow.UNSPECIFIED, shadow.UNSPECIFIED]


def test_parts_of_complex_numbers_are_known_together_only():
    """A tolerance is that of the whole number: a part of it, seen alone, may have no digit that is specified."""
    whole = ref.tensor([1 + 2j]).exp()
    assert marks(whole) == [shadow.TOLERANCE]
    assert marks(ref.view_as_real(whole)) == [[shadow.UNSPECIFIED] * 2]
    parts = ref.tensor([[1.0, 2.0]]).exp()
    assert marks(ref.view_as_complex(parts)) == [shadow.TOLERANCE]


def test_fresh_memory_is_unspecified_until_it_is_written():
    t = ref.empty(3)
    assert marks(t) == [255, 255, 255]
    t[1] = 5.0
    assert marks(t) == [255, 0, 255]
    t.zero_()
    assert t.untyped_storage()._shadow is None


def test_grown_memory_is_unspecified_and_kept_memory_is_not():
    t = ref.ones(2)
    t.resize_(4)
    assert marks(t) == [0, 0, 255, 255]


def test_copies_carry_marks_element_by_element():
    t = ref.empty(2, 2)
    t[0] = 1.0
    assert marks(t.t().clone()) == [[0, 255], [0, 255]]
    assert marks(t.t().contiguous()) == [[0, 255], [0, 255]]
    assert marks(t.reshape(4)[1:3]) == [0, 255]


def test_inexact_results_have_a_tolerance_and_what_cancels_them_has_none():
    t = ref.arange(3.0).exp()
    assert marks(t) == [1, 1, 1]
    assert marks(t * 2) == [1, 1, 1]
    assert marks(t - 1) == [255, 255, 255]
    assert marks(t > 1) == [255, 255, 255]


def test_a_tolerance_means_nothing_under_another_dtype():
    t = ref.ones(2).exp()
    assert marks(t.view(ref.int32)) == [255, 255]
    assert marks(t.view(ref.int32).view(ref.float32)) == [1, 1]


def test_a_nan_is_known_but_not_its_bits():
    t = ref.zeros(2) / ref.zeros(2)
    assert marks(t) == [shadow.NAN, shadow.NAN]
    assert marks(t.view(ref.int32)) == [255, 255]
    assert marks(t == t) == [0, 0]


def test_conversions_that_c_leaves_undefined_are_unspecified():
    t = ref.tensor([1.5, 300.0, float("nan")]).to(ref.uint8)
    assert marks(t) == [0, 255, 255]


def test_writes_whose_order_shows_are_unspecified():
    t = ref.zeros(4)
    t.as_strided((3, 2), (1, 1)).add_(1)
    assert marks(t) == [255, 255, 255, 255]
    t = ref.arange(7.0)
    t[0:6:2].add_(t[1:4])
    assert marks(t) == [255, 0, 255, 0, 255, 0, 0]


def test_repeated_indices_leave_their_elements_unspecified():
    t = ref.zeros(3)
    t[[0, 0, 2]] = ref.tensor([1.0, 2.0, 3.0])
    assert marks(t) == [255, 255, 255] or marks(t) == [255, 0, 255]
    assert marks(t)[1] == 0


def test_sums_of_small_integers_are_exact_in_any_order():
    assert marks(ref.arange(10.0).sum()) == 0
    assert marks((ref.arange(10.0) / 3).sum()) == 1


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "float16", "bfloat16"])
def test_marks_are_read_under_the_dtype_that_wrote_them(dtype):
    t = ref.ones(2, dtype=getattr(ref, dtype)).exp() if dtype != "complex64" else ref.ones(2, dtype=ref.complex64).exp()
    assert marks(t) == [1, 1]


def test_which_of_two_zeros_is_chosen_is_not_specified():
    t = ref.tensor([[0.0, -0.0, 1.0], [0.0, 0.0, 1.0]])
    for found in (t.kthvalue(1).values, t.median(1).values, t.mode(1).values):
        assert marks(found) == [shadow.TOLERANCE, shadow.EXACT]
    assert marks(t[0].median()) == shadow.TOLERANCE
    assert marks(t[0].kthvalue(3, keepdim=True).values) == [shadow.EXACT]


def test_norms_of_short_floats_are_sums_of_float32():
    t = ref.full((2,), 1e18, dtype=ref.bfloat16)
    assert marks(t.norm()) == shadow.TOLERANCE
    assert marks((20 * t).norm()) == shadow.UNSPECIFIED  # their squares sum to more than float32 holds


def test_variances_are_known_no_better_than_their_means():
    for d, other in ((ref.float64, ref.float64), (ref.float32, ref.bfloat16)):
        t = ref.full((10,), 0.1, dtype=d)
        assert marks(t.var()) == shadow.UNSPECIFIED  # rounding is all there is
        assert marks(ref.arange(10.0, dtype=d).var()) == shadow.TOLERANCE
        assert marks(t.to(other).view(1, 10).expand(2, 10).var(1)) != [shadow.EXACT] * 2
    assert marks(ref.full((2, 3), 0.1).var(1)) == [shadow.TOLERANCE] * 2  # computed in doubles


def test_statistics_that_channels_share_depend_on_their_order():
    running, plain = ref.zeros(1).expand(2), ref.zeros(2)
    ref.nn.functional.batch_norm(ref.arange(4.0).view(2, 2), running, plain, training=True)
    assert marks(running) == [shadow.UNSPECIFIED] * 2
    assert marks(plain) == [shadow.TOLERANCE] * 2


def test_a_tolerance_does_not_get_closer_with_more_digits():
    t = ref.tensor(0.3).to(ref.bfloat16).exp()
    assert marks(t.half()) == shadow.UNSPECIFIED
    assert marks(t.half().bfloat16()) == shadow.UNSPECIFIED
    assert marks(ref.tensor(0.3).half().exp().bfloat16()) == shadow.TOLERANCE


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_far_below_zero_has_lost_its_digits(approximate):
    """1 and nearly -1 are added there: what is left differs from loop to loop, and is all that a slice may show."""
    t = ref.tensor([-1.0, -3.5, -9.0, 0.0, 2.0])
    known = [shadow.TOLERANCE, shadow.UNSPECIFIED, shadow.UNSPECIFIED, shadow.TOLERANCE, shadow.TOLERANCE]
    assert marks(ref.nn.functional.gelu(t, approximate=approximate)) == known


def test_gelu_of_infinity_depends_on_the_loop():
    t = ref.tensor([1.0, float("inf")])
    assert marks(ref.nn.functional.gelu(t)) == [shadow.TOLERANCE, shadow.UNSPECIFIED]
    assert marks(ref.nn.functional.gelu(t, approximate="tanh")) == [shadow.TOLERANCE] * 2


def test_a_quotient_by_what_is_close_to_zero_is_not_specified():
    close = ref.tensor([0.0, 1.0]).sin()
    assert marks(ref.ones(2) / close) == [shadow.UNSPECIFIED, shadow.TOLERANCE]
    assert marks(close / ref.ones(2)) == [shadow.TOLERANCE] * 2


def test_a_logarithm_of_sums_that_cancels_is_not_specified():
    assert marks(ref.tensor([0.5, 2.5]).logsumexp(0)) == shadow.TOLERANCE
    assert marks(ref.tensor([-0.6931472, -0.6931472]).logsumexp(0)) == shadow.UNSPECIFIED
    assert marks(ref.tensor([0.0, -10.5], dtype=ref.bfloat16).logsumexp(0)) == shadow.UNSPECIFIED


def test_sixteen_bits_of_no_number_have_no_digits():
    t = ref.tensor([0.3]).exp()
    assert marks(t.to(ref.complex32)) == [shadow.TOLERANCE]
    assert marks(t.half().to(ref.complex64)) == [shadow.UNSPECIFIED]
