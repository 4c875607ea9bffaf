"""Loaded state that older releases of PyTorch saved: options that they did not have, counters that were numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mindtorch._core.dtype import float32
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops

Group = dict[str, Any]

# What an option is where a file lacks it.
LATER_OPTIONS: Mapping[str, Any] = {
    "amsgrad": False,
    "capturable": False,
    "centered": False,
    "decoupled_weight_decay": False,
    "differentiable": False,
    "foreach": None,
    "fused": None,
    "maximize": False,
    "momentum": 0,
    "nesterov": False,
}

_COUNTERS = ("step", "eta", "mu", "mu_product")


def add_later_options(groups: Iterable[Group], known: Iterable[str], values: Mapping[str, Any]) -> None:
    """Give the groups those of the options that an optimizer knows and they lack."""
    missing = {name: values[name] for name in known if name in values}
    for group in groups:
        group.update({**missing, **group})


def make_counters(states: Iterable[Any]) -> None:
    """Make numbers that count what they are today, tensors without dimensions."""
    for state in states:
        for name in _COUNTERS:
            if name in state and not isinstance(state[name], Tensor):
                state[name] = ops.full((), float(state[name]), dtype=float32)
