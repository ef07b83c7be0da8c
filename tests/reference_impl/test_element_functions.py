"""What Python does to tensors: functions of each element, signs, deletion, reversal, and words of what they are."""

import pytest

from .agreement import disagreement

EXPRESSIONS = [
    "T.arange(6).view(2, 3).T.apply_(lambda v: v + 1)", "T.ones(3).expand(2, 3).apply_(lambda v: v + 1)",
    "T.ones(2, 3).map_(T.arange(3.0), lambda a, b: a + b)", "T.ones(2, 3).map_(T.arange(4.0), lambda a, b: a + b)",
    "T.ones(2, 3).map_(T.arange(3), lambda a, b: a)",
    "T.ones(2).map2_(T.ones(1), T.ones(2), lambda a, b, c: a - b * c)",
    "T.ones(2).apply_(lambda v: 'a')", "T.ones(2, requires_grad=True).apply_(lambda v: v)",
    "T.ones(2, dtype=T.int).apply_(lambda v: v + 0.5)", "T.ones(2, dtype=T.cfloat).apply_(lambda v: v + 1j)",
    "T.ones(2, dtype=T.bool).apply_(lambda v: not v)", "T.ones(2, dtype=T.half).apply_(lambda v: v + 1)",
    "(lambda x: +x is x)(T.ones(2))", "+T.ones(2, dtype=T.bool)", "(lambda x: reversed(x) is x)(T.tensor(1))",
    "reversed(T.arange(6).view(2, 3))", "T.ones(2).__delitem__(0)", "T.ones(2).polygamma_(1)._version",
    "T.ones(2, dtype=T.int).polygamma_(1)", "T.ones(2).polygamma_(-1)", "T.ones(2).mvlgamma_(1).dtype",
    "T.ones(2, dtype=T.bool).mvlgamma_(1)", "T.ones(2, dtype=T.cfloat).mvlgamma_(1)",
    "T.ones(1).expand(2).mvlgamma_(1)",
    "(lambda x: x.to_dense() is x)(T.ones(2))", "T.ones(2).to_dense(T.double)", "T.ones(2, 3).dense_dim()",
    "T.ones(2, 3).sparse_dim()", "(lambda x: x.const_data_ptr() == x.data_ptr())(T.ones(2))",
    "(lambda x: (x.is_nested, x.is_mkldnn, x.is_xpu, x.is_sparse_csr, x.name, x.retains_grad))(T.ones(2))",
    "(lambda x: (x.mantissa, x.exponent))(T.frexp(T.arange(4.0)))",
]  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_what_python_does_to_tensors(expression):
    assert disagreement(expression) is None
