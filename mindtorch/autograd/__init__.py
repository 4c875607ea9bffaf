"""Automatic differentiation: the graph, the engine that runs it, and what users call."""

from mindtorch.autograd import forward_ad, functional, graph
from mindtorch.autograd.anomaly import detect_anomaly, set_detect_anomaly
from mindtorch.autograd.engine import backward, grad
from mindtorch.autograd.function import Function
from mindtorch.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from mindtorch.autograd.gradcheck import gradcheck, gradgradcheck
from mindtorch.tensor import Tensor as Variable

__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
