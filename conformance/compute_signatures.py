"""The table of operations, continued: what computes, fills, gathers and rearranges. Lines as in `signatures.py`.

A heading names the group of the operations below it; rules speak of groups. Standard library only.
"""

COMPUTING = """
[unary]
method>  neg|abs|exp|exp2|expm1|log|log2|log10|log1p|sqrt|rsqrt|sin|cos|tan|asin|acos|atan|sinh|cosh|tanh|asinh(self)
method>  acosh|atanh|sigmoid|erf|erfc|floor|ceil|trunc|frac|reciprocal|square|sign|sgn|deg2rad|rad2deg|bitwise_not(self)
method>  signbit|logical_not|isposinf|isneginf(self)
method   relu|isnan|isinf|isfinite|isreal(self)
method>  round(self, decimals=0)
method>  nan_to_num(self, nan=None, posinf=None, neginf=None)
function nn.functional.silu|mish|hardswish|relu6|selu(input, inplace=False)
function nn.functional.softsign|tanhshrink|logsigmoid(input)
function nn.functional.gelu(input, approximate="none")
function nn.functional.elu|celu(input, alpha=1.0, inplace=False)
function nn.functional.leaky_relu(input, negative_slope=0.01, inplace=False)
function nn.functional.softplus(input, beta=1.0, threshold=20.0)
function nn.functional.hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False)
function nn.functional.threshold(input, threshold, value, inplace=False)
function nn.functional.dropout(input, p=0.5, training=True, inplace=False)

[binary]
method>  add|sub(self, other, alpha=1)
method>  mul|floor_divide|remainder|fmod|atan2|maximum|minimum|fmax|fmin|hypot|copysign|nextafter|logaddexp(self, other)
method>  xlogy|logical_and|logical_or|logical_xor|bitwise_and|bitwise_or|bitwise_xor(self, other)
method>  bitwise_left_shift|bitwise_right_shift(self, other)
method>  div(self, other, rounding_mode=None)
method>  pow|float_power(self, exponent)
method>  heaviside(self, values)
method>  eq|ne|lt|le|gt|ge(self, other)
method   isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False)

[ternary]
function> where(condition, input, other)
method>  lerp(self, end, weight)
method>  addcmul|addcdiv(self, tensor1, tensor2, value=1)
method>  clamp(self, min=None, max=None)
method>  clamp_min(self, min)
method>  clamp_max(self, max)

[in-place]
method!  fill_(self, value)
method!  zero_(self)
method!  copy_(self, src, non_blocking=False)
method!  add_|sub_(self, other, alpha=1)
method!  mul_|floor_divide_|remainder_|fmod_|atan2_|hypot_|copysign_|nextafter_|xlogy_(self, other)
method!  logical_and_|logical_or_|logical_xor_|bitwise_and_|bitwise_or_|bitwise_xor_(self, other)
method!  eq_|ne_|lt_|le_|gt_|ge_(self, other)
method!  div_(self, other, rounding_mode=None)
method!  pow_(self, exponent)
method!  lerp_(self, end, weight)
method!  addcmul_|addcdiv_(self, tensor1, tensor2, value=1)
method!  clamp_(self, min=None, max=None)
method!  relu_|neg_|abs_|exp_|exp2_|expm1_|log_|log2_|log10_|log1p_|sqrt_|rsqrt_|sin_|cos_|tan_|atan_|sinh_|tanh_(self)
method!  sigmoid_|erf_|erfc_|floor_|ceil_|trunc_|frac_|reciprocal_|square_|sign_|sgn_|logical_not_|bitwise_not_(self)
method!  round_(self, decimals=0)
method!  nan_to_num_(self, nan=None, posinf=None, neginf=None)
assign!  __setitem__(self, index, value)

[triangle writes]
method!  tril_|triu_(self, diagonal=0)
method!  fill_diagonal_(self, fill_value, wrap=False)

[scan writes]
method!  cumsum_|cumprod_(self, dim, dtype=None)

[product writes]
method!  addmm_(self, mat1, mat2, beta=1, alpha=1)
method!  addmv_(self, mat, vec, beta=1, alpha=1)
method!  addr_(self, vec1, vec2, beta=1, alpha=1)
method!  baddbmm_(self, batch1, batch2, beta=1, alpha=1)

[index writes]
method!  index_add_(self, dim, index, source, alpha=1)
method!  index_copy_(self, dim, index, source)
method!  index_fill_(self, dim, index, value)
method!  index_put_(self, indices, values, accumulate=False)
method!  scatter_|scatter_add_(self, dim, index, src)
method!  put_(self, index, source, accumulate=False)
method!  masked_fill_(self, mask, value)
method!  masked_scatter_(self, mask, source)

[conversions]
method   float|double|half|bfloat16|bool|int|long|short|byte|char|cfloat|cdouble(self, memory_format=None)
method   type(self, dtype=None)
method   type_as(self, other)

[reductions]
method>  sum|nansum|mean|nanmean|prod(self, dim=None, keepdim=False, dtype=None)
method>  amax|amin(self, dim=(), keepdim=False)
method>  argmax|argmin|all|any(self, dim=None, keepdim=False)
method>  std|var(self, dim=None, correction=1, keepdim=False)
method>  logsumexp(self, dim, keepdim=False)
method   count_nonzero(self, dim=None)
method   norm(self, p="fro", dim=None, keepdim=False, dtype=None)
function> linalg.vector_norm(x, ord=2, dim=None, keepdim=False, dtype=None)

[reductions to pairs]
method>  max|min|median|nanmedian(self, dim=None, keepdim=False)
method>  mode(self, dim=-1, keepdim=False)
method>  kthvalue(self, k, dim=-1, keepdim=False)
method   aminmax(self, dim=None, keepdim=False)
function std_mean|var_mean(input, dim=None, correction=1, keepdim=False)

[scans]
method>  cumsum|cumprod(self, dim, dtype=None)
method>  logcumsumexp(self, dim)
method   softmax|log_softmax(self, dim, dtype=None)
function nn.functional.softmin(input, dim, dtype=None)

[scans to pairs]
method>  cummax|cummin(self, dim)

[sorts]
method>  sort|argsort(self, dim=-1, descending=False, stable=False)
method>  topk(self, k, dim=-1, largest=True, sorted=True)

[products]
method>  matmul|inner(self, other)
method>  mm|bmm(self, mat2)
method>  mv(self, vec)
method>  dot(self, tensor)
method>  outer(self, vec2)
method>  addmm(self, mat1, mat2, beta=1, alpha=1)
method>  addmv(self, mat, vec, beta=1, alpha=1)
method>  addr(self, vec1, vec2, beta=1, alpha=1)
method>  baddbmm|addbmm(self, batch1, batch2, beta=1, alpha=1)
method   kron(self, other)
function einsum(equation, *operands)
function tensordot(a, b, dims=2)
function nn.functional.linear(input, weight, bias=None)

[convolutions]
function conv1d|conv2d|conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1)
function conv_transpose1d|conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1)

[pooling]
function nn.functional.max_pool1d|max_pool2d|max_pool3d(\
input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False)
function nn.functional.avg_pool1d|avg_pool2d|avg_pool3d(\
input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True)
function nn.functional.lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False)
function nn.functional.adaptive_avg_pool1d|adaptive_avg_pool2d|adaptive_avg_pool3d(input, output_size)
function nn.functional.adaptive_max_pool1d|adaptive_max_pool2d(input, output_size, return_indices=False)

[normalization]
function nn.functional.batch_norm(\
input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05)
function nn.functional.instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None)
function nn.functional.group_norm(input, num_groups, weight=None, bias=None, eps=1e-05)
function nn.functional.layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05)
function nn.functional.local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0)
function nn.functional.normalize(input, p=2.0, dim=1, eps=1e-12)

[images]
function nn.functional.pad(input, pad, mode="constant", value=None)
function nn.functional.interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None)
function nn.functional.pixel_shuffle(input, upscale_factor)
function nn.functional.pixel_unshuffle(input, downscale_factor)
function nn.functional.channel_shuffle(input, groups)
function nn.functional.unfold(input, kernel_size, dilation=1, padding=0, stride=1)
function nn.functional.fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1)
function nn.functional.glu(input, dim=-1)

[joins]
function> cat|concat(tensors, dim=0)
function> stack(tensors, dim=0)
function> hstack|vstack|dstack|column_stack(tensors)
function block_diag|cartesian_prod(*tensors)

[gathers]
method>  index_select(self, dim, index)
method>  gather(self, dim, index)
method>  take(self, index)
method>  take_along_dim(self, indices, dim=None)
method>  masked_select(self, mask)
method   nonzero|argwhere(self)
function nn.functional.embedding(input, weight, padding_idx=None)
function nn.functional.one_hot(tensor, num_classes=-1)

[scatters]
method   masked_fill(self, mask, value)
method   masked_scatter(self, mask, source)
method   index_add(self, dim, index, source, alpha=1)
method   index_copy(self, dim, index, source)
method   index_fill(self, dim, index, value)
method   index_put(self, indices, values, accumulate=False)
method   scatter|scatter_add(self, dim, index, src)
method   put(self, index, source, accumulate=False)

[view scatters]
method   diagonal_scatter(self, src, offset=0, dim1=0, dim2=1)
method   select_scatter(self, src, dim, index)
method   slice_scatter(self, src, dim=0, start=None, end=None, step=1)
method@  as_strided_scatter(self, src, size, stride, storage_offset=None)

[view copies]
function view_copy(input, size)
function permute_copy(input, dims)
function expand_copy(input, size)
function@ as_strided_copy(input, size, stride, storage_offset=None)
function transpose_copy(input, dim0, dim1)
function select_copy(input, dim, index)
function squeeze_copy(input, dim=None)
function unsqueeze_copy(input, dim)
function unfold_copy(input, dimension, size, step)
function diagonal_copy(input, offset=0, dim1=0, dim2=1)
function t_copy|detach_copy|alias_copy(input)
method   narrow_copy(self, dim, start, length)
function split_copy(input, split_size, dim=0)
function unbind_copy(input, dim=0)

[rearrangements]
method   flip(self, *dims)
method   fliplr|flipud(self)
method   roll(self, shifts, dims=None)
method   rot90(self, k=1, dims=(0,1))
method   repeat(self, *repeats)
method   tile(self, *dims)
method   repeat_interleave(self, repeats, dim=None)
method>  tril|triu(self, diagonal=0)
method   diag(self, diagonal=0)
method   diag_embed(self, offset=0, dim1=-2, dim2=-1)
method   diagflat(self, offset=0)
method   diff(self, n=1, dim=-1)

[like factories]
function empty_like|zeros_like|ones_like|rand_like|randn_like(input, dtype=None, memory_format=None)
function full_like(input, fill_value, dtype=None, memory_format=None)

[new factories]
method   new_empty|new_zeros|new_ones(self, size, dtype=None)
method   new_full(self, size, fill_value, dtype=None)
method   new_empty_strided(self, size, stride, dtype=None)

[plain factories]
function zeros|ones(size, dtype=None)
function full(size, fill_value, dtype=None)
function empty_strided(size, stride, dtype=None)
function empty_permuted(size, physical_layout, dtype=None)
function arange(end, dtype=None)
function eye(n, m, dtype=None)

[splits]
method   hsplit|vsplit|dsplit(self, indices_or_sections)
method   split_with_sizes(self, split_sizes, dim=0)

[untracked splits]
method   unsafe_split(self, split_size, dim=0)
method   unsafe_chunk(self, chunks, dim=0)
method   unsafe_split_with_sizes(self, split_sizes, dim=0)

[broadcasts]
function broadcast_tensors(*tensors)
function meshgrid(*tensors)

[same or view]
function atleast_1d|atleast_2d|atleast_3d(tensor)

[same or copy]
method   positive(self)
method   sum_to_size(self, *size)

[changes]
method!  swapdims_(self, dim0, dim1)

[gradients]
method!  requires_grad_(self, requires_grad=True)
method   backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None)
property grad|is_leaf|requires_grad|ndim|shape(self)
method   stride|size(self, dim=None)
method?  allclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False)
method   is_same_size(self, other)
"""
