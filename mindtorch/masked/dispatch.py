"""What operations do with masked tensors, by their names."""

from collections.abc import Callable
from functools import partial
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.masked import reductions
from mindtorch.masked.data import is_masked_tensor

_ONE_OPERAND = (
    "abs absolute acos arccos acosh arccosh angle asin arcsin asinh arcsinh atan arctan atanh arctanh bitwise_not ceil"
    " clamp clip conj_physical cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 fix floor frac i0 isnan lgamma"
    " log log10 log1p log2 logit nan_to_num neg negative positive pow rad2deg reciprocal round rsqrt sigmoid sign sgn"
    " signbit sin sinc sinh sqrt square tan tanh trunc"
).split()
_TWO_OPERANDS = (
    "add atan2 arctan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor div divide eq"
    " floor_divide fmax fmin fmod ge greater greater_equal gt le less less_equal logaddexp logaddexp2 lt maximum"
    " minimum mul multiply ne nextafter not_equal remainder sub subtract true_divide"
).split()
_LIKE_THE_DATA = (
    "_reshape_alias _unsafe_view cat expand im2col col2im index permute select select_backward slice slice_backward"
    " split stack t transpose unfold unfold_backward unsqueeze view"
).split()


def _data(value: Any) -> Any:
    return _mapped(value, lambda masked: masked._masked_data)


def _mask(value: Any) -> Any:
    return _mapped(value, lambda masked: masked._masked_mask)


def _mapped(value: Any, part: Callable[[Any], Tensor]) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_mapped(each, part) for each in value)
    return part(value) if is_masked_tensor(value) else value


def _wrapped(cls: type, data: Any, mask: Any) -> Any:
    if isinstance(data, (list, tuple)):
        return type(data)(_wrapped(cls, *each) for each in zip(data, mask))
    return cls(data, mask)


# -------------------- element by element --------------------


def _unary(cls: type, func: Callable, *args: Any, **kwargs: Any) -> Any:
    if kwargs:
        raise ValueError(
            "MaskedTensor unary ops require that len(kwargs) == 0. If you need support for this, please open an issue "
            "on Github."
        )
    if any(isinstance(each, Tensor) for each in args[1:]):
        raise TypeError("MaskedTensor unary ops do not support additional Tensor arguments")
    return _delivered(cls, func, args, args[0]._masked_mask)


def _binary(cls: type, func: Callable, *args: Any, **kwargs: Any) -> Any:
    if kwargs:
        raise ValueError("len(kwargs) must equal 0")
    if any(isinstance(each, Tensor) for each in args[2:]):
        raise TypeError("MaskedTensor binary ops do not support Tensor arguments aside from the lhs and rhs")
    masks = [each._masked_mask for each in args[:2] if is_masked_tensor(each)]
    if not _are_equal(masks):
        raise ValueError("Input masks must match. If you need support for this, please open an issue on Github.")
    return _delivered(cls, func, args, masks[0])


def _are_equal(masks: list[Tensor]) -> bool:
    first, last = masks[0], masks[-1]
    return first.dim() == last.dim() and bool(ops.eq(first, last).all())


def _delivered(cls: type, func: Any, args: Any, mask: Tensor) -> Any:
    """The result under the mask, or in place of the first operand's data."""
    result = func(*_data(args))
    if func.overloadpacket.__name__.endswith("_"):
        args[0]._set_data_mask(result, mask)
        return args[0]
    return cls(result, mask.expand_as(result))


# -------------------- data and mask alike --------------------


def _both(cls: type, func: Callable, *args: Any, **kwargs: Any) -> Any:
    return _wrapped(cls, func(*_data(args), **kwargs), func(*_mask(args), **kwargs))


def _on_data(cls: type, func: Callable, *args: Any, **kwargs: Any) -> Any:
    return cls(func(args[0]._masked_data, *args[1:], **kwargs), args[0]._masked_mask)


def _to_copy(cls: type, func: Callable, *args: Any, **kwargs: Any) -> Any:
    options = {name: value for name, value in kwargs.items() if name != "dtype"}
    return cls(func(args[0]._masked_data, **kwargs), func(args[0]._masked_mask, **options))


def _where(cls: type, func: Callable, condition: Tensor, first: Any, second: Any) -> Any:
    first, second = (
        each if is_masked_tensor(each) else cls(each, ops.ones_like(each).bool()) for each in (first, second)
    )
    return _both(cls, func, condition, first, second)


def _copy(cls: type, func: Callable, target: Any, source: Any, *args: Any) -> Any:
    if is_masked_tensor(source) and not _are_equal([target._masked_mask, source._masked_mask]):
        raise ValueError("args[0] mask and args[1] mask must match but do not")
    func(target._masked_data, _data(source))
    return target


def _item(cls: type, func: Callable, masked: Any) -> Any:
    if not masked._masked_mask:
        raise ValueError(f"__torch_dispatch__, {func}: expected a mask tensor")
    return masked._masked_data.item()


def _softmax(cls: type, func: Callable, masked: Any, dim: int, half_to_float: bool) -> Any:
    mask = masked._masked_mask
    return cls(ops.softmax(masked._masked_data.masked_fill(~mask, -float("inf")), dim), mask)


def _softmax_backward(cls: type, func: Callable, grad: Any, output: Any, dim: int, dtype: Any) -> Any:
    mask = grad._masked_mask
    if not _are_equal([mask, output._masked_mask]):
        raise ValueError(f"__torch_dispatch__, {func}: expected the masks of grad and output to match")
    given = grad._masked_data.masked_fill(~mask, 0)
    return cls(output._masked_data * (given - (given * output._masked_data).sum(dim, keepdim=True)), mask)


DISPATCHED: dict[str, Callable[..., Any]] = {
    **{name + end: _unary for name in _ONE_OPERAND for end in ("", "_")},
    **{name + end: _binary for name in _TWO_OPERANDS for end in ("", "_")},
    **dict.fromkeys(_LIKE_THE_DATA, _both),
    **dict.fromkeys(("clone", "detach", "ones_like", "zeros_like", "empty_like", "new_empty_strided"), _on_data),
    "_local_scalar_dense": _item,
    "_softmax": _softmax,
    "_softmax_backward_data": _softmax_backward,
    "_to_copy": _to_copy,
    "copy_": _copy,
    "where": _where,
}

# -------------------- reductions --------------------


def _reduced(name: str, cls: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
    """A reduction over everything, or over `dim` (with `keepdim` and `dtype`)."""
    if not args and not kwargs:
        data = _all(input) if name == "all" else getattr(reductions, name)(input)
        return cls._from_values(data, input.get_mask().any())
    dim, keepdim, dtype = _reduce_dim_args(*args, **kwargs)
    if name == "all":
        data = _all(input, dim, keepdim)
    else:
        data = getattr(reductions, name)(input, dim=dim, keepdim=keepdim, dtype=dtype, mask=input.get_mask())
    mask = input.get_mask()
    for each in sorted((dim,) if isinstance(dim, int) else dim, reverse=True):
        mask = mask.any(dim=each, keepdim=keepdim)
    return cls._from_values(data, mask)


def _reduce_dim_args(dim: Any, keepdim: bool = False, dtype: Any = None) -> tuple[Any, bool, Any]:
    return dim, keepdim, dtype


def _all(input: Any, *args: Any) -> Tensor:
    return input.get_data().masked_fill(~input.get_mask(), True).all(*args)


REDUCTIONS: dict[str, Callable[..., Any]] = {
    name: partial(_reduced, name)
    for name in ("sum", "mean", "amin", "amax", "argmin", "argmax", "prod", "all", "norm", "var", "std")
}


def _contiguous(cls: Any, input: Any) -> Any:
    return input if input.get_data().is_contiguous() else cls(input.get_data().contiguous(), input.get_mask())


REPLACED: dict[str, Callable[..., Any]] = {"contiguous": _contiguous, "to_dense": lambda cls, input: input}
