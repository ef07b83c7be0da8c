"""What PyTorch's functions for networks make of quantised tensors: padding, shuffles, activations, pooling, losses."""

import copy
import pickle

import pytest

from .agreement import disagreement
from .test_quantized_operations import names
from .test_storage_surface import split

TABLE = {
    "padded": """
        M(nf.pad(q,(1,1)))|M(nf.pad(q.T,(1,1)))|M(nf.pad(Q(cl),(1,1)))|M(nf.pad(Q(d=T.qint8),(1,1),value=-3.))
        M(nf.pad(Q(d=T.qint32),(1,-1),value=1e9))|M(nf.pad(q[:, ::2],(1,0)))|M(nf.pad(q[:0],(1,1)))
        M(nf.pad(q,(-2,-2)))
        M(nf.pad(Q(),(1,1),value=1000))|nf.pad(Q(),(1,1),value="a")|nf.pad(Q(),(1,1),value=1j)
        M(nf.pad(Q(T.ones(3,0)),(1,1)))
        M(nf.pad(q,(0,0)))|M(nf.pad(Q(cl),(0,-1)))|M(nf.pad(C(),(-1,0)))|M(nf.pad(C(),(0,0,0,-2)))
        M(nf.pad(C(),(0,0)))
        nf.pad(C(),(1,1))|nf.pad(F(),(1,1))|nf.pad(F(),(0,0))|nf.pad(P,(1,1))|nf.pad(P,(-1,0))|nf.pad(q,(-3,-3))
        nf.pad(q,(1,))
        M(T.constant_pad_nd(q,(1,1),1.))|M(T.constant_pad_nd(q,(1,1)))|M(nf.pad(Q(x*.3-2,s=.1),(1,1)))
        M(nf.pad(Q(cl),(1,1,1,1),mode="reflect"))|M(nf.pad(Q(cl[0]),(1,1,1,1),mode="reflect"))
        M(nf.pad(q,(1,1),mode="reflect"))
        M(nf.pad(Q(cl,d=T.qint32),(-1,1,1,-1),mode="reflect"))|M(nf.pad(Q(cl)[:0],(1,1,1,1),mode="reflect"))
        nf.pad(Q(cl)[None],(1,1,1,1,1,1),mode="reflect")|nf.pad(C(cl),(1,1,1,1),mode="reflect")
        nf.pad(P[None],(1,1),mode="reflect")|nf.pad(Q(cl),(9,9,1,1),mode="reflect")
        nf.pad(F(cl),(1,1,1,1),mode="reflect")
        nf.pad(Q(cl),(1,1,1,1),mode="replicate")|nf.pad(C(cl[0]),(1,1),mode="replicate")
        nf.pad(Q(cl),(1,1),mode="nope")
        nf.pad(Q(cl),(1,1,1,1),mode="circular")|nf.pad(P[None],(1,1),mode="circular")
        nf.pad(Q(cl),(1,1,1),mode="reflect")
    """,
    "shuffled": """
        M(T.channel_shuffle(Q(cl),2))|M(T.channel_shuffle(Q(cl.contiguous()),2))|M(T.channel_shuffle(Q(cl),1))
        M(T.channel_shuffle(Q(cl).permute(0,3,1,2),2))|M(T.channel_shuffle(Q(T.ones(1,4,1,1)),2))
        T.channel_shuffle(Q(cl),0)
        M(T.channel_shuffle(Q(cl)[:0],2))|M(T.channel_shuffle(Q(T.ones(2,0,1,3)),1))
        T.channel_shuffle(Q(T.ones(2,0,1,3)),2)
        M(T.channel_shuffle(Q(T.ones(2,1,1,3)),1))|T.channel_shuffle(Q(cl[0]),2)|T.channel_shuffle(Q(cl,d=T.qint8),2)
        T.channel_shuffle(C(cl),2)|T.channel_shuffle(F(cl),2)|T.channel_shuffle(P[None,None],1)
        T.channel_shuffle(Q(cl),3)
        M(T.pixel_shuffle(Q(cl.transpose(1,3)),2))|M(T.pixel_shuffle(Q(cl[0].transpose(0,2)),2))
        M(T.pixel_shuffle(Q(cl),1))
        M(T.pixel_shuffle(Q(cl.transpose(1,3))[:0],2))|M(T.pixel_shuffle(Q(T.ones(2,4,0,2)),2))
        T.pixel_shuffle(Q(cl),2)
        T.pixel_shuffle(C(T.ones(3,4,2)),1)|T.pixel_shuffle(C(T.ones(3,4,0,2)),2)|T.pixel_shuffle(P[None],1)
        T.pixel_shuffle(q,1)
        M(T.pixel_unshuffle(Q(even.reshape(1,4,6)),2))|M(T.pixel_unshuffle(Q(cl[:,:,:2],d=T.qint32),2))
        M(T.pixel_unshuffle(Q(T.ones(1,0,4,4)),2))|T.pixel_unshuffle(C(T.ones(3,4,4)),2)|T.pixel_unshuffle(Q(cl),2)
    """,
    "activations": """
        M(nf.hardsigmoid(Q(x-5)))|M(nf.hardsigmoid(Q(cl-9)))|M(nf.hardsigmoid(Q(x-5).T))
        M(nf.hardsigmoid(Q(x-5,d=T.qint8)))
        M(nf.hardsigmoid(Q(x-5,d=T.qint32)))|M(nf.hardsigmoid(Q(x[:0])))|nf.hardsigmoid(C())|nf.hardsigmoid(P)
        nf.hardsigmoid(F())
        (lambda a:[M(nf.hardsigmoid(a,True)),M(a)])(Q(x-5,d=T.qint8).T)|nf.hardsigmoid(C(),True)
        nf.hardsigmoid(P,True)
        (lambda a:nf.hardsigmoid(a,True) is a)(Q())|M(nf.leaky_relu(Q(x-5)))|M(nf.leaky_relu(Q(x-5,d=T.qint32),.3))
        M(nf.leaky_relu(Q(x-5),negative_slope=-2))|M(nf.leaky_relu(Q(x-5)[:, ::2],.3))
        M(nf.leaky_relu(Q(x*.3-2,s=.1),.5))
        nf.leaky_relu(C())|nf.leaky_relu(P)|nf.leaky_relu(q,"a")|nf.leaky_relu(q,1j)|M(nf.leaky_relu(Q(cl-9),.3,True))
        (lambda a:[M(nf.leaky_relu_(a,.3)),M(a)])(Q(x-5).T)|nf.leaky_relu_(C())|M(nf.relu6(Q(cl-2)))
        M(nf.relu6(Q(x-2).T))
        (lambda a:[M(nf.relu6(a,True)),M(a)])(Q(x-2)[:, ::2])|nf.relu6(C())|nf.relu6(P)|nf.relu6(F(),True)
        M(nf.gelu(Q(x-5)))|M(nf.gelu(Q(x*.3-2,s=.05,d=T.qint8),approximate="tanh"))|nf.gelu(q,approximate="a")
        nf.gelu(C())|nf.gelu(P)
        M(nf.hardtanh_(Q(x-5)))|M(nf.hardtanh_(Q(x-5).T,-2,2))|M(nf.hardtanh_(Q(),3,1))|nf.hardtanh(Q(),3,1)
        nf.hardtanh_(C())
        M(nf.hardtanh(Q(x-5)[1],inplace=True))|nf.threshold(Q(),1.,2.,True)|M(nf.relu(Q(x-5),inplace=True))
        nf.elu_(Q())
        M(nf.prelu(Q(x-5),Q(T.arange(4.))))|M(nf.prelu(Q(cl-9),Q(T.ones(2)*.3,s=.1)))
        M(nf.prelu(Q(x-5),Q(T.tensor(.3))))
        nf.prelu(q,T.ones(1))|nf.prelu(x,q[0,:1])|nf.prelu(q,3)|nf.prelu(q,Q(T.ones(3)))|nf.prelu(q,q)
        nf.prelu(C(),q[0,:1])
        nf.prelu(q,q[0,:1].to(T.quint8))|nf.prelu(P,P)|nf.prelu(P,P[0,:1])|M(Q(x-5).prelu(Q(T.ones(1))))
    """,
    "pooled": """
        M(nf.avg_pool1d(q,2))|nf.avg_pool1d(q,2)._base.shape|M(nf.avg_pool1d(Q(cl[0],d=T.qint8),2,1,1))
        nf.avg_pool1d(C(),2)
        M(nf.avg_pool1d(Q(cl[0]),2,1,1,True,False))|nf.avg_pool1d(P,2)|nf.avg_pool1d(Q(cl),2)
        nf.avg_pool1d(q,2,padding=3)
        M(nf.avg_pool3d(Q(cl[None]),2))|M(nf.avg_pool3d(Q(cl[None],d=T.qint8),2,1,1,False,False,3))
        nf.avg_pool3d(Q(cl),2)
        M(nf.avg_pool3d(Q(cl[None,:1]),2))|M(nf.avg_pool3d(Q(cl[:, :1,None]),(1,2,2)))
        M(nf.avg_pool3d(Q(cl[None])[:0],2))
        nf.avg_pool3d(q,2)|nf.avg_pool3d(C(cl[None],ax=1),2)|nf.avg_pool3d(P[None,None],1)|nf.avg_pool3d(F(cl),2)
        M(nf.adaptive_avg_pool1d(q,2))|M(nf.adaptive_avg_pool1d(Q(cl[0],d=T.qint32),1))|nf.adaptive_avg_pool1d(C(),2)
        nf.adaptive_avg_pool1d(q,0).shape|nf.adaptive_avg_pool1d(q,(1,2))|nf.adaptive_avg_pool1d(P,2)
        nf.adaptive_avg_pool1d(q,-1)
        M(nf.adaptive_avg_pool3d(Q(cl),1))|M(nf.adaptive_avg_pool3d(Q(cl),2))|M(nf.adaptive_avg_pool3d(Q(cl),(1,3,2)))
        M(nf.adaptive_avg_pool3d(Q(cl[None]),(None,2,2)))|M(nf.adaptive_avg_pool3d(Q(cl[None]),1))
        nf.adaptive_avg_pool3d(C(cl),1)
        M(nf.adaptive_avg_pool3d(Q(cl[:,:,None]).contiguous(memory_format=T.channels_last_3d),2))
        M(nf.adaptive_avg_pool3d(Q(cl[:,:,None]).contiguous(memory_format=T.channels_last_3d),1))
        nf.adaptive_avg_pool3d(P[None,None],1)|nf.adaptive_avg_pool3d(F(cl),2)|nf.adaptive_avg_pool3d(q,2)
        M(nf.interpolate(Q(cl),size=(2,2),mode="area"))|M(nf.interpolate(q[None],size=2,mode="area"))
        M(nf.interpolate(Q(cl[None]),size=(1,2,2),mode="area"))|nf.interpolate(C(cl),size=2,mode="area")
        M(nf.upsample(Q(cl),scale_factor=2))|M(nf.upsample(Q(cl),(5,3),None,"bilinear",True))
        M(nf.upsample_nearest(Q(cl),2))
        M(nf.upsample_bilinear(Q(cl),scale_factor=2))|nf.upsample(Q(cl[None]),scale_factor=2,mode="trilinear")
        M(T.quantized_max_pool2d(Q(cl),(2,2)))|M(T.quantized_max_pool2d(Q(cl[0],d=T.qint8),2,1,1,1,True))
        T.quantized_max_pool2d(cl,2)
        T.quantized_max_pool2d(C(cl),2)|T.quantized_max_pool2d(P[None],2)|T.quantized_max_pool2d(q,2)
        T.quantized_max_pool2d(Q(cl),9)
        M(T.quantized_max_pool1d(q.T,2))|T.quantized_max_pool1d(x,2)
        M(T.quantized_max_pool1d(Q(cl[0]),(2,),(1,),(1,)))
        M(T.quantized_max_pool3d(Q(cl[None]),2))|T.quantized_max_pool3d(Q(cl),2)|T.quantized_max_pool3d(cl,2)
        L(nf.grid_sample(Q(cl),T.zeros(2,1,3,2)))|L(nf.grid_sample(Q(cl)[:0],T.zeros(0,1,1,2)))
        nf.grid_sample(C(cl),T.zeros(2,1,1,2))
        nf.grid_sample(Q(cl),T.zeros(2,1,1,2),mode="nearest")|nf.grid_sample(Q(cl,d=T.qint8),T.zeros(2,1,1,2))
        nf.grid_sample(Q(cl),T.zeros(2,1,1,2).double())|nf.grid_sample(Q(cl),Q(T.zeros(2,1,1,2)))
        nf.grid_sample(Q(cl),T.zeros(1,1,1,2))
        nf.grid_sample(cl,Q(T.zeros(2,1,1,2)))|nf.grid_sample(Q(cl[None]),T.zeros(1,1,1,1,3))
        nf.grid_sample(P[None,None],T.zeros(1,1,1,2))
    """,
    "refused": """
        ~q|~C()|~P|q.bitwise_not()|q@q|q@x|x@q|C()@q|P@P|q@3|q[0]@q|q@q[0]|Q(T.ones(()))@q|q.mm(q)|T.mm(q,q.T)
        T.inner(q,q.T)
        T.bmm(q[None],q[None])|T.mv(q,q[0,:2])|T.dot(q[0],q[0,:2])|T.outer(q[0],q[0])|T.ger(q,q)|q.matmul(3)
        T.addmm(q,q,q.T)
        x.where(x>1,q)|q.where(x>1,x)|T.where(x>1,x,q)|T.where(x>1,q,1.)|q.where(x>1,1.)|T.where(x>1,q,Q(d=T.qint8))
        x.where(x>1,x)
        q.type_as(q) is q|M(q.type_as(C()))|M(C().type_as(q))|q.type_as(x)|q.type_as(Q(d=T.qint8))|q.type_as(3)
        P.type_as(P) is P
        +q is q|q.positive() is q|M(+F())|M(T.positive(C()))|nf.unfold(Q(cl),2)|nf.unfold(q,2)|nf.fold(Q(cl),2,2)
        nf.fold(q,3,2)
        nf.mse_loss(q,q)|nf.mse_loss(q,x)|nf.mse_loss(x,q)|nf.mse_loss(P,P)|nf.mse_loss(q,q,reduction="none")
        nf.mse_loss(q,q,False)
        nf.mse_loss(q,q,None,None,"none")|nf.mse_loss(q,q,reduce=False)|nf.mse_loss(q,Q(T.ones(7)))
        nf.mse_loss(q,q,reduction="a")
        nf.mse_loss(C(),C(),reduction="sum")|nf.smooth_l1_loss(q,q)|nf.smooth_l1_loss(q,q,beta=0)|nf.l1_loss(q,q)
        nf.huber_loss(q,q)
    """,
    "attributes": """
        A(Q(),copy.copy)|A(C(),copy.copy)|A(Q(),copy.deepcopy)|A(C(),copy.deepcopy)|A(P,copy.deepcopy)|A(Q(),T.clone)
        A(Q(),T.detach)
        A(Q(),lambda t:pickle.loads(pickle.dumps(t)))|A(C(),lambda t:pickle.loads(pickle.dumps(t)))
        A(Q(),lambda t:t[0])
        A(Q(),lambda t:t.t_())|A(Q(),T.squeeze)|A(Q(),lambda t:t.view(12))|(lambda a,b:a is b)(*copy.deepcopy([q,q]))
    """,
}  # fmt: skip


def more_names(lib):
    """Those of the operations, and `A`: the attributes of what is made of a tensor that has one of the user's own."""

    def attributes(t, make):
        t.mine = [3]
        made = make(t)
        return vars(made), "mine" in vars(made) and made.mine is t.mine

    return names(lib) | {"A": attributes, "copy": copy, "pickle": pickle}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", TABLE)
def test_functions_of_quantised_tensors_agree_with_torch(part):
    expressions = split(TABLE[part])
    found = [d for e in expressions if (d := disagreement(e, more_names))]
    assert not found, f"{len(found)} of {len(expressions)}:\n" + "\n".join(found)
