"""`MaskedTensor`: data and a mask that says which elements count, which go through operations together."""

from collections.abc import Sequence
from typing import Any

from mindtorch._core.dtype import bool as boolean
from mindtorch._core.dtype import float16, float32, float64, int8, int16, int32, int64
from mindtorch._core.layout import strided
from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.autograd import Function
from mindtorch.masked.data import is_masked_tensor
from mindtorch.masked.dispatch import DISPATCHED, REDUCTIONS, REPLACED

_DTYPES = (float16, float32, float64, boolean, int8, int16, int32, int64)

_PROTOTYPE = (
    "The PyTorch API of MaskedTensors is in prototype stage and will change in the near future. Please open a Github "
    "issue for features requests and see our documentation on the torch.masked module for further information about "
    "the project."
)
_DATA_WITH_GRADIENT = (
    "It is not recommended to create a MaskedTensor with a tensor that requires_grad. To avoid this, you can use "
    "data.detach().clone()"
)
_NOT_IMPLEMENTED = (
    "{} is not implemented in __torch_dispatch__ for MaskedTensor.\n"
    "If you would like this operator to be supported, please file an issue for a feature request at "
    "https://github.com/pytorch/maskedtensor/issues with a minimal reproducible code snippet.\n"
    "In the case that the semantics for the operator are not trivial, it would be appreciated to also include a "
    "proposal for the semantics."
)


class MaskedTensor(Tensor):
    """A tensor of which some elements are masked out."""

    is_masked = True

    @staticmethod
    def __new__(cls: type, data: Any, mask: Any, requires_grad: bool = False) -> Any:
        for name, value in (("data", data), ("mask", mask)):
            if is_masked_tensor(value) or not isinstance(value, Tensor):
                raise TypeError(f"{name} must be a Tensor")
        warn(_PROTOTYPE)
        if data.requires_grad:
            warn(_DATA_WITH_GRADIENT)
        strides = data.stride() if data.layout is strided else None
        return Tensor._make_wrapper_subclass(
            cls, data.size(), strides=strides, dtype=data.dtype, device=data.device, requires_grad=requires_grad
        )

    def __init__(self, data: Tensor, mask: Tensor, requires_grad: bool = False) -> None:
        if data.layout is not mask.layout:
            raise TypeError("data and mask must have the same layout.")
        self._set_data_mask(data.clone(), mask.clone())

    def _set_data_mask(self, data: Tensor, mask: Tensor) -> None:
        _check(data, mask)
        self._masked_data = data
        self._masked_mask = mask

    @staticmethod
    def _from_values(data: Tensor, mask: Tensor) -> Any:
        """A masked tensor whose gradient goes to the data."""
        return _FromData.apply(data, mask)

    def get_data(self) -> Tensor:
        """The elements, also those that are masked out."""
        return _GetData.apply(self)

    def get_mask(self) -> Tensor:
        """True where an element counts."""
        return self._masked_mask

    def to_tensor(self, value: Any) -> Tensor:
        """A plain tensor with a value in the place of masked-out elements."""
        return self.get_data().masked_fill(~self.get_mask(), value)

    @classmethod
    def unary(cls, fn: Any, data: Tensor, mask: Tensor) -> Any:
        """What a function makes of the data, under the same mask."""
        return MaskedTensor(fn(data), mask)

    def is_sparse_coo(self) -> bool:
        return False

    def is_sparse_csr(self) -> bool:  # type: ignore[override]  # a method, as in torch
        return False

    @property
    def is_sparse(self) -> bool:
        return False

    def __lt__(self, other: Any) -> Any:
        threshold = other._masked_data if is_masked_tensor(other) else other
        return MaskedTensor(self.get_data() < threshold, self.get_mask())

    def __repr__(self) -> str:  # type: ignore[override]  # without `tensor_contents`, as in torch
        if self.dim() == 0:
            shown = _shown(self.get_data().item()) if self.get_mask().item() else "--"
            return f"MaskedTensor({shown}, {self.get_mask().item()})"
        return f"MaskedTensor(\n{_indented(_text(self.get_data(), self.get_mask()))}\n)"

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Sequence[type], args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = getattr(func, "__name__", "")
        replacement = REDUCTIONS.get(name) or REPLACED.get(name)
        if replacement is not None and is_masked_tensor(args[0]):
            return replacement(MaskedTensor, *args, **(kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        packet = func.overloadpacket
        handler = DISPATCHED.get(packet.__name__)
        if handler is not None:
            return handler(MaskedTensor, func, *args, **(kwargs or {}))
        warn(_NOT_IMPLEMENTED.format(packet.__name__))
        return NotImplemented


def _check(data: Tensor, mask: Tensor) -> None:
    if type(data) is not type(mask):
        raise TypeError(f"data and mask must have the same type. Got {type(data)} and {type(mask)}")
    if data.layout is not strided:
        raise TypeError(f"data layout of {data.layout} is not supported.")
    if mask.dtype is not boolean:
        raise TypeError("mask must have dtype bool.")
    if data.dtype not in _DTYPES:
        raise TypeError(f"{data.dtype} is not supported in MaskedTensor.")
    if data.dim() != mask.dim():
        raise ValueError("data.dim() must equal mask.dim()")
    if data.size() != mask.size():
        raise ValueError("data.size() must equal mask.size()")


def masked_tensor(data: Tensor, mask: Tensor, requires_grad: bool = False) -> MaskedTensor:
    """A masked tensor that has no history."""
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data: Tensor, mask: Tensor) -> MaskedTensor:
    """A masked tensor whose gradient goes to the data."""
    return MaskedTensor._from_values(data, mask)


# -------------------- gradients --------------------


class _FromData(Function):
    @staticmethod
    def forward(ctx: Any, data: Tensor, mask: Tensor) -> Any:
        return MaskedTensor(data, mask)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output, None


class _GetData(Function):
    @staticmethod
    def forward(ctx: Any, masked: Any) -> Tensor:
        ctx.mask = masked.get_mask()
        return masked._masked_data.detach()

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output if is_masked_tensor(grad_output) else MaskedTensor(grad_output, ctx.mask)


# -------------------- texts --------------------


def _shown(value: Any) -> str:
    return f"{value:8.4f}" if isinstance(value, float) else str(value)


def _text(data: Tensor, mask: Tensor) -> str:
    if data.dim() > 1:
        return "[\n" + ",\n".join(_indented(_text(*parts)) for parts in zip(data, mask)) + "\n]"
    elements = [_shown(value) for value in data.tolist()]
    counts = mask.tolist()
    width = max(len(text) if counted else 8 for text, counted in zip(elements, counts))
    return "[" + ", ".join(text if counted else "--".rjust(width) for text, counted in zip(elements, counts)) + "]"


def _indented(text: str) -> str:
    return "\n".join("  " + line for line in text.split("\n"))
