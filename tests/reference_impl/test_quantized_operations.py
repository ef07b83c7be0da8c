"""What PyTorch computes on quantised tensors: which results have a quantizer, which one, and what is refused."""

import copy

import pytest
import stridecheck.reference_impl as ref
import torch

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
        M(T.real(q))|T.neg(q)|M(T.unbind(C(),axis=0)[1])|M(C().select(axis=0,index=1))|M(T.flip(q,dims=(0,)))
    """,
    "joined": """
        M(T.cat([q,q]))|M(T.cat([Q(cl),Q(cl)]))|M(T.cat([q,Q(s=.25)]))|M(T.cat([q,Q(z=1)],1))|M(T.cat([q.T,q.T]))
        T.cat([C()]*2)|T.cat([q,C()])|T.cat([C(),q])|T.cat([q,x])|T.cat([x,q])|T.cat([q,Q(d=T.qint8)])
        T.cat([Q(d=T.quint4x2)])|M(T.cat([q,Q(T.ones(0))]))|M(T.cat([Q(T.ones(0))]*2))|M(T.cat((q[:0],q)))
        T.cat([q,q],out=Q())|M(T.cat([q,q],out=Q(T.ones(6,4),s=.25)))|T.cat([q,q],5)|T.cat([q,Q(T.ones(2,2))])
        M(T.stack([q,q]))|M(T.stack([q,Q(s=.25)],1))|M(T.stack([q,q],2))|M(T.stack([Q(cl)]*2))|T.stack([C()]*2)
        T.stack([q,x[:1]])|T.stack([x[:1],q])|T.stack([q,x])|T.stack([P,P],7)|T.stack([P,P])|T.cat([P,P],5)|T.cat([P,P])
        M(T.hstack([q,q]))|M(T.vstack([q,q]))|M(T.dstack([q,q]))|M(T.column_stack([q[0],q[1]]))
        M(T.cat([Q(d=T.qint32),Q(d=T.qint32,z=-9)]))|M(T.cat([q,Q(x*1000)]))|M(T.concatenate([q,q],axis=1))|T.cat([q,3])|T.row_stack([3,q])
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
    "indexed": """
        M(q[T.tensor([0,2])])|M(q[[0,2]])|M(q[:,[1,1]])|M(q[T.tensor([True,False,True])])|M(q[x>3])|M(Q(cl)[[0]])
        M(Q(cl)[:,:,[0]])|C()[[0,2]]|C()[:,[0,1]]|M(C()[T.tensor(1)])|M(C()[np.int64(1),1:])|F()[[0]]|M(q[0,[0,1]])
        M(P[[0]])|M(q[[]])|M(q[True])|M(q[False])|M(q[None,[0]])|q[[0,7]]|q[[0],[1],[0]]|M(q[T.tensor(1),None])
        S(Q(),[0,2],1.)|S(Q(),T.tensor([0,2]),1)|S(Q(),[0],x[2:])|S(Q(),[0],Q(x[2:]))|S(Q(),x>3,7.)|S(Q(),([0],[1]),9.)
        S(Q(),x>3,x)|S(C(),[0],1.)|S(Q(),[0],T.ones(4))|S(Q(),[0],T.ones(3))|S(Q(),0,T.tensor(2.))|S(Q(),[0],"a")
        S(Q(),slice(0,2),Q(x[2]))|S(Q(),slice(0,2),Q(x[:1],s=.25))|S(Q(),slice(None),T.ones(4))|S(Q(),0,Q(d=T.qint8)[0])
        S(Q(),(slice(None),0),1.)|S(C(),0,2.)|S(C(),(0,1),T.tensor(2.))|S(Q(),0,"a")|S(Q(),0,T.ones(1,4))|S(Q(),[0],1j)|S(Q(),[0],2+0j)|Q().masked_fill(x>3,1j)
    """,
    "moved": """
        M(q.index_select(0,T.tensor([0,2])))|M(T.index_select(q.T,1,T.tensor([0,2])))|C().index_select(0,T.tensor([0]))
        M(Q(cl).index_select(0,T.tensor([1])))|q.index_select(0,T.tensor([7]))|M(q.flip(0))|M(q.flip((0,1)))|C().flip(0)
        M(Q(cl).flip(1))|M(q.T.flip(0))|P.flip(0)|F().flip(0)|q.flip(5)|M(q.flip(()))|M(C().flip(()))|M(q[:,::2].flip(0))
        M(Q(cl).permute(0,2,3,1).flip(0))|q.flip(0,0)|M(T.fliplr(q))|M(q.flipud())|M(q.rot90())|M(T.rot90(q,2))
        M(q.repeat(2,1))|M(q.repeat(2,2,2))|C().repeat(1,1)|M(Q(cl).repeat(1,1,1,2))|P.repeat(2,1)|M(T.tile(q,(2,)))
        q.repeat(1)|M(q.repeat(0,1))|M(q.repeat_interleave(2,0))|M(T.diag(q[:,:3]))|M(q.adjoint())|M(q.H)|C().mH
        [M(r) for r in C().unsafe_chunk(3)]|[M(r) for r in T.unsafe_split(q,2)]|M(q.unsafe_split_with_sizes((1,2))[1])
        M(q.masked_fill(x>3,2.))|M(Q().masked_fill_(x>3,T.tensor(2.)))|C().masked_fill(x>3,1.)|P.masked_fill(x>3,1.)
        M(Q(cl).masked_fill(cl>3,1))|M(Q().T.masked_fill_(x.T>3,2))|M(q.masked_fill(x>3,Q(T.tensor(2.))))
        M(Q()[:1].masked_fill(x>1,1.))|Q().masked_fill(x.int(),1)|Q().masked_fill(x>3,T.ones(2))|F().masked_fill(x>3,1)
        M(T.masked_fill(Q(),x>3,1000))|M(Q().resize_as_(x[:2]))|M(Q().resize_as_(Q(x[:2])))|C().resize_as_(C())
        M(T.resize_as_(Q(),x))|M(x.resize_as_(q[:2]))
    """,
    "compared": """
        q==q|q!=q|q>Q(x*.5)|q<=2|q==x|x==q|x<q|2.<q|q==C()|C()==C()|F()>=2.|q==q.T|q.eq(Q(s=.25))|T.eq(q,q)|Q(cl)==Q(cl)
        P==P|q==Q(d=T.qint8)|q==q[0]|q==None|q=="a"|q.T>3|q[:, ::2]>3|q.lt(T.tensor(3))|q.not_equal(q)|T.less_equal(q,1)
        T.eq(x,q)|T.eq(q,q,out=T.empty(0,dtype=T.bool))|q.eq_(q)|q.isclose(q)|T.allclose(q,q)|q.equal(C())|q.equal(x)
        T.equal(q,Q())|T.equal(q,x)|T.equal(x,q)|q.is_same_size(x)|C().is_same_size(q)|T.is_same_size(x,q[0])
        float(q[0,1])|float(C()[0,1])|float(q)|q[0,1].is_nonzero()|q.is_nonzero()|L(q.new_empty(2,dtype=T.float32))
        q.new_zeros(2)|q.new_ones(2)|q.new_full((2,),1.)|q.new_ones(2,dtype=T.float32)|q.new_empty_strided((2,),(1,))
        q.set_(Q(d=T.qint8))|q.set_(x)|q.set_(Q())|q.set_()|T.zeros(3,4).copy_(q)|M(Q().copy_(q))
        q*2|2*q|q/2|2/q|q+x|x-q|x/q|q%2|q**2|x**q|q//2|q+q|q.add_(1)|q.mul_(q)|q.multiply(2)|q.true_divide(2)|q@q.T|abs(q)
        C()[::2].q_per_channel_scales()|C()[::2].q_per_channel_zero_points()|C()[1:].q_per_channel_scales()|M(C()[::2])
    """,
    "without_quantizer": """
        L(n.view(2).int_repr())|n.is_quantized|n.view(2).is_quantized|n.qscheme()|n.q_scale()|n.q_per_channel_scales()
        n[0]|n.clone()|n.dequantize()|n.fill_(1)|n.copy_(q[0,:2])|n.set_(T.UntypedStorage(2))|n.T|n.contiguous() is n
        L(T.empty(3,dtype=T.quint4x2).int_repr())|q.new_empty(2).qscheme()|L(q.new_empty(2).view(T.uint8))
        T.empty(2,dtype=T.quint8,device="meta").qscheme()|T.empty_like(n)|T.cat([n,n])|n==n|n.index_select(0,T.tensor([0]))
        T.quint8.is_signed|T.qint8.is_signed|T.qint32.is_signed|T.int8.is_signed|T.is_signed(n)
    """,
    "parameters": """
        M(T.quantize_per_tensor(x,np.float32(.5),0,T.quint8))|M(T.quantize_per_tensor(x,True,0,T.quint8))
        T.quantize_per_tensor(x,.5,True,T.quint8)|M(T.quantize_per_tensor(x,.5,np.int64(1),T.quint8))
        T.quantize_per_tensor(x,.5,np.float32(1),T.quint8)|M(T.quantize_per_tensor(x,np.bool_(True),np.int8(1),T.quint8))
        T.quantize_per_tensor(x,1j,0,T.quint8)|T.quantize_per_tensor(x,.5,T.tensor(.5),T.quint8)
        M(T.quantize_per_tensor(x,T.ones(1),T.zeros(1),T.quint8))|T.quantize_per_tensor(x,T.ones(2),T.zeros(2),T.quint8)
        T.quantize_per_tensor(x,1.,2**70,T.quint8)|T.quantize_per_tensor(x,None,0,T.quint8)
        T.quantize_per_tensor(q,.5,0,T.quint8)|T.quantize_per_channel(q,s4,z4,1,T.quint8)
        T.quantize_per_channel(x,[.5],[0],0,T.quint8)|T.quantize_per_channel(x,s4,[0],0,T.quint8)
        T.dequantize([])|T.dequantize(())|T.dequantize([x])|M(T.dequantize([q,x])[1])|T.dequantize(3)|T.dequantize([.5])
        T.per_tensor_symmetric|T.per_channel_symmetric|isinstance(T.per_tensor_affine,T.qscheme)
    """,
    "simulated": """
        FT(x,.5,2,0,15)|FT(x.double(),.3,2,0,15)|FT(x.T,.5,2,0,15)|FT(x,.5,20,0,15)|FT(x,.5,2,15,0)|FT(cl,.5,2,0,15)
        FT(x,T.tensor(.5),T.tensor(2),0,15)|FT(x.int(),.5,2,0,15)|FT(x.half(),.3,2,0,15)|FT(x[:, ::2],.5,2,0,15)
        FT(x.requires_grad_(),.5,2,0,15).requires_grad|FT(x,0.,2,0,15)|FT(q,.3,2,0,15)|FT(x*T.nan,.3,2,0,15)
        FT(x*1e30,.3,2,0,15)|FT(x,T.tensor([.5]),T.tensor([2.]),0,15)|FT(x,T.ones(2),T.ones(2),0,15)|FT(y,.3,-2,-8,7)
        FT([1.],.5,2,0,15)|FT(x,"a",2,0,15)|FT(x,.5,2.5,0,15)|FT(x.bfloat16(),.3,2,0,15)|FT(T.ones(0),.5,2,0,15)
        FC(x,s4,z4.int(),1,0,15)|FC(x,s4,z4,1,0,15)|FC(x,s4,z4.float()+.5,1,0,15)|FC(x,s4.double(),z4.int(),1,0,15)
        FC(x,s4,z4.int(),0,0,15)|FC(x,s4,z4.int(),5,0,15)|FC(x,s4,z4.int(),-1,0,15)|FC(x.T,s4,z4.int(),0,0,15)
        FC(x,s4,z4.int()+20,1,0,15)|FC(x,s4,z4.int(),1,15,0)|FC(x.double(),s4*.3,z4.int(),1,0,15)|FC(cl,s4,z4.int(),3,0,9)
        FC(x.half(),s4*.3,z4.int(),1,0,15)|FC(x,s4[None],z4.int(),1,0,15)|FC(x,s4,z4[:3].int(),1,0,15)
        M(D(x,T.quint8,False))|M(D(x,T.quint8,True))|M(D(x-5,T.qint8,True))|M(D(x*0,T.quint8,False))|D(x,T.qint32,False)
        M(D(x+5,T.quint8,False))|M(D(-x,T.quint8,False))|D(T.ones(0),T.quint8,False)|D(x.double(),T.quint8,False)
        D(x,T.float32,False)|D(q,T.quint8,False)|M(D(cl.transpose(1,2),T.qint8,False))|D(x.T,T.float16,False)
        M(D(x*1e-6-3e-6,T.quint8,False))|M(D(x*1e-6,T.quint8,False))|M(D(x*1e-42,T.quint8,False))|M(D(y*.37-.1,T.qint8,True))
        D(x,T.quint8)
    """,
    "computed": """
        M(q.max())|M(q.min())|M(q.max(0)[0])|q.max(0)[1]|M(T.min(q,1,keepdim=True)[0])|C().max()|F().max(0)|T.max(q,q)
        M(q.sort()[0])|q.sort(descending=True)[1]|M(q.T.sort(0)[0])|M(q.topk(2)[0])|q.topk(2)[1]|q.argsort(descending=True)
        M(q.msort())|C().sort()|C().topk(1)|M(Q(cl).max(1)[0])|M(Q(cl).sort(1)[0])|q.amax()|q.median()|q.sum()|q.prod()
        M(q.clamp(1,3))|M(q.clamp(min=2))|M(q.T.clamp(3,1))|M(q.clip(max=2.2))|q.clamp()|q.clamp(T.tensor(1.))|q.clamp(1j)
        C().clamp(1,3)|P.clamp(1,3)|q.clamp("a")|q.clamp_(1,3)|q.clamp_min(1)|M(Q(x-5).relu())|M(Q(cl-9).relu())|P.relu()
        M(Q(x.T-5).T.relu())|M(Q(x-5).relu_())|M(Q(x-5)[:, ::2].relu_())|C().relu()|F().relu_()
        M(T.relu(Q(x-5,d=T.qint32)))|M(Q(cl).topk(2)[0])|M(Q(cl).topk(2,1)[0])|M(Q(cl).max())|M(Q(cl).msort())
        M(q.sigmoid())|M(Q(x-5,d=T.qint8).sigmoid())|C().sigmoid()|P.sigmoid()|q.sigmoid_()|M(T.tanh(q))|q.tanh_()
        M(Q(x-5,d=T.qint8).tanh())|M(nf.threshold(q,3,0))|M(nf.relu(Q(x-5)))|M(nf.hardtanh(Q(x-5)))|M(nf.threshold(q.T,3,9))
        M(q.mean())|M(q.mean(0))|M(Q(cl).mean((2,3),keepdim=True))|q.mean(dtype=T.float32)|C().mean()|M(q.std())|M(q.std(0))
        q.var()|P.mean()|M(Q(x*1.3,s=.37).mean(1))|x.eq(q)|x.gt(q)|x.equal(q)
    """,
    "pooled": """
        M(nf.max_pool2d(Q(cl),2))|M(nf.max_pool2d(Q(cl.contiguous()),2,1,1))|M(T.max_pool2d(Q(cl[0],d=T.qint8),2))
        nf.max_pool2d(C(cl),2)|nf.max_pool2d(Q(cl),2,return_indices=True)|M(nf.max_pool1d(q,2))|nf.max_pool2d(P[None,None],2)
        M(nf.avg_pool2d(Q(cl),2))|M(nf.avg_pool2d(Q(cl.contiguous()),2,1,1))|nf.avg_pool2d(C(cl),2)
        M(nf.adaptive_avg_pool2d(Q(cl),1))|M(nf.adaptive_avg_pool2d(Q(cl.contiguous()),(2,3)))|nf.elu(q)|nf.hardswish(q)
        M(nf.interpolate(Q(cl),scale_factor=2))|M(nf.interpolate(Q(cl.contiguous()),size=(5,3)))|nf.interpolate(Q(cl[0]),size=2)
        M(nf.interpolate(Q(cl[None]),scale_factor=2))|nf.interpolate(Q(cl),size=(2,2),mode="bicubic")
        M(T.cat([Q(cl[:,:1].contiguous())]*2,1))|M(T.hstack([Q(cl[:,:1])]*2))|M(T.cat([Q(cl.contiguous())]*2,-3))
    """,
    "parameters_cut_off": """
        X(3,0)[:]|X(3,0)[0:1]|X(3,0)[0:0]|X(3,0)[:,:0]|X(3,0).clone()|X(3,0).dequantize()|X(3,0)[0]|X(3,0).unsqueeze(0)
        X(3,0)[:,1:]|X(3,0)[:,1]|X(3,0).copy_(x)|T.empty_like(X(3,0))|X(3,0).split(1)|X(3,0).chunk(3,1)|X(3,0).unbind(1)
        copy.deepcopy(X(3,0))|L(X(3,0).contiguous())|L(X(3,0).detach())|X(3,0)==x|X(3,0).equal(C())|X(3,0).narrow(1,0,2)
        X(0,3)[:]|X(0,3)[:,:0]|X(0,3).clone()|X(0,3).dequantize()|X(0,3)[0]|X(0,3)[:,1]|X(0,3).squeeze()|L(X(0,3).view(-1))
        X(0,0)[:]|L(X(0,0).clone())|X(0,0).dequantize()|X(0,0)[0]|X(0,0)[:,1]|L(X(0,0).unsqueeze(0))|copy.copy(X(0,0))
        X(1,1)[:,:1]|M(X(1,1)[:,0])|X(1,1)[:,1]|X(1,1)[:,1:]|L(X(1,1)[1:])|L(X(1,1)[:,:0])|X(1,1).dequantize()
        X(2,3)[:2]|X(2,3)[:,:3]|X(2,3)[2]|X(3,2)[:,2]|X(3,2)[2]|X(3,2)[1:2]|X(3,2)[1:3]|X(3,2)[2:3]|X(3,2).clone()|X(3,2)[1]
        Z(1,"squeeze_").narrow(1,0,1)|Z(1,"squeeze_")[:,0]|K(Z(1,"squeeze_")[1:])|K(Z(1,"squeeze_")[0])
        Z(4,"unsqueeze_",0).dequantize()|Z(4,"unsqueeze_",0).fill_(3.).int_repr()|Z(1,"squeeze_").copy_(T.ones(3,1)).int_repr()
        copy.deepcopy(Z(4,"unsqueeze_",0))|Z(4,"unsqueeze_",1).clone()|Z(1,"squeeze_").unsqueeze(0)|C()[0].mT|C().mT
        K(Z(4,"unsqueeze_",0)[:,0])|Z(4,"unsqueeze_",0)[:,1]|Z(4,"unsqueeze_",0)[1:]|Z(4,"unsqueeze_",0)[:, ::2]
        K(Z(4,"unsqueeze_",1)[:,3])|K(Z(4,"unsqueeze_",1)[:,:1])|Z(4,"unsqueeze_",1)[:, ::2]
        M(Z(3,"as_strided_",(3,),(2,))[:, ::2])|M(Z(3,"as_strided_",(3,),(2,))[:,1:])
        M(Z(3,"as_strided_",(3,),(2,))[:,2])|M(Z(3,"as_strided_",(3,),(2,)))|M(Z(4,"as_strided_",(3,),(2,)))
    """,
}  # fmt: skip


def names(lib):
    """What expressions may name: `M` tells what a tensor is and means, `L` the same of fresh memory, `S` writes."""

    def quantizer(t):
        if not t.is_quantized:
            return None
        if t.qscheme() is lib.per_tensor_affine:
            return t.q_scale(), t.q_zero_point()
        return t.q_per_channel_scales().tolist(), t.q_per_channel_zero_points().tolist(), t.q_per_channel_axis()

    def layout(t):
        return str(t.dtype), tuple(t.shape), t.stride(), t.storage_offset(), t.untyped_storage().nbytes(), t._is_view()

    def put(t, index, value):
        t[index] = value
        return t, t._version, quantizer(t)

    def cut_off(scales, zero_points):
        t = known["C"]()
        t.q_per_channel_scales().resize_(scales)
        t.q_per_channel_zero_points().resize_(zero_points)
        return t

    def reshaped(count, name, *args):
        scales, zero_points = lib.arange(1.0, 9.0, dtype=lib.float64)[:count], lib.arange(10, 18)[:count]
        t = lib._empty_per_channel_affine_quantized(
            [3, count], axis=1, dtype=lib.quint8, scales=scales, zero_points=zero_points
        )
        for parameter in (scales, zero_points):
            getattr(parameter, name)(*args)
        return t.copy_(lib.ones(3, count))

    known = make(lib)
    return {
        **known,
        "S": put,
        "X": cut_off,
        "Z": reshaped,
        "K": quantizer,
        "copy": copy,
        "nf": lib.nn.functional,
        "n": lib.empty(2, dtype=lib.quint8),
        "FT": lib.fake_quantize_per_tensor_affine,
        "FC": lib.fake_quantize_per_channel_affine,
        "D": lib.quantize_per_tensor_dynamic,
        "L": lambda t: (layout(t), quantizer(t) if t.dtype in (lib.quint8, lib.quint4x2) else None),
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


@pytest.mark.parametrize("zero_points", ["float32", "int64"])
@pytest.mark.parametrize("scales", ["float32", "float64"])
@pytest.mark.parametrize("negated", [(), (0,), (1,), (0, 1)])
def test_scales_are_shared_as_torch_shares_them(scales, zero_points, negated):
    """Of the right dtype and without a negative bit they are taken as they are; else they are copies."""

    def after_a_change(T):
        given = [T.tensor([2.0, 4.0], dtype=getattr(T, scales)), T.tensor([1, 3], dtype=getattr(T, zero_points))]
        taken = [t._neg_view() if place in negated else t for place, t in enumerate(given)]
        q = T._empty_per_channel_affine_quantized((2,), axis=0, dtype=T.quint8, scales=taken[0], zero_points=taken[1])
        for t in given:
            t.add_(100)
        return [(t.tolist(), t.is_neg()) for t in (q.q_per_channel_scales(), q.q_per_channel_zero_points())]

    assert after_a_change(ref) == after_a_change(torch)
