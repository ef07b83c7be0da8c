"""The table of operations: how each is spelled, its parameters in PyTorch's order, and what it does to memory.

A line is a form, a name and parameters. Forms: `method`, `function`, `property`, `index`, `assign`, or `expression`,
whose text follows `=` with the parameters in braces. `A|B.c|d` stands for `A.c`, `A.d`, `B.c` and `B.d`; a capital (or
`ndarray`) before the dot is the class whose method it is, of all others the tensor's.

Marks after the form: `!` it changes its first argument, `@` its result depends on how the operand lies in memory, `?`
what it answers depends on elements, `&` it answers with an address, `>` it takes `out=`. A heading in square brackets
names the group of the operations below it. Standard library only.
"""

from .compute_signatures import COMPUTING

TENSORS = """
method   view(self, *size)
method@  view.dtype(self, dtype)
method   view_as(self, other)
method   reshape(self, *shape)
method   reshape_as(self, other)
method   flatten(self, start_dim=0, end_dim=-1)
method   unflatten(self, dim, sizes)
method   ravel(self)
method   permute(self, *dims)
method   transpose(self, dim0, dim1)
method   swapaxes(self, axis0, axis1)
method   swapdims(self, dim0, dim1)
method   movedim(self, source, destination)
method   moveaxis(self, source, destination)
method   t(self)
property T(self)
property mT(self)
index    __getitem__(self, index)
method   narrow(self, dim, start, length)
method   select(self, dim, index)
method   expand(self, *size)
method   expand_as(self, other)
method   broadcast_to(self, size)
method   squeeze(self, dim=None)
method   unsqueeze(self, dim)
method   unfold(self, dimension, size, step)
method   diagonal(self, offset=0, dim1=0, dim2=1)
method@  as_strided(self, size, stride, storage_offset=None)
method   detach(self)
method   contiguous(self, memory_format=None)
method   clone(self, memory_format=None)
method   to(self, dtype=None, non_blocking=False, copy=False, memory_format=None, device=None)
method?  tolist(self)
method   is_contiguous(self, memory_format=None)
method   is_set_to(self, tensor)
method!  resize_(self, size, memory_format=None)
method!  resize_as_(self, other, memory_format=None)
method!  set_(self, source=None, storage_offset=None, size=None, stride=None)
method!@ as_strided_(self, size, stride, storage_offset=None)
method!  squeeze_(self, dim=None)
method!  unsqueeze_(self, dim)
method!  transpose_(self, dim0, dim1)
method!  swapaxes_(self, axis0, axis1)
method!  t_(self)
method!  detach_(self)
method   split(self, split_size, dim=0)
method   chunk(self, chunks, dim=0)
method   tensor_split(self, indices_or_sections, dim=0)
method   unbind(self, dim=0)
method?  item(self)
method   numel|dim|element_size|is_pinned|is_shared|storage_offset(self)
property nbytes|itemsize|device(self)
method&  data_ptr(self)
"""
"""What tensors say of themselves, their views, and changes of how they lie."""

BITS = """
method   conj|resolve_conj|resolve_neg|is_conj|is_neg|conj_physical|adjoint|_neg_view(self)
property real|imag|mH|H(self)
function view_as_real|view_as_complex(input)
"""
"""Conjugate and negative bits, and complex numbers seen as pairs."""

STORAGES = """
method   untyped_storage|storage(self)
method!  share_memory_(self)
method   pin_memory(self)
function UntypedStorage(size=0, device=None)
function TypedStorage(data=0, wrap_storage=None, dtype=None, device=None)
function DoubleStorage|FloatStorage|HalfStorage|BFloat16Storage(data=0, wrap_storage=None)
function LongStorage|IntStorage|ShortStorage|CharStorage|ByteStorage|BoolStorage(data=0, wrap_storage=None)
function ComplexDoubleStorage|ComplexFloatStorage(data=0, wrap_storage=None)
function QUInt8Storage|QInt8Storage|QInt32Storage|QUInt4x2Storage|QUInt2x4Storage(data=0, wrap_storage=None)
function Storage(data=0, wrap_storage=None)
function cuda.FloatStorage|ByteStorage(data=0, wrap_storage=None)
function from_file(filename, shared=None, size=0, dtype=None)
function UntypedStorage.from_buffer(buffer, byte_order=None, count=-1, offset=0, dtype=None)
function TypedStorage.from_buffer(buffer, byte_order=None, count=-1, offset=0, dtype=None, device=None)
function FloatStorage|ByteStorage|ShortStorage.from_buffer(buffer, byte_order=None, count=-1, offset=0, dtype=None)
function UntypedStorage.from_file(filename, shared=False, nbytes=0)
function TypedStorage|FloatStorage|ShortStorage.from_file(filename, shared, size)
method   UntypedStorage|TypedStorage.bool|byte|char|short|int|long|half|bfloat16|float|double(self)
method   UntypedStorage|TypedStorage.complex_float|complex_double(self)
method   UntypedStorage|TypedStorage.float8_e4m3fn|float8_e4m3fnuz|float8_e5m2|float8_e5m2fnuz(self)
method   UntypedStorage|TypedStorage.clone|untyped|cpu(self)
method   UntypedStorage|TypedStorage.cuda|hpu(self, device=None, non_blocking=False)
method   UntypedStorage|TypedStorage.to(self, device, non_blocking=False)
method   UntypedStorage|TypedStorage.type(self, dtype=None, non_blocking=False)
method   UntypedStorage.mps|new(self)
method   UntypedStorage|TypedStorage.nbytes|size|element_size|resizable|is_shared|get_device(self)
method   UntypedStorage|TypedStorage.is_pinned|pin_memory(self, device=None)
method&  UntypedStorage|TypedStorage.data_ptr(self)
property UntypedStorage|TypedStorage.device|filename|is_cuda|is_hpu|is_sparse(self)
property UntypedStorage.is_sparse_csr(self)
property TypedStorage.dtype(self)
method   TypedStorage.pickle_storage_type(self)
method?  UntypedStorage|TypedStorage.tolist(self)
index?   UntypedStorage|TypedStorage.__getitem__(self, index)
assign!  UntypedStorage|TypedStorage.__setitem__(self, index, value)
method!  UntypedStorage|TypedStorage.fill_(self, value)
method!  UntypedStorage|TypedStorage.copy_(self, source, non_blocking=None)
method!  UntypedStorage|TypedStorage.resize_(self, size)
method!  UntypedStorage|TypedStorage.share_memory_(self)
method!  UntypedStorage.byteswap(self, dtype)
expression  UntypedStorage|TypedStorage.__len__(self) = len({self})
expression  UntypedStorage|TypedStorage.__bool__(self) = bool({self})
expression  UntypedStorage|TypedStorage.__eq__(self, other) = {self} == {other}
expression? UntypedStorage|TypedStorage.__iter__(self) = list({self})
expression? UntypedStorage|TypedStorage.__repr__(self) = repr({self})
"""
"""Storages: how they come about, and every public method and property of both classes."""

EXCHANGE = """
method   numpy(self, force=False)
method   __array__(self, dtype=None)
method   __dlpack__(self, stream=-1, max_version=None, dl_device=None, copy=None)
method   __dlpack_device__(self)
function from_numpy(ndarray)
function as_tensor(data, dtype=None, device=None)
function tensor(data, dtype=None, device=None, requires_grad=False)
function asarray(obj, dtype=None, device=None, copy=None, requires_grad=None)
function frombuffer(buffer, dtype, count=-1, offset=0, requires_grad=False)
function from_dlpack(ext_tensor, device=None, copy=None)
function utils.dlpack.from_dlpack(ext_tensor)
function utils.dlpack.to_dlpack(data)
function empty(size, dtype=None, device=None)
expression  numpy.asarray(a, dtype=None) = numpy.asarray({a}, {dtype})
expression  numpy.from_dlpack(x) = numpy.from_dlpack({x})
expression  memoryview(object) = memoryview({object})
index    ndarray.__getitem__(self, index)
property ndarray.T(self)
property ndarray.__array_interface__(self)
method   ndarray.view(self, dtype)
method   ndarray.reshape(self, shape)
method   ndarray.copy(self, order="C")
method   ndarray.astype(self, dtype)
method   ndarray.__dlpack__(self, max_version=None, copy=None)
method?  ndarray.tolist(self)
method!  ndarray.fill(self, value)
method!  ndarray.setflags(self, write=None)
"""
"""Memory that other libraries see: NumPy's arrays, buffers, array interfaces, DLPack capsules."""

COPIES = """
expression  copy.copy(x) = copy.copy({x})
expression  copy.deepcopy(x) = copy.deepcopy({x})
expression  pickle(obj) = pickle.loads(pickle.dumps({obj}))
expression  save_load(obj, map_location=None) = \
torch.load([f := io.BytesIO(), torch.save({obj}, f), f.seek(0)][0], map_location={map_location})
expression  load(data) = torch.load(io.BytesIO({data}))
"""
"""Copies of objects: alone, with all that share their memory, through a file."""

QUANTISED = """
function quantize_per_tensor(input, scale, zero_point, dtype)
function quantize_per_channel(input, scales, zero_points, axis, dtype)
function _empty_affine_quantized(size, scale=1.0, zero_point=0, dtype=None)
function _make_per_tensor_quantized_tensor(input, scale, zero_point)
function _empty_per_channel_affine_quantized(size, scales, zero_points, axis, dtype=None)
method   int_repr|dequantize|q_scale|q_zero_point|qscheme(self)
method   q_per_channel_scales|q_per_channel_zero_points|q_per_channel_axis(self)
method?  equal(self, other)
"""
"""Quantised tensors: codes, and what they mean."""

NESTED = """
expression  histogramdd(input, bins, range=None, weight=None, density=False) = \
[*(h := torch.histogramdd({input}, {bins}, {range}, {weight}, {density}))[:1], *h[1]]
"""
"""Answers with a tuple in them: an observation has their items in a row. No program is drawn of them."""

SIGNATURES = TENSORS + BITS + STORAGES + EXCHANGE + COPIES + QUANTISED + NESTED + COMPUTING
