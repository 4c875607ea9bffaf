"""`FakeTensorMode`: tensors that have shape, strides, dtype and device, but no values.

A `FakeTensor` says that it is on a device. Ops on it run on the `meta` backend, and what they give is on that device
again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch._core import state
from mindtorch._core.device import device as Device
from mindtorch._core.tensor import Tensor
from mindtorch._support.pytree import tree_any, tree_leaves, tree_map
from mindtorch._support.weak_keys import WeakIdKeyDictionary
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.torch_dispatch import TorchDispatchMode, without_modes
from mindtorch.dispatch.overloads import operators
from mindtorch.nn.parameter import Parameter

__all__ = [
    "DataDependentOutputException", "DynamicOutputShapeException", "FakeTensor", "FakeTensorMode",
    "UnsupportedFakeTensorException", "is_fake", "maybe_get_fake_mode", "unset_fake_temporarily",
]  # fmt: skip

_META = Device("meta")


class UnsupportedFakeTensorException(RuntimeError):
    """A tensor cannot be made fake."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _AboutAnOp(RuntimeError):
    def __init__(self, func: Any) -> None:
        super().__init__(str(func))
        self.func = func


class DynamicOutputShapeException(_AboutAnOp):
    """The shape of an op's result depends on values."""


class DataDependentOutputException(_AboutAnOp):
    """A program asks for a value."""


class FakeTensor(Tensor):
    """A tensor without values. Ops on it give fake tensors."""

    fake_mode: FakeTensorMode
    is_fake_class = True

    @staticmethod
    def __new__(
        cls: Any, fake_mode: FakeTensorMode, elem: Any, device: Any = None, requires_grad: bool | None = None
    ) -> Any:
        make: Any = Tensor._make_wrapper_subclass
        made = make(
            cls,
            tuple(elem.shape),
            strides=elem.stride(),
            storage_offset=elem.storage_offset(),
            dtype=elem.dtype,
            device=elem.device if device is None else device,
            requires_grad=elem.requires_grad if requires_grad is None else requires_grad,
        )
        made.fake_mode = fake_mode
        return made

    def __init__(
        self, fake_mode: FakeTensorMode, elem: Any, device: Any = None, requires_grad: bool | None = None
    ) -> None:
        pass

    @property
    def fake_device(self) -> Any:
        """The device that the tensor says it is on."""
        return self.device

    def __repr__(self, *, tensor_contents: str | None = None) -> str:  # type: ignore[override]
        parts = ["...", f"size={tuple(self.shape)}"]
        if self.device.type != "cpu":
            parts.insert(1, f"device='{self.device}'")
        if self.dtype is not state.default_dtype:
            parts.append(f"dtype={self.dtype}")
        return f"FakeTensor({', '.join(parts)})"

    def tolist(self) -> Any:
        raise DataDependentOutputException(operators.aten._local_scalar_dense.default)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = next(each for each in tree_leaves((args, kwargs or {})) if isinstance(each, FakeTensor))
        with found.fake_mode:
            return func(*args, **(kwargs or {}))


def _on_meta(value: Any) -> Any:
    """What stands for a fake tensor, or a real one, while an op runs."""
    if not isinstance(value, Tensor):
        return value
    tensor: Any = value
    return ops.empty_strided(tuple(tensor.shape), tensor.stride(), dtype=tensor.dtype, device=_META)


class FakeTensorMode(TorchDispatchMode):
    """A block in which ops compute shapes, strides and dtypes only, and factories make fake tensors.

    Real tensors among fake ones are refused, unless `allow_non_fake_inputs` is set.
    """

    def __init__(
        self,
        *,
        allow_fallback_kernels: bool = True,
        allow_non_fake_inputs: bool = False,
        shape_env: Any = None,
        static_shapes: bool | None = None,
        export: bool = False,
    ) -> None:
        if shape_env is not None:
            raise NotImplementedError("fake tensors have no symbolic sizes here: shape_env has to be None")
        self.allow_fallback_kernels = allow_fallback_kernels
        self.allow_non_fake_inputs = allow_non_fake_inputs
        self.shape_env = None
        self.static_shapes = True if static_shapes is None else static_shapes
        self.export = export
        self._memo = WeakIdKeyDictionary()  # the fake ones of tensors

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True

    def from_tensor(self, tensor: Any, *, static_shapes: bool | None = None, **options: Any) -> Any:
        """The fake tensor that is like a tensor; of one tensor always the same."""
        if isinstance(tensor, FakeTensor):
            if tensor.fake_mode is not self:
                raise AssertionError("Mixing fake modes NYI")
            return tensor
        found = self._memo.get(tensor)
        if found is None:
            with without_modes():
                found = FakeTensor(self, tensor)
            if isinstance(tensor, Parameter):
                found._is_param = True  # type: ignore[attr-defined]
            self._memo[tensor] = found
        return found

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor)]
        if func._opname == "_local_scalar_dense" and any(isinstance(each, FakeTensor) for each in tensors):
            raise DataDependentOutputException(func)
        if func._opname in ("lift_fresh", "lift"):
            return self.from_tensor(args[0])
        self._check(func, args, kwargs, tensors)
        place = self._device(tensors, kwargs)
        stand_ins = {id(each): _on_meta(each) for each in tensors}
        on_meta = tree_map(lambda each: stand_ins.get(id(each), each), (args, kwargs))
        if "device" in on_meta[1] or not tensors:
            on_meta[1]["device"] = _META
        try:
            with without_modes():
                result = func(*on_meta[0], **on_meta[1])
        except NotImplementedError as error:
            raise DynamicOutputShapeException(func) from error
        originals = {id(stand_in): each for each, stand_in in zip(tensors, stand_ins.values())}
        return tree_map(lambda each: self._faked(each, originals, place), result)

    def _check(self, func: Any, args: Any, kwargs: Any, tensors: list[Any]) -> None:
        if self.allow_non_fake_inputs or not tree_any(_is_real, tensors):
            return
        shown = ", ".join([*[_shown(each) for each in args], *[f"{key}={_shown(kwargs[key])}" for key in kwargs]])
        raise AssertionError(
            f"Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
            f"'allow_non_fake_inputs'. Found in {func}({shown})"
        )

    def _device(self, tensors: list[Any], kwargs: Any) -> Any:
        if kwargs.get("device") is not None:
            return Device(kwargs["device"])
        with_dims = [each for each in tensors if each.ndim] or tensors
        return with_dims[0].device if with_dims else Device("cpu")

    def _faked(self, value: Any, originals: dict[int, Any], place: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        if id(value) in originals:  # what was written in place
            return originals[id(value)]
        return FakeTensor(self, value, place)


def _shown(value: Any) -> str:
    return f"tensor([...], size={tuple(value.shape)})" if _is_real(value) else str(value)


def _is_real(tensor: Any) -> bool:
    return isinstance(tensor, Tensor) and not isinstance(tensor, FakeTensor)


def is_fake(x: Any) -> bool:
    """Whether a value is a fake tensor."""
    return isinstance(x, FakeTensor)


def maybe_get_fake_mode(t: Any) -> FakeTensorMode | None:
    """The mode of a fake tensor, None for other values."""
    return t.fake_mode if isinstance(t, FakeTensor) else None


@contextmanager
def unset_fake_temporarily() -> Iterator[FakeTensorMode | None]:
    """In this block no fake mode is active; gives the innermost one."""
    modes = state.thread.dispatch_modes
    kept = tuple([mode for mode in modes if not isinstance(mode, FakeTensorMode)])
    state.thread.dispatch_modes = kept
    try:
        yield next((mode for mode in reversed(modes) if isinstance(mode, FakeTensorMode)), None)
    finally:
        state.thread.dispatch_modes = modes
