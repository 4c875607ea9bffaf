"""The profiler under torch_npu's names."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

from mindtorch.profiler import ProfilerAction as ProfilerAction
from mindtorch.profiler import ProfilerActivity as _Activity
from mindtorch.profiler import profile as _profile
from mindtorch.profiler import record_function as record_function
from mindtorch.profiler import schedule as schedule
from mindtorch.profiler import tensorboard_trace_handler as tensorboard_trace_handler


class ProfilerActivity(Enum):
    """What is watched."""

    CPU = 0
    NPU = 1


def supported_activities() -> set[ProfilerActivity]:
    return set(ProfilerActivity)


_OWN = {ProfilerActivity.CPU: _Activity.CPU, ProfilerActivity.NPU: _Activity.PrivateUse1}


class profile(_profile):
    """`torch.profiler.profile`; of torch_npu's own options, those that concern its files have no effect."""

    def __init__(self, *, activities: Iterable[Any] | None = None, **options: Any) -> None:
        wanted = ProfilerActivity if activities is None else activities
        super().__init__(activities=[_OWN.get(each, each) for each in wanted], **options)
