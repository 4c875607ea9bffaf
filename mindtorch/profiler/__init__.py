"""How long the ops of a program take. What is watched are calls of ops; nothing is known of memory and of devices."""

from mindtorch.profiler.profile import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

__all__ = [
    "ProfilerAction", "ProfilerActivity", "kineto_available", "profile", "record_function", "schedule",
    "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip


def kineto_available() -> bool:
    """Whether there is the library that PyTorch's profiler is made of."""
    return False
