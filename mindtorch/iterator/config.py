"""`TensorIteratorConfig`: which operands an iterator has, and what is checked, converted and made for them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mindtorch.iterator.build import Options, build
from mindtorch.iterator.operand import Operand, operand_of
from mindtorch.iterator.tensor_iterator import TensorIterator


class TensorIteratorConfig:
    """Collects operands and options; every method but `build` returns the config itself, so that calls can be chained.

    Without further words all operands must have one dtype and one device, outputs of another shape are resized, and
    memory that is written may not be read as something else.
    """

    __slots__ = ("_operands", "_options")

    def __init__(self) -> None:
        self._operands: list[Operand] = []
        self._options = Options()

    def add_output(self, array: Any = None) -> "TensorIteratorConfig":
        """An array to write to, or None for one that the iterator makes."""
        if self._operands and not self._operands[-1].is_output:
            raise ValueError("outputs come before inputs: call add_output() for all of them first")
        self._operands.append(operand_of(array, is_output=True))
        return self

    def add_input(self, value: Any) -> "TensorIteratorConfig":
        """An array or a Python number to read."""
        self._operands.append(operand_of(value))
        return self

    def check_all_same_dtype(self, flag: bool) -> "TensorIteratorConfig":
        self._options.same_dtype = flag
        return self

    def check_all_same_device(self, flag: bool) -> "TensorIteratorConfig":
        self._options.same_device = flag
        return self

    def allow_cpu_scalars(self, flag: bool) -> "TensorIteratorConfig":
        """Whether 0-dim inputs on the CPU go with those of another device."""
        self._options.cpu_scalars = flag
        return self

    def promote_inputs_to_common_dtype(self, flag: bool) -> "TensorIteratorConfig":
        """Whether inputs are converted to the dtype that torch's promotion rules give; their dtypes may differ then."""
        self._options.promote_inputs = flag
        return self._dtypes_may_differ(flag)

    def promote_integer_inputs_to_float(self, flag: bool) -> "TensorIteratorConfig":
        """Whether the common dtype is the default one if it would be an integer or bool."""
        if flag and not self._options.promote_inputs:
            raise ValueError("promote_integer_inputs_to_float() needs promote_inputs_to_common_dtype() before it")
        self._options.integers_to_float = flag
        return self

    def cast_common_dtype_to_outputs(self, flag: bool) -> "TensorIteratorConfig":
        """Whether outputs of another dtype are computed in the common one; `cast_outputs` then converts them."""
        self._options.cast_outputs = flag
        return self._dtypes_may_differ(flag)

    def enforce_safe_casting_to_output(self, flag: bool) -> "TensorIteratorConfig":
        """Whether outputs of a lower kind of dtype than the common one are an error."""
        self._options.safe_casting = flag
        return self

    def resize_outputs(self, flag: bool) -> "TensorIteratorConfig":
        """Whether outputs of another shape give way to new ones, with a warning unless they are empty."""
        self._options.resize_outputs = flag
        return self

    def set_check_mem_overlap(self, flag: bool) -> "TensorIteratorConfig":
        """Whether outputs may not stand for several elements, nor for other elements of an input."""
        self._options.check_overlap = flag
        return self

    def is_reduction(self, flag: bool) -> "TensorIteratorConfig":
        """Whether outputs have strides of 0 where several inputs go into one element; see `reduced_view`."""
        self._options.is_reduction = flag
        return self

    def declare_static_shape(self, shape: Sequence[int], squash_dims: Sequence[int] = ()) -> "TensorIteratorConfig":
        """The shape to walk, with 1 for `squash_dims`, whatever the shapes of the operands are."""
        if self._options.resize_outputs:
            raise ValueError("declare_static_shape() needs resize_outputs(False) before it")
        for dim in squash_dims:
            if not 0 <= dim < len(shape):
                raise ValueError(f"squash_dim {dim} must be in [0, {len(shape)})")
        self._options.static_shape = tuple([1 if dim in squash_dims else size for dim, size in enumerate(shape)])
        return self

    def declare_static_dtype(self, dtype: np.dtype) -> "TensorIteratorConfig":
        """The dtype of outputs that the iterator makes."""
        if self._options.same_dtype:
            raise ValueError("declare_static_dtype() needs check_all_same_dtype(False) before it")
        self._options.static_dtype = dtype
        return self

    def build(self) -> TensorIterator:
        """The iterator over the operands. The config can build another one."""
        return build([replace(operand) for operand in self._operands], replace(self._options))

    def _dtypes_may_differ(self, flag: bool) -> "TensorIteratorConfig":
        if flag:
            self._options.same_dtype = False
        return self
