"""What is computed of tensors on meta has the layout that it has in torch, though nothing is computed."""

import pytest
import stridecheck.reference_impl as ref

from .agreement import disagreement
from .test_storage_surface import split

COMPUTED = """
    a+1|a+a|a*2.5|a-b|a/b|a//b|i//i|i%i|a**2|2**a|-a|a.abs()|a.exp()|a.sqrt()|i.sqrt()|a<b|a==b|~o|a.add_(1)|a.mul_(b)
    i.add_(1.5)|a.sum()|a.sum(0)|a.sum(1,keepdim=True)|i.sum()|a.mean(0)|i.mean()|a.max()|a.max(0)|a.amax(1)
    a.argmax(0)|a.var(0)|a.std()|a.prod()|a.any()|a.all(0)|a.norm()|a.cumsum(0)|a.cumsum(1)|a.cummax(0)|T.cat([a,b])
    T.cat([a,b],1)|T.stack([a,b])|T.cat([a,i])|T.hstack([a,b])|T.vstack([a,b])|a@a.t()|T.mm(a,a.t())|T.mm(a.t(),a)
    T.matmul(a,v)|T.bmm(x,x)|T.matmul(x,x)|T.addmm(T.zeros(3,device="meta"),a.t(),a)|T.einsum('ij,kj->ik',a,b)
    F.linear(a,a)|T.dot(v,v)|T.outer(v,v)|F.conv2d(c,w)|F.conv2d(c,w,padding=1)|F.conv1d(x,x)
    F.conv_transpose2d(c,w.transpose(0,1))|F.max_pool2d(c,2)|F.avg_pool2d(c,2)|F.avg_pool2d(cl,2)|F.max_pool2d(cl,2)
    F.adaptive_avg_pool2d(c,1)|F.interpolate(c,scale_factor=2)|F.batch_norm(c,None,None,training=True)
    F.layer_norm(a,(3,))|F.group_norm(c,1)|F.relu(a)|F.gelu(a)|F.softmax(a,0)|F.log_softmax(a,1)|F.dropout(a)
    F.pad(a,(1,1))|F.embedding(i,a)|F.cross_entropy(a,j)|F.unfold(c,2)|a[0]|a[i]|a[:,j]|a[o]|a[j,j]|a.index_select(0,j)
    a.gather(0,i)|a.scatter(0,i,b)|a.index_add(0,j,b)|a.index_copy(0,j,b)|a.index_fill(0,j,1)|a.masked_fill(o,1)
    a.masked_select(o)|a.take(j)|a.nonzero()|T.where(o,a,b)|T.where(o)|a.unique()|s(a,0,1)|s(a,i,1)|s(a,o,1)|s(a,0,v)
    a.put_(j,v[:2])|a.index_put_((j,),b)|a.masked_scatter(o,b)|a.clone()|a.contiguous()|a.t().contiguous()
    a.to(T.float64)|a.double()|a.int()|a.t().clone()|a.flip(0)|a.roll(1,0)|a.repeat(2,2)|a.tile(2)
    a.repeat_interleave(2)|a.tril()|a.triu_()|a.diag()|v.diag()|T.diag_embed(v)|a.trace()|a.sort()|a.sort(0)
    a.argsort()|a.topk(1)|a.median()|a.median(0)|a.mode()|a.kthvalue(1)|a.clamp(0,1)|a.clamp_(0)|a.lerp(b,0.5)
    T.addcmul(a,b,b)|T.addcdiv(a,b,b)|a.fill_(1)|a.zero_()|a.copy_(b)|a.uniform_()|a.normal_()|a.bernoulli()
    T.rand_like(a)|a.random_()|a.reshape(3,2)|a.t().reshape(6)|a.view(6)|a.expand(2,2,3)|a.permute(1,0)|a.unfold(0,1,1)
    a.isnan()|a.isfinite()|a.logical_and(b)|i.bitwise_and(i)|T.maximum(a,b)|T.fmod(a,b)|T.remainder(i,i)|T.atan2(a,b)
    a.real|T.complex(a,b)|T.view_as_complex(T.zeros(3,2,device="meta"))|T.polar(a,b)|a.item()|bool(a)|a.tolist()
    a.equal(b)|T.allclose(a,b)|a.isclose(b)|T.bincount(j)|T.histc(a)|T.searchsorted(v,a)|T.bucketize(a,v)
    T.linalg.inv(x[0,:2,:2])|T.linalg.qr(a)|T.linalg.cholesky(x)|T.linalg.det(x)|T.linalg.solve(x,x)|T.linalg.eigh(x)
    T.linalg.norm(a)|T.linalg.vector_norm(a,dim=0)|T.cdist(a,b)|T.cross(a,b)|T.fft.fft(a)|T.fft.rfft(a)|T.kron(a,b)
    T.tensordot(a,b.t(),1)|T.meshgrid(v,v)|T.cartesian_prod(v,v)|T.combinations(v)|T.diff(a)|T.trapezoid(a)
    T.logsumexp(a,0)|T.nansum(a)|T.nanmean(a)|T.count_nonzero(a)|T.quantile(a,0.5)|T.baddbmm(x,x,x)|T.ones_like(a)
    T.full_like(a,2)|a.new_ones(2)|T.broadcast_tensors(a,v)|T.squeeze(a)|a+T.ones(3)|a+T.ones(())|T.ones(3)+a
    a[T.tensor([0])]|a.index_select(0,T.tensor([0]))|T.add(a,b,out=T.zeros(0,device="meta"))
    T.add(a,b,out=T.zeros(2,3))|T.mm(a,a.t(),out=T.zeros(0,device="meta"))|T.sum(a,0,out=T.zeros(0,device="meta"))
    T.cat([a,T.zeros(2,3)])|r+1|r.add_(1)|(r*2).add_(1)|r.sum()|e.add_(1)|a[1:].add_(a[:-1])|a.t()+a.t()|a[:,::2]*2
    p(a.add_(1),a)|p(a[0].mul_(2),a)|a.softmax(0)|a.t().exp()|e+1|e*e|v[1:].add_(v[:-1])|v.add_(v[1])|v.copy_(v[1])
    T.add(v[:-1],1,out=v[1:])|T.cumsum(v[:-1],0,out=v[1:])|T.cat([v[:1],v[:1]],out=v[1:])|v[:2].index_copy_(0,j,v[1:])
    v[:2].scatter_(0,j,v[1:])|v[:2].masked_scatter_(o[0,:2],v[1:])|s(v,slice(1,3),v[:-1])|v[1:].add_(v[:-1].int())
    i.mul_(2.5)|i.mul_(a)|o.mul_(2)|i.mul_(1j)|i.add_(1j)|i.add_(b)|o.add_(1)|o.sub_(o)|o.logical_and_(i)|a.add_(1j)|i.div_(2)
"""


def make(lib):
    def meta(*size, **kwargs):
        return lib.zeros(*size, device="meta", **kwargs)

    def put(t, i, value):
        t[i] = value
        return t

    pictures = meta(2, 3, 4, 4)
    return {
        "F": lib.nn.functional,
        "a": meta(2, 3),
        "b": meta(2, 3),
        "v": meta(3),
        "x": meta(2, 3, 3),
        "i": meta(2, 3, dtype=lib.int64),
        "j": meta(2, dtype=lib.int64),
        "o": meta(2, 3, dtype=lib.bool),
        "c": pictures,
        "cl": pictures.contiguous(memory_format=lib.channels_last),
        "w": meta(5, 3, 2, 2),
        "r": meta(3, requires_grad=True),
        "e": meta(1, 3).expand(2, 3),
        "s": put,
        "p": lambda *x: x,
    }


@pytest.mark.filterwarnings("ignore")
def test_operators_of_tensors_on_meta_answer_layouts():
    expressions = split(COMPUTED)
    found = [d for e in expressions if (d := disagreement(e, make))]
    assert not found, f"{len(found)} of {len(expressions)}:\n" + "\n".join(found)


def test_too_many_bytes_are_not_lent():
    """There is a limit, so that nobody waits for what nobody sees."""
    big = ref.empty(2**30, device="meta", dtype=ref.uint8)
    with pytest.raises(NotImplementedError) as caught:
        big + 1
    assert caught.value.kind == "device"
    assert big.is_meta


def test_a_refusal_leaves_tensors_on_meta():
    m = ref.zeros(2, 3, device="meta")
    with pytest.raises(RuntimeError):
        m @ m
    assert m.is_meta
    assert m.untyped_storage().nbytes() == 24
