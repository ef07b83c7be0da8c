"""Names beside the operators: what is told of the library, and what strided tensors refuse."""

import pytest

from .agreement import disagreement

STRIDED = (
    "is_coalesced", "coalesce", "indices", "values", "crow_indices", "col_indices", "ccol_indices", "row_indices",
    "_indices", "_values", "_nnz", "_dimI", "_dimV",
)  # fmt: skip
TYPES = (
    "T.ones(2)", "T.ones(2, device='meta')", "T.ones(2, dtype=T.cfloat).conj()", "T.nn.Parameter(T.ones(2))",
    "T.Tensor", "T.nn.Parameter", "3", "[]", "None", "int", "'a'", "T", "T.float32", "T.Size([2])",
    "T.UntypedStorage(2)", "T.ones(2).storage()", "T.typename", "T.device('cpu')", "T.finfo(T.float32)",
    "T.contiguous_format", "np.ones(2)", "T.nn.functional",
)  # fmt: skip
DEVICES = (
    "b'cpu:1'", "b'ab'", "''", "True", "3", "-1", "2**63", "np.int64(1)", "1.0", "None", "", "'cpu', -1",
    "'cpu', 2**63",
    "'cpu', 200", "'cpu', 255", "'cpu', np.int64(1)", "'cpu', None", "'cpu', True", "'cpu', T.tensor(1)",
    "'cpu', T.tensor(1.0)", "'cpu:1', 1", "'cpu:1', None", "'cpu:01'", "'cpu:'", "'cpu:200'", "'cpu:2147483648'",
    "'cpu:\u0663'", "device='cpu'", "device='cpu', index=1", "type='cpu', index=1", "T.device('cpu')",
    "T.device('cpu'), 1",
)  # fmt: skip
MOVES = (
    "to(b'cpu')", "to(device=b'meta').device", "to(np.int64(0))", "to(device=True)", "to(2**63)", "to(True)", "to(1.0)",
    "to(1j)", "to([1])", "cuda(True)", "cuda(2**63)", "new_empty(0, device=b'cpu')", "is_pinned(True)",
)  # fmt: skip
MODES = (
    "T.use_deterministic_algorithms(1)", "T.use_deterministic_algorithms('a')",
    "T.use_deterministic_algorithms(True, True)",
    "T.use_deterministic_algorithms(False, warn_only=1)",
    "(T.use_deterministic_algorithms(True, warn_only=True), T.are_deterministic_algorithms_enabled(), "
    "T.is_deterministic_algorithms_warn_only_enabled(), T.use_deterministic_algorithms(mode=False), "
    "T.are_deterministic_algorithms_enabled(), T.is_deterministic_algorithms_warn_only_enabled())",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "expression",
    [
        *(f"T.ones(2, 3).{name}()" for name in STRIDED),
        *(f"T.typename({x})" for x in TYPES),
        *(f"T.device({x})" for x in DEVICES),
        *(f"T.ones(2).{x}" for x in MOVES),
        *MODES,
        "T.get_default_device()",
        *(
            f"T.sparse_coo_tensor(T.tensor([[0, 0]]), T.ones(2)).{name}()"
            for name in ("is_coalesced", "_nnz", "sparse_dim", "dense_dim")
        ),
    ],
)
def test_says_what_torch_says(expression):
    assert disagreement(expression) is None
