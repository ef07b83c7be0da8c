"""Generators of random numbers: seeds, states and who takes one are PyTorch's; the numbers are not compared."""

import copy
import pickle

import numpy as np
import pytest
import torch

from stridecheck import reference_impl as ref

from .agreement import exception_type

BOTH = (torch, ref)
SEEDS = (0, 3, -3, -(2**63), 2**64 - 1, 2**63, 2**64, -(2**63) - 1, True, 1.5, "1", None, np.int64(4))
PLACES = (None, "cpu", "cpu:0", "meta", "cuda", "nowhere", 0)


def outcome(function):
    """What a call answers, or which of Python's exceptions it raises."""
    try:
        return function()
    except Exception as e:
        return exception_type(e)


@pytest.mark.parametrize("seed", SEEDS, ids=repr)
def test_seeds_are_taken_and_told_as_torch_does(seed):
    def told(module):
        return outcome(lambda: module.Generator().manual_seed(seed).initial_seed())

    assert told(ref) == told(torch)


@pytest.mark.parametrize("seed", [5, -1, 1.5, "5", "x", None, 2**64], ids=repr)
def test_the_default_generator_is_seeded_by_whatever_int_takes(seed):
    def told(module):
        with module.random.fork_rng(devices=()):
            return outcome(lambda: (module.manual_seed(seed).initial_seed(), module.initial_seed()))

    assert told(ref) == told(torch)
    assert ref.manual_seed(ref.initial_seed()) is ref.default_generator


@pytest.mark.parametrize("place", PLACES, ids=repr)
def test_generators_live_on_the_cpu(place):
    def told(module):
        return outcome(lambda: str(module.Generator(place).device))

    assert told(ref) == told(torch)


@pytest.mark.parametrize("seed", [0, 7, 2**40 + 1])
def test_a_seeds_state_is_torchs_byte_by_byte(seed):
    theirs, ours = (module.Generator().manual_seed(seed).get_state() for module in BOTH)
    assert ours.dtype is ref.uint8
    assert ours.numpy().tolist() == theirs.numpy().tolist()


@pytest.mark.parametrize(
    "of",
    [
        lambda m, s: s, lambda m, s: s.reshape(2, -1), lambda m, s: s[:5], lambda m, s: s * 0, lambda m, s: s.float(),
        lambda m, s: m.stack([s, s], 1)[:, 0], lambda m, s: s.numpy(), lambda m, s: 3, lambda m, s: None,
    ],
)  # fmt: skip
def test_only_a_state_is_set(of):
    def told(module):
        state = of(module, module.Generator().manual_seed(9).get_state())
        return outcome(lambda: module.Generator().set_state(state).initial_seed())

    assert told(ref) == told(torch)


@pytest.mark.parametrize(
    "again", [lambda g: g.clone_state(), copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))]
)
@pytest.mark.parametrize("module", BOTH, ids=["torch", "reference"])
def test_a_copy_goes_on_with_the_same_numbers(module, again):
    first = module.Generator().manual_seed(3)
    module.rand(700, generator=first)
    second = again(first)
    assert second is not first
    assert module.equal(module.randn(5, generator=first), module.randn(5, generator=second))


def drawn(module, **generator):
    """What every function that takes a generator makes of it."""
    m, x = module, module.full((3, 4), 0.5)
    for make in (
        lambda **g: m.rand(3, 4, **g), lambda **g: m.randn((3, 4), **g), lambda **g: m.randint(9, (3, 4), **g),
        lambda **g: m.randperm(6, **g), lambda **g: m.rand_like(x, **g), lambda **g: m.randn_like(x, **g),
        lambda **g: m.randint_like(x, 9, **g), lambda **g: m.bernoulli(x, **g), lambda **g: m.poisson(x, **g),
        lambda **g: m.normal(x, 1.0, **g), lambda **g: m.normal(0.0, 1.0, (2, 3), **g), lambda **g: m.rrelu(x, **g),
        lambda **g: x.multinomial(2, **g), lambda **g: x.clone().uniform_(**g), lambda **g: x.clone().normal_(**g),
        lambda **g: x.clone().random_(9, **g), lambda **g: x.clone().bernoulli_(**g),
        lambda **g: x.clone().exponential_(**g), lambda **g: x.clone().cauchy_(**g),
        lambda **g: x.clone().log_normal_(**g), lambda **g: x.clone().geometric_(0.5, **g),
        lambda **g: x.bernoulli(**g), lambda **g: m.nn.init.kaiming_normal_(x.clone(), **g),
        lambda **g: m.nn.init.xavier_uniform_(x.clone(), **g),
    ):  # fmt: skip
        yield outcome(lambda make=make: make(**generator))


def test_functions_of_random_numbers_take_a_generator():
    theirs, ours = ([(x.shape, x.stride()) for x in drawn(m, generator=m.Generator())] for m in BOTH)
    assert ours == theirs
    assert [x.shape for x in drawn(ref, generator=None)] == [shape for shape, _ in ours]


@pytest.mark.parametrize("wrong", [3, "cpu", torch.Generator])
def test_what_is_no_generator_is_refused(wrong):
    assert list(drawn(ref, generator=wrong)) == list(drawn(torch, generator=wrong))


def test_a_seed_gives_the_same_numbers_again():
    for first, second in zip(
        drawn(ref, generator=ref.Generator().manual_seed(1)),
        drawn(ref, generator=ref.Generator().manual_seed(1)),
        strict=True,
    ):
        # Each function goes on from where the one before it stopped.
        assert first.tolist() == second.tolist()


def test_a_random_order_is_an_order():
    assert sorted(ref.randperm(50).tolist()) == list(range(50))


def test_a_fork_puts_the_state_back():
    before = ref.get_rng_state()
    with ref.random.fork_rng():
        ref.rand(3)
        assert not ref.equal(before, ref.get_rng_state())
    assert ref.equal(before, ref.get_rng_state())
