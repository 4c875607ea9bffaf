"""The base of all schedules of the learning rate."""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.optim.optimizer import Optimizer, as_scalar

EPOCH_IS_DEPRECATED = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed "
    "form is used instead of the new chainable form, where available. Please open an issue if you are unable to "
    "replicate your use case: https://github.com/pytorch/pytorch/issues/new/choose."
)
_STEPPED_TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call "
    "them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in "
    "PyTorch skipping the first value of the learning rate schedule. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)


def check_optimizer(optimizer: Any) -> Optimizer:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def set_rate(group: dict[str, Any], rate: float | Tensor) -> None:
    """Set the learning rate of a group; one that is a tensor is written to, as programs may hold it."""
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(as_scalar(rate))
    else:
        group["lr"] = rate


def values_of(optimizer: Optimizer, key: str) -> list[Any]:
    """The present values of an option of all groups. Tensors are copied, because steps write to them."""
    values = [group[key] for group in optimizer.param_groups]
    return [value.clone() if isinstance(value, Tensor) else value for value in values]


class LRScheduler:
    """Sets the learning rates of an optimizer at every `step`. A subclass defines `get_lr`."""

    _takes_metrics = False  # `step` needs an argument, so that no other schedule can call it

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = check_optimizer(optimizer)
        for number, (group, rate) in enumerate(zip(optimizer.param_groups, values_of(optimizer, "lr"))):
            if last_epoch == -1:
                group.setdefault("initial_lr", rate)
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{number}] when resuming scheduler with "
                    "last_epoch >= 0.\nThis typically happens when:\n1. You're trying to resume training from a "
                    "checkpoint but haven't properly loaded the optimizer state\n2. You're using last_epoch >= 0 for "
                    "a fresh training run (not recommended)"
                )
        self.base_lrs = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        self._step_count = 0
        self._is_initial = True
        self._get_lr_called_within_step = False
        self.step()
        self._is_initial = False

    def get_lr(self) -> list[float | Tensor]:
        """The learning rates of the groups for `last_epoch`, from the present ones."""
        raise NotImplementedError

    def get_last_lr(self) -> list[float | Tensor]:
        """The learning rates that the last step set."""
        return self._last_lr

    def step(self, epoch: int | None = None) -> None:
        """Go on to the next epoch."""
        if self._step_count == 1 and not self.optimizer._opt_called:
            warn(_STEPPED_TOO_EARLY, UserWarning)
        self._step_count += 1
        if epoch is not None:
            warn(EPOCH_IS_DEPRECATED, UserWarning)
        self._set_rates(self._rates(epoch))

    def _rates(self, epoch: int | None) -> list[float | Tensor]:
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                return self.get_lr()
            self.last_epoch = epoch
            closed_form = getattr(self, "_get_closed_form_lr", self.get_lr)
            return closed_form()
        finally:
            self._get_lr_called_within_step = False

    def _set_rates(self, rates: list[float | Tensor]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates):
            set_rate(group, rate)
        self._last_lr = self._present()

    def _present(self) -> list[float | Tensor]:
        return values_of(self.optimizer, "lr")

    def _scaled(self, factor: float) -> list[float | Tensor]:
        return [rate * factor for rate in self._present()]

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
            )

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over a saved state."""
        self.__dict__.update(state_dict)
