"""Quantised tensors: codes, layouts, memory formats, packed storages and refusals as torch's."""

import copy
import io
import pickle
import random
import warnings

import numpy as np
import pytest
import stridecheck.reference_impl as ref
import torch

from .agreement import disagreement, exception_type
from .test_storage_surface import split
from .twins import random_layout

TABLE = {
    "refusals": """
        q.set_(T.ByteStorage([1]))|q.set_(T.QUInt8Storage([1]))|q.set_(T.UntypedStorage([1]))|q.set_([1])|q.set_(None)
        q.new()|q.new(2)|q.apply_(lambda a: a)|q.map_(q,lambda a,b: a)|q.storage_type().__name__
        Q(T.ones(0,3)).tolist()|q[:0].tolist()|q.tolist()|T.empty(0,dtype=T.quint8).tolist()
        T.dequantize(tensors=[q])|T.dequantize(tensors=q)|T.dequantize(tensors=[x])|T.dequantize()|T.dequantize(q,input=q)
        T.quantize_per_channel(x,s4,z4,5,T.quint4x2)|T.quantize_per_channel(x,s4[:2],z4[:2],0,T.quint4x2)
        [g(T.empty(2,dtype=T.quint8)) for g in (copy.copy,)]|[g(T.empty(2,dtype=T.quint8)) for g in (copy.deepcopy,pk)]
        C().t_().stride()|info(C().transpose_(0,1))|T.empty(2,3,dtype=T.quint8).t_().stride()|x.is_set_to(q)|q.equal(3)
        T.equal(q,3)|q.resize_as_(3)|Q().set_(T.UntypedStorage(9),1,(2,),(-1,))|Q(d=T.quint4x2).as_strided((12,),(1,))
        Q(d=T.quint4x2).as_strided((13,),(1,))|Q(d=T.quint4x2)[1:].as_strided((2,),(1,),10)
        T.dequantize(input=[q])|T.dequantize(input=q)|T.dequantize(a=q)|q.backward()
        T.view_as_real(q)|T.view_as_complex(q)|T.view_as_real_copy(C())|T.conj_physical(q,out=q.clone())|q.sparse_dim()
        q.conj_physical() is q|T.conj_physical(C()) is None|info(q.conj_physical_())|q.dense_dim()|C().dense_dim()
        info(Q(d=T.quint4x2).conj_physical_())|(lambda p:info(p.copy_(p[:])))(Q(d=T.quint4x2))
        (lambda p:p.copy_(p.clone()))(Q(d=T.quint4x2))|(lambda p:info(p[:1].copy_(p[:1])))(Q(d=T.quint2x4))
    """,
    "classes": """
        type(q).__name__|type(C()[1:]).__name__|type(P(q)).__name__|type(P(C(),False)).__name__|repr(P(q,False))
        isinstance(P(q,False),P)|isinstance(q,P)|type(P(q,False)[0]).__name__|type(P(q,False).data).__name__
        type(P(q,False).contiguous()).__name__|P(q,False)._is_view()|info(P(q,False))|P(q,False).q_scale()
        [type(g(P(q,False))).__name__ for g in (copy.copy,copy.deepcopy,pk,rt)]|info(copy.deepcopy(P(Q().T,False)))
        info(copy.copy(P(C(),False)))|info(pk(P(q,False)))|info(rt(P(C(cl),False)))|type(q.as_subclass(P)).__name__
        q.as_subclass(P).int_repr()|T.Tensor._make_subclass(P,q).q_scale()|type(T.nn.Buffer(q)).__name__
    """,
    "nowhere": """
        mq.is_quantized|type(mq).__name__|mq.stride()|mq.qscheme()|mq.int_repr()|mq.dequantize()|mq.clone()|mq.view(6)
        mq[0]|mq.T|mq+1|mq.to("cpu")|mq.to(T.quint8) is mq|mq.contiguous() is mq|mq.permute(1,0)|mq.copy_(mq)._version
        mq.fill_(1)|mq.zero_()|mq.resize_(7)|mq.set_()|mq.detach().is_quantized|mq.data.dtype|repr(mq)|copy.copy(mq)
        copy.deepcopy(mq)|pk(mq)|rt(mq)|T.empty_like(mq)|mq.view(T.uint8).stride()|mq.tolist()|mq.numpy()|mq.type()
        mq.is_signed()|mq.cpu()|mq.equal(mq)|mq.unbind()|mq.squeeze_().shape|mq.transpose_(0,1).stride()|T.permute(mq,(1,0))
        x.to("meta").type("torch.FloatTensor")|x.to("meta").type(T.IntTensor)|T.detach(mq).is_quantized|T.cat([mq,mq])|mq.untyped_storage().nbytes()|mq.storage().dtype|P(mq,False).is_quantized
    """,
    "per_tensor": """
        info(Q())|info(Q(x.T))|info(Q(x[:, ::2]))|info(Q(cl))|info(Q(cl.contiguous()))
        Q(cl).is_contiguous(memory_format=T.channels_last)|Q().int_repr()|Q(cl).int_repr()|Q().dequantize()
        Q(cl).dequantize()|info(Q(T.ones(())))|info(Q(T.ones(0,3)))|Q().q_scale()|Q().q_zero_point()|Q().qscheme()
        Q().is_quantized|x.is_quantized|Q().q_per_channel_scales()|Q().q_per_channel_axis()
        T.quantize_per_tensor(y,.5,3,T.quint8).int_repr()
        T.quantize_per_tensor(y.repeat(5),.5,3,T.quint8).int_repr()
        T.quantize_per_tensor(y.repeat(5)[:37],.5,3,T.qint8).int_repr()
        T.quantize_per_tensor(y.repeat(5)[:37],.5,3,T.qint32).int_repr()
        T.quantize_per_tensor(y.repeat(2)[:13],.5,3,T.quint4x2).dequantize()
        T.quantize_per_tensor(T.arange(9.)*.1,.1,0,T.quint8).int_repr()
        T.quantize_per_tensor(x,.5,0,T.qint8).int_repr()|T.quantize_per_tensor(x,.5,0,T.qint32).dequantize()
        T.quantize_per_tensor(x*1000,.5,0,T.qint8).int_repr()
        T.quantize_per_tensor(x*-1000,.5,9,T.quint8).int_repr()|T.quantize_per_tensor(x,.5,2,T.uint8)
        T.quantize_per_tensor(x.int(),.5,2,T.quint8)|T.quantize_per_tensor(x.double(),.5,2,T.quint8)
        T.quantize_per_tensor(x.half(),.5,2,T.quint8)|T.quantize_per_tensor(x,.5,300,T.quint8)
        T.quantize_per_tensor(x,.5,-1,T.quint8)|T.quantize_per_tensor(x+1,0.,0,T.quint8).int_repr()
        T.quantize_per_tensor(x,-1.,0,T.quint8).int_repr()|T.quantize_per_tensor(3,1.,0,T.quint8)
        T.quantize_per_tensor(x,"a",0,T.quint8)|T.quantize_per_tensor(x,1.,0.5,T.quint8)
        T.quantize_per_tensor(x,1,0,T.quint8).q_scale()
        T.quantize_per_tensor(x,T.tensor(.5),T.tensor(2),T.quint8).q_scale()
        T.quantize_per_tensor(x,.5,2,dtype=T.quint8).int_repr()
        T.quantize_per_tensor([x,x],T.tensor([.5,1]),T.tensor([2,1]),T.quint8)[1].q_scale()
        Q(T.ones(2).requires_grad_()).requires_grad|T.dequantize(Q())|T.dequantize([Q(),Q()])[1]|T.int_repr(Q())
        T.q_scale(Q())|T.q_zero_point(Q())|x.dequantize()|x.int_repr()|x.q_scale()|x.qscheme()|Q().element_size()
        Q(d=T.qint32).element_size()|T.quantize_per_tensor(T.ones(2,dtype=T.complex64),1.,0,T.quint8)
        T.quantize_per_tensor(cl[0],.5,2,T.quint8).stride()
        T.quantize_per_tensor(x.expand(2,3,4),.5,0,T.quint8).stride()
    """,
    "copied": """
        info(Q(cl).to(T.quint8,copy=True))|info(Q(cl).to("cpu",copy=True))|info(Q(cl).to(Q(),copy=True))
        info(Q(cl).to(T.quint8,copy=True,memory_format=T.preserve_format))|info(Q(cl).to(T.quint8))
        info(Q(cl).to(T.quint8,copy=True,memory_format=T.channels_last))|info(Q().T.to(T.quint8,copy=True))
        info(T.tensor(Q(cl)))|T.tensor(Q()).int_repr()|info(T.tensor(Q().T))|T.tensor(C()).qscheme()
        T.tensor(Q(),dtype=T.float32)|T.tensor(Q(),dtype=T.qint8)|T.tensor(Q(),device="meta")|info(Q(cl).new_tensor(Q(cl)))
        T.tensor(Q(),requires_grad=True)|T.ones(2).new_tensor(Q())|T.tensor([Q(T.ones(1))])
        info(T.quantize_per_tensor(cl.to("meta"),.5,0,T.quint8))|info(T.quantize_per_tensor(cl.int().to("meta"),.5,0,T.quint8))
        T.quantize_per_channel(x.to("meta"),s4,z4,1,T.quint8)|T.bfloat16.to_complex()|T.quint8.to_complex()|T.int8.to_complex()
        T.complex32.to_complex()|T.float8_e5m2.to_complex()
    """,
    "made without numbers": """
        info(E(2,3,dtype=T.quint8))|info(E([2,3],scale=.5,zero_point=1000,dtype=T.qint8))|E(2,dtype=T.quint8).q_scale()
        info(E(size=(2,5),dtype=T.quint4x2))|info(E((),dtype=T.quint2x4))|E(2)|E(2,dtype=T.float32)
        E(2,zero_point=1.,dtype=T.quint8)|E(2,zero_point=True,dtype=T.quint8)|E(2,zero_point=2**63,dtype=T.quint8)
        E(2,scale=1j,dtype=T.quint8)|E(2,scale=None,dtype=T.quint8)|E(2,scale=True,dtype=T.quint8).q_scale()
        E(2,scale=T.tensor(.5),zero_point=T.tensor(3),dtype=T.quint8).q_zero_point()|E((2,-3),dtype=T.quint8)
        E(2,dtype=T.quint8,device="meta")|E(2,dtype=T.quint8,device="cuda")|E(2,dtype=T.quint8,requires_grad=True)
        info(E((2,3,4,5),dtype=T.quint8,memory_format=T.channels_last))|info(E(2,dtype=T.quint8,memory_format=None))
        E((2,3,4,5),dtype=T.quint8,memory_format=T.preserve_format)|E((2,3),.5,3,dtype=T.quint8)
        E((2**40,2**40),dtype=T.quint8)|info(EC(3,4,scales=s4,zero_points=z4,axis=1,dtype=T.quint8))
        EC((3,4),scales=s4,zero_points=z4,axis=1,dtype=T.quint8,device="meta")|EC(3,4,scales=s4,zero_points=z4,axis=1)
        info(EQ((4,5),Q()))|EQ((4,5),Q()).q_zero_point()|info(EQ((2,3,4,5),Q(cl)))|info(EQ((2,3),C()))
        info(EQ((2,5),Q(),dtype=T.quint4x2))|EQ((2,3),Q(),dtype=T.float32)|EQ((2,3),x)|EQ(2,Q())|EQ(2,3,Q())|EQ((2,3))
        EQ((2,3),Q(),memory_format=T.contiguous_format)|EQ((2,3),Q(),device="meta")|EQ((2,3),Q(),device="cuda")
        EQ((2,3),Q(),requires_grad=True)|EQ((2,-3),Q())|EQ((3,),T.empty(2,dtype=T.quint8))|EQ((2,3),3)
        (lambda c: EQ((2,3),c).q_per_channel_scales().data_ptr() == c.q_per_channel_scales().data_ptr())(C())
        info(M(u,.5,3))|M(u,.5,3).int_repr()|M(u.t(),.5,3).dequantize()|info(M(u[:,::2],.5,3))|M(u.char(),.5,3).dtype
        M(u.int(),.5,3).dequantize()|info(M(cl.byte(),.5,3))|M(u.long(),.5,3)|M(u.bool(),.5,3)|M(u.float(),.5,3)
        M(Q(),.5,3)|M(u,.5,300).q_zero_point()|M(u,.5,300).dequantize()|M(u,.5,3.)|M(u,.5)|M(u,"a",3)|M([1],.5,3)
        M(u,T.tensor(.5),T.tensor(3)).q_scale()|M(u,T.tensor([.5]),3)|M(u,.5,2**63)|M(u.to("meta"),.5,3)
        info(MC(u,s4[:2],z4[:2],0))|MC(u,s4[:2],z4[:2],0).dequantize()|MC(u,s4[:3],z4[:3],1).dequantize()
        info(MC(u,s4,z4,1))|MC(u,s4,z4,1).dequantize()|info(MC(u,s4,z4,-1))|MC(u,s4[:2],s4[:2],0).dequantize()
        MC(u,s4[:1],z4,0)|MC(u,z4,z4,0)|MC(u,s4[None],z4[None],0)|MC(u,1.,0,0)|MC(u,s4,z4)|MC(u,s4,z4,0.)
        MC(u.float(),s4,z4,0)|info(MC(cl.byte(),T.ones(3),T.zeros(3),1))|MC(Q(),s4,z4,0)|info(MC(u[0,0],s4,z4,0))
        (lambda d: MC(u,d,z4,0).q_per_channel_scales().data_ptr() == d.data_ptr())(s4.double())
    """,
    "views": """
        info(Q().permute(1,0))|Q().permute(1,0).int_repr()|Q().permute(1,0).dequantize()
        Q(cl).permute(0,2,3,1).int_repr()|info(Q().view(T.uint8))|info(Q().view(12))|info(Q()[1])|info(Q()[:, ::2])
        info(Q().unsqueeze(0))|info(Q().expand(2,3,4))|info(Q().reshape(4,3))|info(Q().T.reshape(12))
        info(Q().as_strided((2,2),(1,1),1))|info(Q().squeeze())|info(Q().transpose(0,1))|info(Q().flatten())
        info(Q().narrow(0,1,2))|info(Q().unfold(0,2,1))|info(Q().split(2)[1])|info(Q().unbind(0)[1])
        info(Q().diagonal())|info(Q().detach())|info(Q().T)|Q().T.int_repr()|Q()[1].q_scale()|Q().T.qscheme()
        Q().view(12).q_zero_point()|Q().swapaxes(0,1).stride()|Q().movedim(0,1).stride()|Q().mT.stride()
        Q().squeeze_().shape|Q().unsqueeze_(0).shape|Q().transpose_(0,1).stride()|Q().t_().stride()
        Q().as_strided_((2,),(1,)).shape|Q().expand_as(Q()).stride()|Q().view_as(Q()).shape
        Q().unflatten(0,(3,1)).shape|Q().chunk(2)[0].stride()|Q().tensor_split(2)[0].shape
        Q().broadcast_to((2,3,4)).stride()|Q().ravel().shape|Q().swapdims(0,1).stride()
        Q().hsplit(2)[1].storage_offset()|Q().data.qscheme()|Q().view(T.int8).dtype|Q().view(T.int32).shape
        Q().view(T.qint8).dtype|Q(d=T.qint32).view(T.int32).dtype|Q(d=T.qint32).view(T.uint8).shape
        x.to(T.uint8).view(T.quint8).is_quantized|x.to(T.uint8).view(T.quint8).qscheme()
        x.to(T.uint8).view(T.quint8).int_repr()|x.to(T.uint8).view(T.quint8).view(T.uint8).dtype|Q().view(5)|Q()[7]
        Q().view(T.uint8).untyped_storage().nbytes()|(lambda q:[q[1].fill_(7.)._version,q.int_repr()])(Q())
        (lambda q:q[1].untyped_storage() is q.untyped_storage())(Q())
    """,
    "channels": """
        C().q_scale()|C().q_zero_point()|C().q_per_channel_scales()|C().q_per_channel_zero_points()
        C().q_per_channel_axis()|C().qscheme()|info(C())|info(C(cl))|info(C(cl,ax=1))|info(C(x.T))
        info(C().permute(1,0))|info(C().transpose(0,1))|info(C().view(12))|info(C().select(0,1))|info(C()[0:2])
        C().int_repr()|C().dequantize()|C(cl,ax=1).int_repr()|C(cl,ax=1).dequantize()|C().T|C().contiguous() is None
        info(C().clone())|info(C().unsqueeze(0))|C().expand(3,4)|C().as_strided((2,),(1,))|info(C()[1])
        info(C()[:,1])|info(C()[:, ::2])|info(C().narrow(0,1,1))|info(C().unfold(0,2,1))|info(C().diagonal())
        info(C().chunk(2,axis=0)[1])|info(C().chunk(2,axis=1)[1])|info(C().tensor_split(2,axis=-2)[1])|q.equal(x2=q)
        info(q.type_as(x2=q))|info(Q().copy_(x2=q))|info(q.repeat_interleave(2,axis=0))|info(C().unbind(axis=0)[0])
        info(C().split(1)[1])|info(C().unbind(0)[0])|info(C().squeeze())|info(C().flatten())|info(C().reshape(3,4))
        info(C().reshape(4,3))|info(C().detach())|info(C().view(3,2,2))|info(C(cl).clone())|info(C(cl).contiguous())
        C(cl).contiguous(memory_format=T.channels_last).stride()|info(C().resize_(2,2))|C().copy_(x).int_repr()
        C().item()|C()[0,0].item()|C()[1].int_repr()|C().view(12).dequantize()|C().equal(C())
        T.quantize_per_channel(x,s4,z4,1,T.quint8).int_repr()|T.quantize_per_channel(x,s4,z4,1,T.qint8).dequantize()
        T.quantize_per_channel(x,s4,z4,1,T.qint32).int_repr()
        T.quantize_per_channel(x,s4,z4,1,T.quint8).q_per_channel_zero_points()
        T.quantize_per_channel(x,T.ones(2),T.zeros(3),0,T.quint8)|T.quantize_per_channel(x,s4,z4,5,T.quint8)
        T.quantize_per_channel(x,s4,z4,-1,T.quint8)|T.quantize_per_channel(x.double(),s4,z4,1,T.quint8)
        T.quantize_per_channel(x,s4,z4*0+300,1,T.quint8)|T.quantize_per_channel(x,s4,z4*0-1,1,T.quint8)
        T.quantize_per_channel(x,s4,z4,1,T.uint8)|T.quantize_per_channel(x,T.ones(2,2),z4,1,T.quint8)
        T.quantize_per_channel(x,T.ones(3),T.zeros(3,dtype=T.int32),1,T.quint8)
        T.quantize_per_channel(x,s4,z4.float(),1,T.quint8).int_repr()
        T.quantize_per_channel(x,s4,z4.float()+.3,1,T.quint8).dequantize()
        T.quantize_per_channel(x,s4,z4.float(),1,T.quint8).qscheme()
        T.quantize_per_channel(x,s4,z4.float(),1,T.quint8).q_per_channel_scales()
        T.quantize_per_channel(x,s4,z4.float(),1,T.quint8).q_per_channel_zero_points()
        T.quantize_per_channel(x,T.ones(3),T.ones(3)*300,0,T.quint8).int_repr()|C(cl).q_per_channel_axis()
    """,
    "packed": """
        info(W(T.ones(2,5)))|info(W(T.ones(3,5)))|info(W(T.ones(2,4)))|info(W(T.ones(2,3,3)))
        W(ten).untyped_storage()[:5]|W(ten).int_repr()|W(ten).dequantize()|info(W(T.ones(2,5),T.quint2x4))
        W(ten,T.quint2x4).untyped_storage()[:3]|W(ten,T.quint2x4).int_repr()|W(ten,T.quint2x4).dequantize()
        W(ten).qscheme()|W(ten).q_per_channel_scales()|W(ten).q_per_channel_zero_points()|W(ten).element_size()
        C(ten,T.quint4x2)|C(ten,T.quint2x4)|info(E((5,),scale=1.,zero_point=0,dtype=T.quint4x2))
        info(E((5,),scale=1.,zero_point=0,dtype=T.quint2x4))|info(E((2,5),scale=1.,zero_point=0,dtype=T.quint4x2))
        info(E((2,3,3),scale=1.,zero_point=0,dtype=T.quint4x2))|info(E((),scale=1.,zero_point=0,dtype=T.quint4x2))
        info(E((0,),scale=1.,zero_point=0,dtype=T.quint4x2))|info(E((3,0),scale=1.,zero_point=0,dtype=T.quint4x2))
        info(E((3,7),scale=1.,zero_point=0,dtype=T.quint2x4))
        T.empty((2,5),dtype=T.quint4x2).untyped_storage().nbytes()
        T.empty((3,3),dtype=T.quint2x4).untyped_storage().nbytes()
        T.empty((3,3),dtype=T.qint32).untyped_storage().nbytes()
        T.quantize_per_tensor(T.arange(5.),1.,0,T.quint4x2).untyped_storage()
        T.quantize_per_tensor(ten,1.,0,T.quint4x2).untyped_storage()[:5]
        T.quantize_per_tensor(T.arange(5.),1.,0,T.quint4x2).int_repr()
        T.quantize_per_tensor(ten,1.,0,T.quint4x2).dequantize()
        T.quantize_per_tensor(T.arange(4.),1.,0,T.quint2x4).untyped_storage()
        T.quantize_per_tensor(T.arange(4.),1.,20,T.quint4x2).dequantize()
        T.quantize_per_tensor(T.arange(4.),1.,0,T.quint2x4).element_size()|T.QUInt4x2Storage(3).nbytes()
    """,
    "fresh": """
        info(E((2,3),scale=1.,zero_point=0,dtype=T.quint8))
        info(E((2,2,3,4),scale=1.,zero_point=0,dtype=T.quint8,memory_format=T.channels_last))
        E((2,3),dtype=T.quint8).q_scale()|E((2,3),scale=1.,zero_point=300,dtype=T.quint8).q_zero_point()
        E((2,3),scale=1.,zero_point=0,dtype=T.uint8)
        EC((2,3),scales=T.ones(2),zero_points=T.zeros(2),axis=0,dtype=T.quint8).qscheme()
        EC((2,3),scales=T.ones(2),zero_points=T.zeros(2,dtype=T.int32),axis=0,dtype=T.quint8).qscheme()
        info(EC((2,3),scales=T.ones(2),zero_points=T.zeros(2),axis=0,dtype=T.quint8))|T.zeros(2,dtype=T.quint8)
        T.ones(2,dtype=T.quint8)|T.full((2,),1.,dtype=T.quint8)|T.tensor([1],dtype=T.quint8)
        T.tensor([1],dtype=T.uint4)|T.empty_strided((2,),(1,),dtype=T.quint8)
        Q(cl.contiguous()).contiguous(memory_format=T.channels_last).stride()
    """,
    "copies": """
        info(Q().clone())|info(Q(cl).clone())|info(Q().T.clone())|info(Q().T.contiguous())|info(Q(cl).contiguous())
        info(Q(cl).contiguous(memory_format=T.channels_last))|info(Q().contiguous(memory_format=T.channels_last))
        info(Q(cl).clone(memory_format=T.preserve_format))|info(Q(cl).clone(memory_format=T.channels_last))
        info(Q().to(T.quint8))|Q().to(T.qint8)|Q().to(T.float32)|Q().float()
        Q().to(memory_format=T.contiguous_format).stride()|Q(cl).to(memory_format=T.contiguous_format).stride()
        Q().T.clone().int_repr()|Q().copy_(x+.3).int_repr()|Q().copy_(x.int())|Q().copy_(Q(s=.25)).q_scale()
        Q(x.T).copy_(Q(x.t())).int_repr()|Q().copy_(C())|Q().T.copy_(x.T)|Q()[1].copy_(x[0]).int_repr()
        Q().copy_(Q())._version|Q().fill_(3.).int_repr()|Q().fill_(1000.).int_repr()|Q()[0].fill_(1.)._version
        [f(q,0,x[0]),q.int_repr()]|[f(q,(0,0),3.),q.int_repr()]|info(Q().resize_(2,2))|info(Q().resize_(20))
        copy.deepcopy(Q()).qscheme()|copy.copy(Q()).qscheme()|info(copy.deepcopy(Q()[1:]))|info(pk(Q()[1:]))
        pk(Q()).q_scale()|pk(C()).q_per_channel_scales().tolist()|copy.deepcopy(C()).qscheme()|info(rt(Q()[1:]))
        rt(Q()).q_zero_point()|rt(C()).q_per_channel_zero_points().tolist()|rt(C()).q_per_channel_axis()
        rt(W(ten)).dequantize()|rt(W(ten)).qscheme()
        (lambda a:a[0].untyped_storage() is a[1].untyped_storage())(rt([q,q[1:]]))
        copy.copy(q).data_ptr()==q.data_ptr()|copy.deepcopy(Q(cl)).stride()|pk(Q(cl)).stride()
    """,
    "zero_points": """
        T.quantize_per_tensor(x,1.,256,T.quint4x2)|T.quantize_per_tensor(x,1.,-1,T.quint2x4)
        T.quantize_per_tensor(x,1.,255,T.quint4x2).int_repr()|T.quantize_per_tensor(x-9,1.,16,T.quint2x4).int_repr()
        E((2,),zero_point=256,dtype=T.quint8).dequantize()|E((2,),zero_point=-1,dtype=T.quint4x2).dequantize()
        E((2,),zero_point=256,dtype=T.quint8).fill_(1)|E((2,),zero_point=-1,dtype=T.quint8).copy_(T.ones(2))
        E((),zero_point=128,dtype=T.qint8).item()|E((0,),zero_point=128,dtype=T.qint8).dequantize()
        EC((2,),scales=T.ones(2),zero_points=T.tensor([300,0]),axis=0,dtype=T.quint8).dequantize()
        EC((2,),scales=T.ones(2),zero_points=T.tensor([300,0]),axis=0,dtype=T.quint8).fill_(1)
        info(EC((2,),scales=T.ones(2),zero_points=T.tensor([300,0]),axis=0,dtype=T.quint8))
        F(x[:1,:1],2.5).item()|F(x*5e8,0.).int_repr()|F(x*-5e8,0.,T.qint8).int_repr()|F(x*5e8,0.,T.quint4x2).int_repr()
        T.quantize_per_channel(x,T.zeros(3),T.ones(3),0,T.quint8).int_repr()
        T.quantize_per_channel(x,T.zeros(3)*-1,T.ones(3),0,T.quint2x4).int_repr()
        F().fill_(1)|F().copy_(x)|F().copy_(F())._version|F().clone()|F().contiguous() is None|F()[0].q_zero_point()
        F(z=-1.7)[0].q_zero_point()|F(z=300.)[0].dequantize()|F(z=3e30)[0]|F(z=float("nan"))[0]|F(z=9.3e18)[0]
        F()[:,0]|F()[:]|F()[0:2]|info(F()[0:1])|info(F()[:,0:4])|info(F()[...])|info(F()[None])|F()[:,1:]|F()[0:0]
        info(C().t_())|info(C().transpose_(0,1))|C().transpose_(0,9)|info(C().swapaxes_(0,-1))|info(F().t_())
        info(C().as_strided_((1,),(1,)))|info(C().transpose(0,0))|C().transpose(0,1)|info(C().transpose(dim0=0,dim1=0))
        C().movedim(0,0)|info(C().flip(()))|C().flip((0,))|info(C()[:1,:1].flip((0,)))|C().fliplr()|C().flipud()
        F().narrow(0,0,2)|F().unbind(1)|info(F().unbind(0)[1])|F().split(2)|info(F().unsqueeze(0))
        F()[None].q_per_channel_axis()|F().unsqueeze(0).q_per_channel_axis()|info(F(x[:1]).squeeze())
        C()[None].q_per_channel_axis()|C().unsqueeze(0).q_per_channel_axis()|C(x[:1]).squeeze()
        F(x[:1],ax=1).squeeze().q_per_channel_axis()|C(x[:1],ax=1).squeeze().q_per_channel_axis()
        W(ten).fill_(1)|W(ten).copy_(ten)|W(ten).copy_(W(ten))|W(ten).clone()
        Q(d=T.quint4x2).fill_(1)|Q(d=T.quint4x2).clone()|Q(d=T.quint4x2).copy_(x)|Q(d=T.quint4x2).copy_(x.double())
        Q(d=T.quint4x2).copy_(Q(d=T.quint4x2))|(lambda q:q.copy_(q)._version)(Q(d=T.quint4x2))
    """,
    "fill": """
        Q().T.fill_(1)|Q()[:, :2].fill_(1)|Q().expand(2,3,4).fill_(1)|Q(cl).fill_(3).int_repr()|Q().fill_("a")
        Q().fill_(None)|Q().fill_(T.tensor(3.)).int_repr()|Q().fill_(T.ones(2))|Q().fill_(1+2j)|Q().fill_(True).int_repr()
        Q().fill_(1e30).int_repr()|C().fill_(3).int_repr()|C(cl,ax=1).fill_(3).int_repr()
        Q().copy_(x.requires_grad_()).requires_grad|H(x.requires_grad_())|H(x.requires_grad_()[1:])|H(x)
        H(x._neg_view())|x._neg_view().dequantize()|Q(x._neg_view(),d=T.qint8).int_repr()
        Q(x._neg_view(),d=T.quint4x2).int_repr()|Q().copy_((x-9)._neg_view()).int_repr()
        Q(x*-1e9,1.,1,T.qint32).dequantize()|Q(x*1e8,.3,-7,T.qint32).dequantize()|info(C(T.ones(3)).t())
        info(C(T.ones(3)).t_())|info(F(T.ones(3)).transpose(0,0))|C(T.ones(3)).permute(0)|C(T.ones(3)).T
        H(x.double().requires_grad_())|H(x.requires_grad_()*2)|H(x.requires_grad_().detach())
    """,
    "set": """
        Q().set_(T.UntypedStorage(9).fill_(3),1,(2,2),(3,1)).int_repr()|Q().set_(T.UntypedStorage(4),1,(2,))
        info(Q().set_(T.UntypedStorage(4).fill_(3),1,(2,),(2,)))|Q().set_(T.UntypedStorage(4),1,(5,),(1,))
        Q().set_(T.UntypedStorage(4),-1,(2,),(1,))|Q().set_(T.UntypedStorage(4),0,(2,),(2,3))
        Q().set_(T.UntypedStorage(4,device="meta"),0,(2,),(1,))|Q().set_(T.ByteStorage(4),0,(2,),(1,))
        Q().set_(Q(),1,(2,),(1,)).int_repr()|Q().set_(T.zeros(2),1,(2,),(1,)).int_repr()|Q().set_(T.zeros(2),0,(),())
        C().set_(T.UntypedStorage(12).fill_(3),0,(3,4),(4,1)).int_repr()|Q(d=T.qint32).set_(T.UntypedStorage(4),0,(2,),(1,))
        Q(d=T.quint4x2).set_(T.UntypedStorage(2),0,(4,),(1,)).shape|Q(d=T.quint4x2).set_(T.UntypedStorage(2),0,(5,),(1,))
    """,
    "refused": """
        Q().set_()|Q().set_(T.UntypedStorage(4))|Q()+Q()|Q().numpy()|Q().tolist()|Q()[0,0].item()|Q().item()
        Q().zero_()|Q().sum()|Q().abs()|-Q()|Q().__dlpack__()|Q().storage().dtype|Q().storage()[0]
        Q().is_set_to(Q())|Q().requires_grad_()|Q().equal(Q())|Q().is_floating_point()|Q().is_signed()
        [g(C().view(12)) for g in (copy.copy,)]|[g(C().view(12)) for g in (copy.deepcopy,)]|pk(C().view(12))
        rt(C().view(12))|rt(EC((),scales=T.ones(1),zero_points=T.ones(1),axis=0,dtype=T.qint8))
        pk(EC((2,),scales=T.ones(3),zero_points=T.ones(3),axis=0,dtype=T.qint8))
        F(x[:1])[-1:,...].qscheme()|F(x[:1])[0:1,...].qscheme()|F(x[:1])[:9,1].qscheme()|C(x[:1])[-1:,...].qscheme()
        C(x[:1])[0:1,...].qscheme()|C(x[:1])[:-1,...]|C(x[:1])[-1:].qscheme()|C()[-3:,...].qscheme()|F()[-3:,...]
        Q().T.mul(Q().T)|Q(cl).add(Q(cl))|Q(cl).add(Q(cl.contiguous()))|Q(x[:, ::2]).sub(Q(x[:, ::2]))|Q().div(Q(x.T))
        Q(d=T.quint4x2).equal(Q(d=T.quint8))|(lambda q:q.equal(q))(Q(d=T.quint4x2))
        (lambda q:q.equal(q))(Q(cl,d=T.quint2x4))
        info(EC((0,),scales=T.ones(3),zero_points=T.ones(3),axis=0,dtype=T.quint8))
        EC((0,),scales=T.ones(3),zero_points=T.ones(3),axis=0,dtype=T.quint8).dequantize()
        EC((2,),scales=T.ones(2),zero_points=T.ones(2),axis=-1,dtype=T.quint4x2).q_per_channel_axis()
        EC((3,),scales=T.ones(3),zero_points=T.ones(3).long(),axis=0,dtype=T.quint4x2).dequantize()
        EC((3,),scales=T.ones(3,1),zero_points=T.ones(3),axis=0,dtype=T.quint8)
        Q().add(x)|Q().mul(Q(d=T.qint8))|Q().sub(2)|Q().div(1.5)|Q().maximum(T.tensor(2.))|C(d=T.qint8).add(Q(d=T.qint8))
        Q().atan2(x+1j)|Q().remainder(x.int())|F(cl[:,:1],ax=3).int_repr()|C(cl[:,:1],ax=3)|F(cl,ax=2).dequantize()
        Q(d=T.qint8).is_signed()|Q().type()|Q(d=T.qint32).type()|Q().untyped_storage()|Q().is_shared()
        Q().share_memory_().is_shared()|Q().storage().tolist()|Q().half()|Q().int()|Q()/Q()|Q().cumsum(0)|Q().exp()
    """,
}  # fmt: skip


def make(lib):
    x = lib.arange(12.0).reshape(3, 4)
    cl = lib.arange(48.0).reshape(2, 2, 3, 4).contiguous(memory_format=lib.channels_last)

    def q(t=x, s=0.5, z=2, d=lib.quint8):
        return lib.quantize_per_tensor(t, s, z, d)

    def c(t=x, d=lib.quint8, ax=0):
        n = t.shape[ax]
        return lib.quantize_per_channel(t, lib.ones(n) * 0.5, lib.ones(n, dtype=lib.int64), ax, d)

    def w(t=x, d=lib.quint4x2, ax=0):
        n = t.shape[ax]
        return lib.quantize_per_channel(t, lib.ones(n) * 0.5, lib.zeros(n), ax, d)

    def f(t=x, z=1.0, d=lib.quint8, ax=0):
        n = t.shape[ax]
        return lib.quantize_per_channel(t, lib.ones(n) * 0.5, lib.zeros(n) + z, ax, d)

    def rt(o):
        f = io.BytesIO()
        lib.save(o, f)
        f.seek(0)
        return lib.load(f)

    def info(t):
        return (
            str(t.dtype), tuple(t.shape), t.stride(), t.storage_offset(), t.untyped_storage().nbytes(), t._is_view(),
            t._version, t.is_contiguous(), t.requires_grad,
        )  # fmt: skip

    return {
        "x": x, "cl": cl, "y": lib.tensor([0.25, 0.75, 1.25, -0.25, 2.5, 0.5, 0.25, 0.75]),
        "ten": lib.arange(10.0).reshape(2, 5),
        "s4": lib.tensor([0.5, 1.0, 0.25, 3.0]), "z4": lib.tensor([0, 1, 2, 3]), "Q": q, "C": c,
        "H": lambda t: (t.dequantize() is t, t.is_leaf, t.requires_grad, t._version, t._is_view()),
        "W": w, "F": f, "q": q(), "info": info, "copy": copy, "P": lib.nn.Parameter,
        "mq": lib.empty((2, 3), dtype=lib.quint8, device="meta"),
        "E": lib._empty_affine_quantized, "EC": lib._empty_per_channel_affine_quantized,
        "EQ": lib.empty_quantized, "M": lib._make_per_tensor_quantized_tensor,
        "MC": lib._make_per_channel_quantized_tensor, "u": lib.arange(6, dtype=lib.uint8).reshape(2, 3),
        "pk": lambda o: pickle.loads(pickle.dumps(o)),
        "rt": rt, "f": lambda t, i, v: t.__setitem__(i, v),
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", TABLE)
def test_quantized_tensors_agree_with_torch(part):
    expressions = split(TABLE[part])
    found = [d for e in expressions if (d := disagreement(e, make))]
    assert not found, f"{len(found)} of {len(expressions)}:\n" + "\n".join(found)


@pytest.mark.filterwarnings("ignore")
def test_random_numbers_get_torchs_codes():
    for n in range(400):
        rng = random.Random(n)
        layout = random_layout(rng)
        values = np.float32(
            [rng.uniform(-30, 30) if rng.random() < 0.7 else rng.randint(-40, 40) / 2 for _ in range(layout.span + 1)]
        )
        scale, dtype = rng.choice([0.5, 1.0, 0.1, 0.037, 2.0]), rng.choice(["quint8", "qint8", "qint32"])
        zero_point = rng.randint(0, 100)
        results = []
        for lib in (torch, ref):
            t = lib.from_numpy(values.copy()).as_strided(layout.shape, layout.strides, layout.offset)
            q = lib.quantize_per_tensor(t, scale, zero_point, getattr(lib, dtype))
            codes, numbers = q.int_repr(), q.dequantize()
            results.append((q.stride(), codes.stride(), codes.tolist(), numbers.stride(), numbers.tolist()))
        assert results[0] == results[1], (n, layout, scale, zero_point, dtype)


VIEWS = [
    "q.T", "q[1:]", "q[0]", "q.unsqueeze(1)", "q.view(-1)", "q.reshape(-1)", "q.flatten()", "q.squeeze()",
    "q.select(-1, 0)", "q.permute(*range(q.dim())[::-1])", "q.transpose(0, -1)", "q.expand(2, *q.shape)",
    "q[..., ::2]", "q.unbind(0)[0]", "q.narrow(0, 0, 1)", "q.split(1)[0]", "q.detach()", "q.clone()",
    "q.contiguous()", "q.unfold(0, 1, 1)", "q.diagonal()", "q.contiguous(memory_format=T.channels_last)",
    "q.clone(memory_format=T.channels_last)", "q.to(memory_format=T.preserve_format)",
]  # fmt: skip


PER_CHANNEL = "T.quantize_per_channel(x, T.arange(1.0, k + 1), T.zeros(k, dtype=T.int64), axis, T.qint8)"


@pytest.mark.filterwarnings("ignore")
def test_random_chains_of_views_keep_the_quantizer():
    for n in range(400):
        rng = random.Random(n)
        shape = [rng.choice([1, 2, 3]) for _ in range(rng.choice([1, 2, 3, 4]))]
        axis = rng.choice([None, *range(len(shape))])
        chain = [rng.choice(VIEWS) for _ in range(rng.randint(1, 3))]
        outcomes = []
        for lib in (torch, ref):
            x = lib.arange(float(np.prod(shape))).reshape(shape)
            seen = []
            make = "T.quantize_per_tensor(x, 0.5, 3, T.quint8)" if axis is None else PER_CHANNEL
            names = {"x": x, "T": lib, "k": shape[axis or 0], "axis": axis}
            try:
                for expression in (make, *chain):
                    names["q"] = q = eval(expression, names)
                    seen.append((str(q.dtype), tuple(q.shape), q.stride(), q.storage_offset(), str(q.qscheme())))
                    seen.append((q.int_repr().stride(), q.int_repr().tolist()))
                    seen.append((q.dequantize().stride(), q.dequantize().tolist()))
            except Exception as e:
                seen.append(exception_type(e).__name__)
            outcomes.append(seen)
        assert outcomes[0] == outcomes[1], (n, shape, axis, chain)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["quint4x2", "quint2x4"])
def test_codes_that_c_leaves_open_are_not_specified(dtype):
    """Numbers past 64 bits and NaN have no packed code; their neighbours in other bytes have."""
    pack = getattr(ref, dtype).pack
    numbers = ref.tensor([1.0] * pack + [1e30] + [1.0] * (pack - 1) + [float("nan")] + [2.0] * pack)
    scales = ref.ones(len(numbers))
    for q in (
        ref.quantize_per_tensor(numbers, 1.0, 0, getattr(ref, dtype)),
        ref.quantize_per_channel(numbers, scales, scales - 1, 0, getattr(ref, dtype)),
    ):
        assert q._storage._shadow.tolist() == [0, 255, 255, 0]


@pytest.mark.filterwarnings("ignore")
def test_codes_under_scales_of_a_tolerance_mean_nothing():
    """Scales are held as they are: who writes inexact numbers to them leaves open what the codes stand for."""
    scales = ref.tensor([1.0, 2.0])
    q = ref.quantize_per_channel(ref.ones(2), scales, scales.clone(), 0, ref.quint8)
    assert q.dequantize()._storage._shadow is None
    scales.sinh_()
    assert set(q.dequantize()._storage._shadow.tolist()) == {255}
    assert set(ref.quantize_per_channel(ref.ones(2), scales, scales, 0, ref.quint8)._storage._shadow.tolist()) == {255}


@pytest.mark.filterwarnings("ignore")
def test_the_process_is_not_ended_where_torchs_is():
    with pytest.raises(RuntimeError) as caught:
        ref.quantize_per_channel(ref.ones(2), ref.ones(2), ref.ones(2), 0, ref.qint32)
    assert caught.value.fatal
    q = ref._empty_per_channel_affine_quantized(
        (2,), scales=ref.ones(2), zero_points=ref.ones(2), axis=0, dtype=ref.qint32
    )
    with pytest.raises(RuntimeError) as caught:
        q.dequantize()
    assert caught.value.fatal


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("lib", [torch, ref], ids=["torch", "reference"])
def test_codes_and_coordinates_call_themselves_tensors(lib):
    for t in (make(lib)["Q"](), make(lib)["C"](), lib.sparse_coo_tensor([[0]], [1.0], (3,))):
        assert t.__class__ is lib.Tensor
        assert isinstance(t, lib.Tensor)
        assert copy.deepcopy(t).__class__ is lib.Tensor


def test_creation_warns_once():
    from stridecheck.reference_impl import notices

    notices.given.discard(notices.QUANTISED)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ref.quantize_per_tensor(ref.ones(2), 1.0, 0, ref.quint8)
        ref.quantize_per_tensor(ref.ones(2), 1.0, 0, ref.quint8)
    assert [w.category for w in caught] == [UserWarning]
