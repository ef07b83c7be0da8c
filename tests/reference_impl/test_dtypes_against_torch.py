"""Every drawn operation refuses and accepts the dtypes that torch does: over a full, an empty and a 0-dim tensor.

The rule is each operator's own: which dtypes it has a kernel for, and whether it asks for one where there is no work.
"""

import pytest
from stridecheck.conformance.adapters import reference, torch
from stridecheck.conformance.draw.choose import FAMILIES
from stridecheck.conformance.execute import execute
from stridecheck.conformance.judge import judge
from stridecheck.conformance.program import ITEMSIZES, DType, Input, Program, Ref, Step, Storage

OPERATIONS = sorted({name for _, family in FAMILIES for _, (name, _) in family})
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
        for dtype in sorted(TORCH.capabilities.dtypes):
            program = program_of(operation, dtype, variant)
            verdicts = judge(program, execute(program, ORACLE), execute(program, TORCH), TORCH.capabilities)
            found += [(variant, dtype, d.aspect, d.message) for v in verdicts for d in v.differences]
    assert not found


def test_every_dtype_with_arithmetic_is_tried():
    assert {"uint16", "uint32", "uint64", "float8_e5m2", "float8_e8m0fnu"} <= set(TORCH.capabilities.dtypes)
    assert set(ARGUMENTS) <= set(OPERATIONS)
