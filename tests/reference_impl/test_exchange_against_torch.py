"""Memory exchanged with NumPy, buffers and other libraries: the same sharing, layouts and refusals as torch's."""

import copy
import ctypes
import subprocess
import sys
import warnings

import numpy as np
import pytest
import stridecheck.reference_impl as ref
from stridecheck.reference_impl import notices
from stridecheck.reference_impl.dlpack import DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned

from .agreement import disagreement, run
from .test_storage_surface import split

NUMPY = {
    "from_numpy": """
        T.from_numpy(np.ma.array(a,mask=a>3))|T.from_numpy(np.ma.array(a,mask=a>3)[:,1:])|T.tensor(np.matrix(a))
        T.from_numpy(a)|T.from_numpy(a.T)|T.from_numpy(a[:, ::2])|T.from_numpy(a[1:])|T.from_numpy(a[::-1])
        T.from_numpy(a[:, ::-1])|T.from_numpy(np.zeros((0,3)))|T.from_numpy(np.zeros((3,0)))
        T.from_numpy(np.float32(3))|T.from_numpy([1])|T.from_numpy(3)|T.from_numpy(np.array(3.))
        T.from_numpy(a.astype(">f4"))|T.from_numpy(np.array(["a"]))|T.from_numpy(np.array([1],np.longdouble))
        T.from_numpy(np.array([None]))|T.from_numpy(np.datetime64("2020") + np.arange(3))
        T.from_numpy(np.broadcast_to(a,(2,3,4)))|T.from_numpy(np.broadcast_to(np.float32(1),(2,3)))
        T.from_numpy(ndarray=a)|T.from_numpy(a,a)|[T.from_numpy(a).fill_(7),a]|T.from_numpy(a).untyped_storage().resizable()
        T.from_numpy(a[1:]).storage_offset()|T.from_numpy(a[1:,1:])|T.from_numpy(a).resize_(100)
        T.from_numpy(a).resize_(2)|T.from_numpy(np.zeros(3,dtype=[("x","f4"),("y","f8")])["x"])
        T.from_numpy(np.zeros(3,dtype=[("x","i1"),("y","f4")])["y"])|T.from_numpy(np.zeros(4,dtype="V4"))
        T.from_numpy(np.frombuffer(bytes(9),np.uint8)[1:].view(np.int64))|T.from_numpy(T.arange(3).numpy())
        T.from_numpy(np.zeros((1,3))[:, ::2])|T.from_numpy(np.zeros((2,1,3)).transpose(2,1,0))
        [T.from_numpy(np.zeros(2,d)).dtype for d in (np.bool_,np.uint8,np.int8,np.int16,np.int32,np.int64)]
        [T.from_numpy(np.zeros(2,d)).dtype for d in (np.float16,np.float32,np.float64)]
        [T.from_numpy(np.zeros(2,d)).dtype for d in (np.complex64,np.complex128,np.uint16,np.uint32,np.uint64)]
        T.from_numpy(np.lib.stride_tricks.as_strided(a,(2,2),(4,4)))
        T.from_numpy(np.lib.stride_tricks.as_strided(a,(2,2),(6,4)))
        T.from_numpy(np.lib.stride_tricks.as_strided(a,(1,),(-4,)))
        T.from_numpy(np.lib.stride_tricks.as_strided(a,(0,),(-4,)))
        T.from_numpy(np.lib.stride_tricks.as_strided(a,(1,),(3,)))
        T.from_numpy(np.lib.stride_tricks.as_strided(a,(1,2),(400,4)))
        (lambda r:(r.setflags(write=False),T.from_numpy(r).fill_(3),r.tolist()))(np.zeros(2))|T.from_numpy()
        lent(bytearray(4),None,True)|lent(bytearray(4),True,True)|lent(bytearray(4),False,True)
        lent(bytearray(4),True,False)|lent(a,True,True)|lent([1.],True,True)|lent(x,True,True)
        lent(x.requires_grad_(),True,None)|lent(x.requires_grad_()*2,True,True)|lent(x.requires_grad_()*2,True,False)
        T.from_numpy(T.arange(3))|T.from_numpy(np.ma.array([1.,2.]))|T.from_numpy(np.matrix([[1.,2.]]))
        T.from_numpy(memoryview(b"ab"))
    """,
    "numpy": """
        x.numpy()|x.T.numpy()|x[1:].numpy()|x[:, ::2].numpy()|x.expand(2,3,4).numpy()|T.tensor(3.).numpy()
        T.empty(0,3).numpy()|x[5:].numpy()|[x.numpy().fill(9),x]|[x.numpy(),x.untyped_storage().resizable()]
        [x.numpy(),x.resize_(2)]|[x.numpy(),x.resize_(100)]|x.clone().requires_grad_().numpy()
        (x.clone().requires_grad_()*2).numpy()|c.conj().numpy()|c.conj().imag.numpy()|c.imag.numpy()
        x.bfloat16().numpy()|T.zeros(2,dtype=T.float8_e5m2).numpy()|T.zeros(2,dtype=T.complex32).numpy()
        T.zeros(2,dtype=T.uint16).numpy()|T.zeros(2,dtype=T.bool).numpy()|T.empty(2,device="meta").numpy()
        T.empty(2,device="meta").numpy(force=True)|x.clone().requires_grad_().numpy(force=True)|c.conj().numpy(force=True)|c.conj().imag.numpy(force=True)
        x.numpy(force=1)|x.numpy(force=None)|x.numpy(force=np.bool_(True))|x.numpy(force=False)|x.numpy(force=True)|x.bfloat16().numpy(force=True)|x.numpy(True)
        x.as_strided((2,2),(1,1)).numpy()|T.empty_strided((1,3),(99,1)).numpy().strides
        T.ones(2,1,3).transpose(0,2).numpy()|x.numpy().base is not None|[x.requires_grad_(),x.detach().numpy()]
        unlocked(x.numpy())|unlocked(x.numpy()[1:])|unlocked(T.empty(0,3).numpy())|unlocked(x[:,4:].numpy())
        unlocked(np.asarray(x))|unlocked(np.asarray(x,np.float64))|unlocked(np.asarray(x)[:0])|x.numpy().flags.owndata
        isinstance(x.numpy().base,np.ndarray)|isinstance(x[1:,::2].T.numpy().base,np.ndarray)
        x.numpy().flags.writeable|x.unfold(1,2,1).numpy()|x.view(T.uint8).numpy()
    """,
    "protocols": """
        np.asarray(x)|np.asarray(x).ctypes.data==x.data_ptr()|np.array(x).ctypes.data==x.data_ptr()
        np.asarray(x,dtype=np.int64)|np.array(x)|np.array(x.T)|np.asarray(x.clone().requires_grad_())
        np.asarray(c.conj())|hasattr(x,"__array_interface__")|np.asarray(x[0,0])
        np.asarray(T.empty(2,device="meta"))|x.__array__(np.float64)|np.asarray(x.bfloat16())|c.__array__(np.float32)
        np.asarray(c[:,None],np.uint8).strides|np.asarray(c[:,None].as_strided((2,1),(1,2)),np.uint8).strides
        np.asarray(c,np.int16)|np.asarray(c.T,np.float64).strides|np.asarray(c,bool)|c.__array__(np.complex128)
        np.array([T.tensor(1),T.tensor(2)])|np.array(x,copy=True)|np.asarray(x,order="F")|[np.asarray(x).fill(1),x]
        np.concatenate([x,x])|bytes(x.view(T.uint8).numpy())
    """,
    "as_tensor": """
        T.as_tensor(a)|T.as_tensor(a.T)|T.as_tensor(a).data_ptr()==a.ctypes.data|T.as_tensor(a,dtype=T.float64)
        T.as_tensor(x) is x|T.as_tensor(x,dtype=T.int8)|T.as_tensor(a[::-1])|T.as_tensor([1,2])
        T.as_tensor([1.5],dtype=T.int8)|T.as_tensor(3)|T.as_tensor(np.float64(2))
        T.as_tensor(a,dtype=T.float32).data_ptr()==a.ctypes.data|T.as_tensor(np.asfortranarray(a))
        T.as_tensor(np.zeros((0,3)))|T.as_tensor((1,2.5))|T.as_tensor(x,dtype=x.dtype) is x
        T.as_tensor(a,device="cpu").data_ptr()==a.ctypes.data|T.as_tensor("a")|T.as_tensor(a.astype(">f4"))
        T.as_tensor(a,dtype=T.bfloat16)|T.as_tensor(np.array(["a"]))|T.as_tensor(x,device="cpu") is x
        T.as_tensor(a,device="meta").device|T.as_tensor(a,T.float64)|T.as_tensor(a,None)|T.as_tensor(a,dtype="int32")
        T.as_tensor(a,dtype=float)|T.as_tensor(a,device=3)|T.as_tensor(a,device="cuda")|T.as_tensor(a,device="mps")
        T.as_tensor(a,requires_grad=True)|T.as_tensor()
    """,
    "tensor": """
        T.tensor(a)|T.tensor(a.T)|T.tensor(a).data_ptr()==a.ctypes.data|T.tensor(a[:, ::2])|T.tensor(a[::-1])
        T.tensor(np.asfortranarray(a))|T.tensor(np.broadcast_to(a[:1],(3,4)))|T.tensor(np.zeros((0,3)))
        T.tensor(a,dtype=T.int32)|T.tensor(a.astype(">f4"))|T.tensor(np.float32(2))
        T.tensor(np.zeros((2,1,3)).transpose(2,1,0))|T.tensor([np.float32(1),2])|T.tensor(np.array(5))
        T.tensor([a[0],a[1]])|T.tensor(a,requires_grad=True)|[T.tensor([1],dtype=d) for d in (bool,int,float,complex)]
        T.tensor([1.],requires_grad=1)|T.tensor(a,T.float64)|T.tensor([1],dtype="int32")|T.tensor([1],copy=True)
        x.new_tensor([1],T.int8)|x.new_tensor([1],layout=None)|x.new_tensor([1],requires_grad=1)|T.tensor()
    """,
    "asarray": """
        T.asarray(a)|T.asarray(a).data_ptr()==a.ctypes.data|T.asarray(a,copy=True).data_ptr()==a.ctypes.data
        T.asarray(a,copy=False)|T.asarray(a,dtype=T.float64)|T.asarray(a,dtype=T.float64,copy=False)|T.asarray(a.T)
        T.asarray(a.T,copy=True)|T.asarray(a[::-1])|T.asarray(x) is x|T.asarray(x,copy=True)
        T.asarray(x,copy=True).data_ptr()==x.data_ptr()|T.asarray(x,copy=False) is x|T.asarray(x,dtype=T.int8)
        T.asarray(x,dtype=T.int8,copy=False)|T.asarray([1,2])|T.asarray([1,2],copy=True)|T.asarray([1,2],copy=False)
        T.asarray(3)|T.asarray(3,copy=False)|T.asarray(b)|T.asarray(b,dtype=T.uint8)
        T.asarray(bytearray(b),dtype=T.int16)|T.asarray(b,dtype=T.int16,copy=True)
        T.asarray(b,dtype=T.uint8,copy=False)|T.asarray(bytes(3))|T.asarray(b"")|T.asarray(x,requires_grad=True)
        T.asarray(x.clone().requires_grad_())|T.asarray(x.clone().requires_grad_(),requires_grad=False)
        T.asarray(a,requires_grad=True)|T.asarray(np.arange(3),requires_grad=True)|T.asarray(x,device="cpu") is x
        T.asarray(np.float32(2))|T.asarray(np.float32(2),copy=False)|T.asarray(np.array(2.))
        T.asarray(x.T,dtype=T.float64)|T.asarray(memoryview(b),dtype=T.uint8)
        T.asarray(memoryview(b)[::2],dtype=T.uint8)|T.asarray(range(3))|T.asarray("ab")|T.asarray(None)
        T.asarray([[1,2],[3]])|T.asarray(x.numpy()).data_ptr()==x.data_ptr()|T.asarray((1,2.5))|T.asarray(1j)
        T.asarray([True])|T.asarray(c.conj())|T.asarray(c.conj(),copy=True)|T.asarray(memoryview(np.arange(4.)))
        [T.asarray(a).fill_(1),a]|T.asarray(bytearray(b),dtype=T.uint8).untyped_storage().resizable()
        T.asarray(a,dtype=T.float32,copy=False)|T.asarray(a,copy=1)|T.asarray(a,copy="a")|T.asarray(a,requires_grad=1)
        T.asarray(a,dtype="int32")|T.asarray(a,dtype=int)|T.asarray([1],dtype=float)|T.asarray(a,T.float64)
        [at(a,"cuda")]|at(x,"hpu")|at(b,"xpu")|at([1],"cuda")|at([1],"mps")|at(x,"cuda",copy=False)|at(x,"meta")
        at(x,"cpu:0") is x|at(x,"cpu:1",copy=False)|at(x,"cpu") is x|x.to("cpu:0") is x|x.to("cpu") is x|at(a,3.5)
    """,
    "frombuffer": """
        T.frombuffer(b,dtype=T.int16)|T.frombuffer(b,dtype=T.uint8,count=3)|T.frombuffer(b,dtype=T.int16,offset=3)
        T.frombuffer(b,dtype=T.int16,offset=2)|T.frombuffer(b,dtype=T.int16,count=2,offset=1)
        T.frombuffer(b,dtype=T.int16,count=0)|T.frombuffer(b,dtype=T.int16,count=-3)|T.frombuffer(b"",dtype=T.uint8)
        T.frombuffer(b,dtype=T.int16,count=9)|T.frombuffer(b,dtype=T.int16,offset=16)
        T.frombuffer(b,dtype=T.int16,offset=-1)|T.frombuffer(b,dtype=T.bfloat16).dtype
        T.frombuffer(b,dtype=T.bool).dtype|T.frombuffer("a",dtype=T.uint8)|T.frombuffer(3,dtype=T.uint8)
        T.frombuffer(memoryview(b)[::2],dtype=T.uint8)|T.frombuffer(b)|T.frombuffer(b,dtype=3)
        (lambda m:[T.frombuffer(m,dtype=T.uint8).fill_(3),bytes(m)])(bytearray(b))|T.frombuffer(a,dtype=T.float32)
        T.frombuffer(a.T,dtype=T.float32)|T.frombuffer(b,dtype=T.float32,requires_grad=True)
        T.frombuffer(b,dtype=T.int8,requires_grad=True)|T.frombuffer(b,dtype=T.complex64).untyped_storage().nbytes()
        T.frombuffer(b,dtype=T.uint8,offset=3).storage_offset()|T.frombuffer(b,dtype=T.int64,offset=8)
        T.frombuffer(bytes(3),dtype=T.int16)|T.frombuffer(buffer=b,dtype=T.uint8,count=2,offset=2)
        T.frombuffer(b,dtype=T.uint8).untyped_storage().resizable()|T.frombuffer(b,dtype=T.uint16).dtype
        T.frombuffer(b,dtype=T.float8_e5m2).dtype|T.frombuffer(b,dtype=T.int8,offset=True)|T.frombuffer(b,dtype=float)
        T.frombuffer(b,dtype=T.int8,count=True)|T.frombuffer(b,dtype=T.int8,offset=1.0)|T.frombuffer(b,dtype="int8")
        T.frombuffer(a[:, ::2],dtype=T.int8,offset=2**70)|T.frombuffer(3,dtype=T.int8,count=2**70)
        T.from_dlpack(np.zeros((0,3))).untyped_storage().data_ptr()!=0|T.from_dlpack(np.zeros((0,3)))
        T.frombuffer(b,dtype=T.int8,offset=T.tensor(1))|T.frombuffer(b,dtype=T.int8,requires_grad=1)
    """,
}

DLPACK = {
    "export": """
        E(x)|E(x[1:])|E(x.T)|E(x,max_version=(1,0))|E(x,max_version=(1,9))|E(x,max_version=(2,0))
        E(x,max_version=(0,9))|E(x[1:],max_version=(1,0),copy=True)|E(x,copy=True)|E(x,copy=False)|E(x.T,copy=True)
        E(x[:, ::2],copy=True)|E(x,dl_device=(1,0))|E(x,dl_device=(2,0))|E(x,dl_device=(1,3))|E(x,dl_device="a")
        E(x,stream=1)|E(x,stream=-1)|E(x,stream=None)|E(x,stream="a")|E(x,stream=True)|E(x,stream=1.0)
        E(T.empty(0,3))|E(x[5:])|E(T.tensor(1.))|E(T.empty_strided((1,3),(99,1)))|E(T.ones(3).expand(2,3))|E(c)
        E(c.conj())|E(c.conj().imag)|E(x.clone().requires_grad_())|E(x.clone().requires_grad_()[1:])
        E(T.zeros(2,dtype=T.bool))|E(T.zeros(2,dtype=T.bfloat16))|E(T.zeros(2,dtype=T.complex32))
        E(T.zeros(2,dtype=T.uint16))|E(T.zeros(2,dtype=T.float8_e5m2))|E(T.zeros(2,dtype=T.float8_e4m3fn))
        E(T.zeros(2,dtype=T.float8_e4m3fnuz))|E(T.zeros(2,dtype=T.float8_e5m2fnuz))
        E(T.zeros(2,dtype=T.float8_e8m0fnu))|E(T.zeros(2,dtype=T.uint8).view(T.float4_e2m1fn_x2))
        E(T.empty(2,dtype=T.uint4))|E(T.empty(2,dtype=T.int4))|E(T.zeros(2,dtype=T.uint8).view(T.bits8))
        E(T.empty(2,dtype=T.int3))|E(T.empty(2,device="meta"))|[int(n) for n in x.__dlpack_device__()]
        T.empty(2,device="meta").__dlpack_device__()|E(x,foo=1)|E(x,max_version=3)|E(x,max_version="ab")
        E(x,max_version=(1,))|E(x,max_version=())|E(T.arange(3))|E(T.arange(3,dtype=T.uint8))
        E(x.as_strided((2,2),(1,1),3))|E(x.double())|E(x.half())|E(c.conj().imag,copy=True)
        E(T.empty(2,dtype=T.quint8))|E(x,stream=0)|E(x,dl_device=(1,0),copy=False)
        E(x,dl_device=())|E(x,dl_device=[],copy=True)|E(x,dl_device=(1,))|E(x,dl_device=(1,0,0),copy=False)
        E(x,dl_device=(3,0))|E(x,dl_device=(99,0),copy=False)|E(x,dl_device=(8,0))|E(x,dl_device=(12,0),copy=False)
        E(x,dl_device=(14,0))|E(x,dl_device=(True,0))|E(x,dl_device=(1,False))|E(x,dl_device=(1,0.0))
        E(x,dl_device=(np.int64(1),0))|E(x,copy=1)|E(x,copy=np.bool_(True))|E(x,copy="a",dl_device=(1,0))
        E(T.empty(2,device="meta"),dl_device=())|name(T.utils.dlpack.to_dlpack(data=x))
        T.utils.dlpack.to_dlpack(tensor=x)|T.utils.dlpack.to_dlpack()
    """,
    "import": """
        I(cap())|I(cap(shape=(2,3)))|I(cap(shape=(2,3),strides=None))|I(vcap(shape=(2,3),strides=None))
        I(vcap(shape=(2,3),strides=(1,2)))|I(vcap(shape=(1,3),strides=(99,1)))|I(vcap(shape=(0,3),strides=(5,7)))
        I(vcap(shape=(2,0),strides=None))|I(cap(shape=()))|I(cap(shape=(),strides=None))|I(cap(off=8))
        I(vcap(off=8))|I(vcap(off=3))|I(vcap(shape=(3,),strides=(0,)))|I(vcap(major=1,minor=5))|I(vcap(major=2))
        I(vcap(major=0))|I(vcap(flags=1))|I(vcap(flags=2))|I(vcap(flags=4))|I(vcap(flags=255))|I(cap(name=b"foo"))
        I(cap(name=b"used_dltensor"))|I(cap(lanes=2))|I(cap(lanes=0))|[I(cap(code=2,bits=n)) for n in (16,32,64)]
        I(cap(code=2,bits=8))|I(cap(code=2,bits=128))|I(cap(code=4,bits=16))|I(cap(code=4,bits=32))
        [I(cap(code=5,bits=n)) for n in (32,64,128)]|I(cap(code=6,bits=8))|I(cap(code=6,bits=1))
        [I(cap(code=0,bits=n)) for n in (8,16,32,64)]|I(cap(code=0,bits=4))
        [I(cap(code=1,bits=n)) for n in (8,16,32,64)]|I(cap(code=1,bits=4))|I(cap(code=1,bits=128))
        I(cap(code=3,bits=8))|I(cap(code=7,bits=8))|I(cap(code=8,bits=8))
        [I(cap(code=n,bits=8)) for n in (10,11,12,13,14)]|I(cap(code=9,bits=8))|I(cap(code=15,bits=6))
        I(cap(code=17,bits=4))|I(cap(code=17,bits=4,lanes=2))|I(cap(code=99,bits=8))|I(cap(dev=(1,7)))
        I(cap(dev=(2,0)))|I(cap(dev=(3,0)))|I(cap(dev=(99,0)))|I(cap(data=0,shape=(0,)))|I(cap(shape=(-1,)))
        T.from_dlpack(3)|T.from_dlpack(None)|I(P(cap()))|I(P(cap()),copy=True)[:5]|I(P(cap()),copy=False)
        I(P0(cap()))|I(P0(cap()),copy=True)[:5]|I(P0(cap()),copy=False)|I(P(cap()),device="cpu")
        I(P(cap()),device="meta")|I(P(cap()),device="cuda")|I(P(cap()),device=3)|I(cap(),copy=True)
        I(cap(),copy=False)|I(cap(),device="cpu")|I(P(cap(),(2,0)))|I(P(cap(),(99,0)))|I(P(cap()),device="cpu:0")
        two(cap())|asked(P(cap()))|asked(P(cap()),copy=True)|asked(P(cap()),copy=False)|asked(P(cap()),device="cpu")
        I(P(3))|I(cap(strides=None,off=8))|I(vcap(strides=None,off=8))|I(cap(shape=(0,),strides=None,off=8))
        I(cap(shape=(1,3),strides=(-1,3)))|I(cap(shape=(3,1),strides=(1,-5)))|I(cap(shape=(0,3),strides=(-1,3)))
        I(vcap(shape=(2,0,3),strides=(-3,7,-1)))|I(cap(shape=(1,),strides=(-5,),off=4))
        I(cap(shape=(0,3),strides=(-1,3),off=4))|I(cap(shape=(0,3),strides=(5,7),off=8))|I(cap(shape=(),off=4))
        [refused(cap(dev=(n,0))) for n in (2,3,7,9,12,14,16,99)]|refused(cap(dev=(2,0),code=3))
        refused(cap(dev=(2,0),strides=None,off=8))|I(cap(dev=(12,0)))|I(cap(dev=(14,0)))|I(cap(dev=(2,0)))
        [I(P(cap(),d),device="cpu") for d in ((1,5),(3,0),(1,),[1,0])]|I(P(cap(),[1,0]),device="cpu",copy=False)
        I(P(cap(),(1,5)),device="cpu",copy=False)|I(P(cap(),(1,5)),device="cpu",copy=True)[:5]|I(P(cap(),()))
        asked(P(cap(),[1,0]),device="cpu")|asked(P(cap(),(1,5)),device="cpu")|I(P(cap(),3))|I(P(cap()),copy=0)
        later(x,lambda t:t.resize_(2,3))|later(x,lambda t:t.t_())|later(x,lambda t:t.resize_(2))
    """,
    "libraries": """
        T.from_dlpack(a)|T.from_dlpack(a.T)|T.from_dlpack(a[:, ::2])|T.from_dlpack(a[1:])
        T.from_dlpack(a.astype(">f4"))|T.from_dlpack(np.array(["a"]))|T.from_dlpack(np.zeros(3,np.longdouble))
        T.from_dlpack(np.zeros((0,3)))|T.from_dlpack(np.zeros((1,3))[:, ::2])|T.from_dlpack(np.array(2.))
        [T.from_dlpack(a).fill_(3),a]|T.from_dlpack(a,copy=True).data_ptr()==a.ctypes.data
        T.from_dlpack(a).untyped_storage().resizable()
        (lambda r:(r.setflags(write=False),T.from_dlpack(r).fill_(3),r.tolist()))(np.zeros(2))|np.from_dlpack(x)
        np.from_dlpack(x.T)|np.from_dlpack(x[1:])|np.from_dlpack(x.clone().requires_grad_())
        np.from_dlpack(c.conj())|[T.from_dlpack(x).fill_(5),x]|T.from_dlpack(x) is x|T.from_dlpack(x[1:])
        T.from_dlpack(x.T,copy=True)|T.from_dlpack(x,copy=False).data_ptr()==x.data_ptr()
        T.from_dlpack(x.expand(2,3,4))|T.from_dlpack(c.conj().imag)|T.from_dlpack(c.conj())
        T.from_dlpack(T.empty(2,device="meta"))|T.from_dlpack(x.bfloat16())
        [T.from_dlpack(x),x.untyped_storage().resizable()]|T.from_dlpack(x.__dlpack__())
        T.from_dlpack(x.__dlpack__(max_version=(1,0)))|T.from_dlpack(x.storage())|T.from_dlpack(x.untyped_storage())
        [T.from_dlpack(x).add_(1)._version,x._version]|T.from_dlpack(a.astype(bool))
        T.from_dlpack(x,device="cuda",copy=False)|T.from_dlpack(x,device="cuda")|T.from_dlpack(x,device="mps")
        T.from_dlpack(x,device="mps",copy=False)|T.from_dlpack(x,device="xpu",copy=False)|T.from_dlpack(x,device="hpu")
        T.from_dlpack(x,device="meta",copy=False)|T.from_dlpack(x,device="cpu:1",copy=False)|T.from_dlpack(a,device=3)
        name(T.utils.dlpack.to_dlpack(x.requires_grad_()))|name(T.utils.dlpack.to_dlpack(c.conj()))
        T.from_dlpack(T.utils.dlpack.to_dlpack(c.conj()))|T.utils.dlpack.to_dlpack(T.empty(2,device="meta"))
        T.utils.dlpack.to_dlpack(3)|T.from_dlpack(T.utils.dlpack.to_dlpack(x[1:].requires_grad_())).requires_grad
        T.from_dlpack(a.astype(complex))|T.from_dlpack(T.empty_strided((1,3),(99,1))).stride()
    """,
}

# Where torch's process dies.
DEADLY = {
    "I(vcap(shape=(3,),strides=(-1,),off=8))": ValueError,
    "I(cap(shape=(3,),strides=(-1,),off=8))": ValueError,
    "I(cap(ndim=-1))": RuntimeError,
    "I(cap(shape=(2**62,4)))": ValueError,
    "T.from_dlpack(a[::-1])": ValueError,
    "I(cap(data=0))": RuntimeError,
}

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
pointer = ctypes.pythonapi.PyCapsule_GetPointer
pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
name_of = ctypes.pythonapi.PyCapsule_GetName
name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]

BUFFER = (ctypes.c_uint8 * 64)(*range(64))
KEPT = []


def fill(t, shape=(3,), strides="dense", code=2, bits=32, lanes=1, off=0, dev=(1, 0), data=None, ndim=None):
    sizes = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    t.data = ctypes.addressof(BUFFER) if data is None else data
    t.device, t.dtype = DLDevice(*dev), DLDataType(code, bits, lanes)
    t.ndim = len(shape) if ndim is None else ndim
    t.shape = sizes
    if strides == "dense":
        strides = [1] * len(shape)
        for i in range(len(shape) - 2, -1, -1):
            strides[i] = strides[i + 1] * shape[i + 1]
    if strides is not None:
        steps = (ctypes.c_int64 * max(len(strides), 1))(*strides)
        t.strides = steps
        KEPT.append(steps)
    t.byte_offset = off
    KEPT.append(sizes)


def cap(name=b"dltensor", **kwargs):
    m = DLManagedTensor()
    fill(m.dl_tensor, **kwargs)
    KEPT.append(m)
    return new_capsule(ctypes.addressof(m), name, None)


def vcap(major=1, minor=0, flags=0, name=b"dltensor_versioned", **kwargs):
    m = DLManagedTensorVersioned()
    fill(m.dl_tensor, **kwargs)
    m.major, m.minor, m.flags = major, minor, flags
    KEPT.append(m)
    return new_capsule(ctypes.addressof(m), name, None)


class Producer:
    """Hands out one capsule and remembers how it was asked."""

    def __init__(self, capsule, device=(1, 0)):
        self.capsule, self.device, self.asked = capsule, device, None

    def __dlpack__(self, **kwargs):
        self.asked = kwargs
        return self.capsule

    def __dlpack_device__(self):
        return self.device


class OldProducer(Producer):
    """Knows no options."""

    def __dlpack__(self):
        return self.capsule


def unlocked(a):
    """Whether NumPy lets an array be made writable: it asks who owns the memory."""
    try:
        a.setflags(write=True)
    except ValueError:
        return False
    return True


def make(lib):
    def imported(source, **kwargs):
        t = lib.from_dlpack(source, **kwargs)
        capsule = getattr(source, "capsule", source)
        start = ctypes.addressof(BUFFER)
        return (
            t.dtype, tuple(t.shape), t.stride(), t.storage_offset(), t.untyped_storage().nbytes(),
            t.data_ptr() - start if t.numel() else 0, t.untyped_storage().resizable(), name_of(capsule),
        )  # fmt: skip

    def exported(t, **kwargs):
        capsule = t.__dlpack__(**kwargs)
        name = name_of(capsule)
        versioned = name == b"dltensor_versioned"
        held = (DLManagedTensorVersioned if versioned else DLManagedTensor).from_address(pointer(capsule, name))
        d = held.dl_tensor
        n = d.ndim
        return (
            name, (held.major, held.minor, held.flags) if versioned else (),
            (d.dtype.code, d.dtype.bits, d.dtype.lanes), n,
            d.shape[:n], d.strides[:n] if d.strides else None, d.byte_offset, d.device.device_type, d.device.device_id,
            (d.data or 0) == t.data_ptr(), bool(held.deleter),
        )  # fmt: skip

    def asked(producer, **kwargs):
        lib.from_dlpack(producer, **kwargs)
        return {k: [int(n) for n in v] if isinstance(v, tuple) else v for k, v in producer.asked.items()}

    def two(capsule):
        lib.from_dlpack(capsule)
        return lib.from_dlpack(capsule)

    def refused(capsule):
        try:
            return lib.from_dlpack(capsule)
        except Exception:
            return name_of(capsule)

    def later(t, change):
        capsule = t.__dlpack__()
        change(t)
        t = lib.from_dlpack(capsule)
        return tuple(t.shape), t.stride()

    def lent(data, copy, requires_grad):
        t = lib.asarray(data, copy=copy, requires_grad=requires_grad)
        return t.requires_grad, t.is_leaf, t is data

    return {
        "at": lambda obj, device, **options: lib.asarray(obj, device=device, **options), "lent": lent,
        "a": np.arange(12, dtype=np.float32).reshape(3, 4),
        "x": lib.arange(12.0).reshape(3, 4).clone(),
        "c": lib.tensor([1 + 2j, 3 - 1j]),
        "b": bytes(range(16)),
        "I": imported, "E": exported, "cap": cap, "vcap": vcap, "P": Producer,
        "P0": OldProducer, "asked": asked, "two": two, "copy": copy, "unlocked": unlocked, "name": name_of,
        "refused": refused, "later": later,
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", [*NUMPY, *DLPACK])
def test_exchange_agrees_with_torch(part):
    expressions = split({**NUMPY, **DLPACK}[part])
    found = [d for e in expressions if (d := disagreement(e, make))]
    assert not found, f"{len(found)} of {len(expressions)}:\n" + "\n".join(found)


WARNED = {
    "T.tensor([1j]).to(T.float32)": True,
    "T.tensor([1j]).bool()": False,
    "T.ones(1).copy_(T.tensor([1j]))": True,
    "T.tensor(np.array([1j]), dtype=T.float32)": True,
    "T.empty(0, dtype=T.complex64).float()": False,
    "T.asarray(T.ones(2).requires_grad_())": True,
    "T.asarray(T.ones(2).requires_grad_(), requires_grad=True)": False,
    "T.asarray(T.ones(2))": False,
    "T.asarray(np.broadcast_to(np.ones(1), (2,)), copy=True)": False,
    "T.from_numpy(np.broadcast_to(np.ones(1), (2,)))": True,
}


def test_what_is_lost_unasked_is_warned_of_once(monkeypatch):
    for expression, warned in WARNED.items():
        monkeypatch.setattr(notices, "given", set())
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            for _ in range(2):
                eval(expression, {"T": ref, "np": np})
        assert len(found) == warned, expression


TORCHS_WARNINGS = """
import os, sys, warnings
import numpy as np, torch as T
for expression in sys.argv[1:]:
    if not (child := os.fork()):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            eval(expression), eval(expression)
        os._exit(len(found))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_torch_warns_of_it_as_often():
    command = [sys.executable, "-c", TORCHS_WARNINGS, *WARNED]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [int(n) for n in done.stdout.split()] == list(WARNED.values())


@pytest.mark.parametrize("expression", DEADLY)
def test_what_kills_torch_raises_here(expression):
    value, error = run(expression, ref, make(ref))
    assert isinstance(error, DEADLY[expression]), (value, error)
    assert hasattr(error, "kind")
