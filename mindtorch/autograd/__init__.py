"""Automatic differentiation: the graph, the engine that runs it, and what users call."""

from typing import TYPE_CHECKING

from mindtorch._support import lazy as _lazy
from mindtorch.autograd import anomaly_mode as anomaly_mode
from mindtorch.autograd import grad_mode as grad_mode
from mindtorch.autograd._engine.engine import backward, grad
from mindtorch.autograd._engine.saved_tensor import SavedTensor
from mindtorch.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from mindtorch.autograd.grad_mode import (
    _force_original_view_tracking as _force_original_view_tracking,
)
from mindtorch.autograd.grad_mode import (
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    is_multithreading_enabled,
    is_view_replay_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from mindtorch.autograd.gradcheck import gradcheck, gradgradcheck

if TYPE_CHECKING:
    from mindtorch.autograd import forward_ad as forward_ad
    from mindtorch.autograd import function as function
    from mindtorch.autograd import functional as functional
    from mindtorch.autograd import graph as graph
    from mindtorch.autograd import profiler as profiler
    from mindtorch.autograd import variable as variable
    from mindtorch.autograd.function import Function as Function
    from mindtorch.autograd.function import NestedIOFunction as NestedIOFunction
    from mindtorch.autograd.variable import Variable as Variable
else:
    __getattr__ = _lazy.names_from(
        "mindtorch.autograd",
        {
            **{
                name: f"mindtorch.autograd.{name}"
                for name in ("forward_ad", "function", "functional", "graph", "profiler", "variable")
            },
            **dict.fromkeys(("Function", "NestedIOFunction"), "mindtorch.autograd.function"),
            "Variable": "mindtorch.autograd.variable",
        },
    )

__all__ = [
    "Function",
    "NestedIOFunction",
    "SavedTensor",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "enforce_grad_layout_policy",
    "forward_ad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_multithreading_enabled",
    "is_view_replay_enabled",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
