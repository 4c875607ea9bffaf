"""What kernels of the NPU are written in: prepared calls of ACLNN functions, and results on the device.

    _add = aclnn("aclnnAdd", "TTST")

    def add(input, other, alpha, out=None):
        result = placed(_add_rule(input, other, alpha, out=out), input)
        _add(input, other, alpha, result)
        return result if out is None else delivered(result, out)

A call has two phases. The first checks its arguments, makes an executor and says how much workspace that needs; the
second puts the work on the current stream and returns. The executor belongs to the second phase, which ends it. The
workspace may serve another launch at once: whatever uses that memory next, on this stream, comes later.
"""

import os
import threading
from collections.abc import Callable, Iterable
from ctypes import byref, c_int, c_uint64, c_void_p
from importlib import import_module
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from mindtorch._core import state
from mindtorch._core.device import device as Device
from mindtorch.backends.meta.array import MetaArray
from mindtorch.backends.npu import positions
from mindtorch.backends.npu.array import Geometry, NpuArray, geometry_of, index_of, made, new, remembered_geometry
from mindtorch.backends.npu.generator import seed_and_offset as seed_and_offset
from mindtorch.backends.npu.runtime import allocator, api, descriptors, device, libraries, stream
from mindtorch.backends.npu.runtime.api import acl
from mindtorch.backends.npu.runtime.codes import SUCCESS, is_of_arguments
from mindtorch.backends.npu.runtime.descriptors import tensor
from mindtorch.backends.npu.runtime.prototypes import KINDS
from mindtorch.backends.npu.sharing import check_shared
from mindtorch.backends.npu.trials import check_operands
from mindtorch.dispatch.registry import find_op
from mindtorch.dispatch.same_device import at_least_two, check_devices

__all__ = [
    "NpuArray",
    "aclnn",
    "check_same_device",
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
    watch: Any = None  # a profiler's, which is told of each launch
    launch_blocking = os.environ.get("ASCEND_LAUNCH_BLOCKING") == "1"

    @property
    def cube_math_type(self) -> int:
        """How matrix products compute float32, in CANN's numbers: as it is, or with fewer bits."""
        return int(self.matmul_hf32)

    @property
    def conv_math_type(self) -> int:
        """The same for convolutions."""
        return int(self.conv_hf32)


settings = Settings()


class _Phases(threading.local):
    """Where the first phase writes what the second one needs; one for each thread."""

    def __init__(self) -> None:
        workspace, executor = c_uint64(), c_void_p()
        self.places = workspace, executor, byref(workspace), byref(executor)


_phases = _Phases()

# How a value of each kind becomes an argument, besides tensors.
_ARRAYS = {"I": descriptors.int_array, "F": descriptors.float_array, "B": descriptors.bool_array}
_MAKERS: dict[str, Callable[[Any], Any]] = {
    "L": descriptors.tensor_list,
    "S": descriptors.scalar,
    "R": descriptors.scalar_list,
    "d": descriptors.dtype_code,
    "z": descriptors.text,
}


class aclnn:  # noqa: N801  called like the functions that it stands for
    """A function of ACLNN, to be called with values in the header's order.

    `kinds` are letters, as in the table of signatures: arrays for T, lists of arrays for L, numbers for S.
    """

    __slots__ = ("name", "kinds", "_first", "_second", "_tensors", "_lists", "_arrays", "_others")

    def __init__(self, name: str, kinds: str) -> None:
        self.name = name
        self.kinds = kinds
        self._first: Any = None
        self._second: Any = None
        self._tensors = [place for place, kind in enumerate(kinds) if kind == "T"]
        self._lists = [place for place, kind in enumerate(kinds) if kind == "L"]
        self._arrays = [(place, _ARRAYS[kind]) for place, kind in enumerate(kinds) if kind in _ARRAYS]
        self._others = [(place, _MAKERS[kind]) for place, kind in enumerate(kinds) if kind in _MAKERS]

    def __repr__(self) -> str:
        return f"aclnn({self.name!r}, {self.kinds!r})"

    def __call__(self, *given: Any) -> None:
        """Put the call on the current stream of the arrays' device."""
        first = self._first or self._bind()
        if settings.launch_blocking:
            positions.check(self.name, given)
        arguments, index = self.described(given)
        device.use(index)
        watch = settings.watch
        begun = None if watch is None else watch.begin(index)
        workspace_size, executor_place, size_address, executor_address = _phases.places
        code = first(*arguments, size_address, executor_address)
        if code != SUCCESS:
            return self._refused(code, given)
        # Both at once: what asking for memory sets off, a `__del__` that launches, may use the place again.
        size, executor = workspace_size.value, executor_place.value
        own = stream.current(index)
        if size:
            workspace = allocator.pool_of(index).workspaces.get(own)
            if workspace is None or workspace.size < size:
                workspace = _workspace(size, own, executor)
            code = self._second(workspace.address, size, executor, own.handle)
            del workspace  # which tracebacks would keep
        else:
            code = self._second(None, 0, executor, own.handle)
        if code == SUCCESS and settings.launch_blocking:
            code = acl.aclrtSynchronizeStream(own.handle)
        if code != SUCCESS:
            api.raise_code(code, self.name)
        if watch is not None:
            watch.end(self.name, index, begun)

    def _refused(self, code: int, given: tuple) -> None:
        """Which strided arrays a function takes differs between versions of CANN: once more, with copies of them."""
        rows = {id(each): _in_rows(each) for each in given if type(each) is NpuArray and not each.flags.c_contiguous}
        written = _written_by(self.name)
        if not is_of_arguments(code) or not rows or not written:
            api.raise_code(code, self.name)
        api.ignore(code)
        self(*[rows.get(id(each), each) for each in given])
        for place in written:
            if id(given[place]) in rows:
                _copy(given[place], rows[id(given[place])])

    def described(self, given: tuple) -> tuple[list, int]:
        """What the first phase takes for these values, and the device that they are on."""
        arguments = list(given)
        index = -1
        for place in self._tensors:
            array = given[place]
            if array is not None:
                if type(array) is not NpuArray or array.root.index != index >= 0:
                    _refuse_devices(given)
                root, found = array.root, array.descriptor
                index = root.index
                arguments[place] = found.handle if found and found.resizes == root.resizes else tensor(array)
        if self._lists:
            index = _device_of_lists([given[place] for place in self._lists], index, given)
        for place, kept in self._arrays:  # kept(value), without a call
            value = given[place]
            arguments[place] = (kept.young.get(value) if type(value) is tuple else None) or kept(value)
        for place, make in self._others:
            arguments[place] = make(given[place])
        return arguments, index

    def with_shapes(self, places: Iterable[int], *given: Any) -> list[tuple[int, ...]]:
        """The same, with the shapes that results turn out to have: waits until they are there.

        Such results are given as large as they can be.
        """
        handles = [descriptors.tensor_of_its_own(given[place]) for place in places]
        self(*given)
        stream.current(given[0].root.index).synchronize()
        shapes = [descriptors.view_shape(handle) for handle in handles]
        for place in places:
            given[place].descriptor = None
        return shapes

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


def _workspace(size: int, own: stream.Stream, executor: int | None) -> allocator.Workspace:
    """More than the stream has kept."""
    try:
        return allocator.pool_of(own.device).workspace(size, own)
    except RuntimeError:
        _give_up(executor)
        raise


def _give_up(executor: int | None) -> None:
    """End an executor without its second phase, which only one that may be used again permits."""
    api.ignore(acl.aclSetAclOpExecutorRepeatable(executor) or acl.aclDestroyAclOpExecutor(executor))


def _device_of_lists(lists: list, index: int, given: tuple) -> int:
    """The number of the device that the arrays of lists are on, and those before them."""
    for array in chain(*lists):
        if type(array) is not NpuArray or array.root.index != index >= 0:
            _refuse_devices(given)
        index = array.root.index
    return index


def check_same_device(op: str, *args: Any) -> None:
    """For kernels that ask no rule: refuse a call of the op with arrays of several devices."""
    given = [each for each in args if type(each) is NpuArray or isinstance(each, np.ndarray)]
    if len({each.root.index if type(each) is NpuArray else -1 for each in given}) > 1:
        check_devices(find_op(op), args)


def _refuse_devices(values: Iterable[Any]) -> NoReturn:
    """torch's error for arrays of several devices."""
    parts = chain(*[value if isinstance(value, (list, tuple)) else (value,) for value in values])
    raise RuntimeError(at_least_two([each for each in parts if isinstance(each, (NpuArray, np.ndarray))]))


# -------------------- results --------------------

_MANY = 4096
_PLAIN = frozenset((int, type(None)))  # keys as they are; what is equal to one of them is a pair with its type
_TRUTH = (bool, False), (bool, True)  # those of bools


class remembered:  # noqa: N801  stands where a rule stands
    """A rule of the meta backend that keeps its answers: programs ask for the same shapes again and again.

    Calls of the op on several devices are refused, if it does not take them. They are never found among the answers.
    """

    __slots__ = ("_rule", "_op", "_answers")

    def __init__(self, rule: Callable, op: str = "") -> None:
        self._rule = rule
        self._op = op
        self._answers: dict[tuple, Any] = {}

    def __call__(self, *args: Any, out: Any = None) -> Any:
        key = [  # _key_of(value), without a call
            (
                (value.geometry or remembered_geometry(value))
                if type(value) is NpuArray
                else (
                    value
                    if type(value) in _PLAIN or (type(value) is tuple and (not value or type(value[0]) is int))
                    else (_TRUTH[value] if type(value) is bool else _key_of(value))
                )
            )
            for value in args
        ]
        if out is None:
            answer = self._answers.get((state.default_dtype, *key))
            return answer if answer is not None else self._ask((state.default_dtype, *key), args)
        return self._ask_with_outs(args, out) if type(out) is tuple else self._ask_with_out(key, args, out)

    def _check_devices(self, args: tuple, out: Any = None) -> None:
        """Without an op's name, launches refuse arrays of several devices."""
        if self._op:
            check_devices(find_op(self._op), args, out)

    def _check_operands(self, args: tuple, out: Any = None) -> None:
        """Dtypes that there are no kernels for are spoken of when nothing is wrong with shapes."""
        try:
            check_operands(self._op, args, out)
        except NotImplementedError:
            self._rule(*args) if out is None else self._rule(*args, out=out)
            raise

    def _ask(self, key: tuple, args: tuple) -> Any:
        self._check_devices(args)
        self._check_operands(args)
        answer = _without_memory(self._rule(*args))
        if type(answer) is Geometry or type(answer) is tuple and {*map(type, answer)} <= {Geometry, type(None)}:
            self._keep(key, answer)
        return answer

    def _ask_with_out(self, key: list, args: tuple, out: Any) -> Any:
        """That `out` is fit is remembered. Where it is not, the rule may have something to say each time."""
        same = [
            out is value or (type(value) is NpuArray and value.root is out.root and check_shared(self._op, out, value))
            for value in args
        ]
        whole = (state.default_dtype, _key_of(out), *same, *key)
        try:
            return self._answers[whole] or out
        except KeyError:
            self._check_devices(args, out)
            self._check_operands(args, out)
            answer = _without_memory(self._rule(*args, out=out))
        if answer is out:
            self._keep(whole, None)
        elif type(answer) is Geometry and answer.shape == out.shape:
            self._keep(whole, answer)
        return answer

    def _ask_with_outs(self, args: tuple, outs: tuple) -> Any:
        """Of several results nothing is remembered."""
        self._check_devices(args, outs)
        self._check_operands(args, outs)
        return _without_memory(self._rule(*args, out=outs))

    def _keep(self, key: tuple, answer: Any) -> None:
        if len(self._answers) >= _MANY:
            self._answers.clear()
        self._answers[key] = answer


def _key_of(value: Any) -> Any:
    """What the answer of a rule depends on: where arrays lie how, and not what is in them."""
    if type(value) is NpuArray:
        return value.geometry or remembered_geometry(value)
    if isinstance(value, np.ndarray):
        return value.shape, value.strides, value.dtype
    if type(value) is list or type(value) is tuple:
        kind = type(value[0]) if value else None
        if kind is int:
            return tuple(value)
        return (bool, *value) if kind is bool else tuple([_key_of(each) for each in value])
    return value if type(value) in _PLAIN else (type(value), value)


def _without_memory(answer: Any) -> Any:
    """What a rule says of results, as geometries."""
    if type(answer) is MetaArray:
        return geometry_of(answer)
    return tuple(map(_without_memory, answer)) if type(answer) is tuple else answer


def placed(result: Any, like: NpuArray) -> Any:
    """What a rule says of a result, as an array: `out` itself, new memory on a device, or None."""
    if type(result) is Geometry:
        return made(result, like.root.index)
    return made(geometry_of(result), like.root.index) if type(result) is MetaArray else result


def placed_on(result: Any, where: Device) -> Any:
    """The same for ops that have no array."""
    result = _without_memory(result)
    return made(result, index_of(where)) if type(result) is Geometry else result


def placed_all(results: Iterable[Any], like: NpuArray) -> tuple:
    """The same for several results."""
    index = like.root.index
    return tuple([made(each, index) if type(each) is Geometry else placed(each, like) for each in results])


def operands(*values: Any) -> tuple:
    """Numbers, and arrays of the CPU without dimensions, as arrays on the device of the others."""
    index = next(value.root.index for value in values if type(value) is NpuArray)
    return tuple([_on_device(value, values, index) for value in values])


_fill = aclnn("aclnnInplaceFillScalar", "TS")


def _on_device(value: Any, values: tuple, index: int) -> NpuArray | None:
    if value is None or type(value) is NpuArray:
        return value
    number = np.asarray(value)
    if number.ndim:
        _refuse_devices(values)
    array = new((), number.dtype, index)
    if number.dtype.kind == "u" and number.itemsize > 1:  # ACLNN does not fill arrays of these
        array.root.write(0, number.reshape(1).view(np.uint8))
    else:  # launched, while a copy would have to wait for the stream
        _fill(array, number.item() if number.dtype.kind in "bifcu" else float(number))
    return array


_copy = aclnn("aclnnInplaceCopy", "TT")


def _in_rows(array: NpuArray) -> NpuArray:
    """A row-major copy."""
    return copied(new(array.shape, array.dtype, array.root.index), array)


def _written_by(function: str) -> tuple[int, ...]:
    """The places of the arguments that a function of CANN writes; none of a function that is not CANN's own."""
    return import_module("mindtorch._generated.kernels.npu.written").WRITTEN.get(function, ())


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
