"""The helpers that derivatives.yaml calls: the parts of gradient formulas that do not fit on a line.

Everything here works on tensors with tensor methods and ops, so that every formula can be differentiated again.
Arguments follow the op's schema; `grad` may be None only where several outputs have gradients. Source: calculus.
"""

import math

from mindtorch import state
from mindtorch.dispatch import ops
from mindtorch.dispatch.registry import kernel_table
from mindtorch.kinds import common_kind
from mindtorch.state import thread
from mindtorch.tensor import Tensor, wrap

LOG_2 = math.log(2.0)
SQRT_PI = math.sqrt(math.pi)

_mul_kernels = kernel_table("mul.Tensor")


# ---- numbers and tensors alike ----


def conj(value):
    """Complex conjugate of a tensor or number; a real tensor is returned as it is. None stays None."""
    if isinstance(value, Tensor):
        return value.conj() if value._array.dtype.kind == "c" else value
    return value.conjugate() if isinstance(value, complex) else value


def maybe_multiply(tensor, factor):
    """tensor * factor, without an op when the factor is 1."""
    if type(factor) is int and factor == 1:  # nearly always
        return tensor
    return tensor if not isinstance(factor, Tensor) and factor == 1 else tensor * factor


def real(tensor):
    """The real part of a tensor that may already be real."""
    return tensor.real if tensor.is_complex() else tensor


def imag(tensor):
    """The imaginary part of a tensor; zeros for a real one."""
    return tensor.imag if tensor.is_complex() else ops.zeros_like(tensor)


def wrapped(dim, ndim):
    """A non-negative dim."""
    return dim + ndim if dim < 0 else dim


def reduced_dims(dim, ndim):
    """The dims that a reduction runs over: all of them for None or an empty list."""
    if dim is None or ndim == 0:
        return tuple(range(ndim))
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    return tuple([wrapped(d, ndim) for d in dims]) or tuple(range(ndim))


def restore_dims(tensor, dim, ndim, keepdim):
    """Put back, with size 1, the dims that a reduction took away, so that the tensor broadcasts with its input."""
    if keepdim or ndim == 0:
        return tensor
    for d in sorted(reduced_dims(dim, ndim)):
        tensor = tensor.unsqueeze(d)
    return tensor


def reduced_count(shape, dim):
    """How many elements go into each element of a reduction's result."""
    return math.prod(shape[d] for d in reduced_dims(dim, len(shape)))


# ---- pointwise ----


def mul_backward(grad, other):
    """Gradient of x * other with respect to x.

    The most frequent formula of all: when nothing is recorded or watched it goes straight to the kernel.
    """
    if type(other) is Tensor and not state.recorded_passes and not state.interceptors:
        kind = grad._kind
        if not kind or kind is not other._kind:
            kind = common_kind(grad, other)
        if kind:
            return wrap(_mul_kernels[kind](grad._array, other._array), None, kind)
    return grad * conj(other)


def div_backward(grad, other):
    """Gradient of x / other with respect to x."""
    return grad / conj(other)


def div_other_backward(grad, self, other):
    """Gradient of self / other with respect to other."""
    return -grad * conj((self / other) / other)


def div_mode_backward(grad, other, rounding_mode):
    """As div_backward; a rounded quotient is flat."""
    return div_backward(grad, other) if rounding_mode is None else ops.zeros_like(grad)


def div_mode_other_backward(grad, self, other, rounding_mode):
    """As div_other_backward; a rounded quotient is flat."""
    return div_other_backward(grad, self, other) if rounding_mode is None else ops.zeros_like(grad)


def div_jvp(self_t, self, other_t, other):
    """Tangent of a quotient. An integral divisor has the number 0 for a tangent: 0 times infinity must not count."""
    tangent = self_t / other
    return tangent if type(other_t) is int else tangent - other_t * (self / other) / other


def no_forward_derivative(op, *tangents):
    """Refuses: for an op of which torch has no derivative at all."""
    raise NotImplementedError(f"Trying to use forward AD with {op} that does not support it.")


def div_mode_jvp(self_t, other_t, other, result, rounding_mode):
    """Tangent of a quotient; zero for a rounded one."""
    return (self_t - other_t * result) / other if rounding_mode is None else ops.zeros_like(result)


def pow_backward(grad, self, exponent):
    """Gradient of self ** number with respect to self."""
    if exponent == 0:
        return ops.zeros_like(grad)
    return grad * conj(exponent * self.pow(exponent - 1))


def pow_self_backward(grad, self, exponent):
    """Gradient of self ** tensor with respect to self; flat where the exponent is 0, also at 0 ** 0."""
    slope = grad * conj(exponent * ops.pow(self, exponent - 1))
    return ops.where(exponent == 0, 0.0, slope)


def pow_exponent_backward(grad, self, exponent, result):
    """Gradient of self ** exponent with respect to the exponent; 0 ** positive stays 0."""
    flat = (self == 0) & (_is_real_nonnegative(exponent))
    return ops.where(flat, 0.0, grad * conj(result * self.log()))


def pow_scalar_exponent_backward(grad, self, exponent, result):
    """Gradient of number ** exponent with respect to the exponent."""
    if self == 0:
        return ops.where(_is_real_nonnegative(exponent), 0.0, grad * conj(result * -math.inf))
    log = ops.log(ops.scalar_tensor(self, dtype=result.dtype))
    return grad * conj(result * log)


def _is_real_nonnegative(exponent):
    if exponent.is_complex():
        return (exponent.imag == 0) & (exponent.real >= 0)
    return exponent >= 0


def abs_jvp(self_t, self):
    """Tangent of |self|: the tangent's component along self."""
    return real(self_t * conj(self.sgn()))


def sgn_backward(grad, self, result):
    """Gradient of self / |self|: only what turns the phase counts. Zero for real tensors."""
    if not self.is_complex():
        return ops.zeros_like(grad)
    length = self.abs()
    along = (grad * conj(result)).real * result
    return ops.where(length == 0, 0.0, (grad - along) / length)


def angle_backward(grad, self):
    """Gradient of the phase; zero for real tensors."""
    if not self.is_complex():
        return ops.zeros_like(grad)
    squared = self.real * self.real + self.imag * self.imag
    slope = ops.complex(-self.imag * grad / squared, self.real * grad / squared)
    return ops.where(self == 0, 0.0, slope)


def angle_jvp(self_t, self):
    """Tangent of the phase."""
    if not self.is_complex():
        return ops.zeros_like(self_t)
    squared = self.real * self.real + self.imag * self.imag
    return (self.real * self_t.imag - self.imag * self_t.real) / squared


def clamp_backward(grad, self, min, max):
    """Gradient of clamp with respect to its input: passes inside the bounds, the bounds included."""
    if min is None and max is None:
        return grad
    inside = self >= min if min is not None else self <= max
    if min is not None and max is not None:
        inside = inside & (self <= max)
    return ops.where(inside, grad, 0.0)


def clamp_bounds_backward(grad, self, min, max, needs_min, needs_max):
    """Gradients of clamp with respect to its bounds; where min > max the result is max."""
    min_grad = max_grad = None
    if needs_min:
        active = self < min if max is None else (min < max) & (self < min)
        min_grad = ops.where(active, grad, 0.0)
    if needs_max:
        active = self > max if min is None else (self > max) | (max < min)
        max_grad = ops.where(active, grad, 0.0)
    return min_grad, max_grad


def clamp_jvp(self, self_t, min, min_t, max, max_t):
    """Tangent of clamp with tensor bounds."""
    result = self_t
    if min is not None:
        result = ops.where(self >= min, result, min_t)
        self = ops.maximum(self, min)
    if max is not None:
        result = ops.where(self <= max, result, max_t)
    return result


def extremum_backward(grad, self, other, chosen):
    """Gradient of maximum/minimum for the side that `chosen` marks; ties give half to each side."""
    return ops.where(self == other, grad / 2, grad).masked_fill(chosen.logical_not(), 0)


def extremum_jvp(self, self_t, other, other_t, chosen):
    """Tangent of maximum/minimum; ties take the mean."""
    picked = ops.where(chosen, self_t, other_t)
    return ops.where(self == other, (self_t + other_t) / 2, picked)


def gelu_double_backward(grad, grad_output, self, approximate):
    """Gradient of gelu_backward with respect to its input: gelu's second derivative."""
    if approximate == "tanh":
        return grad * grad_output * _gelu_tanh_curvature(self)
    density = (-0.5 * self * self).exp() / math.sqrt(2.0 * math.pi)
    return grad * grad_output * density * (2 - self * self)


def _gelu_tanh_curvature(x):
    scale, cubic = math.sqrt(2.0 / math.pi), 0.044715
    t = (scale * (x + cubic * x * x * x)).tanh()
    slope = scale * (1 + 3 * cubic * x * x)
    flat = 1 - t * t
    return flat * slope + 0.5 * x * flat * (6 * scale * cubic * x - 2 * t * slope * slope)


def silu_formula_backward(grad, self):
    """Gradient of x * sigmoid(x), for real and complex input."""
    sigmoid = self.sigmoid()
    return grad * conj(sigmoid * (1 + self * (1 - sigmoid)))


def silu_double_backward(grad, grad_output, self):
    """Gradient of silu_backward with respect to its input."""
    sigmoid = self.sigmoid()
    slope = sigmoid * (1 - sigmoid)
    return grad * grad_output * slope * (2 + self * (1 - 2 * sigmoid))


def softplus_double_backward(grad, self, beta, threshold):
    """Curvature of softplus times grad; none where it is linear."""
    sigmoid = (self * beta).sigmoid()
    curved = grad * sigmoid * (1 - sigmoid) * beta
    return ops.where(self * beta > threshold, 0.0, curved)


def xlogy_self_backward(grad, self, other):
    """Gradient of self * log(other) with respect to self; 0 * log(0) is flat."""
    flat = (self == 0) & (other <= 0)
    log = other.log() if isinstance(other, Tensor) else math.log(other)
    return ops.where(flat, 0.0, grad * log)


# ---- reductions ----


def sum_backward(grad, shape, dim, keepdim):
    """Gradient of a sum over dims: every summand gets the result's gradient."""
    return restore_dims(grad, dim, len(shape), keepdim).expand(shape)


def mean_backward(grad, shape, dim, keepdim):
    """Gradient of a mean over dims."""
    return sum_backward(grad, shape, dim, keepdim) / reduced_count(shape, dim)


def reciprocal_or_zero(value):
    """1 / value, and 0 where the value is 0."""
    return value.reciprocal().masked_fill(value == 0, 0)


def prod_backward(grad, self, result):
    """Gradient of the product of all elements, right with zeros among them too.

    Two zeros leave nothing of it, not even of an infinite `grad`; but a second derivative needs the way there.
    """
    if self.ndim == 0:
        return grad.clone()
    if not thread.grad_enabled and int((self == 0).sum()) > 1:
        return ops.zeros_like(self)
    flat = prod_dim_backward(grad, self.reshape(-1), result, 0, False)
    return flat.reshape(self.shape)


def prod_dim_backward(grad, self, result, dim, keepdim):
    """Gradient of a product over one dim: product / element, and where an element is 0 the product of the others."""
    if self.ndim == 0:
        return grad
    grad = restore_dims(grad, dim, self.ndim, keepdim)
    if not bool((self == 0).any()):
        return grad * conj(restore_dims(result, dim, self.ndim, keepdim) / self)
    return grad * conj(_product_of_others(self, dim))


def _product_of_others(self, dim):
    """For each element the product of all others along dim (a table of n x n factors with ones on its diagonal)."""
    moved = self.movedim(dim, -1)
    count = moved.shape[-1]
    table = moved.unsqueeze(-2).expand(*moved.shape[:-1], count, count)
    diagonal = ops.eye(count, device=self.device) == 1
    return table.masked_fill(diagonal, 1).prod(-1).movedim(-1, dim)


def extremal_reduction_backward(grad, self, result, dim, keepdim):
    """Gradient of amax/amin/max/min: shared evenly among the elements that reach the extremum (as NaN does)."""
    dims = reduced_dims(dim, self.ndim)
    reached = _reached(self, restore_dims(result, dims, self.ndim, keepdim))
    grad = restore_dims(grad, dims, self.ndim, keepdim)
    count = reached.sum(dims, True) if self.ndim else reached.sum()
    return grad / count * reached


def extremal_reduction_jvp(self_t, self, result, dim, keepdim):
    """Tangent of amax/amin/max/min: the mean over the elements that reach the extremum."""
    dims = reduced_dims(dim, self.ndim)
    reached = _reached(self, restore_dims(result, dims, self.ndim, keepdim))
    if self.ndim == 0:
        return self_t
    total = (self_t * reached).sum(dims, keepdim)
    return total / reached.sum(dims, keepdim)


def _reached(self, extremum):
    reached = self == extremum
    return ops.where(extremum.isnan(), self.isnan(), reached) if self.is_floating_point() else reached


def pick_backward(grad, dim, indices, shape, keepdim):
    """Gradient of an op that picks elements along dim by index (max.dim, sort, topk): scatter it back."""
    if len(shape) == 0:
        return grad
    if not keepdim:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return grad.new_zeros(shape).scatter_add(dim, indices, grad)


def pick_jvp(self_t, dim, indices, keepdim):
    """Tangent of an op that picks elements along dim by index."""
    if self_t.ndim == 0:
        return self_t
    if keepdim:
        return self_t.gather(dim, indices)
    return self_t.gather(dim, indices.unsqueeze(dim)).squeeze(dim)


def var_backward(grad, self, dim, correction, keepdim):
    """Gradient of the variance."""
    grad = restore_dims(grad, dim, self.ndim, keepdim)
    dims = reduced_dims(dim, self.ndim)
    return grad * (2.0 / _degrees_of_freedom(self, dim, correction)) * _centred(self, dims)


def _degrees_of_freedom(self, dim, correction):
    freedom = reduced_count(self.shape, dim) - (1 if correction is None else correction)
    return freedom if freedom > 0 else math.nan


def _centred(self, dims):
    return self - (self.mean(dims, True) if self.ndim else self)


def var_jvp(self_t, self, dim, correction, keepdim):
    """Tangent of the variance."""
    product = real(conj(_centred(self, reduced_dims(dim, self.ndim))) * self_t)
    total = product.sum(reduced_dims(dim, self.ndim), keepdim) if self.ndim else product
    return total * (2.0 / _degrees_of_freedom(self, dim, correction))


def std_backward(grad, self, result, dim, correction, keepdim):
    """Gradient of the standard deviation; flat where it is 0."""
    slope = (grad / (result * 2)).masked_fill(result == 0, 0)
    return var_backward(slope, self, dim, correction, keepdim)


def std_jvp(self_t, self, result, dim, correction, keepdim):
    """Tangent of the standard deviation; zero where it is 0."""
    tangent = var_jvp(self_t, self, dim, correction, keepdim) / (result * 2)
    return tangent.masked_fill(result == 0, 0)


def logsumexp_backward(grad, self, result, dim, keepdim):
    """Gradient of logsumexp: softmax weights."""
    result = restore_dims(result, dim, self.ndim, keepdim)
    return restore_dims(grad, dim, self.ndim, keepdim) * _softmax_weights(self, result)


def _softmax_weights(self, logsumexp):
    weights = conj((self - logsumexp).exp())
    return ops.where(logsumexp == -math.inf, 0.0, weights) if not self.is_complex() else weights


def logsumexp_jvp(self_t, self, dim, keepdim):
    """Tangent of logsumexp: the softmax-weighted mean of the tangent."""
    if self.ndim == 0:
        return self_t
    weights = (self - self.logsumexp(dim, True)).exp()
    return (weights * self_t).sum(dim, keepdim)


def cumsum_backward(grad, dim):
    """Gradient of a running sum: the running sum from the other end."""
    if grad.ndim == 0 or grad.numel() <= 1:
        return grad
    return grad.flip(dim).cumsum(dim).flip(dim)


def softmax_double_backward(grad, grad_output, dim, output):
    """Gradient of softmax's backward with respect to softmax's output."""
    weighted = (grad_output * output).sum(dim, True)
    return grad * (grad_output - weighted) - grad_output * (grad * output).sum(dim, True)


def softmax_backward_output_jvp(output_t, grad_output, dim, output):
    """Tangent of softmax's backward in the direction of softmax's output."""
    weighted = (grad_output * output).sum(dim, True)
    return output_t * (grad_output - weighted) - output * (grad_output * output_t).sum(dim, True)


def vector_norm_backward(grad, self, ord, norm, dim, keepdim):
    """Gradient of the vector norm of order `ord`; a subgradient of 0 where the norm is not smooth. None for a count."""
    if ord == 0:
        return None
    grad = restore_dims(grad, dim, self.ndim, keepdim)
    norm = restore_dims(norm, dim, self.ndim, keepdim)
    return grad * _norm_slope(self, ord, norm, dim)


def _norm_slope(self, ord, norm, dim):
    if ord == 0:
        return ops.zeros_like(self)
    if ord == 1:
        return self.sgn()
    if ord == 2:
        return (self / norm).masked_fill(norm == 0, 0)
    if math.isinf(ord):
        reached = self.abs() == norm
        dims = reduced_dims(dim, self.ndim)
        return self.sgn() * (reached / (reached.sum(dims, True) if self.ndim else reached.sum()))
    if ord < 1:
        slope = self.sgn() * self.abs().pow(ord - 1).masked_fill(self == 0, 0)
        return (slope * norm.pow(1 - ord)).masked_fill(norm == 0, 0)
    slope = self.sgn() * (self.abs() / norm).pow(ord - 1)
    return slope.masked_fill(norm == 0, 0)


def vector_norm_jvp(self_t, self, ord, norm, dim, keepdim):
    """Tangent of the vector norm."""
    full = restore_dims(norm, dim, self.ndim, keepdim)
    product = real(conj(_norm_slope(self, ord, full, dim)) * self_t)
    return product.sum(reduced_dims(dim, self.ndim), keepdim) if self.ndim else product


# ---- views ----


def permute_backward(grad, dims):
    """Gradient of permute: the inverse permutation."""
    ndim = len(dims)
    inverse = [0] * ndim
    for position, dim in enumerate(dims):
        inverse[wrapped(dim, ndim)] = position
    return grad.permute(inverse)


def slice_grad(grad, shape, dim, start, end, step):
    """Gradient of a slice; bounds that were left out are the ends."""
    end = shape[wrapped(dim, len(shape))] if end is None else end
    return ops.slice_backward(grad, shape, dim, 0 if start is None else start, end, step)


def split_backward(grads, shape, split_size, dim):
    """Gradient of split: join the pieces, zeros for those without a gradient."""
    size = shape[wrapped(dim, len(shape))]
    sizes = [min(split_size, size - start) for start in range(0, size, split_size)] if split_size else [size]
    return split_with_sizes_backward(grads, shape, sizes or [0], dim)


def split_with_sizes_backward(grads, shape, split_sizes, dim):
    """Gradient of split_with_sizes: join the pieces, zeros for those without a gradient."""
    dim = wrapped(dim, len(shape))
    known = next(grad for grad in grads if grad is not None)
    pieces = []
    for grad, size in zip(grads, split_sizes, strict=True):
        piece_shape = (*shape[:dim], size, *shape[dim + 1 :])
        pieces.append(known.new_zeros(piece_shape) if grad is None else grad)
    return ops.cat(pieces, dim)


def unbind_backward(grads, shape, dim):
    """Gradient of unbind: stack the pieces, zeros for those without a gradient."""
    known = next(grad for grad in grads if grad is not None)
    return ops.stack([ops.zeros_like(known) if grad is None else grad for grad in grads], dim)


def as_strided_backward(grad, shape, stride, storage_offset, size, out_stride, out_offset):
    """Gradient of as_strided: sum into the storage behind the input, then read the input's places.

    Places of the storage that several input elements share get the mean, so that an input which overlaps itself
    (expand) still sums to the right gradient.
    """
    out_offset = storage_offset if out_offset is None else out_offset
    base = min(storage_offset, out_offset)
    length = max(_extent(shape, stride, storage_offset), _extent(size, out_stride, out_offset)) - base
    storage = grad.new_zeros((max(length, 0),))
    if grad.numel():
        places = _places(size, out_stride, out_offset - base, grad)
        storage = storage.index_add(0, places.reshape(-1), grad.reshape(-1))
    if math.prod(shape) == 0:
        return grad.new_zeros(shape)
    places = _places(shape, stride, storage_offset - base, grad).reshape(-1)
    if _overlaps(shape, stride):
        count = storage.new_zeros(storage.shape, dtype=places.dtype).index_add(0, places, ops.ones_like(places))
        storage = storage / count.clamp(min=1)
    return storage.index_select(0, places).reshape(shape)


def _extent(size, stride, offset):
    """One more than the last place that a view touches."""
    if math.prod(size) == 0:
        return offset
    return offset + 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))


def _overlaps(size, stride):
    """Whether a geometry may reach one place twice (never wrong when it says no)."""
    reach = 1
    for step, count in sorted((s, n) for n, s in zip(size, stride, strict=True) if n > 1):
        if step < reach:
            return True
        reach += step * (count - 1)
    return False


def _places(size, stride, offset, like):
    """Storage positions of every element of a geometry, as an index tensor of that shape."""
    total = ops.full((), offset, dtype=ops.arange(0).dtype, device=like.device)
    for dim, (count, step) in enumerate(zip(size, stride, strict=True)):
        along = ops.arange(count, device=like.device) * step
        total = total.unsqueeze(-1) + along if dim else total + along
    return total.reshape(tuple(size))


# ---- indexing and joining ----


def index_backward(grad, shape, indices):
    """Gradient of advanced indexing: add up at the places that were read."""
    return grad.new_zeros(shape).index_put_(indices, grad, True)


def index_put_backward(grad, indices, accumulate):
    """Gradient of index_put with respect to the tensor written to: zero where it was overwritten."""
    return grad if accumulate else grad.index_put(indices, grad.new_zeros(()), False)


def index_select_grad(grad, shape, dim, index):
    """Gradient of index_select."""
    if len(shape) == 0:
        return grad.sum().reshape(())
    return grad.new_zeros(shape).index_add_(dim, index, grad)


def gather_grad(grad, shape, dim, index):
    """Gradient of gather."""
    return grad.new_zeros(shape).scatter_add_(dim, index, grad)


def masked_select_backward(grad, shape, mask):
    """Gradient of masked_select, in the shape that tensor and mask broadcast to."""
    full = grad.new_zeros(shape) + ops.zeros_like(mask, dtype=grad.dtype)
    return full.masked_scatter(mask.expand(full.shape), grad)


def masked_scatter_source_backward(grad, mask, shape):
    """Gradient of masked_scatter with respect to its source: the elements in use, then zeros."""
    used = grad.masked_select(mask.expand(grad.shape))
    missing = math.prod(shape) - used.numel()
    if missing > 0:
        used = ops.cat([used, used.new_zeros((missing,))], 0)
    return used[: math.prod(shape)].reshape(shape)


def cat_backward(grad, shapes, dim):
    """Gradients of cat: each input's stretch. Old-style empty 1-D inputs take no room."""
    dim = wrapped(dim, grad.ndim)
    grads, start = [], 0
    for shape in shapes:
        if tuple(shape) == (0,):
            grads.append(grad.new_zeros((0,)))
            continue
        grads.append(grad.narrow(dim, start, shape[dim]))
        start += shape[dim]
    return grads


def repeat_backward(grad, repeats, shape):
    """Gradient of repeat: sum over the copies."""
    if 0 in repeats:
        return grad.new_zeros(shape)
    extra = len(repeats) - len(shape)
    folded, copies = [], []
    for dim, count in enumerate(repeats):
        size = 1 if dim < extra else shape[dim - extra]
        copies.append(len(folded))
        folded += [count, size]
    summed = grad.reshape(folded).sum(copies) if folded else grad
    return summed.reshape(shape)


def roll_backward(grad, shifts, dims):
    """Gradient of roll: roll back."""
    shifts = (shifts,) if isinstance(shifts, int) else shifts
    return grad.roll([-shift for shift in shifts], dims)


# ---- linear algebra ----


def mm_self_backward(grad, mat2):
    """Gradient of a matrix product with respect to its first factor."""
    return grad.mm(conj(mat2.t()))


def mm_mat2_backward(grad, self):
    """Gradient of a matrix product with respect to its second factor."""
    return conj(self.t()).mm(grad)


# ---- convolution and pooling ----


def convolution_grads(grad, input, weight, stride, padding, dilation, transposed, output_padding, groups, mask):
    """Gradients of convolution; the bias's shape is the number of output channels."""
    return ops.convolution_backward(
        grad, input, weight, [grad.shape[1]], stride, padding, dilation, transposed, output_padding, groups, mask
    )


def convolution_jvp(
    input, input_t, weight, weight_t, bias_t, stride, padding, dilation, transposed, output_padding, groups
):
    """Tangent of convolution: it is linear in input, weight and bias."""
    geometry = (stride, padding, dilation, transposed, output_padding, groups)
    return ops.convolution(input_t, weight, bias_t, *geometry) + ops.convolution(input, weight_t, None, *geometry)


def convolution_double_backward(
    grad_input, grad_weight, grad_bias, grad_output, input, weight,
    stride, padding, dilation, transposed, output_padding, groups, mask,
):  # fmt: skip
    """Gradients of convolution_backward. It is bilinear, so each part is again a convolution or its backward."""
    geometry = (stride, padding, dilation, transposed, output_padding, groups)
    output_part = input_part = weight_part = None
    if mask[0]:
        terms = []
        if grad_input is not None:
            terms.append(ops.convolution(grad_input, weight, None, *geometry))
        if grad_weight is not None:
            terms.append(ops.convolution(input, grad_weight, None, *geometry))
        if grad_bias is not None:
            per_channel = [1, -1] + [1] * (grad_output.ndim - 2)
            terms.append(grad_bias.reshape(per_channel).expand(grad_output.shape))
        output_part = sum_of(terms)
    if mask[1] and grad_weight is not None:
        only_input = [True, False, False]
        input_part = ops.convolution_backward(grad_output, input, grad_weight, None, *geometry, only_input)[0]
    if mask[2] and grad_input is not None:
        only_weight = [False, True, False]
        weight_part = ops.convolution_backward(grad_output, grad_input, weight, None, *geometry, only_weight)[1]
    return output_part, input_part, weight_part


def sum_of(terms):
    """The sum of a list of tensors; None for an empty list."""
    total = None
    for term in terms:
        total = term if total is None else total + term
    return total


def max_pool_pick(tensor, indices):
    """From a tensor shaped like max pooling's input, the elements at the maxima."""
    flat = tensor.reshape(*tensor.shape[:-2], -1)
    return flat.gather(-1, indices.reshape(*indices.shape[:-2], -1)).reshape(indices.shape)


# ---- normalization ----


def batch_norm_grads(grad, input, weight, running_mean, running_var, mean, rstd, training, eps, mask):
    """Gradients of native_batch_norm."""
    return ops.native_batch_norm_backward(
        grad, input, weight, running_mean, running_var, mean, rstd, training, eps, mask
    )


def layer_norm_grads(grad, input, normalized_shape, mean, rstd, weight, bias, mask):
    """Gradients of native_layer_norm."""
    return ops.native_layer_norm_backward(grad, input, normalized_shape, mean, rstd, weight, bias, mask)


def _per_channel(vector, ndim):
    """A vector of channel values in a shape that broadcasts over dim 1."""
    return None if vector is None else vector.reshape([1, -1] + [1] * (ndim - 2))


def _batch_statistics(input, running_mean, running_var, mean, rstd, training, eps):
    if training:
        return _per_channel(mean, input.ndim), _per_channel(rstd, input.ndim)
    return _per_channel(running_mean, input.ndim), _per_channel((running_var + eps).rsqrt(), input.ndim)


def _normalized_jvp(normalized, tangent, rstd, dims):
    """Tangent of (x - mean) * rstd when mean and rstd are computed from x over dims."""
    centred = tangent - tangent.mean(dims, True)
    return rstd * (centred - normalized * (normalized * tangent).mean(dims, True))


def batch_norm_jvp(input, input_t, weight, weight_t, bias_t, running_mean, running_var, mean, rstd, training, eps):
    """Tangent of batch normalization."""
    mean, rstd = _batch_statistics(input, running_mean, running_var, mean, rstd, training, eps)
    normalized = (input - mean) * rstd
    dims = [dim for dim in range(input.ndim) if dim != 1]
    tangent = _normalized_jvp(normalized, input_t, rstd, dims) if training else input_t * rstd
    return _affine_jvp(normalized, tangent, *(_per_channel(v, input.ndim) for v in (weight, weight_t, bias_t)))


def layer_norm_jvp(input, input_t, weight, weight_t, bias_t, mean, rstd, normalized_shape):
    """Tangent of layer normalization."""
    normalized = (input - mean) * rstd
    dims = list(range(input.ndim - len(normalized_shape), input.ndim))
    return _affine_jvp(normalized, _normalized_jvp(normalized, input_t, rstd, dims), weight, weight_t, bias_t)


def _affine_jvp(normalized, tangent, weight, weight_t, bias_t):
    result = tangent if weight is None else tangent * weight
    if weight_t is not None:
        result = result + normalized * weight_t
    return result if bias_t is None else result + bias_t


def batch_norm_double_backward(
    grad_input, grad_weight, grad_bias, grad_out, input, weight, running_mean, running_var, mean, rstd, training, eps
):
    """Gradients of native_batch_norm_backward with respect to grad_out, input and weight."""
    mean, rstd = _batch_statistics(input, running_mean, running_var, mean, rstd, training, eps)
    dims = [dim for dim in range(input.ndim) if dim != 1]
    incoming = (grad_input, _per_channel(grad_weight, input.ndim), _per_channel(grad_bias, input.ndim))
    rule = _normalization_double_backward if training else _fixed_normalization_double_backward
    out_part, input_part, weight_part = rule(
        *incoming, grad_out, (input - mean) * rstd, rstd, _per_channel(weight, input.ndim), dims
    )
    if weight is not None and weight_part is not None:
        weight_part = weight_part.sum(dims)
    return out_part, input_part, weight_part


def layer_norm_double_backward(
    grad_input, grad_weight, grad_bias, grad_out, input, weight, mean, rstd, normalized_shape
):
    """Gradients of native_layer_norm_backward with respect to grad_out, input and weight."""
    first = input.ndim - len(normalized_shape)
    dims = list(range(first, input.ndim))
    out_part, input_part, weight_part = _normalization_double_backward(
        grad_input, grad_weight, grad_bias, grad_out, (input - mean) * rstd, rstd, weight, dims
    )
    if weight is not None and weight_part is not None and first:
        weight_part = weight_part.sum(list(range(first)))
    return out_part, input_part, weight_part


def _normalization_double_backward(grad_input, grad_weight, grad_bias, grad_out, normalized, rstd, weight, dims):
    """Second derivatives of x -> (x - mean) * rstd * weight + bias; see Note [Normalization twice].

    Note [Normalization twice]: the backward pass gives rstd * P(g w), sum(g x^) and sum(g), where x^ is the normalized
    input and P(v) = v - mean(v) - x^ mean(v x^). Written as a scalar, with G, W and B for the gradients that come in,
    it is rstd <G, P(g w)> + <W g, x^> + <B, g>. Its derivatives with respect to g, w, x^ and rstd follow by the product
    rule (P is symmetric), and those of x^ and rstd with respect to x are the first backward pass again.
    """
    scaled = grad_out if weight is None else grad_out * weight
    out_terms, normalized_slope, rstd_slope, weight_part = [], None, None, None
    if grad_input is not None:
        projected = _project(grad_input, normalized, dims) * rstd
        out_terms.append(projected if weight is None else projected * weight)
        weight_part = None if weight is None else grad_out * projected
        with_grad = (scaled * normalized).mean(dims, True)
        with_incoming = (grad_input * normalized).mean(dims, True)
        normalized_slope = -rstd * (grad_input * with_grad + scaled * with_incoming)
        rstd_slope = (scaled * _project(grad_input, normalized, dims)).sum(dims, True)
    if grad_weight is not None:
        out_terms.append(grad_weight * normalized)
        normalized_slope = sum_of([t for t in (normalized_slope, grad_weight * grad_out) if t is not None])
    if grad_bias is not None:
        out_terms.append(grad_bias.expand(grad_out.shape))
    input_part = None
    if normalized_slope is not None:
        input_part = rstd * _project(normalized_slope, normalized, dims)
    if rstd_slope is not None:
        count = math.prod(normalized.shape[dim] for dim in dims)
        input_part = input_part - rstd * rstd * normalized * rstd_slope / count
    return sum_of(out_terms), input_part, weight_part


def _project(value, normalized, dims):
    """Take away from value what a normalization over dims cannot see: its mean and its part along the input."""
    return value - value.mean(dims, True) - normalized * (value * normalized).mean(dims, True)


def _fixed_normalization_double_backward(grad_input, grad_weight, grad_bias, grad_out, normalized, rstd, weight, dims):
    """As _normalization_double_backward when mean and rstd are constants."""
    out_terms, weight_part, input_part = [], None, None
    if grad_input is not None:
        scaled = grad_input * rstd
        out_terms.append(scaled if weight is None else scaled * weight)
        weight_part = None if weight is None else scaled * grad_out
    if grad_weight is not None:
        out_terms.append(grad_weight * normalized)
        input_part = grad_weight * grad_out * rstd
    if grad_bias is not None:
        out_terms.append(grad_bias.expand(grad_out.shape))
    return sum_of(out_terms), input_part, weight_part


# ---- embedding, dropout ----


def embedding_dense_double_backward(grad, indices, padding_idx):
    """Gradient of embedding's backward: look the gradients up, nothing for the padding index."""
    picked = grad.index_select(0, indices.reshape(-1)).reshape((*indices.shape, grad.shape[-1]))
    return picked.masked_fill((indices == padding_idx).unsqueeze(-1), 0) if padding_idx >= 0 else picked


def dropout_backward(grad, mask, p):
    """Gradient of dropout: the same elements dropped, the same scale."""
    return grad * mask * (0.0 if p == 1 else 1.0 / (1.0 - p))


# ---- losses ----

REDUCTION_NONE, REDUCTION_MEAN, REDUCTION_SUM = 0, 1, 2


def reduce_loss(loss, reduction):
    """Apply a loss's reduction (0 none, 1 mean, 2 sum)."""
    if reduction == REDUCTION_MEAN:
        return loss.mean()
    return loss.sum() if reduction == REDUCTION_SUM else loss


def loss_scale(value, reduction):
    """Divide by the number of elements if the loss is a mean."""
    return value / value.numel() if reduction == REDUCTION_MEAN else value


def smooth_l1_slope(difference, beta):
    """Derivative of the smooth L1 loss in the difference."""
    if beta == 0:
        return difference.sign()
    return (difference / beta).clamp(-1, 1)


def smooth_l1_curvature(difference, beta):
    """Second derivative of the smooth L1 loss in the difference."""
    if beta == 0:
        return ops.zeros_like(difference)
    return (difference.abs() < beta).to(difference.dtype) / beta


BCE_EPSILON = 1e-12


def weighted(value, weight):
    return value if weight is None else value * weight


def bce_target_backward(grad, self, weight, reduction):
    """Gradient of binary cross entropy with respect to its target: log(1 - x) - log(x), logs cut off at -100."""
    slope = (1 - self).log().clamp(min=-100) - self.log().clamp(min=-100)
    return loss_scale(weighted(grad * slope, weight), reduction)


def _bce_slope(self, target):
    return (self - target) / (self * (1 - self)).clamp(min=BCE_EPSILON)


def bce_jvp(self, self_t, target, target_t, weight, reduction):
    """Tangent of binary cross entropy."""
    target_slope = (1 - self).log().clamp(min=-100) - self.log().clamp(min=-100)
    tangent = _bce_slope(self, target) * self_t + target_slope * target_t
    return reduce_loss(weighted(tangent, weight), reduction)


def bce_double_backward_grad_output(grad, self, target, weight, reduction):
    """Gradient of binary_cross_entropy_backward with respect to grad_output."""
    return reduce_loss(weighted(grad * _bce_slope(self, target), weight), reduction)


def bce_double_backward_self(grad, grad_output, self, target, weight, reduction):
    """Gradient of binary_cross_entropy_backward with respect to the input."""
    spread = (self * (1 - self)).clamp(min=BCE_EPSILON)
    curvature = (self * self - 2 * self * target + target) / (spread * spread)
    return loss_scale(weighted(grad * grad_output * curvature, weight), reduction)


def bce_double_backward_target(grad, grad_output, self, weight, reduction):
    """Gradient of binary_cross_entropy_backward with respect to the target."""
    spread = (self * (1 - self)).clamp(min=BCE_EPSILON)
    return loss_scale(weighted(-grad * grad_output / spread, weight), reduction)


def logits_slope(self, target, pos_weight):
    """Derivative of binary cross entropy with logits in the logits."""
    if pos_weight is None:
        return self.sigmoid() - target
    positive = pos_weight * target
    return (positive + 1 - target) * self.sigmoid() - positive


def logits_target_slope(self, pos_weight):
    """Derivative of binary cross entropy with logits in the target; softplus(-x) is -log(sigmoid(x))."""
    return -self if pos_weight is None else (pos_weight - 1) * ops.softplus(-self, 1, 40) - self


# ---- factory ----


def copy_jvp(self_t, src_t):
    """Tangent of copy_: the source's, in the destination's shape and dtype."""
    return src_t.to(self_t.dtype).expand(self_t.shape) if isinstance(src_t, Tensor) else ops.zeros_like(self_t)


def fill_jvp(self_t, value_t):
    """Tangent of fill with a tensor value."""
    return value_t.to(self_t.dtype).expand(self_t.shape)


# ---- Fourier transforms ----


def fft_r2c_backward(grad, dim, normalization, onesided, shape):
    """Gradient of a real-to-complex transform: transform back, real part. The half that was left out is zero."""
    if onesided:
        last = dim[-1]
        missing = shape[last] - grad.shape[last]
        if missing > 0:
            width = [0, 0] * (grad.ndim - 1 - wrapped(last, grad.ndim)) + [0, missing]
            grad = ops.constant_pad_nd(grad, width, 0)
    return ops._fft_c2c(grad, dim, normalization, False).real


def fft_c2r_backward(grad, dim, normalization):
    """Gradient of a complex-to-real transform: each inner frequency stands for two."""
    result = ops._fft_r2c(grad, dim, normalization, True)
    doubled = grad.shape[dim[-1]] - result.shape[dim[-1]]
    if doubled > 0:
        count = result.shape[dim[-1]]
        weight = ops.ones((count,), dtype=grad.dtype, device=grad.device)
        weight[1 : 1 + doubled] = 2
        after = result.ndim - 1 - wrapped(dim[-1], result.ndim)
        result = result * weight.reshape([-1] + [1] * after)
    return result


# ---- sparse ----


def sparse_values_backward(grad, indices):
    """Gradient of a sparse tensor's values: the gradient at its places."""
    dense = grad.to_dense() if grad.is_sparse else grad
    return dense.index(list(indices.unbind(0)))


def to_dense_backward(grad, self):
    """Gradient of to_dense: the gradient at the input's places."""
    return grad.sparse_mask(self.coalesce())
