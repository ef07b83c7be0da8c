"""Every public method and property of both storage classes answers as torch's, or refuses with torch's exception type.

The names come from torch: a method that torch adds, or that nothing here uses, fails `test_every_member_is_covered`.
"""

import ctypes
import gc
import os
from pathlib import Path

import pytest
import stridecheck.reference_impl as ref
import torch

from .agreement import disagreement, run

CONVERSIONS = [
    "bfloat16",
    "bool",
    "byte",
    "char",
    "complex_double",
    "complex_float",
    "double",
    "float",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "half",
    "int",
    "long",
    "short",
]

UNTYPED = {
    "__init__": """
        U()|U(3).nbytes()|U(True)|U(np.int64(3)).nbytes()|U(3.0)|U("abc")|U(b"abc")|U(bytearray(b"ab"))
        U([1,300,-1,True])|U([1.5])|U([np.int64(1)])|U(["a"])|U((1,2))|U(range(3))|U(x for x in [1])|U({1,2})
        U({1:2})|U(None)|U(3,4)|U([[1]])|U(-1)|U(2**62)|U(2**63)|U(2**70)|U([2**40+5])
        U(np.array([1,2],dtype=np.uint8))|U(T.tensor([1,2]))|U(T.tensor(3)).nbytes()|U(3,device="meta")
        U([1],device="meta")|U(device="meta")|U(3,device="cuda")|U(3,device="hpu")|U(3,device="mps")
        U(3,device="xyz")|U(3,device="xpu")|U(3,device="cpu:0").device|U(3,device=None).device|U(3,device=1)
        U(3,dtype=T.int8)|U(size=3).nbytes()|U(3,allocator=None).nbytes()|U(device="cuda")|U(3,device="hip")
        U(3,device="privateuseone")
    """,
    "__getitem__": """
        u[1.0]|u["a"]|u[np.int64(1)]|u[True]|u[T.tensor(1)]|u[None]|u[1,2]|u[3]|u[-4]|u[-3]|u[2**70]|u[1:]|u[5:9]
        u[2:1]|u[-2:]|u[::2]|u[::-1]|u[::0]|u[::True]|u[1.0:]|u[1:2].resizable()|u[:].resizable()|u[:].resize_(0)
        [u[1:].fill_(7),u]|m[0]|u[1:][1:][0]|u[1:].data_ptr()-u.data_ptr()|u[0:0].data_ptr()!=0|m[0:1]
    """,
    "__setitem__": """
        [f(u,0,1.0),u]|[f(u,0,True),u]|f(u,0,np.int64(1))|[f(u,0,2**40+3),u]|f(u,0,[1])|f(u,3,1)|f(u,-4,1)
        [f(u,-1,-1),u]|f(u,slice(0,2),[1,2])|[f(u,slice(0,2),9),u]|f(u,slice(0,3,2),1)|f(u,"a",1)|f(u,1.0,1)
        f(u,1.0,1.5)|[f(u,np.int64(1),1),u]|[f(u,slice(5,1),1),u]|f(u,T.tensor(1),1)|f(u,0,T.tensor(1))|f(m,0,1)
    """,
    "__len__": """
        len(u)|len(U())|len(m)|bool(U())|bool(u)
    """,
    "__iter__": """
        list(u)|2 in u|iter(u).__next__()|list(m)
    """,
    "__copy__": """
        copy.copy(u)|copy.copy(u)==u|copy.copy(u).data_ptr()==u.data_ptr()|copy.copy(m)
    """,
    "__deepcopy__": """
        copy.deepcopy(u)|copy.deepcopy(u)==u|(lambda a:a[0] is a[1])(copy.deepcopy([u,u]))|copy.deepcopy(m)
        (lambda a:a[0] is a[1].untyped_storage())(copy.deepcopy([x.untyped_storage(),x]))
    """,
    "__eq__": """
        u==u|u==U([1,2,3])|u!=u|u=="a"|u==3|hash(u)==hash(u)|len({u,u,U()})
    """,
    "__repr__": """
        repr(u)|str(u)|repr(U())|repr(m)|repr(U(1,device='meta'))
    """,
    "__sizeof__": "U(100).__sizeof__()-U(0).__sizeof__()",
    "__reduce__": "pickle.loads(pickle.dumps(u))",
    "byteswap": """
        [u4.byteswap(T.int16),u4]|u.byteswap(T.int16)|[u.byteswap(T.int8),u]|u.byteswap(3)|u.byteswap("a")
        [u8.byteswap(T.complex64),u8]|[u4.byteswap(T.complex64),u4]|[u4.byteswap(T.complex32),u4]
        [u4.byteswap(T.complex32),u4]|u4.byteswap()|[u8.byteswap(T.float64),u8]|[u8.byteswap(T.bfloat16),u8]
        u4.byteswap(T.float64)|[u4.byteswap(T.bool),u4]|[U().byteswap(T.int64)]
    """,
    "clone": """
        u.clone()|u.clone()==u|m.clone()|u[1:].clone()|u[1:].clone().resizable()
        x.numpy() is None or x.untyped_storage().clone().resizable()
    """,
    "copy_": """
        u.copy_(U([3,4,5]))|u4.copy_(TS([1.0]))|u.copy_(T.tensor([1],dtype=T.uint8))|u.copy_([1])|u.copy_(U([1,2]))
        u.copy_(U([1,1,1]),True)|u.copy_(U(3,device="meta"))|m.copy_(U([1,2]))|m.copy_(U([1,2,3]))|u.copy_(source=u)
        u.copy_()|u.copy_(u)|u.copy_(src=U([4,5,6]))|u.copy_(U([4,5,6])) is u
    """,
    "cpu": """
        u.cpu()|u.cpu() is u|m.cpu()
    """,
    "cuda": """
        u.cuda()|u.cuda(0)|u.cuda(1)|u.cuda(device=1)|m.cuda()|u.cuda(127)|u.cuda(128)|u.cuda(200)|u.cuda(256)
        u.to(device="cuda:200")|u.hpu(200)|u.to(device="xpu:200")
    """,
    "data_ptr": """
        u.data_ptr()!=0|U().data_ptr()|U(0).data_ptr()|m.data_ptr()|u.resize_(0).data_ptr()
        u.data_ptr()==u.data_ptr()
    """,
    "device": """
        u.device|m.device|u.device==T.device('cpu')|T.device(bytes([255]))|T.device(bytes([255]),1)|T.device(type=b"meta")
        T.device(type=1)|T.device(device=T.device("cpu"))|T.device(type=T.device("cpu"))|T.device("cpu",type="cpu")
        T.device("cpu",device="cpu")|T.device("cpu",1,2)|T.device(device="cpu",index=1)|T.device("cpu",index=1).index
        T.device(foo=1)|T.device("cpu",foo=1)|T.device(index=1)
        u._byteswap(np.int64(1))|u._byteswap(2**70)|u._new_shared(np.int64(2))|u._new_shared(T.tensor([1]))
        u._new_shared(1.0)|u._new_shared(2**63)|s._new_shared(np.int64(2))|ms._get_legacy_storage_class()
        U(T.tensor(1.5))|U(T.tensor(True))|U(T.tensor(2)).nbytes()|u.type(T.IntTensor)|s.type(T.ByteTensor)
    """,
    "element_size": """
        u.element_size()|m.element_size()
    """,
    "filename": """
        u.filename|m.filename|U.from_file(p,True,4).filename==p|U.from_file(p,False,4).filename
        u.share_memory_().filename|U.from_file(p,True,4)[1:].filename
    """,
    "fill_": """
        u.fill_(-1)|u.fill_(300)|u.fill_(2**40+7)|u.fill_(True)|u.fill_(1.0)|u.fill_(np.int64(3))
        u.fill_(T.tensor(3))|u.fill_(None)|u.fill_()|m.fill_(1)|u.fill_(3) is u|u.fill_("a")
    """,
    "from_buffer": """
        U.from_buffer(b,"native",dtype=T.int16)|U.from_buffer(b,"big",dtype=T.int16)
        U.from_buffer(b,"little",dtype=T.int16)|U.from_buffer(b,"xx",dtype=T.int16)
        [u8[i:].data_ptr()-u8.data_ptr() for i in range(9)]|u8[3:1].data_ptr()-u8.data_ptr()
        [u8[2:6][i:].data_ptr()-u8.data_ptr() for i in range(5)]|U(0)[0:].data_ptr()
        U.from_buffer(b,dtype=T.float8_e5m2)|U.from_buffer(b,"",dtype=T.float8_e4m3fn)|U.from_buffer(b,3,dtype=T.int8)
        U.from_buffer(b,dtype=T.float8_e8m0fnu)|U.from_buffer(b,"big",dtype=T.float8_e8m0fnu)
        U.from_buffer(b,dtype=T.bits8)|U.from_buffer(b,dtype=T.quint8)|U.from_buffer(b,"x",dtype=T.float4_e2m1fn_x2)
        U.from_buffer(b,"xx",dtype=T.uint8)|U.from_buffer(b,dtype=T.int16)|U.from_buffer(b,dtype=T.uint8)
        U.from_buffer(b,dtype=T.int8)|U.from_buffer(b,dtype=T.bool)|U.from_buffer(b)|U.from_buffer(b,"native")
        U.from_buffer(b,"native",dtype=3)|U.from_buffer(b,"native",dtype=None)|U.from_buffer(b,3,dtype=T.int16)
        U.from_buffer(b,None,dtype=T.int16)|U.from_buffer(b,"native",3,dtype=T.int16)
        U.from_buffer(b,"native",3,2,dtype=T.int16)|U.from_buffer(b,"native",3,2,T.int16)
        U.from_buffer(b,"native",count=0,dtype=T.int16)|U.from_buffer(b,"native",count=-5,dtype=T.int16)
        U.from_buffer(b,"native",count=9,dtype=T.int16)|U.from_buffer(b,"native",count=8,offset=1,dtype=T.int16)
        U.from_buffer(b,"native",offset=1,dtype=T.int16)|U.from_buffer(b,"native",offset=16,dtype=T.int16)
        U.from_buffer(b,"native",offset=17,dtype=T.int16)|U.from_buffer(b,"native",offset=-1,dtype=T.int16)
        U.from_buffer(b,"native",offset=15,dtype=T.int16)|U.from_buffer(b"","native",dtype=T.int16)
        U.from_buffer(b"","native",count=1,dtype=T.int16)|U.from_buffer(bytes(3),"native",dtype=T.int16)
        U.from_buffer("abc","native",dtype=T.int16)|U.from_buffer([1],"native",dtype=T.int16)
        U.from_buffer(np.arange(3),"native",dtype=T.int64)|U.from_buffer(np.arange(6)[::2],"native",dtype=T.int64)
        U.from_buffer(memoryview(b)[::2],"native",dtype=T.int16)|U.from_buffer(b,"native",dtype=T.bool)
        U.from_buffer(b,"big",dtype=T.complex64)|U.from_buffer(b,"big",dtype=T.complex128)
        U.from_buffer(b,"big",dtype=T.complex32)|U.from_buffer(b,"big",dtype=T.bfloat16)
        U.from_buffer(b,"big",dtype=T.float8_e5m2)|U.from_buffer(b,"big",dtype=T.uint16)
        U.from_buffer(b,"big",dtype=T.qint32)|U.from_buffer(b,"big",dtype=T.quint8)
        U.from_buffer(b,"big",dtype=T.bits8)|U.from_buffer(b,"big",dtype=T.float64)|U.from_buffer(b,dtype=T.quint8)
        U.from_buffer(b,"native",dtype=T.float8_e8m0fnu)|U.from_buffer(b,"native",dtype=T.uint4)
        U.from_buffer(b,"native",dtype=T.int16,x=1)|U.from_buffer(buffer=b,byte_order="native",dtype=T.int16)
        U.from_buffer(b,"native",count=1.0,dtype=T.int16)|U.from_buffer(b,"native",dtype=T.int16).resizable()
        (lambda a:[U.from_buffer(a,"native",dtype=T.int16).fill_(0),bytes(a)])(bytearray(b))
        U.from_buffer(b"a","big",dtype=T.float32)
    """,
    "from_file": """
        U.from_file(p)|U.from_file(p,False,10)|U.from_file(p,False,21)|U.from_file(p,False,0)|U.from_file(p,True,0)
        [U.from_file(p,True,25),size(p)]|[U.from_file(p,True,5),size(p)]|[U.from_file(p+"new",True,5),size(p+"new")]
        U.from_file(p+"none",False,5)|[U.from_file(p+"0",True,0),exists(p+"0")]|U.from_file(d,False,5)
        U.from_file(d,True,5)|U.from_file(p,False,-5)|U.from_file(p,True,-5)|U.from_file(p,False,2.0)
        U.from_file(3,False,2)|U.from_file(None,False,2)|U.from_file(p.encode(),False,2)
        U.from_file(p,shared=False,nbytes=2)|U.from_file(p,False,size=2)
        U.from_file(filename=p,shared=True,nbytes=2)|U.from_file(p,1,2)|U.from_file(p,"a",2)
        U.from_file(d+"/a/b",True,5)|U.from_file(p,True,2**62)|U.from_file(p,False,2).resize_(1)
        U.from_file(p,True,2).share_memory_()|U.from_file(p,False,2).share_memory_().is_shared()
        [U.from_file(p,True,4).fill_(9),read(p)]|[U.from_file(p,False,4).fill_(9),read(p)]
        [U.from_file(p,True,4).resizable(),U.from_file(p,False,4).resizable(),U.from_file(p,False,0).resizable()]
        (lambda a,c:[a.fill_(7),c])(U.from_file(p,True,4),U.from_file(p,True,8))|U.from_file()
        U.from_file(p,False,2**70)|T.from_file(p.encode(),size=2)|T.from_file(p,None,None)|T.from_file(p,size=2,device='meta')
    """,
    "get_device": """
        u.get_device()|m.get_device()
    """,
    "hpu": """
        u.hpu()|u.hpu(0)|u.hpu(-1)|u.hpu(2**63)
    """,
    "is_cuda": """
        u.is_cuda|m.is_cuda
    """,
    "is_hpu": "u.is_hpu",
    "is_pinned": """
        u.is_pinned(True)|u.is_pinned(b'cpu')|u.is_pinned(np.int64(0))|u.is_pinned(2**63)
        u.is_pinned()|u.is_pinned('cpu')|u.is_pinned('cuda')|u.is_pinned('meta')|m.is_pinned()|u.is_pinned('xyz')
    """,
    "is_shared": """
        u.is_shared()|m.is_shared()|u.share_memory_().is_shared()|U.from_file(p,False,2).is_shared()
        U.from_file(p,True,2).is_shared()|U.from_file(p,False,0).is_shared()|u.share_memory_().clone().is_shared()
        u.share_memory_()[1:].is_shared()
    """,
    "is_sparse": "u.is_sparse",
    "is_sparse_csr": "u.is_sparse_csr",
    "mps": """
        u.mps()|m.mps()
    """,
    "nbytes": """
        u.nbytes()|U().nbytes()|m.nbytes()
    """,
    "new": """
        u.new()|u.new().nbytes()|u.new(3)|m.new()|u.new().resizable()|u[1:].new().resizable()
    """,
    "pin_memory": """
        u.pin_memory()|u.pin_memory('cpu')|u.pin_memory('cuda')|m.pin_memory()
    """,
    "resizable": """
        u.resizable()|U().resizable()|m.resizable()|u[:].resizable()|u.share_memory_().resizable()
        x.numpy() is None or x.untyped_storage().resizable()
    """,
    "resize_": """
        u.resize_(1)|u.resize_(0)|u.resize_(-1)|u.resize_(1.0)|u.resize_("a")|u.resize_(np.int64(2))|u.resize_(True)
        u.resize_(None)|u.resize_(2**62)|u.resize_(2**70)|m.resize_(9)|u.resize_(T.tensor(3))|u.resize_(2) is u
        u.resize_(5).nbytes()|u.resize_(5)[:3]|u[1:].resize_(-1)|[u.resize_(2),u.resize_(2)]
    """,
    "share_memory_": """
        u.share_memory_()|u.share_memory_() is u|U().share_memory_().is_shared()|u.share_memory_(1)
        m.share_memory_()|[x[2:].share_memory_(),x.is_shared(),x]|[u[1:].share_memory_().is_shared(),u.is_shared()]
        [x.share_memory_(),x._version]|T.from_numpy(np.arange(3)).share_memory_().untyped_storage().resizable()
    """,
    "size": """
        u.size()|m.size()|U().size()
    """,
    "to": """
        u.to(device="cpu")|u.to(device="cpu") is u|u.to("cpu")|u.to(device="meta")|u.to(device="cuda")
        u.to(device="cpu:0")|u.to(device="cpu:0") is u|u.to(device=None)|u.to(device="xyz")|u.to()
        m.to(device="cpu")|m.to(device="meta")|u.to(device="mps")|u.to(device="xpu")|u.to(device="mtia")
        u.to(device="hip")|u.to(device="cuda:0")|u.to(device=0)|u.to(device=T.device("cpu")) is u
        u.to(device="cpu",non_blocking=True) is u
    """,
    "tolist": """
        U(0,device="meta").tolist()|list(U(0,device="meta"))|repr(U(0,device="meta"))|U(0,device="meta")[0:0]
        TS(0,device="meta").tolist()|TS(0,device="meta")[0]|U(0,device="meta").byteswap(T.int16)
        u.tolist()|m.tolist()|U().tolist()
    """,
    "type": """
        u.type()|u.type("torch.FloatStorage")|U([1]).type("torch.ByteStorage")
        u.type("torch.storage.UntypedStorage") is u|u.type(T.float)|u.type(U) is u|u.type(T.CharStorage)
        u.type("xyz")|u.type("torch.cuda.FloatStorage")|u.type(3)|m.type()|u.type(x)|u.type(u)|u.type(T.Tensor)|u.type(int)
        u.type(s)|s.type(s)
    """,
    "untyped": "u.untyped() is u",
    "dtype": """
        u.dtype|u.pickle_storage_type
    """,
}  # fmt: skip
UNTYPED |= {
    name: f"u.{name}()|u4.{name}().dtype|m.{name}()|U().{name}()|[u.{name}().fill_(0),u]|u.{name}(1)|u[1:].{name}()"
    f"|big.{name}()"
    for name in CONVERSIONS
}

TYPED = {
    "__new__": """
        TS().dtype|TS(3).size()|TS(np.int64(3)).size()|TS(True).size()|TS(3.0)|TS("ab")|TS(b"ab")|TS([1,2.5])
        TS([1,2.5],dtype=T.int8)|TS((1,2))|TS(range(2))|TS(x for x in [1])|TS(np.array([1.,2.]))
        TS(T.tensor([1.,2.]))|TS([[1,2],[3,4]])|TS(3,4)|TS(-1)|TS(2**62)|TS(3,dtype="a")|TS(3,dtype=None).dtype
        TS(3,device="meta")|TS([1],device="meta")|TS(3,device="cuda")|TS(3,device="xyz")|TS(wrap_storage=u4)
        TS(wrap_storage=u4,dtype=T.int16)|TS(wrap_storage=u,dtype=T.int16).size()
        TS(wrap_storage=TS([1.]),dtype=T.int16)|TS(3,wrap_storage=u4,dtype=T.int16)|TS(wrap_storage=u,dtype=3)
        TS(wrap_storage=u,dtype=T.int8,device="cpu")|TS(wrap_storage=[1],dtype=T.int8)|TS(3,foo=1)
        F(bytearray(b"ab"))|T.IntStorage(memoryview(b"ab"))|TS(bytearray(b"ab"),dtype=T.int8)|F(2,_internal=True).size()
        F(_internal=True)|T.cuda.FloatStorage(_internal=True)|T.cuda.FloatStorage(bytearray(b"ab"))
        T.cuda.FloatStorage._new_shared(2)|T.ShortStorage._new_shared(2)|TS(3,dtype=T.quint4x2).nbytes()|TS([1,2],dtype=T.quint4x2).tolist()|TS([300],dtype=T.uint8)
        TS([],dtype=T.uint8)|TS(["a"])|TS([1+2j],dtype=T.complex64)|TS([1+2j])
        TS(wrap_storage=u4,dtype=T.int16).untyped() is u4|TS(wrap_storage=u,dtype=T.int16).nbytes()|F()
        F(3).nbytes()|F(3.0)|F([1,2])|F(b"ab")|F("a")|F(np.array([1.]))|F(1,2)|F(3,device="cpu")|F(3,dtype=T.int8)
        F(wrap_storage=u8)|F(3,wrap_storage=u)|F(wrap_storage=TS([1.]))|F(wrap_storage=m)|type(F(3)) is TS
        isinstance(F(3),F)|isinstance(F(3),T.IntStorage)|isinstance(TS(3),F)|isinstance(TS(3,device="meta"),F)
        issubclass(F,TS)|F.dtype|T.Storage is F|T.Storage(3).dtype|T.QUInt8Storage(3).size()
        T.QUInt4x2Storage(3).nbytes()|T.QUInt2x4Storage(3).nbytes()|T.QInt32Storage([1,2])|T.BoolStorage([2,0])
        T.cuda.FloatStorage(3)|T.cuda.FloatStorage()|T.cuda.FloatStorage([1.0])
        T.cuda.FloatStorage.from_buffer(bytes(4),"native")|T.cuda.FloatStorage.dtype
        isinstance(F(3),T.cuda.FloatStorage)|T.cuda.FloatStorage(wrap_storage=u)|T.cuda.QInt8Storage
        T.cuda.FloatStorage.from_file(p,False,0)|F(wrap_storage=u4,dtype=T.int8)
        TS(dtype=T.int8,device="meta",wrap_storage=None)
        [c(2).dtype for c in (T.DoubleStorage,T.HalfStorage,T.BFloat16Storage,T.LongStorage)]
        [c(2).dtype for c in (T.ShortStorage,T.CharStorage,T.ByteStorage)]
        [c(2).nbytes() for c in (T.ComplexDoubleStorage,T.ComplexFloatStorage,T.QInt8Storage)]
        [c(2).nbytes() for c in (T.QInt32Storage,T.BoolStorage,T.IntStorage)]
    """,
    "__getitem__": """
        s[1]|s[-1]|s[3]|s[-4]|s[1.0]|s["a"]|s[np.int64(1)]|s[True]|s[None]|s[0:1]|s[2**70]|ms[0]
        T.QUInt8Storage([7])[0]|x[2:].storage()[0]|TS([1],dtype=T.float8_e5m2)[0]|TS([1+2j],dtype=T.complex64)[0]
        TS(2,dtype=T.bits8)[0]|TS(1,dtype=T.uint4)[0]|ms[0:1]|ms["a"]
    """,
    "__setitem__": """
        [f(s,1,5),s]|[f(s,slice(0,2),5),s]|f(s,slice(0,2),[5.,6.])|[f(s,slice(0,3,2),5),s]
        f(s,slice(None,None,-1),5)|f(s,3,5)|[f(s,True,5),s]|f(s,1.0,5)|f(s,1,"a")|f(s,1,F([1]))
        [f(s,1,T.tensor(1.)),s]|[f(s,slice(0,2),T.tensor([1,2])),s]|[f(i,1,1.5),i]|f(T.ByteStorage([1]),0,300)
        f(T.QUInt8Storage([1]),0,300)|f(s,np.int64(1),5)|[f(s,-1,8),s]|f(s,slice(0,2),T.tensor([1,2,3]))|f(ms,0,1)
    """,
    "__len__": """
        len(s)|len(F())|len(ms)|bool(F())|len(TS(wrap_storage=u,dtype=T.int16))
    """,
    "__iter__": """
        list(s)|2.0 in s|list(ms)|list(F())
    """,
    "__copy__": """
        copy.copy(s)|copy.copy(s).data_ptr()==s.data_ptr()
    """,
    "__deepcopy__": """
        copy.deepcopy(s)|(lambda a:a[0].untyped() is a[1].untyped_storage())(copy.deepcopy([x.storage(),x]))
        (lambda a:a[0] is a[1])(copy.deepcopy([s,s]))
    """,
    "__eq__": """
        s==s|s==F([1,2,3])|x.storage()==x.storage()|hash(s)==hash(s)|s!=s
    """,
    "__repr__": """
        repr(s)|str(s)|repr(F())|repr(ms)|repr(T.LongStorage([1]))|repr(TS([1],dtype=T.uint16))
    """,
    "__sizeof__": "F(100).__sizeof__()-F(0).__sizeof__()",
    "__reduce__": """
        pickle.loads(pickle.dumps(s))|pickle.loads(pickle.dumps(TS([1,2],dtype=T.uint16)))
        pickle.loads(pickle.dumps(T.LongStorage([5])))
    """,
    "clone": """
        s.clone()|s.clone().data_ptr()==s.data_ptr()|ms.clone()
    """,
    "copy_": """
        s.copy_(T.IntStorage([1,2,3]))|s.copy_(U(12).fill_(1))|s.copy_(T.DoubleStorage([1]))|s.copy_([1])
        s.copy_(source=F([2,2,2]))|s.copy_(x)|s.copy_(F([4,5,6])) is s|ms.copy_(F([1,2]))|F([1,2]).copy_(ms)
        s.copy_()
    """,
    "cpu": """
        s.cpu()|s.cpu().data_ptr()==s.data_ptr()|s.cpu() is s|ms.cpu()
    """,
    "cuda": """
        s.cuda()|s.cuda(1)|s.cuda(200)|T.QInt8Storage(1).cuda()
    """,
    "data_ptr": """
        s.data_ptr()!=0|F().data_ptr()|ms.data_ptr()|x[2:].storage().data_ptr()==x.data_ptr()
    """,
    "device": """
        s.device|ms.device
    """,
    "dtype": """
        s.dtype|i.dtype|x.storage().dtype
    """,
    "element_size": """
        s.element_size()|T.ByteStorage(1).element_size()|T.ComplexDoubleStorage(1).element_size()
        T.QUInt4x2Storage(1).element_size()
    """,
    "filename": """
        s.filename|F.from_file(p,True,2).filename==p|F.from_file(p,False,2).filename
    """,
    "fill_": """
        s.fill_(2)|T.LongStorage([1]).fill_(1.5)|s.fill_("a")|s.fill_(None)|s.fill_(T.tensor(3.))
        s.fill_(T.tensor([3.,4.,5.]))|s.fill_(F([1]))|T.ByteStorage([1]).fill_(300)|s.fill_(2) is s
        T.BoolStorage([False,True]).fill_(3)|T.QUInt8Storage([1]).fill_(3)|T.HalfStorage([1]).fill_(1e6)|ms.fill_(1)
        F().fill_(1)|T.ComplexFloatStorage([1]).fill_(1+1j)|s.fill_(1j)|T.IntStorage([1]).fill_(True)
        s.fill_(T.tensor([1.,2.]))
    """,
    "from_buffer": """
        TS.from_buffer(b,"native").dtype|TS.from_buffer(b,"native",dtype=T.int16)
        TS.from_buffer(b,"native",device="meta")|F.from_buffer(b,"big")|F.from_buffer(b,"big",dtype=T.int8)
        F.from_buffer(b,"big",-1,0,T.int8)|T.ByteStorage.from_buffer(b)
        T.BoolStorage.from_buffer(bytes([2,0]),"native")|F.from_buffer(b,"little",2,4)
        F.from_buffer(b,"native",device="cpu")|TS.from_buffer(b,"native",device="cpu").size()|F.from_buffer(b)
        TS.from_buffer(b,dtype=T.int16)|TS.from_buffer(b,"native",-1,0,T.int8)
        T.HalfStorage.from_buffer(b,"native",count=2,offset=1)
    """,
    "from_file": """
        TS.from_file(p,False,2)|F.from_file(p,False,2)|F.from_file(p)|F.from_file(p,False,100)
        F.from_file(p,shared=True,size=2)|F.from_file(filename=p,shared=False,size=2).size()
        [F.from_file(p,True,8),size(p)]|F.from_file(p,False,-1)|T.QUInt8Storage.from_file(p,False,2)
    """,
    "get_device": "s.get_device()",
    "hpu": """
        s.hpu()|T.QInt8Storage(1).hpu()
    """,
    "is_cuda": "s.is_cuda",
    "is_hpu": "s.is_hpu",
    "is_pinned": """
        s.is_pinned()|s.is_pinned('cpu')
    """,
    "is_shared": """
        s.is_shared()|s.share_memory_().is_shared()
    """,
    "is_sparse": """
        s.is_sparse|s.is_sparse_csr
    """,
    "nbytes": """
        s.nbytes()|TS(wrap_storage=u,dtype=T.int16).nbytes()
    """,
    "pickle_storage_type": """
        s.pickle_storage_type()|TS(1,dtype=T.uint16).pickle_storage_type()
        T.QUInt2x4Storage(1).pickle_storage_type()|ms.pickle_storage_type()
    """,
    "pin_memory": """
        s.pin_memory()|s.pin_memory('cpu')|ms.pin_memory()
    """,
    "resizable": """
        s.resizable()|F().resizable()|F.from_file(p,False,2).resizable()
    """,
    "resize_": """
        s.resize_(2)|[s.resize_(2),s]|s.resize_(-1)|s.resize_(1.5)|s.resize_("a")|[s.resize_(5),s.size()]
        [ms.resize_(5),ms]|s.resize_(2**61)|F.from_file(p,False,2).resize_(1)
    """,
    "share_memory_": """
        s.share_memory_()|s.share_memory_() is s|[x.storage().share_memory_(),x.is_shared()]|ms.share_memory_()
    """,
    "size": """
        s.size()|TS(wrap_storage=u,dtype=T.int16).size()|ms.size()
    """,
    "to": """
        s.to(device="cpu")|T.QInt8Storage(1).to(device="cpu")|s.to(device="meta")|s.to("cpu")|s.to(device="cuda")
        s.to(device="cpu").data_ptr()==s.data_ptr()|ms.to(device="meta")|T.QInt8Storage(1).to(device="xyz")
        s.to(device="xyz")
    """,
    "tolist": """
        f(ms,0,1)|f(ms,2,1)|f(ms,-3,1)|f(ms,0,"a")|f(ms,slice(0,9),1)|f(ms,slice(0,2,-1),1)|f(ms,True,1.5)|f(ms,9,"a")
        ms.fill_("a")|ms.fill_(1.5)|f(TS(0,device="meta"),0,0)
        TS(wrap_storage=u,dtype=T.float4_e2m1fn_x2).tolist()|TS(wrap_storage=u,dtype=T.float4_e2m1fn_x2)[0]
        TS(wrap_storage=u,dtype=T.bits8).tolist()|TS(wrap_storage=u,dtype=T.bits8)[0]|T.empty(1,dtype=T.bits8).item()
        T.cuda.ByteStorage("a")|T.cuda.FloatStorage([1,2])|T.cuda.FloatStorage(["a"])|T.cuda.FloatStorage(3)
        T.cuda.FloatStorage(1.5)|T.cuda.FloatStorage(b"ab")|T.cuda.ByteStorage(-1)|T.cuda.ByteStorage(())
        s.tolist()|ms.tolist()|T.BoolStorage([True]).tolist()|T.BFloat16Storage([1.5]).tolist()
        T.ComplexFloatStorage([1+2j]).tolist()
    """,
    "type": """
        s.type()|TS([1]).type()|TS(3,dtype=T.uint16).type()|ms.type()|s.type("torch.IntStorage")|s.type(T.int)
        s.type(T.IntStorage)|s.type("torch.storage.UntypedStorage")|T.ByteStorage([1]).type("torch.CharStorage")
        T.QUInt8Storage(1).type()|s.type("torch.Nothing")
    """,
    "untyped": """
        s.untyped()|x.storage().untyped() is x.untyped_storage()
    """,
    "new": """
        s.new()|s.byteswap|s.mps|s.is_sparse_csr
    """,
}  # fmt: skip
TYPED |= {
    name: f"s.{name}()|i.{name}()|TS([1+2j],dtype=T.complex64).{name}()|T.QUInt8Storage([1]).{name}()"
    f"|TS([1],dtype=T.uint16).{name}()|ms.{name}()"
    f"|s.{name}().data_ptr()==s.data_ptr()|[s.{name}().fill_(0),s]|TS(1,dtype=T.bits8).{name}()|T.BoolStorage([True,False]).{name}()"
    f"|TS(wrap_storage=u,dtype=T.int16).{name}()|F([0.5,-3.7,100.25]).{name}()|TS(wrap_storage=u8[:7],dtype=T.float32).{name}().nbytes()"
    for name in CONVERSIONS
}  # fmt: skip

# Where torch's process dies, or answers with Python's SystemError, the reference raises.
DEADLY = {
    "U([1]).__delitem__(0)": AttributeError,
    "U([2**64])": RuntimeError,
    "f(u,0,2**64)": RuntimeError,
    "u.fill_(2**64)": RuntimeError,
    'U.from_buffer(b,"native",dtype=T.int16,count=2**62)': ValueError,
    "u.share_memory_().resize_(9)": RuntimeError,
    "u.share_memory_().new()": RuntimeError,
    "u.share_memory_()[1:].new()": RuntimeError,
    "T.from_numpy(np.arange(3)).untyped_storage().new()": RuntimeError,
    "U.from_file(p,False,8).new()": RuntimeError,
    "x.share_memory_().resize_(100)": RuntimeError,
    "m.byteswap(T.int16)": RuntimeError,
    "m.resize_(-1)": RuntimeError,
}


def split(text):
    return [e.strip() for line in text.splitlines() for e in line.split("|") if e.strip()]


@pytest.fixture
def names(tmp_path):
    import copy
    import pickle

    def make(lib):
        folder = tmp_path / lib.__name__.rpartition(".")[2]
        folder.mkdir(exist_ok=True)
        path = folder / "file"
        path.write_bytes(bytes(range(1, 21)))
        for left in folder.glob("file?*"):
            left.unlink()
        U = lib.UntypedStorage
        return {
            "u": U([1, 2, 3]),
            "u4": U([1, 2, 3, 4]),
            "u8": U(list(range(8))),
            "big": U([0, 127, 128, 255]),
            "m": U(3, device="meta"),
            "s": lib.FloatStorage([1, 2, 3]),
            "i": lib.IntStorage([1, -2]),
            "ms": lib.TypedStorage(2, device="meta"),
            "x": lib.arange(6.0),
            "f": lambda s, i, v: s.__setitem__(i, v),
            "copy": copy,
            "pickle": pickle,
            "b": bytes(range(16)),
            "p": str(path),
            "d": str(folder),
            "size": os.path.getsize,
            "exists": os.path.exists,
            "read": lambda p: Path(p).read_bytes(),
        }

    return make


CASES = [("UntypedStorage", k, e) for k, v in UNTYPED.items() for e in split(v)]
CASES += [("TypedStorage", k, e) for k, v in TYPED.items() for e in split(v)]


def says_what_it_cannot_decode():
    """Whether CPython raises UnicodeDecodeError for a message that is no text; 3.11.2 raises without any message."""
    try:
        ctypes.pythonapi.PyErr_SetString(ctypes.py_object(RuntimeError), b"\xff")
    except UnicodeDecodeError:
        return True
    except RuntimeError:
        return False
    raise AssertionError("nothing was raised")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("cls", "table"), [("UntypedStorage", UNTYPED), ("TypedStorage", TYPED)])
def test_members_agree_with_torch(cls, table, names):
    tried = [e for text in table.values() for e in split(text)]
    if not says_what_it_cannot_decode():
        tried = [e for e in tried if "bytes([255])" not in e]
    found = [d for e in tried if (d := disagreement(e, names))]
    assert not found, f"{len(found)} of {len(tried)}:\n" + "\n".join(found)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", DEADLY)
def test_what_kills_torch_raises_here(expression, names):
    value, error = run(expression, ref, names(ref))
    assert isinstance(error, DEADLY[expression]), (value, error)


def public(cls):
    own = {n for base in cls.__mro__[:-1] for n in vars(base)}
    special = {
        "__init__",
        "__new__",
        "__getitem__",
        "__setitem__",
        "__len__",
        "__iter__",
        "__copy__",
        "__deepcopy__",
        "__eq__",
        "__repr__",
        "__reduce__",
    }
    return {n for n in own if not n.startswith("_")} | special & set(dir(cls))


@pytest.mark.parametrize(("name", "table"), [("UntypedStorage", UNTYPED), ("TypedStorage", TYPED)])
def test_every_member_is_covered(name, table, capsys):
    members = public(getattr(torch, name)) - ({"__new__"} if name == "UntypedStorage" else {"__init__"})
    missing = sorted(n for n in members if not hasattr(getattr(ref, name), n) and n != "dtype")
    unused = sorted(members - set(table))
    with capsys.disabled():
        print(
            f"\n{name}: {len(members)} members, {sum(len(split(table[n])) for n in members & set(table))} expressions"
        )
        for n in sorted(members & set(table)):
            print(f"  {n}: {len(split(table[n]))}")
    assert not missing, f"not implemented: {missing}"
    assert not unused, f"without an expression: {unused}"


def test_typed_storage_warns_once():
    from stridecheck.reference_impl import notices

    notices.given.discard(notices.TYPED)
    try:
        with pytest.warns(UserWarning, match="TypedStorage is deprecated") as caught:
            [ref.FloatStorage([1.0]).tolist(), ref.arange(3).storage()]
    finally:
        notices.given.add(notices.TYPED)
    assert len(caught) == 1
    gc.collect()
