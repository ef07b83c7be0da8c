"""What an outsider's random calls were shrunk to: numbers as tensors, scatters, powers, indices of every kind."""

import pytest
import stridecheck.reference_impl as ref
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from .line_programs import differences

NUMBERS = """
    o=T.zeros(2,2); o.copy_(3)
    o=T.zeros(2,2,dtype=T.int8); o.copy_(300)
    o=T.zeros(2,2); o.copy_(1+2j)
    o=T.zeros(2,2); o.copy_(True)
    o=T.zeros(2,2); o.copy_(np.float32(2))
    o=T.zeros(2,2); o.copy_(np.int64(2))
    o=T.zeros(2,2); o.copy_([1,2])
    o=T.zeros(2,2,dtype=T.bool); o.copy_(-1)
    o=T.zeros(2,dtype=T.uint8); o.copy_(2**70)
    o=T.zeros(2,dtype=T.float32); o.copy_(2**63)
    o=T.zeros(2).expand(2,2); o.copy_(1)
    o=T.zeros(2,dtype=T.int8); o.copy_(float('inf'))
    o=T.zeros(2,requires_grad=True); o.copy_(1)
    o=T.zeros(2,2,dtype=T.int8); o.copy_(T.tensor(300.))
    o=T.zeros(2,2,dtype=T.uint64); o.copy_(2**63)
    o=T.zeros(2,2,dtype=T.uint64); o.copy_(2**64)
    o=T.zeros(2,2,dtype=T.uint64); o.copy_(-2**63)
    o=T.zeros(2,2,dtype=T.uint64); o.copy_(-2**64)
    o=T.zeros(2,2,dtype=T.int64); o.copy_(2**63+5)
    o=T.zeros(2,2,dtype=T.float64); o.copy_(2**63+5)
    o=T.zeros(2,2,dtype=T.float64); o.copy_(0.1)
    o=T.zeros(2,2,dtype=T.complex128); o.copy_(0.1+2j)
    o=T.zeros(2,2,dtype=T.float16); o.copy_(70000)
    o=T.zeros(2,2,dtype=T.float16); o.copy_(None)
    o=T.zeros(2,2,dtype=T.float16); o.copy_('a')
    o=T.zeros(2,2,dtype=T.float16); o.copy_(np.array(2))
    o=T.zeros(2,2,dtype=T.float16); o.copy_(np.bool_(True))
    o=T.zeros(2,2,dtype=T.float16); o.copy_(other=2)
    o=T.zeros(2,2,dtype=T.float16); o.copy_(src=2)
    o=T.zeros(2,2,dtype=T.float16); o.copy_(2,True)
"""

SCATTERED = """
    o=T.tensor([0.,1,2]); o.masked_scatter_(o>0,o)
    b=T.arange(6.); o=b[:3]; o.masked_scatter_(o>0,b[1:4])
    b=T.arange(6.); o=b[:3]; o.masked_scatter_(o>0,b[:3])
    b=T.arange(6.); o=b[:3]; o.masked_scatter_(o>0,b)
    b=T.arange(6.); o=b[::2]; o.masked_scatter_(o>0,b[:3])
    b=T.tensor([1,0,1],dtype=T.bool); o=b; o.masked_scatter_(b,T.tensor([False]*3))
    b=T.tensor([1,0,1],dtype=T.bool); o=b; o.masked_scatter_(b.view(3),T.tensor([False]*3))
    b=T.arange(12.); o=b[:6]; o.masked_scatter_(T.ones(6,dtype=T.bool),b[3:9])
    b=T.arange(12.); o=b[:6]; o.masked_scatter_(T.ones(6,dtype=T.bool),b[6:12])
    b=T.arange(12.); o=b[2:8]; o.masked_scatter_(T.ones(6,dtype=T.bool),b[0:6])
    b=T.arange(12.); o=b[2:8]; o.masked_scatter_(T.tensor([1,0,1,0,1,1],dtype=T.bool),b[0:6])
    b=T.arange(12.); o=b[::2]; o.masked_scatter_(T.tensor([1,0,1,0,1,1],dtype=T.bool),b[1::2])
    b=T.arange(12.); o=b[::2]; o.masked_scatter_(T.tensor([1,0,1,0,1,1],dtype=T.bool),b[0:6])
    b=T.arange(12.); o=b.view(3,4).T; o.masked_scatter_(T.ones(4,3,dtype=T.bool),b.view(3,4).T)
    b=T.arange(12.); o=b.view(3,4); o.masked_scatter_(T.ones(3,4,dtype=T.bool),b.view(3,4).T)
    b=T.arange(12.); o=b.view(3,4)[:,:3]; o.masked_scatter_(T.ones(3,3,dtype=T.bool),o.T)
    b=T.tensor([1,0,1,1],dtype=T.bool); o=b; o.masked_scatter_(b,b)
    b=T.tensor([1,0,1,1],dtype=T.bool); o=b[:3]; o.masked_scatter_(b[1:],b)
    b=T.tensor([1,0,1,1],dtype=T.bool); o=b[:3]; o.masked_scatter_(b[:3],T.tensor([False]*3))
    b=T.tensor([1,0,1,1],dtype=T.bool); o=b[:3]; o.masked_scatter_(b[1:],T.tensor([False]*3))
    o=T.arange(3.).expand(2,3); o.masked_scatter_(T.ones(3,dtype=T.bool),T.zeros(6))
    o=T.arange(3.); o.masked_scatter_(T.ones(3,dtype=T.bool),T.zeros(2))
"""

POWERS = """
    T.pow(T.tensor([3,1]).to(T.float8_e5m2),0),T.pow(T.tensor([3,1]).to(T.float8_e5m2),1.0)
    T.pow(T.tensor([3,1]).to(T.uint64),True),T.pow(T.tensor([3,1]).to(T.uint16),0.0)
    T.pow(T.tensor([3,1]).to(T.uint64),2)
    o=T.tensor([3,1]).to(T.float8_e4m3fn);o.pow_(1)
    o=T.tensor([3,1]).to(T.float8_e4m3fn);o.pow_(2)
    T.linalg.vecdot(T.ones(3),T.ones(3),dim=7)
    T.linalg.vecdot(T.ones(2,3),T.ones(3),dim=7)
    T.ldexp(T.zeros(1,2,2,dtype=T.float16),T.zeros(3,1,1,dtype=T.int16))
    T.ldexp(T.zeros(1,2,2,dtype=T.float16),T.tensor(1,dtype=T.int16))
    T.ldexp(T.zeros(2,dtype=T.int8),T.zeros(2,dtype=T.int16))
    T.ldexp(T.zeros(2,dtype=T.float16),T.zeros(2,dtype=T.int16))
    T.ldexp(T.zeros(2,dtype=T.float16),T.zeros(2,dtype=T.bool))
    T.ldexp(T.zeros(2,dtype=T.float16),T.zeros(2,dtype=T.float32))
    T.ldexp(T.zeros(2,dtype=T.float16),T.zeros(2,dtype=T.float64))
    T.ldexp(T.zeros(2,dtype=T.float32),T.zeros(2,dtype=T.float64))
    T.ldexp(T.zeros(2,dtype=T.complex64),T.zeros(2,dtype=T.int64))
    T.ldexp(T.zeros(2,dtype=T.float64),T.zeros(2,dtype=T.int64))
    T.ldexp(T.zeros((),dtype=T.float64),T.zeros(2,dtype=T.int64))
    T.ldexp(T.zeros((),dtype=T.float64),T.zeros(2,dtype=T.float32))
    T.ldexp(T.zeros(2,dtype=T.bool),T.zeros(2,dtype=T.bool))
    T.ldexp(T.zeros(2),T.zeros(2,3,dtype=T.int64).T)
    T.ldexp(T.zeros(3,2,dtype=T.int32),T.zeros(2,3,dtype=T.int64).T)
    T.ldexp(T.zeros(2),T.zeros(2,3).T)
    T.ldexp(T.zeros(2,1),T.zeros(3,2,3).permute(2,1,0))
    T.ldexp(T.tensor([1.,2,0,float('inf'),3]),T.tensor([300,-300,300,-5,2]))
    T.ldexp(T.tensor([1.,2,0,float('inf'),3],dtype=T.float16),T.tensor([300,-300,300,-5,70000]))
    T.ldexp(T.zeros(2,3,dtype=T.float16),T.zeros(3,dtype=T.uint8))
    T.ldexp(T.zeros(2,3,dtype=T.float16),T.zeros(3,dtype=T.uint64))
    T.ldexp(T.zeros(2,3,dtype=T.bfloat16),T.zeros(3,dtype=T.int64))
    T.ldexp(T.zeros(2,3,dtype=T.float8_e5m2),T.zeros(3,dtype=T.int64))
    T.ldexp(T.zeros(2,3),T.zeros(8,6,dtype=T.int64).T[::2,::4].T)
    T.ldexp(T.zeros(3,2,1),T.zeros(2,6,3,dtype=T.int64)[:,::2].transpose(0,1).expand(3,2,3))
    T.ldexp(T.zeros(2,2,2,2).contiguous(memory_format=T.channels_last),T.zeros(2,1,1,dtype=T.int8))
"""

INDICES = """
    T.zeros(2,3,4)[...,...]
    T.zeros(2,3,4)[...,...,:]
    T.zeros(2,3)[...,0,...]
    T.zeros(2,3,4)[0,...,...,:,1:]
    T.zeros(2,3)[0,...,1,...]
    T.zeros(2,3)[...,T.tensor([0]),...]
    T.zeros(2,3)[...,None,...]
    o=T.zeros(2,3);o.__setitem__((...,...),1)
    T.index_reduce(T.tensor(1.),0,T.tensor([0,0]),T.tensor(2.),'amax')
    T.index_reduce(T.tensor(1.),0,T.tensor([],dtype=T.int64),T.tensor(2.),'amax')
    T.index_reduce(T.zeros(0,2),0,T.tensor([0,0]),T.zeros(2,2),'amax')
    T.index_reduce(T.zeros(3,0),1,T.tensor([0,0]),T.zeros(3,2),'amax')
    T.index_reduce(T.zeros(3,0),0,T.tensor([5]),T.zeros(1,0),'amax')
    T.index_reduce(T.zeros(0),0,T.tensor([0,0]),T.zeros(2),'amax')
    T.index_reduce(T.zeros(3,2),0,T.tensor([5]),T.zeros(1,2),'amax')
    o=T.ones(4,3,dtype=T.complex32);o.index_put_((T.tensor([0]),),T.tensor(1).to(o.dtype),accumulate=True)
    o=T.ones(4,dtype=T.complex32);o.index_put_((T.tensor([0,0,1]),),T.ones(3,dtype=T.complex32),accumulate=True)
    o=T.ones(4,dtype=T.complex32);o.index_add_(0,T.tensor([0,1]),T.ones(2,dtype=T.complex32),alpha=2+1j)
    o=T.ones(4,2,dtype=T.complex32);o.index_add_(0,T.tensor([0]),T.ones(1,2,dtype=T.complex32))
    T.logcumsumexp(T.zeros(0,dtype=T.int64),0)
    T.logcumsumexp(T.tensor(1),0)
    T.logcumsumexp(T.zeros(0,3,dtype=T.bool),1)
    T.logcumsumexp(T.zeros(0,3,dtype=T.float8_e5m2),1)
    T.logcumsumexp(T.zeros(0,3,dtype=T.float16),1)
    T.mode(T.tensor(1+2j),0)
    T.mode(T.tensor([1+2j]),0)
    T.median(T.tensor(1+2j),0)
    T.zeros(2,3)[True]
    T.zeros(2,3)[False]
    T.zeros(2,3)[:,True,T.tensor([0,1])]
    T.zeros(2,3)[:,False,T.tensor([0])]
    T.zeros(2,3)[:,T.tensor(True),0]
    o=T.zeros(2,3);o.__setitem__((slice(None),True,0),T.tensor([True]))
    o=T.zeros(2,3);o.__setitem__((slice(None),True,0),T.tensor([2.]))
    o=T.zeros(2,3);o.__setitem__((slice(None),True,0),T.tensor(2))
    o=T.zeros(2,3);o.__setitem__((T.tensor(True),),T.tensor(2))
    o=T.zeros(2,3);o.__setitem__((T.tensor(True),),2)
    o=T.zeros(2,3);o.__setitem__((T.tensor(False),),T.tensor([2.,3,4]))
    o=T.zeros(2,3);o.__setitem__((True,0),2.5)
    o=T.zeros(2,3,dtype=T.int8);o.__setitem__((True,0),T.tensor([1],dtype=T.int8))
    o=T.zeros(2,3,dtype=T.float8_e5m2);o.__setitem__((True,0),1)
    o=T.zeros(3,dtype=T.float32);o.index_reduce_(0,T.tensor([0,5]),T.zeros(2),'prod')
    o=T.zeros(3,2,dtype=T.float32);o.index_reduce_(0,T.tensor([-1,0]),T.zeros(2,2),'prod')
    o=T.zeros(2,3,2,dtype=T.float32);o.index_reduce_(0,T.tensor([-9,0]),T.zeros(2,3,2),'prod')
    o=T.zeros(0,2,dtype=T.float32);o.index_reduce_(0,T.tensor([0,5]),T.zeros(2,2),'prod')
    o=T.zeros(3,dtype=T.float32);o.index_reduce_(0,T.tensor([-1,0]),T.zeros(2),'mean')
    o=T.zeros(3,2,dtype=T.float32);o.index_reduce_(0,T.tensor([-9,0]),T.zeros(2,2),'mean')
    o=T.zeros(0,dtype=T.float32);o.index_reduce_(0,T.tensor([0,5]),T.zeros(2),'mean')
    o=T.zeros(0,2,dtype=T.float32);o.index_reduce_(0,T.tensor([-1,0]),T.zeros(2,2),'mean')
    o=T.zeros(3,dtype=T.float32);o.index_reduce_(0,T.tensor([-9,0]),T.zeros(2),'amax')
    o=T.zeros(2,3,2,dtype=T.float32);o.index_reduce_(0,T.tensor([0,5]),T.zeros(2,3,2),'amax')
    o=T.zeros(0,dtype=T.float32);o.index_reduce_(0,T.tensor([-1,0]),T.zeros(2),'amax')
    o=T.zeros(0,2,dtype=T.float32);o.index_reduce_(0,T.tensor([-9,0]),T.zeros(2,2),'amax')
    o=T.zeros(3,2,dtype=T.float32);o.index_reduce_(0,T.tensor([0,5]),T.zeros(2,2),'amin')
    o=T.zeros(2,3,2,dtype=T.float32);o.index_reduce_(0,T.tensor([-1,0]),T.zeros(2,3,2),'amin')
    o=T.zeros(0,dtype=T.float32);o.index_reduce_(0,T.tensor([-9,0]),T.zeros(2),'amin')
    T.index_put(T.tensor(1),(T.tensor(True),),T.tensor(2))
    T.index_put(T.tensor(-1),(T.tensor(-1)>0,),T.tensor(2))
    T.index_put(T.tensor(-1),(T.tensor([True]),),T.tensor(2))
    T.index_put(T.tensor(-1),(T.tensor(0),),T.tensor(2))
    T.index_put(T.tensor([-1]),(T.tensor(True),),T.tensor(2))
    T.index_put(T.tensor([-1]),(T.tensor(1,dtype=T.uint8),),T.tensor(2))
    T.index_put(T.tensor([-1,5]),(T.tensor(1),),T.tensor(2))
    o=T.tensor([-1]);o.index_put_((T.tensor(True),),T.tensor(2))
    T.index_add(T.zeros(2,2),1,T.tensor([0]),T.zeros(4))
    T.index_add(T.zeros(2,2),0,T.tensor([0]),T.zeros(4))
    T.index_copy(T.zeros(2,2),1,T.tensor([0]),T.zeros(4))
    T.index_reduce(T.zeros(2,2),1,T.tensor([0]),T.zeros(4),'amax')
    T.index_reduce(T.tensor(1.),0,T.tensor([0]),T.tensor(2.),'amax')
    T.index_reduce(T.tensor(1.),0,T.tensor(0),T.tensor(2.),'amax')
    T.index_add(T.tensor(1.),0,T.tensor([0,0]),T.tensor(2.))
    o=T.zeros(2,2);o.__setitem__(T.tensor([True,False]),T.tensor([1+2j]))
    o=T.zeros(2,2);o.__setitem__(T.tensor([True,False]),T.tensor([1+0j]))
    o=T.zeros(2,2);o.__setitem__(T.tensor([True,False]),T.tensor([1+2j,2]))
    o=T.zeros(2,2);o.__setitem__((T.tensor([True,False]),0),T.tensor([1+2j]))
    o=T.zeros(2,2,dtype=T.int8);o.__setitem__((T.tensor([True,False]),0),T.tensor([300]))
    o=T.zeros(2,2,dtype=T.int8);o.__setitem__((T.tensor([True,False]),0),T.tensor([300.5]))
    o=T.zeros(2,2,dtype=T.int8);o.__setitem__((T.tensor([True,False]),0),T.tensor([float('nan')]))
    o=T.zeros(2,2,dtype=T.int8);o.__setitem__((T.tensor([0]),0),T.tensor([300]))
    o=T.zeros(2,2,dtype=T.int8);o.__setitem__((T.tensor([0]),0),T.tensor([1+1j]))
    o=T.zeros(2,2,dtype=T.int8);o.index_put_((T.tensor([True,False]),),T.tensor([300],dtype=T.int8))
    T.zeros(2,2)[0,'a']
    T.zeros(2,2)['a']
    T.zeros(2,2)['a',0]
    T.zeros(2,2)[T.tensor([0]),'a']
    T.zeros(2,2)['a',T.tensor([0])]
    T.zeros(2,2)['a',[0]]
    T.zeros(2,2)[1.5,[0]]
    T.zeros(2,2)[[0],1.5]
    T.zeros(2,2)[[0],'ab']
    T.zeros(2,2,2)[[0],(0,'a')]
    T.zeros(2,2,2)[[0],b'a']
    o=T.zeros(2,2);o.__setitem__((0,'a'),1)
    o=T.zeros(2,2);o.__setitem__((T.tensor([0]),'a'),1)
    T.index_put(T.tensor([1,2]),(T.tensor(True),),T.tensor([3,4]))
    T.index_put(T.tensor([1,2]),(T.tensor(False),),T.tensor([3,4]))
    T.index_put(T.tensor([1,2]),(T.tensor(True),),T.tensor([[3,4]]))
    T.index_put(T.tensor([[1,2]]),(T.tensor(True),T.tensor([0])),T.tensor([3,4]))
    T.index_put(T.tensor([1,2]),(T.tensor(True),),T.tensor(1),accumulate=True)
    T.index_put(T.tensor([1,2]),(T.tensor(1,dtype=T.uint8),),T.tensor([3,4]))
    o=T.zeros(2,2);o.__setitem__((T.tensor(True),0),1)
    o=T.zeros(2,2);o.__setitem__((T.tensor(True),),T.tensor([1,2.]))
    o=T.zeros(2,2);o.__setitem__(T.tensor([0,1]),o)
    o=T.zeros(0,2);o.__setitem__(T.tensor([0,1]),o)
    o=T.zeros(3,0);o.__setitem__(T.tensor([0,1,2]),o)
    o=T.zeros(3,0);o.__setitem__(T.tensor([0,1,2]),o[:])
    o=T.zeros(3,0);o.__setitem__(T.tensor([0,1,2]),o[:3])
    o=T.zeros(1,0);o.__setitem__(T.tensor([0]),o)
    o=T.zeros(3,0);o.__setitem__((slice(None),T.tensor([],dtype=T.int64)),o)
    o=T.zeros(3,0);o.__setitem__((slice(0,3),T.tensor([],dtype=T.int64)),o)
    o=T.zeros(3,0);o.__setitem__((slice(0,2),T.tensor([],dtype=T.int64)),o)
    o=T.zeros(3,0);o.__setitem__((Ellipsis,T.tensor([],dtype=T.int64)),o)
    o=T.zeros(3,0);o.index_put_((T.tensor([0,1,2]),),o)
    o=T.zeros(3,0,dtype=T.int64);o.__setitem__((T.tensor([0,1,2]),o.view(-1)),0)
    o=T.zeros(0,dtype=T.int64);o.__setitem__((o,),0)
    o=T.zeros(0,dtype=T.int64);o.__setitem__((o,),T.zeros(0,dtype=T.int64))
    o=T.zeros(0,dtype=T.int64);o.__setitem__((slice(None),None,o),5)
    o=T.arange(4.);o.__setitem__(T.tensor([True,False,True,False]),o[0])
    o=T.arange(4.);o.__setitem__((slice(None),),o)
    o=T.arange(4.);o.__setitem__((Ellipsis,),o.flip(0))
    a=T.zeros(3,requires_grad=True);a.__setitem__((T.tensor([0]),),1)
    a=T.zeros(3,requires_grad=True);a.__setitem__((Ellipsis,),1)
"""

OTHERS = """
    o=T.zeros(5,1);T.diff(T.ones(5,1),0,-2,out=o)
    o=T.zeros(5);T.diff(T.ones(5,1),0,-2,out=o)
    o=T.ones(5,1);T.diff(o,0,out=o)
    b=T.arange(8.);o=b.expand(3,8);T.sort(o,out=(o,T.zeros(0,dtype=T.int64)))
    b=T.arange(6);o=b.narrow(0,2,1);T.index_select(b.expand(3,-1),0,T.tensor([0,1]),out=o)
    o=T.arange(8.)._neg_view();T.where(o.unfold(0,1,2)<0,o.unfold(0,1,2),o,out=o)
    T.rsub(T.ones(2),T.tensor(2.),2),T.rsub(T.ones(2),2,T.tensor(2.)),T.rsub(T.ones(2),2,alpha=2)
    T.rsub(T.ones(2),2,2,alpha=2)
    o=T.zeros(4,6)[:,::2];T.narrow_copy(T.arange(12.).view(4,3),0,0,4,out=o)
    o=T.zeros(3,4).t();T.narrow_copy(T.arange(12.).view(4,3),0,0,4,out=o)
    o=T.arange(6.);T.narrow_copy(o,0,1,3,out=o)
    T.rsub(T.ones(2),2,-1)
    T.rsub(T.ones(2),T.ones(2),-1)
    o=T.zeros(1,dtype=T.complex64).expand(3);T.fft.fft(T.ones(3),out=o)
    o=T.zeros(3,dtype=T.complex64);T.fft.irfft(T.ones(3),out=o)
    o=T.zeros(3,dtype=T.complex64);T.fft.hfftn(T.ones(3),out=o)
    o=T.zeros(3,dtype=T.float64);T.fft.irfft(T.ones(3),out=o).dtype
    o=T.zeros(3,dtype=T.complex128);T.fft.rfft(T.ones(3),out=o).dtype
    o=T.zeros(3,dtype=T.complex128);T.fft.ihfft(T.ones(3),out=o).dtype
    o=T.zeros(2).double();T.scatter(T.zeros(2),0,T.tensor([0]),T.ones(1),out=o)
    o=T.zeros(2).double();T.scatter_add(T.zeros(2),0,T.tensor([0]),T.ones(1),out=o)
    o=T.zeros(2).double();T.scatter_reduce(T.zeros(2),0,T.tensor([0]),T.ones(1),'sum',out=o)
    o=T.zeros(1).expand(3);T.logcumsumexp(T.ones(3),0,out=o)
    x=T.ones(1).expand(5);x.resize_as_(T.zeros(5),memory_format=T.contiguous_format);x.squeeze(0)
    x=T.ones(1).expand(5);x.resize_(5,memory_format=T.contiguous_format);x[1:]
    x=T.ones(1).expand(5);x.resize_(5,memory_format=T.contiguous_format);x.view(5).shape
    x=T.ones(1).expand(5);x.resize_(5,memory_format=T.contiguous_format);y=x.detach();y[:1]
    T.linalg.matrix_rank(T.zeros(5,3,1,0),2.,True)
    o=T.ones(3);T.feature_dropout_(o,1.,True)
    T.feature_dropout(T.ones(3),.5,True)
    o=T.zeros(2).double();T.index_reduce(T.zeros(2),0,T.tensor([0]),T.ones(1),'mean',out=o)
    o=T.zeros(2,3);o.scatter_(0,T.zeros(0,3,dtype=T.int64),3,reduce='amax')
    T.index_put(T.zeros(2),[T.tensor([0,1])],T.ones(1,2))
    o=T.zeros(2);o.index_put_((T.tensor([0,1]),),T.ones(1,2))
    o=T.zeros(2);o.__setitem__((T.tensor([0,1]),),T.ones(1,2))
    o=T.zeros(2);o.index_put_((T.tensor([True,False]),),T.ones(1,1))
    o=T.zeros(2);o.index_put_((T.tensor([True,False]),),T.ones(1,1),True)
    o=T.zeros(2);o.index_put_((T.tensor([True,True]),),T.ones(1,2))
    T.margin_ranking_loss(T.ones(2,1),T.ones(3),T.ones(2,1))
    F.margin_ranking_loss(T.ones(2,1),T.ones(3),T.ones(2,1))
    T.pairwise_distance(T.tensor(1.),T.tensor(2.),keepdim=True).shape
    o=T.tensor([0.,1.5,3]);F.hardtanh_(o,2,1)
    F.hardtanh(T.zeros(3),2)
    o=T.zeros(2);T.nonzero_static(T.ones(2),size=2,out=o)
    o=T.zeros(0);T.frexp(T.ones(2),out=(o,T.zeros(2)))
    T.special.round(T.ones(2,dtype=T.int64))
    o=T.ones(2,dtype=T.complex64).conj();T._foreach_add_([o],1)
    o=T.ones(2)._neg_view();T._foreach_zero_([o])
    o=T.ones(2);T._foreach_add_([o],[o._neg_view()])
    o=T.ones(2,requires_grad=True)._neg_view();T._foreach_mul_([o],2)
    x=T.tensor([1+2j,3j]);o=x.conj()._neg_view();o.dot(o).is_conj(),o.dot(x.conj()).is_conj(),x.vdot(o).is_conj(),x._neg_view().vdot(x.conj()).is_conj()
    T.tensor(list(np.arange(4).astype('>f4').reshape(2,2))),T.tensor([np.arange(4).astype('>i8')])
    T.tensor(np.arange(4).astype('>i8'))
    o=T.ones(1);o.addbmm_(T.ones(2,3,4),T.ones(2,4,5))
    o=T.ones(3,1);o.addbmm_(T.ones(2,3,4),T.ones(2,4,5))
    o=T.ones(2,2);o.addbmm_(T.ones(2,3,4),T.ones(2,4,5))
    o=T.arange(6.);T.where(o>0,o,T.ones(2,6),out=o)
    o=T.arange(6)>0;T.where(o.expand(2,6),o,o,out=o)
    o=T.arange(6)%2==0;T.sort(o,out=(o.narrow(0,3,2),T.zeros(0,dtype=T.int64)))
    o=T.arange(3.).as_strided((8,),(0,),1);T.sort(o,out=(o,T.zeros(0,dtype=T.int64)))
    o=T.arange(6.);T.take(o,T.tensor([0,1]),out=o.unfold(0,1,3))
    o=T.arange(6.);T.index_select(o,0,T.tensor([0,1]),out=o.unfold(0,1,3))
    o=T.arange(6.);T.take(o,T.tensor([0,1]),out=o[2:4])
    o=T.arange(6.);T.masked_select(o,o>2,out=o[1:3])
    T.amax(T.zeros(5,0),[])
    T.amax(T.zeros(5,0),())
    T.amax(T.zeros(5,0),dim=0)
    T.amax(T.zeros(5,0),dim=1)
    T.amax(T.zeros(5,0))
    T.amin(T.zeros(5,0),[0,1])
    T.zeros(5,0).max()
    T.aminmax(T.zeros(5,0))
    T.bucketize(T.zeros(3,dtype=T.complex64),T.tensor([0.,1.]))
    T.bucketize(T.zeros(0,dtype=T.complex64),T.tensor([0.,1.]))
    T.searchsorted(T.tensor([1,2]),T.zeros(3,dtype=T.complex64))
    T.searchsorted(T.tensor([1,2]),T.zeros(3,dtype=T.uint64))
    T.searchsorted(T.tensor([1,2]),T.zeros(3,dtype=T.float64))
    T.searchsorted(T.tensor([1,2]),T.zeros(3,dtype=T.bool))
    T.searchsorted(T.tensor([1,2]),T.zeros(3,dtype=T.bfloat16))
    T.searchsorted(T.tensor([1+1j,2]),T.zeros(3,dtype=T.complex128))
    T.searchsorted(T.tensor([True,False]),T.zeros(3,dtype=T.bool))
    T.searchsorted(T.tensor([1,2],dtype=T.uint64),T.zeros(3,dtype=T.uint64))
    T.nanmean(T.zeros(2,dtype=T.int8),0,dtype=T.float64)
    T.nanmean(T.zeros(2,dtype=T.int8),0)
    T.nanmean(T.zeros(2),0,dtype=T.int64)
    T.nanmean(T.zeros(2),0,dtype=T.float64)
    T.nanmean(T.zeros(2),0,dtype=T.complex64)
    T.nanmean(T.zeros(2,dtype=T.bool))
    T.tensor_split(T.zeros(3),T.tensor([]),0)
    T.tensor_split(T.zeros(3),T.tensor([1],dtype=T.int32),0)
    T.tensor_split(T.zeros(3),T.tensor(2.),0)
    T.tensor_split(T.zeros(3),T.tensor([[1]]),0)
    n=np.arange(12.,dtype=np.float32)[::3];o=T.Tensor(n);n.__setitem__(0,9)
    n=np.arange(12).reshape(3,4).T;o=T.LongTensor(n);n.__setitem__(0,7)
    n=np.arange(12.);o=T.zeros(2).new(n);n.__setitem__(0,7)
    T.Tensor(np.arange(3,dtype=np.float32)[::-1])
    T.Tensor(np.array(3)),T.zeros(2).new(np.array(3),2),T.Tensor(np.array(3.))
    T.zeros(2,np.array(2)),T.zeros(6).as_strided((2,np.array(2)),(1,1)),T.zeros(2,2).sum([np.array(0)])
    T.zeros(2,True),T.zeros(2,2).permute(1,False),T.zeros(2,2).sum((1,False)),T.Tensor(2,True)
    T.zeros(True,2)
    T.zeros(2,np.array(2.))
    a=T.zeros(2,requires_grad=True);o=a*1; o.copy_(2); (o.requires_grad,o.is_leaf)
    T.baddbmm(T.zeros(4),T.zeros(1),T.zeros(4))
    T.baddbmm(T.zeros(2,3,4),T.zeros(2,3),T.zeros(2,3,4))
    T.baddbmm(T.zeros(2,3,4),T.zeros(2,3,3,3),T.zeros(2,3,4))
    T.baddbmm(T.zeros(2,3,4),T.zeros(2,3,3),T.zeros(2,3))
    o=T.zeros(2,3,4);o.baddbmm_(T.zeros(2,3,3),T.zeros(2,3))
    T.bmm(T.zeros(1),T.zeros(4))
    T.trapezoid(T.zeros(0))
    T.trapezoid(T.zeros(3,0),dim=0)
    o=T.zeros(4);o.resize_as_(T.zeros(2,2),memory_format=T.channels_last)
    o=T.zeros(4);o.resize_(2,2,memory_format=T.channels_last)
    F.cosine_similarity(T.zeros(2,2,dtype=T.float16),T.zeros((),dtype=T.float32),0)
    F.cosine_similarity(T.zeros(2,2,dtype=T.float16),T.zeros((2),dtype=T.float64),0)
    F.cosine_similarity(T.zeros(2,2,dtype=T.float32),T.zeros((),dtype=T.float64),0)
    F.cosine_similarity(T.zeros(2,2,dtype=T.float32),T.zeros((),dtype=T.complex64),0)
    F.kl_div(T.zeros(2),1)
    F.cosine_similarity(T.zeros(2,2,dtype=T.int64),T.zeros((),dtype=T.float32),0)
    a=T.zeros(3,requires_grad=True);o=T.zeros(3);o.__setitem__((T.tensor([0]),),a[0]);(o.requires_grad,o.is_leaf)
    a=T.zeros(3,requires_grad=True);o=T.zeros(3);o.__setitem__((T.tensor([0,1]),),a[:2]);(o.requires_grad,o.is_leaf)
"""


ARRAYS = """
    o=T.arange(6.).view(2,3);o[np.array([True,False])]
    o=T.arange(6.).view(2,3);o[np.array([1,0],np.uint8)]
    o=T.arange(6.).view(2,3);o[np.array(1,np.uint8)]
    o=T.arange(6.).view(2,3);o[np.array(1,np.uint16)]
    o=T.arange(6.).view(2,3);o[np.array(1,np.float16)]
    o=T.arange(6.).view(2,3);o[np.array([1,0],np.int32)].stride()
    o=T.arange(6.).view(2,3);o[np.array([1.7,0.2])]
    o=T.arange(6.).view(2,3);o[np.array([1.7+1j,0.2])]
    o=T.arange(6.).view(2,3);o[np.array(['a'])]
    o=T.arange(6.).view(2,3);o[np.array([None])]
    o=T.zeros(5,5);o[np.zeros((2,1),np.int32), T.zeros(4,dtype=T.int64).as_strided((2,2),(1,2))].stride()
    o=T.zeros(5,5);o[np.zeros((2,1),np.int8), T.zeros(4,dtype=T.int64).as_strided((2,2),(1,2))].stride()
    o=T.zeros(5,5);o[np.zeros((2,1),np.int64), T.zeros(4,dtype=T.int64).as_strided((2,2),(1,2))].stride()
    o=T.zeros(5,5);o[np.zeros((2,2),np.int64,order='F')].stride()
    o=T.zeros(5,5);o[np.zeros((2,2),np.int32,order='F')].stride()
    o=T.zeros(5,5);o[np.zeros((2,2),np.int16,order='F')].stride()
    o=T.zeros(5,5);o[np.zeros((2,2),np.float64,order='F')].stride()
    o=T.zeros(5,5);o[np.zeros((2,1),np.int8)[:, ::-1], T.zeros(4,dtype=T.int64).as_strided((2,2),(1,2))].stride()
    o=T.zeros(5,5);o[np.zeros(4,np.int64)[::-1]].stride()
    o=T.zeros(2,3);o[np.array(True), np.array([0,1])]
    o=T.zeros(2,3);o.__setitem__(np.array(False),4)
    o=T.zeros(2,3);o.__setitem__(np.array(1,np.uint8),4)
    o=T.zeros(2,3);o.__setitem__(np.array(1,np.int8),4)
    o=T.zeros(2,3);o.__setitem__(np.array(1,np.float32),4)
    o=T.zeros(2,3);o[np.array(-1,np.int8)]
    o=T.zeros(2,3);o[np.array(2**63,np.uint64)]
    o=T.zeros(2,3);o[np.array([2**63],np.uint64)]
    o=T.zeros(2,3);o[np.array([np.nan])]
    o=T.zeros(2,3);o[np.array([[]])].shape
    o=T.zeros(2,3);o[np.zeros(0)].shape
    o=T.zeros(2,3);o[np.zeros(0,bool)].shape
    o=T.zeros(2,3);o[[True, False]]
    o=T.zeros(2,3);o[[np.bool_(True), False]]
    o=T.zeros(2,3);o[[np.array(True), False]]
    o=T.zeros(2,3);o[[np.int8(1)]]
    o=T.zeros(2,3);o[(np.array([1]),)]
    o=T.zeros(2,3);o[[np.array([1])]]
    o=T.zeros(2,3);o[[np.array(1,np.int8)]]
    o=T.zeros(2,3);o[[np.array(1.5)]]
    o=T.zeros(2,3);o[['a']]
    o=T.zeros(2,3);o[['a'],]
    o=T.zeros(2,3);o[['a'],0]
    o=T.zeros(2,3);o[[b'a'],0]
    o=T.zeros(2,3);o[[b'a', 0]]
    o=T.zeros(2,3);o[[range(2), 0]]
    o=T.zeros(2,3);o[[range(1)]]
    o=T.zeros(2,3);o[[{}]]
    o=T.zeros(2,3);o[[np.array([True,False])]]
    o=T.zeros(2,3);o[[1+1j]]
    o=T.zeros(2,3);o[np.array([[True,False,True],[False,True,True]])]
    o=T.zeros(2,3);o[0,np.array([[True,False,True],[False,True,True]])]
    o=T.zeros(2);o[np.array([[True,False,True],[False,True,True]])]
    o=T.zeros(());o[np.array(True)]
    o=T.zeros(());o[np.array(0)]
    o=T.zeros(());o[np.array([0])]
    o=T.zeros(());o[[]]
    o=T.zeros(2,3)._neg_view();o[np.array([1],np.int8)]
    o=T.zeros(2,3);o[...,np.array(True)].shape
    o=T.zeros(2,3);o[0,0,np.array(True)].shape
    o=T.zeros(2,3);o[:,:,np.array(True)].shape
    o=T.zeros(2,3);o[0,0,np.array(1)]
    o=T.zeros(2,3);o[0,0,np.array([1],np.int8)]
    o=T.zeros(2,3);o[np.array([1]).astype('datetime64[s]')]
    o=T.zeros(2,3);o[np.zeros((1,2,0),np.float32)].shape
    o=T.zeros(2,3);o[T.tensor([1],dtype=T.int8)]
    o=T.zeros(2,3);o[(1.5,)]
"""

PAST_THE_STORAGE = """
    a=T.zeros(9).as_strided((2,2),(3,1));a.set_(T.zeros(4).untyped_storage(),0,(2,2)).stride()
    a=T.zeros(9).as_strided((2,2),(3,1));a.set_(T.zeros(4).untyped_storage(),0,(2,2));a[1]
    a=T.zeros(9).as_strided((2,2),(3,1));a.set_(T.zeros(4).untyped_storage(),0,(2,2));a[0,0]
    a=T.zeros(9).as_strided((2,2),(3,1));a.set_(T.zeros(4),0,(2,2));a.t()
    a=T.zeros(9).as_strided((2,2),(3,1));a.set_(T.zeros(4),0,(2,2));a.unsqueeze(0)
    a=T.zeros(9).as_strided((2,2),(3,1));a.set_(T.zeros(4),0,(2,2));a.detach().select(1,1)
    a=T.zeros(9,device='meta').as_strided((2,2),(3,1));a.set_(T.zeros(4,device='meta'),0,(2,2)).stride()
    a=T.zeros(9,device='meta').as_strided((2,2),(3,1));a.set_(T.zeros(4,device='meta'),0,(2,2),(3,1)).stride()
    b=T.arange(4.);o=b[1:1].view(1,0);T.index_select(b[1:2].view(1,1),1,T.tensor([0,0]),out=o)
    b=T.arange(6.);o=b[:0].view(0,0);T.index_select(b[2:].view(2,2),0,T.tensor([1,0]),out=o)
    T.eye(2**40)
    T.arange(2**60)
    T.diag_embed(T.zeros(1).expand(2**31))
    T.bincount(T.tensor([2**57]))
    T.linspace(0,1,2**58)
    F.one_hot(T.tensor([1]),2**58)
    T.tril_indices(2**35,2**35)
"""

HALF_DONE = """
    o=T.tensor([-3,0,3],dtype=T.int8);o.remainder_(o)
    a=T.tensor([-3,0,3]);o=T.zeros(3,dtype=T.int64);T.fmod(a,a,out=o)
    a=T.tensor([-3,0,3]);o=T.zeros(3,dtype=T.int64);T.floor_divide(a,a,out=o)
    o=T.zeros(2,dtype=T.complex64);o.scatter_reduce_(0,T.tensor([0]),T.ones(1,dtype=T.complex64),'amax',include_self=False)
    o=T.ones(1,3).to(T.complex32);o.index_reduce_(0,T.tensor([0]),T.ones(1,3).to(T.complex32),'mean')
    o=T.ones(1,3).to(T.complex32);o.index_reduce_(0,T.tensor([0]),T.ones(1,3).to(T.complex32)*2,'prod').to(T.complex64)
    o=T.ones(1,3).to(T.complex32);o.index_reduce_(0,T.tensor([0]),o.clone(),'prod',include_self=False)
    o=T.ones(1,1).to(T.float8_e5m2);o.index_reduce_(0,T.tensor([0]),o.clone(),'prod')
    o=T.ones(1,2).to(T.float8_e5m2);o.index_reduce_(0,T.tensor([0]),o.clone(),'prod')
    T.ldexp(T.ones(3,dtype=T.float64),T.ones(3,2,dtype=T.float64).t())
    T.ldexp(T.ones(3,dtype=T.float64),T.ones(3,2).t())
    T.ldexp(T.ones(3),T.ones(3,2,dtype=T.complex64).t())
    T.ldexp(T.ones(3,dtype=T.int64),T.ones(3,2,dtype=T.float16).t())
"""


@pytest.mark.parametrize("programs", [NUMBERS, SCATTERED, POWERS, INDICES, OTHERS, ARRAYS, PAST_THE_STORAGE, HALF_DONE])
def test_programs_end_alike(programs):
    """The same error or result, also where the call was refused half-way."""
    assert differences(programs) == []


@pytest.mark.parametrize("index", [(..., ..., 0), (0, ..., ..., slice(1)), (..., ..., slice(0, None, 2))])
def test_what_a_second_ellipsis_leads_past_is_not_specified(index):
    """PyTorch reads how long the dimension is past the end of the sizes, unless the item leaves it whole."""
    with pytest.raises(ref.errors.UnspecifiedError):
        ref.zeros(2, 2, 2)[index]


@st.composite
def selections_into_their_storage(draw):
    """`index_select` into a part of its input's storage, which is often resized over more of it."""
    shape = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    strides = draw(st.lists(st.integers(1, 3), min_size=len(shape), max_size=len(shape)))
    extent = sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + 1
    assume(extent <= 12)
    dim = draw(st.integers(0, len(shape) - 1))
    index = draw(st.lists(st.integers(0, shape[dim] - 1), max_size=3))
    start, into = draw(st.integers(0, 12 - extent)), draw(st.integers(0, 12))
    out = [0] * draw(st.integers(0, 2)) + draw(st.sampled_from([[0], [1, 0], [0, 1]]))
    return (
        f"b=T.arange(12.);a=b.as_strided({shape},{strides},{start});o=b[{into}:{into}].view({out});"
        f"T.index_select(a,{dim},T.tensor({index},dtype=T.int64),out=o)"
    )


@given(selections_into_their_storage())
@settings(max_examples=300, deadline=None)
def test_an_output_is_looked_at_before_it_is_resized(program):
    """Over its input, that is; afterwards, only the first slices are."""
    assert differences(program) == []
