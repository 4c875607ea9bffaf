"""`TensorIteratorConfig`: which operands an iterator has, and what is checked, converted and made for them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch._core.promotion import common_dtype, int_to_float
from mindtorch.iterator.build import builder_for
from mindtorch.iterator.options import Options
from mindtorch.iterator.tensor_iterator import TensorIterator


class TensorIteratorConfig:
    """Collects operands and options; every method but `build` returns the config itself, so that calls can be chained.

    Without further words all operands must have one dtype and one device, outputs of another shape are resized, and
    memory that is written may not be read as something else.
    """

    __slots__ = ("_outputs", "_inputs", "_options")

    def __init__(self) -> None:
        self._outputs: list[Any] = []
        self._inputs: list[Any] = []
        self._options: dict[str, Any] = {}

    def add_output(self, array: Any = None) -> "TensorIteratorConfig":
        """An array to write to, or None for one that the iterator makes."""
        if self._inputs:
            raise ValueError("outputs come before inputs: call add_output() for all of them first")
        self._outputs.append(array)
        return self

    def add_input(self, value: Any) -> "TensorIteratorConfig":
        """An array or a Python number to read."""
        self._inputs.append(value)
        return self

    def check_all_same_dtype(self, flag: bool) -> "TensorIteratorConfig":
        return self._with(same_dtype=flag)

    def check_all_same_device(self, flag: bool) -> "TensorIteratorConfig":
        return self._with(same_device=flag)

    def allow_cpu_scalars(self, flag: bool) -> "TensorIteratorConfig":
        """Whether 0-dim inputs on the CPU go with those of another device."""
        return self._with(cpu_scalars=flag)

    def promote_inputs_to_common_dtype(self, flag: bool) -> "TensorIteratorConfig":
        """Whether inputs are converted to the dtype that torch's promotion rules give; their dtypes may differ then."""
        return self._with(promotion=common_dtype if flag else None)._dtypes_may_differ(flag)

    def promote_integer_inputs_to_float(self, flag: bool) -> "TensorIteratorConfig":
        """Whether the common dtype is the default one if it would be an integer or bool."""
        if self._options.get("promotion") is None:
            if not flag:
                return self
            raise ValueError("promote_integer_inputs_to_float() needs promote_inputs_to_common_dtype() before it")
        return self._with(promotion=int_to_float if flag else common_dtype)

    def cast_common_dtype_to_outputs(self, flag: bool) -> "TensorIteratorConfig":
        """Whether outputs of another dtype get the result converted."""
        return self._with(cast_outputs=flag)._dtypes_may_differ(flag)

    def enforce_safe_casting_to_output(self, flag: bool) -> "TensorIteratorConfig":
        """Whether outputs of a lower kind of dtype than the common one are an error."""
        return self._with(safe_casting=flag)

    def resize_outputs(self, flag: bool) -> "TensorIteratorConfig":
        """Whether outputs of another shape give way to new ones, with a warning unless they are empty."""
        return self._with(resize_outputs=flag)

    def set_check_mem_overlap(self, flag: bool) -> "TensorIteratorConfig":
        """Whether outputs may not stand for several elements, nor for other elements of an input."""
        return self._with(check_overlap=flag)

    def is_reduction(self, flag: bool) -> "TensorIteratorConfig":
        """Whether outputs have strides of 0 where several inputs go into one element; see `reduced_view`."""
        return self._with(is_reduction=flag)

    def declare_static_shape(self, shape: Sequence[int], squash_dims: Sequence[int] = ()) -> "TensorIteratorConfig":
        """The shape to walk, with 1 for `squash_dims`, whatever the shapes of the operands are."""
        if self._options.get("resize_outputs", True):
            raise ValueError("declare_static_shape() needs resize_outputs(False) before it")
        for dim in squash_dims:
            if not 0 <= dim < len(shape):
                raise ValueError(f"squash_dim {dim} must be in [0, {len(shape)})")
        return self._with(static_shape=tuple([1 if dim in squash_dims else size for dim, size in enumerate(shape)]))

    def declare_static_dtype(self, dtype: np.dtype) -> "TensorIteratorConfig":
        """The dtype of outputs that the iterator makes."""
        if self._options.get("same_dtype", True):
            raise ValueError("declare_static_dtype() needs check_all_same_dtype(False) before it")
        return self._with(static_dtype=dtype)

    def build(self) -> TensorIterator:
        """The iterator over the operands. The config can build another one."""
        return builder_for(Options(**self._options)).build(self._outputs, self._inputs)

    def _with(self, **options: Any) -> "TensorIteratorConfig":
        self._options |= options
        return self

    def _dtypes_may_differ(self, flag: bool) -> "TensorIteratorConfig":
        return self._with(same_dtype=False) if flag else self
