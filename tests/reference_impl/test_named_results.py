"""Results that PyTorch lets be read by name."""

import pytest

from .agreement import disagreement

CALLS = {
    "linalg.qr(M)": "Q R", "linalg.svd(M)": "U S Vh", "linalg.eig(M)": "eigenvalues eigenvectors",
    "linalg.eigh(M)": "eigenvalues eigenvectors", "linalg.lu(M)": "P L U", "linalg.lu_factor(M)": "LU pivots",
    "linalg.lu_factor_ex(M)": "LU pivots info", "linalg.cholesky_ex(M)": "L info",
    "linalg.slogdet(M)": "sign logabsdet",
    "linalg.solve_ex(M, M)": "result info", "qr(M)": "Q R", "svd(M)": "U S V", "svd(M, compute_uv=False)": "U S V",
    "slogdet(M)": "sign logabsdet", "geqrf(M)": "a tau", "triangular_solve(M, M)": "solution cloned_coefficient",
    "lu_unpack(M, T.tensor([1, 2], dtype=T.int))": "P L U", "histogram(T.arange(4.0), 4)": "hist bin_edges",
    "linalg.qr(M, out=(T.empty(2, 2), T.empty(2, 2)))": "Q R",
}  # fmt: skip


@pytest.mark.parametrize(("call", "names"), CALLS.items(), ids=CALLS)
def test_results_have_names(call, names):
    layouts = ", ".join(f"(tuple(x.{name}.shape), x.{name}.stride(), str(x.{name}.dtype))" for name in names.split())
    assert disagreement(f"(lambda x: [{layouts}])(T.{call.replace('M', 'T.eye(2)')})") is None
