"""What kernels of the NPU are written in: prepared calls of ACLNN functions, and results on the device.

    _add = aclnn("aclnnAdd", "TTST")

    def add(input, other, alpha, out=None):
        result = placed(_add_rule(input, other, alpha, out=out), input)
        _add(input, other, alpha, result)
        return result if out is None else delivered(result, out)

A call has two phases. The first checks its arguments, makes an executor and says how much workspace that needs; the
second puts the work on the current stream and returns. The executor belongs to the second phase, which ends it. The
workspace goes back to the allocator at once: whatever uses that memory next, on this stream, comes later.
"""

import os
import threading
from collections.abc import Callable, Iterable
from ctypes import byref, c_int, c_uint64, c_void_p
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from mindtorch import state
from mindtorch.backends.meta.array import MetaArray
from mindtorch.backends.npu.array import NpuArray, NpuRoot, index_of, new
from mindtorch.backends.npu.generator import seed_and_offset as seed_and_offset
from mindtorch.backends.npu.runtime import allocator, api, descriptors, device, libraries, stream
from mindtorch.backends.npu.runtime.codes import SUCCESS
from mindtorch.backends.npu.runtime.descriptors import tensor
from mindtorch.backends.npu.runtime.prototypes import KINDS
from mindtorch.device import device as Device

__all__ = [
    "NpuArray",
    "aclnn",
    "copied",
    "delivered",
    "delivered_all",
    "operands",
    "placed",
    "placed_all",
    "placed_on",
    "remembered",
    "settings",
]


class Settings:
    """What programs choose for all ops: whether products of float32 matrices may have fewer bits, and whether each
    launch is waited for."""

    matmul_hf32 = conv_hf32 = False
    launch_blocking = os.environ.get("ASCEND_LAUNCH_BLOCKING") == "1"

    @property
    def cube_math_type(self) -> int:
        """How matrix products compute float32, in CANN's numbers: as it is, or with fewer bits."""
        return int(self.matmul_hf32)


settings = Settings()


class _Phases(threading.local):
    """Where the first phase writes what the second one needs; one for each thread."""

    def __init__(self) -> None:
        self.workspace, self.executor = c_uint64(), c_void_p()
        self.addresses = byref(self.workspace), byref(self.executor)


_phases = _Phases()

# How a value of each kind becomes an argument, and what is done with it after the launch.
_MAKERS: dict[str, Callable[[Any], Any] | None] = {
    "L": descriptors.tensor_list,
    "S": descriptors.scalar,
    "R": descriptors.scalar_list,
    "I": descriptors.int_array,
    "F": descriptors.float_array,
    "B": descriptors.bool_array,
    "d": descriptors.dtype_code,
    "z": descriptors.text,
}
_DESTROYERS: dict[str, Callable[[Any], None]] = {
    "T": descriptors.destroy_tensor,
    "L": descriptors.destroy_tensor_list,
    "R": descriptors.destroy_scalar_list,
}


class aclnn:  # noqa: N801  called like the functions that it stands for
    """A function of ACLNN, to be called with values in the header's order.

    `kinds` are letters, as in the table of signatures: arrays for T, lists of arrays for L, numbers for S.
    """

    __slots__ = ("name", "kinds", "_first", "_second", "_tensors", "_lists", "_others", "_made")

    def __init__(self, name: str, kinds: str) -> None:
        self.name = name
        self.kinds = kinds
        self._first: Any = None
        self._second: Any = None
        self._tensors = [place for place, kind in enumerate(kinds) if kind == "T"]
        self._lists = [place for place, kind in enumerate(kinds) if kind == "L"]
        self._others = [(place, _MAKERS[kind]) for place, kind in enumerate(kinds) if kind in _MAKERS]
        self._made = [(place, _DESTROYERS[kind]) for place, kind in enumerate(kinds) if kind in _DESTROYERS]

    def __repr__(self) -> str:
        return f"aclnn({self.name!r}, {self.kinds!r})"

    def __call__(self, *given: Any) -> None:
        """Put the call on the current stream of the arrays' device."""
        self._launch(given)

    def with_shapes(self, places: Iterable[int], *given: Any) -> list[tuple[int, ...]]:
        """The same, with the shapes that results turn out to have: waits until they are there.

        Such results are given as large as they can be.
        """
        return self._launch(given, places)

    def _launch(self, given: tuple, sized: Iterable[int] = ()) -> list[tuple[int, ...]]:
        first = self._first or self._bind()
        arguments = list(given)
        index = -1
        try:
            for place in self._tensors:
                array = given[place]
                if array is not None:
                    if type(array) is not NpuArray or array.root.index != index >= 0:
                        _refuse_devices(given)
                    index = array.root.index
                    arguments[place] = tensor(array)
            for place, make in self._others:
                arguments[place] = make(given[place])
            if self._lists:
                index = _device_of_lists([given[place] for place in self._lists], index, given)
            device.use(index)
            self._run(first, arguments, index)
            if sized:
                stream.current(index).synchronize()
            return [descriptors.view_shape(arguments[place]) for place in sized]
        finally:
            for place, destroy in self._made:
                if arguments[place] is not given[place]:
                    destroy(arguments[place])

    def _run(self, first: Callable, arguments: list, index: int) -> None:
        phases = _phases
        code = first(*arguments, *phases.addresses)
        if code != SUCCESS:
            api.raise_code(code, f"{self.name}GetWorkspaceSize")
        size, own = phases.workspace.value, stream.current(index)
        if size:
            pool = allocator.pool_of(index)
            block = pool.allocate(size, own)
            code = self._second(block.address, size, phases.executor, own.handle)
            pool.release(block)
        else:
            code = self._second(None, 0, phases.executor, own.handle)
        if code != SUCCESS:
            api.raise_code(code, self.name)
        if settings.launch_blocking:
            own.synchronize()

    def _bind(self) -> Any:
        """Look both functions up, when the first call is made."""
        first = libraries.operator_symbol(f"{self.name}GetWorkspaceSize")
        second = libraries.operator_symbol(self.name)
        if first is None or second is None:
            raise NotImplementedError(
                f"{self.name} is in none of CANN's libraries: this version of CANN does not have the op"
            )
        first.argtypes = [*[KINDS[kind] for kind in self.kinds], c_void_p, c_void_p]
        second.argtypes = [c_void_p, c_uint64, c_void_p, c_void_p]
        first.restype = second.restype = c_int
        self._second = second
        self._first = first
        return first


def _device_of_lists(lists: list, index: int, given: tuple) -> int:
    """The number of the device that the arrays of lists are on, and those before them."""
    for array in chain(*lists):
        if type(array) is not NpuArray or array.root.index != index >= 0:
            _refuse_devices(given)
        index = array.root.index
    return index


def _refuse_devices(values: Iterable[Any]) -> NoReturn:
    """torch's error for arrays of several devices."""
    names = []
    for value in values:
        for each in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(each, (NpuArray, np.ndarray)):
                name = "cpu" if isinstance(each, np.ndarray) else str(each.device)
                names += [name] if name not in names else []
    found = " and ".join(names[:2])
    raise RuntimeError(f"Expected all tensors to be on the same device, but found at least two devices, {found}!")


# -------------------- results --------------------

_MANY = 4096


class remembered:  # noqa: N801  stands where a rule stands
    """A rule of the meta backend that keeps its answers: programs ask for the same shapes again and again."""

    __slots__ = ("_rule", "_answers")

    def __init__(self, rule: Callable) -> None:
        self._rule = rule
        self._answers: dict[tuple, Any] = {}

    def __call__(self, *args: Any, out: Any = None) -> Any:
        if out is not None:
            return self._rule(*args, out=out)
        key: list[Any] = [state.default_dtype]
        for value in args:
            if type(value) is NpuArray:
                key += (value.shape, value.strides, value.dtype)
            else:
                key += (type(value), value)
        try:
            return self._answers[tuple(key)]
        except (KeyError, TypeError):  # not asked before, or of lists, which are no keys
            return self._ask(tuple(key), args)

    def _ask(self, key: tuple, args: tuple) -> Any:
        answer = self._rule(*args)
        if len(self._answers) >= _MANY:
            self._answers.clear()
        try:
            self._answers[key] = answer
        except TypeError:
            pass
        return answer


def placed(result: Any, like: NpuArray) -> Any:
    """What a rule says of a result, as an array: `out` itself, new memory on a device, or None."""
    return _placed(result, like.root.index) if type(result) is MetaArray else result


def placed_on(result: Any, where: Device) -> Any:
    """The same for ops that have no array."""
    return _placed(result, index_of(where)) if type(result) is MetaArray else result


def _placed(result: MetaArray, index: int) -> NpuArray:
    return NpuArray(result.shape, result.dtype, result.strides, NpuRoot(result.root.nbytes, index))


def placed_all(results: Iterable[Any], like: NpuArray) -> tuple:
    """The same for several results."""
    return tuple([placed(result, like) for result in results])


def operands(*values: Any) -> tuple:
    """Numbers, and arrays of the CPU without dimensions, as arrays on the device of the others."""
    index = next(value.root.index for value in values if type(value) is NpuArray)
    return tuple([_on_device(value, values, index) for value in values])


def _on_device(value: Any, values: tuple, index: int) -> NpuArray | None:
    if value is None or type(value) is NpuArray:
        return value
    number = np.asarray(value)
    if number.ndim:
        _refuse_devices(values)
    array = new((), number.dtype, index)
    array.root.write(0, number.reshape(1).view(np.uint8))
    return array


_copy = aclnn("aclnnInplaceCopy", "TT")


def copied(result: NpuArray, source: NpuArray) -> NpuArray:
    """Write an array to another one, converted and broadcast."""
    if result is not source and result.size:
        _copy(result, source)
    return result


def delivered(result: NpuArray, out: NpuArray) -> NpuArray:
    """A result that was asked for in `out`: there, or, where that has another shape, as it is."""
    if result is not out and result.shape == out.shape:
        return copied(out, result)
    return result


def delivered_all(results: Iterable[NpuArray], outs: Iterable[NpuArray]) -> tuple:
    return tuple([delivered(result, out) for result, out in zip(results, outs, strict=True)])
