"""What PyTorch computes on quantised tensors: which results have a quantizer, which one, and what is refused."""

import pytest

from .agreement import disagreement
from .test_quantized_against_torch import make
from .test_storage_surface import split

TABLE = {
    "iterated": """
        [M(r) for r in q]|[M(r) for r in C()]|[M(r) for r in C(ax=1)]|[M(r) for r in F()]
        (lambda a,b,c:M(b))(*q)|list(Q(T.ones(())))
    """,
    "functions": """
        M(T.select(q,0,1))|M(T.select(C(),0,1))|M(T.unbind(C())[1])|M(T.permute(q,(1,0)))|T.permute(C(),(1,0))
        M(T.clone(C()))|M(T.unsqueeze(C(),0))|M(T.split(C(),1)[1])|M(T.fill_(Q(),3))|T.zero_(q)|M(T.squeeze(q))
        M(T.as_strided(q,(2,),(1,)))|T.equal(q,Q())|M(T.reshape(q,(4,3)))|M(T.narrow(C(),0,1,1))|M(T.diagonal(q))
        M(T.detach(C()))|M(T.atleast_3d(q))|M(T.broadcast_tensors(q,q[:1])[1])|M(T.meshgrid(q[0],q[1])[0])
        M(T.select_copy(C(),0,1))|M(T.unbind_copy(q)[1])|M(T.alias_copy(q))|M(T.permute_copy(input=q,dims=(1,0)))
        T.roll(q,1)|T.block_diag(q,q)|T.where(q,q,q)|T.numel(q)|T.is_signed(q)|T.add(x,q)|T.mul(q,2)|T.rsub(q,q)
        M(T.real(q))|T.neg(q)
    """,
    "joined": """
        M(T.cat([q,q]))|M(T.cat([Q(cl),Q(cl)]))|M(T.cat([q,Q(s=.25)]))|M(T.cat([q,Q(z=1)],1))|M(T.cat([q.T,q.T]))
        T.cat([C()]*2)|T.cat([q,C()])|T.cat([C(),q])|T.cat([q,x])|T.cat([x,q])|T.cat([q,Q(d=T.qint8)])
        T.cat([Q(d=T.quint4x2)])|M(T.cat([q,Q(T.ones(0))]))|M(T.cat([Q(T.ones(0))]*2))|M(T.cat((q[:0],q)))
        T.cat([q,q],out=Q())|M(T.cat([q,q],out=Q(T.ones(6,4),s=.25)))|T.cat([q,q],5)|T.cat([q,Q(T.ones(2,2))])
        M(T.stack([q,q]))|M(T.stack([q,Q(s=.25)],1))|M(T.stack([q,q],2))|M(T.stack([Q(cl)]*2))|T.stack([C()]*2)
        M(T.hstack([q,q]))|M(T.vstack([q,q]))|M(T.dstack([q,q]))|M(T.column_stack([q[0],q[1]]))
        M(T.cat([Q(d=T.qint32),Q(d=T.qint32,z=-9)]))|M(T.cat([q,Q(x*1000)]))
    """,
    "made_alike": """
        L(T.empty_like(q))|L(T.empty_like(C()))|L(T.empty_like(q.T))|L(T.empty_like(Q(cl)))|T.empty_like(F())
        L(T.empty_like(Q(cl),memory_format=T.contiguous_format))|T.empty_like(q,memory_format=T.channels_last)
        T.empty_like(q,dtype=T.float32)|L(T.empty_like(q,dtype=T.quint8))|T.empty_like(q,dtype=T.qint8)
        T.empty_like(x,dtype=T.quint8)|L(T.empty_like(Q(d=T.quint4x2)))|T.empty_like(q,device="meta")
        T.empty_like(q,requires_grad=True)|(lambda c:T.empty_like(c).q_per_channel_scales() is c)(C())
        M(T.ones_like(q))|M(T.full_like(C(),3.))|M(T.full_like(Q(cl),3.))|T.ones_like(q,dtype=T.float32)|T.zeros_like(q)
        T.zeros_like(q,dtype=T.float32)|T.ones_like(Q(d=T.quint4x2))|T.rand_like(q)|T.full_like(F(),1)
    """,
    "packed": """
        M(e)|e[1:].int_repr()|e[1:].dequantize()|e[1].item()|M(e.select(0,1))|e.unbind()[1].dequantize()|M(e[:3])
        P.T.dequantize()|P[:, ::2].dequantize()|P.expand(2,3,4).dequantize()|P.T.int_repr()|P[:, ::2].int_repr()
        M(P[1])|P[:,1].dequantize()|P[:,1].int_repr()|P[:1].T.dequantize()|M(P.view(4,3))|P.diagonal().dequantize()
        P[:1,:1].item()|P[0,1].item()|M(Q(cl,d=T.quint4x2)[0,0,0])|Q(cl,d=T.quint4x2).dequantize()
        Q(cl,d=T.quint4x2)[0].dequantize()|P[:0].T.dequantize()|P.expand(1,3,4).dequantize()
        M(W(even)[1])|W(even)[1,3].item()|[M(r) for r in W(even)[:2]]|M(W(even).unbind()[1])
        W(even).select(1,2)[0].item()|P.T.reshape(12)|P.T.flatten()|P.T.view(12)|M(P.reshape(12))|x.copy_(q)|x.int().copy_(q)
        T.quantize_per_tensor(T.arange(9.),1.,0,T.quint2x4)[1:].int_repr()
        T.quantize_per_tensor(T.arange(9.),1.,0,T.quint2x4)[1:].dequantize()
        q.to("meta")|C().to("meta")|Q().resize_(2,6,memory_format=T.contiguous_format)
        Q().resize_(3,2,2,1,memory_format=T.channels_last)
    """,
}  # fmt: skip


def names(lib):
    """What expressions may name: `M` tells what a tensor is and means, `L` what is known of fresh memory."""

    def quantizer(t):
        if not t.is_quantized:
            return None
        if t.qscheme() is lib.per_tensor_affine:
            return t.q_scale(), t.q_zero_point()
        return t.q_per_channel_scales().tolist(), t.q_per_channel_zero_points().tolist(), t.q_per_channel_axis()

    def layout(t):
        return str(t.dtype), tuple(t.shape), t.stride(), t.storage_offset(), t.untyped_storage().nbytes(), t._is_view()

    known = make(lib)
    return {
        **known,
        "L": lambda t: (layout(t), quantizer(t)),
        "M": lambda t: (t, t._version, quantizer(t), t.dequantize() if t.is_quantized else None),
        "e": lib.quantize_per_tensor(lib.arange(5.0), 1.0, 0, lib.quint4x2),
        "P": lib.quantize_per_tensor(known["x"], 1.0, 0, lib.quint4x2),
        "even": lib.arange(24.0).reshape(4, 6),
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", TABLE)
def test_operations_on_quantised_tensors_agree_with_torch(part):
    expressions = split(TABLE[part])
    found = [d for e in expressions if (d := disagreement(e, names))]
    assert not found, f"{len(found)} of {len(expressions)}:\n" + "\n".join(found)
