"""`GradScaler`: multiplies losses, so that gradients of low precision do not vanish, and divides the gradients."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from mindtorch._core.device import device as Device
from mindtorch._core.dtype import float16, float32, int32
from mindtorch._core.tensor import Tensor
from mindtorch._functions.creation import tensor
from mindtorch._support.warnings import warn
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops

_READY, _UNSCALED, _STEPPED = range(3)


class GradScaler:
    """Scales losses by a number that grows while gradients are finite, and shrinks when they are not."""

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and Device(device).type == "cuda":
            warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale = init_scale
        self._scale: Tensor | None = None
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._init_growth_tracker = 0
        self._growth_tracker: Tensor | None = None
        self._growth_interval = growth_interval
        self._stages: dict[int, int] = {}
        self._found_inf: dict[int, bool] = {}

    def is_enabled(self) -> bool:
        """Whether this scaler does anything."""
        return self._enabled

    def _start(self, device: Device) -> Tensor:
        """The scale, which becomes a tensor when it is first needed, where it is needed."""
        if self._scale is None:
            self._scale = ops.full((), self._init_scale, dtype=float32, device=device)
            self._growth_tracker = ops.full((), self._init_growth_tracker, dtype=int32, device=device)
        return self._scale

    def scale(self, outputs: Any) -> Any:
        """A tensor, or each of several, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._start(outputs.device).to(outputs.device)
        if isinstance(outputs, Iterable):
            scaled = map(self.scale, outputs)
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    # -------------------- a step --------------------

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the scale, once for each step."""
        if not self._enabled:
            return
        self._check_started("unscale_")
        stage = self._stages.get(id(optimizer), _READY)
        if stage == _UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if stage == _STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        self._found_inf[id(optimizer)] = self._divide(optimizer)
        self._stages[id(optimizer)] = _UNSCALED

    @no_grad()
    def _divide(self, optimizer: Any) -> bool:
        """Divide the gradients; whether one of them is not finite, for which each device is waited for once."""
        scale = self._scale
        assert scale is not None  # it is checked before
        inverse = scale.double().reciprocal().float()
        inverses, finite = {inverse.device: inverse}, defaultdict(list)
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    grad = _dense_values(parameter.grad)
                    device = grad.device
                    finite[device].append(grad.isfinite().all())
                    if device not in inverses:
                        inverses[device] = inverse.to(device)
                    grad.mul_(inverses[device])
        return not all([bool(ops.stack(flags).all()) for flags in finite.values()])

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Let the optimizer step, if all gradients are finite."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_started("step")
        stage = self._stages.get(id(optimizer), _READY)
        if stage == _STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if stage == _READY:
            self.unscale_(optimizer)
        result = None if self._found_inf[id(optimizer)] else optimizer.step(*args, **kwargs)
        self._stages[id(optimizer)] = _STEPPED
        return result

    def update(self, new_scale: Any = None) -> None:
        """After the steps: let the scale grow or shrink, or set it."""
        if not self._enabled:
            return
        scale = self._check_started("update")
        if new_scale is not None:
            scale.fill_(new_scale)
        else:
            if not self._found_inf:
                raise AssertionError("No inf checks were recorded prior to update.")
            self._adapt(scale, any(self._found_inf.values()))
        self._stages.clear()
        self._found_inf.clear()

    def _adapt(self, scale: Tensor, found_inf: bool) -> None:
        tracker = self._growth_tracker
        assert tracker is not None  # it is made together with the scale
        if found_inf:
            scale.mul_(self._backoff_factor)
            tracker.zero_()
            return
        tracker.add_(1)
        if tracker.item() == self._growth_interval:
            scale.mul_(self._growth_factor)
            tracker.zero_()

    def _check_started(self, name: str) -> Tensor:
        if self._scale is None:
            raise AssertionError(
                f"Attempted {name} but _scale is None.  This may indicate your script did not use scaler.scale(loss or "
                "outputs) earlier in the iteration."
            )
        return self._scale

    # -------------------- settings --------------------

    def get_scale(self) -> float:
        """The scale."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self) -> float:
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        self._growth_interval = new_interval

    def _growth_count(self) -> int:
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker.item())

    def state_dict(self) -> dict[str, Any]:
        """What `load_state_dict` takes; empty if the scaler is not enabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_count(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a saved state."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._scale is not None and self._growth_tracker is not None:
            self._scale.copy_(tensor(self._init_scale))
            self._growth_tracker.copy_(tensor(self._init_growth_tracker))


def _dense_values(grad: Tensor) -> Tensor:
    """The tensor with the numbers of a gradient, which is to be divided in place."""
    if grad.dtype is float16:
        raise ValueError("Attempting to unscale FP16 gradients.")
    return grad._values() if grad.is_sparse else grad
