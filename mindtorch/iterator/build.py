"""`Builder`: how an iterator comes about.

First comes what depends on the memory of the operands; then the plan, which is remembered for operands of these dtypes,
shapes and strides; in the end outputs that are missing are made.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from mindtorch._core import state
from mindtorch._core.device import CPU
from mindtorch.iterator.checks import needs_resize
from mindtorch.iterator.memory import allocate, new_array
from mindtorch.iterator.options import Options
from mindtorch.iterator.overlap import check_overlap
from mindtorch.iterator.plan import NewArray, Plan, make_plan
from mindtorch.iterator.tensor_iterator import TensorIterator

_Array = np.ndarray
_MOST_PLANS = 4096


class Builder:
    """Builds iterators with the same options."""

    __slots__ = ("options", "_plans")

    def __init__(self, options: Options) -> None:
        self.options = options
        self._plans: dict[Any, Plan] = {}

    def build(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> TensorIterator:
        """The iterator over arrays, among the inputs also Python numbers. An output that is None is made."""
        if self.options.check_overlap:
            for output in outputs:
                if output is not None:
                    check_overlap(output, inputs)
        return self.iterator(self.plan(outputs, inputs), outputs, inputs)

    def plan(self, outputs: Sequence[Any], inputs: Sequence[Any]) -> Plan:
        """What follows from how the operands look, remembered."""
        key = _looks(outputs, inputs)
        plan = self._plans.get(key)
        return self._plan(key, outputs, inputs) if plan is None else plan

    def iterator(self, plan: Plan, outputs: Sequence[Any], inputs: Sequence[Any]) -> TensorIterator:
        """The iterator of a plan for these operands, with the outputs that are missing."""
        arrays = [*outputs, *inputs]
        for place, new in enumerate(plan.made):
            if new is not None:
                arrays[place] = _made(arrays[place], new, plan, inputs)
        return TensorIterator(arrays, len(outputs), plan, self.options)

    def _plan(self, key: Any, outputs: Sequence[Any], inputs: Sequence[Any]) -> Plan:
        plan = make_plan(outputs, inputs, self.options)
        if len(self._plans) >= _MOST_PLANS:
            self._plans.clear()
        self._plans[key] = plan
        return plan


@lru_cache(maxsize=256)
def builder_for(options: Options) -> Builder:
    """One builder for equal options, so that what it remembers is shared."""
    return Builder(options)


def _looks(outputs: Sequence[Any], inputs: Sequence[Any]) -> Any:
    """All that a plan depends on: of numbers the type, and of outputs also whether they are inputs."""
    looks: list[Any] = [state.default_dtype]
    for each in inputs:
        if type(each) is _Array:
            looks += (each.dtype, each.shape, each.strides)
        else:
            looks.append(_look_closer(each))
    for each in outputs:
        looks.append(None if each is None else (_look_closer(each), any([each is other for other in inputs])))
    return tuple(looks)


def _look_closer(value: Any) -> Any:
    if hasattr(value, "ndim"):
        return value.dtype, value.shape, value.strides, type(value), getattr(value, "device", None)
    return type(value)


def _made(given: Any, new: NewArray, plan: Plan, inputs: Sequence[Any]) -> Any:
    """A new array for an output that is missing or has another shape than the result."""
    if given is not None:
        needs_resize(given, plan.shape)
    if not plan.only_numpy:
        # Like one on the device of the computation: CPU scalars go with any other, and dense + sparse is dense.
        arrays = [each for each in (given, *inputs) if hasattr(each, "ndim") and not isinstance(each, np.ndarray)]
        example = next((each for each in arrays if each.device != CPU), None)
        if example is not None:
            return allocate(example, plan.shape, new.strides, new.dtype)
    return new_array(plan.shape, new.strides, new.dtype)
