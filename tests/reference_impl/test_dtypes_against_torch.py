"""Every drawn operation refuses and accepts the dtypes that torch does: over a full, an empty and a 0-dim tensor.

The rule is each operator's own: which dtypes it has a kernel for, and whether it asks for one where there is no work.
"""

import itertools

import pytest
import stridecheck.reference_impl as ref
import torch as library
from stridecheck.conformance.adapters import reference, torch
from stridecheck.conformance.draw.changes import CHANGING
from stridecheck.conformance.draw.compute import COMPUTING
from stridecheck.conformance.draw.layouts import draw_layout
from stridecheck.conformance.draw.source import Seeded
from stridecheck.conformance.draw.steps import BASIC
from stridecheck.conformance.execute import execute
from stridecheck.conformance.judge import judge
from stridecheck.conformance.program import ITEMSIZES, DType, Input, Program, Ref, Step, Storage
from stridecheck.conformance.protocol import Undefined

from .agreement import exception_type, run
from .twins import base_of

# Those that are drawn for every dtype.
OPERATIONS = sorted({name for family in (BASIC, CHANGING, COMPUTING) for _, (name, _) in family})
SHAPES = {"full": ((2, 3), (3, 1)), "empty": ((0, 3), (3, 1)), "scalar": ((), ())}
# Inputs: two of the dtype, an index, a mask, a matrix that the first can be multiplied with.
SELF, OTHER, INDEX, MASK, MATRIX = (Ref(k) for k in range(5))
ARGUMENTS = {
    "view": ((6,),), "view_as": (SELF,), "reshape": ((6,),), "reshape_as": (SELF,), "unflatten": (0, (1, 2)),
    "permute": ((1, 0),), "transpose": (0, 1), "swapaxes": (0, 1), "swapdims": (0, 1), "movedim": (0, 1),
    "moveaxis": (0, 1), "__getitem__": ((0,),), "narrow": (0, 0, 1), "select": (0, 0), "expand": ((2, 3),),
    "expand_as": (SELF,), "broadcast_to": ((2, 3),), "unsqueeze": (0,), "unfold": (1, 2, 1),
    "as_strided": ((2,), (1,)), "is_set_to": (SELF,), "fill_": (1,), "copy_": (OTHER,), "add_": (OTHER,),
    "sub_": (OTHER,), "mul_": (OTHER,), "__setitem__": ((0,), 1), "add": (OTHER,), "sub": (OTHER,), "mul": (OTHER,),
    "resize_": ((3,),), "resize_as_": (OTHER,), "set_": (OTHER,), "as_strided_": ((2,), (1,)), "unsqueeze_": (0,),
    "transpose_": (0, 1), "swapaxes_": (0, 1), "split": (1,), "chunk": (2,), "tensor_split": (2,),
    "type": (DType("float32"),), "prod": (0,), "argmax": (0,), "max": (0,), "all": (0,), "cumsum": (0,),
    "cumprod": (0,), "softmax": (0,), "topk": (1,), "flip": ((0,),), "roll": (1,), "index_select": (0, INDEX),
    "masked_fill": (MASK, 1), "masked_select": (MASK,), "matmul": (MATRIX,),
}  # fmt: skip
# Which of several equal elements comes first is fixed for a stable sort only.
KEYWORDS = {"sort": (("stable", True),), "argsort": (("stable", True),)}

# torch warns of casts from complex and of deprecated uses; a warning refuses nothing.
pytestmark = pytest.mark.filterwarnings("ignore")
TORCH, ORACLE = torch.adapter(), reference.adapter()


def program_of(operation, dtype, variant):
    shape, strides = SHAPES[variant]
    nbytes = 6 * ITEMSIZES[dtype]
    fill = "bool1" if dtype == "bool" else "ramp1"
    own = Storage(nbytes, fill)
    inputs = (
        Input(dtype, shape, strides), Input(dtype, shape, strides, 0, 1), Input("int64", (1,), (1,), 0, 2),
        Input("bool", shape, strides, 0, 3), Input(dtype, (3, 2), (2, 1), 0, 4),
    )  # fmt: skip
    first = (SELF, OTHER) if operation in ("cat", "stack") else SELF
    step = Step(operation, (first, *ARGUMENTS.get(operation, ())), KEYWORDS.get(operation, ()))
    return Program((own, own, Storage(8, "index1"), Storage(6, "bool1"), own), inputs, (step,))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_dtypes_of_an_operation_are_torchs(operation):
    found = []
    for variant in SHAPES:
        for dtype in sorted(ITEMSIZES):
            program = program_of(operation, dtype, variant)
            try:
                expected = execute(program, ORACLE)
            except Undefined:
                continue
            verdicts = judge(program, expected, execute(program, TORCH), TORCH.capabilities)
            found += [(variant, dtype, d.aspect, d.message) for v in verdicts for d in v.differences]
    assert not found


def test_every_dtype_with_arithmetic_is_tried():
    assert {"uint16", "uint32", "uint64", "float8_e5m2", "float8_e8m0fnu"} <= set(TORCH.capabilities.dtypes)
    assert set(ARGUMENTS) <= set(OPERATIONS)


# Operations that no program draws: `x` over the three shapes, `i` an index of one zero, `m` a mask of ones.
EXPRESSIONS = [
    "x.take(i)", "x.index_fill(0, i, 1)", "x.index_copy(0, i, y)", "x.index_add(0, i, y)", "x.masked_scatter(m, x)",
    "x.gather(0, z)", "x.scatter(0, z, 1)", "x.scatter(0, z, x)", "x.scatter_add(0, z, x)", "x[m]", "x.nonzero()",
    "x.count_nonzero()", "x.count_nonzero(0)", "x.unique()", "x.triu()", "x.logsumexp(0)", "x.aminmax()",
    "x.aminmax(dim=-1)", "x.median()", "x.median(0)", "x.mode(0)", "x.kthvalue(1)", "x.cummax(0)", "x.amax(-1)",
    "x.clone().__setitem__(i, 1)", "x.clone().__setitem__(m, 1)", "x.clone().put_(i, x.reshape(-1)[:1])",
    "T.searchsorted(x, x)", "x.masked_fill_(m, x.new_ones(()))", "x.mean(0)", "x.sum(-1)", "x.argmin(-1)",
    "x.isinf()", "x.isfinite()", "x.isclose(x)", "x.isclose(x, 0, 0)", "T.equal(x, x.detach())", "x.logical_not()",
    "x.logical_and(x)", "x.bitwise_not()", "x.floor()", "x.round()", "x.sgn()", "x.conj_physical()", "x.eq(y)",
    "x.eq(1)", "x.ne(x[:1])", "x.mul(y)", "x.trace()", "x.bincount()", "T.cross(x, x, dim=-1)", "x.nansum()",
    "x.nanmean()", "x.bernoulli_()", "x.bernoulli_(x)", "x.random_()", "x.random_(2)", "x.log_normal_()", "x.normal_()",
    "x.geometric_(0.5)", "x.uniform_()", "T.normal(x, 1.0)", "T.randn_like(x)", "T.randint(2, (2,), dtype=x.dtype)",
    "T.randperm(200, dtype=x.dtype)", "T.dropout(x, 0.5, True)", "T.dropout(x, 1.0, True)", "T.matrix_exp(x[:2, :2])",
    "x.norm(1)", "x[:1, :1].norm()", "T.dist(x, x)",
]  # fmt: skip


def operands(lib, dtype, shape):
    x = lib.zeros(96, dtype=lib.uint8).view(getattr(lib, dtype))[: lib.Size(shape).numel()].view(shape)
    return {
        "x": x, "y": x[:1] if shape else x, "i": lib.tensor([0]), "m": lib.ones(shape, dtype=lib.bool),
        "z": lib.zeros([1] * len(shape), dtype=lib.int64),
    }  # fmt: skip


# One float8 under a mask without dimensions: PyTorch makes an index of the mask, the oracle calls it `masked_fill_`.
EXCEPTIONS = {("x.clone().__setitem__(m, 1)", ())}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_other_operations_refuse_the_same_dtypes(expression):
    found = []
    for shape in ((2, 3), (3, 0), (0, 3), ()):
        for dtype in sorted(ITEMSIZES):
            got = [run(expression, lib, operands(lib, dtype, shape))[1] for lib in (library, ref)]
            kinds = [e if e is None else exception_type(e) for e in got]
            if isinstance(got[1], ref.errors.UnspecifiedError):
                continue
            if "INTERNAL ASSERT" in str(got[0]) and got[1] is not None:
                # A refusal too, of a kind that PyTorch did not mean.
                kinds[0] = kinds[1]
            if kinds[0] is not kinds[1] and (expression, shape) not in EXCEPTIONS:
                found.append((shape, dtype, *got))
    assert not found


# What is moved as bytes, and what is converted first, depends on how the operand lies in memory.
MOVES = [
    "x.flip(d)", "x.flip(0)", "x.roll(1)", "x.roll(1, d)", "x.index_select(d, i)", "x.sort(d)", "T.cat([x, x], d)",
    "T.cat([x, x.new_empty(0)])", "T.stack([x, x])", "x.sum(d)", "x.sum((0, d))", "x.clone()", "x.reshape(-1)",
]  # fmt: skip
BARE = ("uint4", "bits8", "float4_e2m1fn_x2", "float8_e5m2", "float8_e8m0fnu", "uint16", "complex32")


@pytest.mark.parametrize("expression", MOVES)
def test_the_layout_decides_whether_a_kernel_is_needed(expression):
    found, refused = [], 0
    for number in range(400):
        source = Seeded(f"{expression}:{number}")
        drawn, dtype = draw_layout(source), source.choice(BARE)
        d = source.integer(0, max(0, len(drawn.shape) - 1))
        if len(set(drawn.shape) - {0}) and d == 0 and "(0, d)" in expression:
            continue

        def over(lib, drawn=drawn, dtype=dtype, d=d):
            block = lib.zeros(16 * drawn.reach, dtype=lib.uint8).view(getattr(lib, dtype))
            x = block.as_strided(drawn.shape, drawn.strides, drawn.offset)
            return {"x": x, "d": d, "i": lib.tensor([0] * (0 not in drawn.shape))}

        got = [run(expression, lib, over(lib))[1] for lib in (library, ref)]
        refused += got[0] is not None
        if (got[0] and base_of(got[0])) is not (got[1] and base_of(got[1])):
            found.append((drawn, dtype, d, *got))
    assert not found
    assert refused


def test_every_pair_of_dtypes_is_promoted_as_torch_does():
    def common(lib, a, b):
        try:
            return str(lib.result_type(*[lib.empty((1,) * n, dtype=getattr(lib, name)) for name, n in (a, b)]))
        except RuntimeError:
            return "refused"

    operands = list(itertools.product(sorted(ITEMSIZES), (0, 1)))
    pairs = list(itertools.product(operands, operands))
    assert [(a, b) for a, b in pairs if common(library, a, b) != common(ref, a, b)] == []
