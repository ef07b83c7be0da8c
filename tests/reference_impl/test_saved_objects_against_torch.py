"""What is saved beside tensors comes back as torch's does, or is refused like there."""

import difflib
import io
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np
import pytest
import torch

from stridecheck import reference_impl as ref

from .agreement import exception_type
from .test_storage_surface import split

OBJECTS = split("""
    np.arange(3)|np.array(3)|np.zeros((2, 3)).T|np.zeros((4, 3))[::2, ::2]|np.zeros((0, 3))|np.array(['a', 'b'])
    np.arange(3, dtype='>i4')|np.array([(1, 2.)], dtype=[('a', '>i4'), ('b', 'f8')])|np.array([True])
    np.array(['2020-01-01'], 'datetime64[D]')|np.datetime64('2020-01-01')|np.float32(1.5)|np.float64(2)|np.int64(3)
    np.bool_(True)|np.complex64(1j)|np.str_('a')|np.str_('')|np.bytes_(b'x')|np.longdouble(1)|np.dtype('f4')
    np.dtype([('a', '>i4')])|slice(1, 2, 3)|slice(None)|slice(0.5, 'a')|range(3)|range(1, 10, 2)|range(2**70, 2**71)
    T.Size([2, 3])|T.float32|T.quint8|T.device('cpu')|T.device('cuda:1')|T.strided|T.sparse_coo|T._mkldnn
    T.channels_last|T.contiguous_format|T.per_tensor_affine|T.per_tensor_symmetric|T.per_channel_symmetric
    T.per_channel_affine_float_qparams|1 + 2j|b'abc'|bytearray(b'abc')|memoryview(b'abc')|{1, 2}|set()
    frozenset({1, 2})|{frozenset({1})}|...|NotImplemented|None|2**100|-0.0|OrderedDict(a=1)|Counter('aab')
    defaultdict(list, a=[1])|defaultdict(None)|deque([1, 2], 3)|deque([1])|int|list|set|tuple|complex|frozenset|range
    bytearray|OrderedDict|Counter|deque|np|{}.keys()|np.array([], dtype=[('a', 'f4')])
    np.array([1, 'a', None, [2]], object)|np.array([[1, 2.0], ['a', ()]], object).T|np.array(3, object)
    np.array([], object)
    difflib.Match(1, 2.0, ['a'])|[difflib.Match(1, 2, 3)] * 2|(difflib.Match(1, (difflib.Match(2, 3, 4),), 5),)
    {'a': slice(1, 2), 'b': [range(3), np.arange(2)]}|[np.arange(2.0)] * 2
""")


def loaded(module, thing, safe=(), **how):
    """What comes back of an object, or which exception; the exception says at which end."""
    file = io.BytesIO()
    try:
        module.save(thing, file)
    except Exception as e:
        return "save", exception_type(e)
    file.seek(0)
    try:
        with module.serialization.safe_globals(list(safe)):
            return plain(module.load(file, **how))
    except Exception as e:
        return "load", type(e).__mro__[-4:]


def plain(x):
    """An object in words that both sides share."""
    if isinstance(x, np.ndarray):
        return "array", x.dtype.descr, x.dtype.byteorder, x.shape, x.size and x.strides, x.flags.owndata, x.tolist()
    if isinstance(x, (list, tuple)):
        return type(x).__name__, [plain(item) for item in x]
    if isinstance(x, dict):
        return type(x).__name__, [(k, plain(v)) for k, v in x.items()]
    return type(x).__name__.removeprefix("_"), repr(x)


def agree(expression, **how):
    scope = {
        "np": np,
        "difflib": difflib,
        "OrderedDict": OrderedDict,
        "Counter": Counter,
        "defaultdict": defaultdict,
        "deque": deque,
    }
    theirs, ours = (loaded(m, eval(expression, {**scope, "T": m}), **how) for m in (torch, ref))
    return ours == theirs or f"{ours} instead of {theirs}"


@pytest.mark.parametrize("weights_only", [True, False, None])
@pytest.mark.parametrize("expression", OBJECTS)
def test_objects_come_back_as_torchs_do(expression, weights_only):
    assert agree(expression, weights_only=weights_only) is True


RECONSTRUCT = np.arange(2).__reduce__()[0]
SCALAR = np.float32(1).__reduce__()[0]


@pytest.mark.parametrize(
    ("expression", "safe"),
    [
        ("slice(1)", [slice]), ("slice(1)", [range]), ("slice(1)", [(slice, "builtins.slice")]),
        ("range(2)", [range]), ("frozenset([1])", [frozenset]), ("deque([1])", [deque]),
        ("defaultdict(list, a=[])", [defaultdict]), ("defaultdict(list, a=[])", [defaultdict, list]),
        ("defaultdict(set, a={1})", [defaultdict]), ("int", [int]), ("int", []),
        ("np.arange(3)", [RECONSTRUCT, np.ndarray, np.dtype]),
        ("np.arange(3)", [RECONSTRUCT, np.ndarray, np.dtype, type(np.dtype("i8"))]),
        ("np.float32(1)", [SCALAR, np.dtype, type(np.dtype("f8"))]),
        ("np.float32(1)", [SCALAR, np.dtype, type(np.dtype("f4"))]),
        ("np.array([1, 'a'], object)", [RECONSTRUCT, np.ndarray, np.dtype]),
        ("np.array([1, 'a'], object)", [RECONSTRUCT, np.ndarray, np.dtype, type(np.dtype("O"))]),
        ("difflib.Match(1, 2, 3)", [difflib.Match]), ("difflib.Match(1, 2, 3)", [tuple]),
        ("np.dtype('f4')", [np.dtype]), ("np.dtype('f4')", [np.dtype, type(np.dtype("f4"))]),
    ],
)  # fmt: skip
def test_what_is_declared_safe_is_read(expression, safe):
    assert agree(expression, safe=safe) is True


def test_declarations_are_listed_and_end_with_their_block():
    for module in (torch.serialization, ref.serialization):
        before = module.get_safe_globals()
        module.clear_safe_globals()
        assert module.add_safe_globals([slice]) is None
        with module.safe_globals([range]):
            assert set(module.get_safe_globals()) == {slice, range}
        assert module.get_safe_globals() == [slice]
        for wrong in (3, slice):
            with pytest.raises(TypeError):
                module.add_safe_globals(wrong)
        module.clear_safe_globals()
        assert module.get_safe_globals() == []
        module.add_safe_globals(before)


@pytest.mark.parametrize("module", [torch, ref], ids=["torch", "reference"])
def test_a_generator_goes_on_where_it_was_saved(module):
    generator = module.Generator().manual_seed(4)
    module.rand(9, generator=generator)
    file = io.BytesIO()
    module.save([generator, generator], file)
    file.seek(0)
    first, second = module.load(file, weights_only=False)
    assert first is second
    assert module.equal(module.rand(3, generator=first), module.rand(3, generator=generator))
    file.seek(0)
    with pytest.raises(Exception, match=r"weights_only|Weights only"):
        module.load(file)


def test_arrays_of_other_classes_and_objects_in_fields_are_refused():
    for array in (np.zeros(2, [("a", object)]), np.ma.array([1, 2]), np.rec.array([(1,)])):
        with pytest.raises(TypeError, match=r"plain data"):
            ref.save(array, io.BytesIO())


def test_a_damaged_array_is_refused_whole():
    file = io.BytesIO()
    ref.save([ref.ones(2), np.arange(30)], file)
    data = bytearray(file.getvalue())
    data[-100] ^= 1
    with pytest.raises(RuntimeError, match=r"cut off or changed"):
        ref.load(io.BytesIO(data), weights_only=False)


def test_a_sparse_tensor_is_refused_in_so_many_words():
    sparse = ref.sparse_coo_tensor(ref.zeros(1, 2, dtype=ref.int64), ref.zeros(2), (3,))
    with pytest.raises(TypeError, match=r"sparse tensor has no storage"):
        ref.save({"a": sparse}, io.BytesIO())


@pytest.mark.parametrize(
    "name", ["strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged", "_mkldnn"]
)
def test_layouts_are_objects_with_torchs_names(name):
    ours, theirs = (getattr(module, name) for module in (ref, torch))
    assert isinstance(ours, ref.layout)
    assert repr(ours) == repr(theirs)
    assert ours != repr(ours)


def test_what_is_no_layout_is_refused():
    for wrong in (3, "torch.strided"):
        for module in (torch, ref):
            for make in (module.zeros, module.empty, module.rand, module.arange, module.zeros(2).new_zeros):
                with pytest.raises(TypeError):
                    make(2, layout=wrong)
    assert ref.zeros(2, layout=ref.strided).layout is ref.FloatTensor.layout is ref.strided
    with pytest.raises(NotImplementedError):
        ref.zeros(2, layout=ref.sparse_coo)
