"""The Python side: evaluates ops where the streams come to them, and controls the device for tests."""

from __future__ import annotations

import atexit
import ctypes
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tests.npu_simulator.build import CORE, Toolkit
from tests.npu_simulator.evaluate import EVALUATORS
from tests.npu_simulator.evaluate.contract import AICORE_EXCEPTION, DTYPES, FIND_KERNEL, PARAM_INVALID, Refused, begin

STATISTICS = (
    "tensors",
    "scalars",
    "arrays",
    "lists",
    "executors",
    "streams",
    "events",
    "contexts",
    "communicators",
    "blocks",
    "host_blocks",
    "bytes",
    "launches",
    "synchronizations",
    "unpinned_copies",
    "violations",
)
LIVE = STATISTICS[: STATISTICS.index("launches")]


class Argument(ctypes.Structure):
    """`sim_arg`"""

    _fields_ = [
        ("kind", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("format", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("dims", ctypes.c_int64 * 8),
        ("strides", ctypes.c_int64 * 8),
        ("offset", ctypes.c_int64),
        ("storage", ctypes.c_int64),
        ("bytes", ctypes.c_int64),
        ("address", ctypes.c_void_p),
        ("alias", ctypes.c_void_p),
        ("integer", ctypes.c_int64),
        ("real", ctypes.c_double),
        ("imaginary", ctypes.c_double),
        ("count", ctypes.c_int64),
        ("items", ctypes.c_void_p),
        ("handle", ctypes.c_void_p),
        ("generation", ctypes.c_uint64),
        ("written", ctypes.c_int64),
    ]


_EVALUATE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.c_char_p, ctypes.c_int32, ctypes.POINTER(Argument))
_ITEMS = {"I": ctypes.c_int64, "F": ctypes.c_float, "B": ctypes.c_bool}


@dataclass(frozen=True)
class Launch:
    """A line of the log: an op, or a copy, a record or a wait by the name of its function."""

    name: str
    stream: int
    arguments: str


class Memory:
    """Where arrays are: in the device's memory, or, to ask an evaluator whether it would, in zeros like it."""

    def __init__(self, real: bool) -> None:
        self.real = real
        self.arguments: list[tuple[np.ndarray, Argument]] = []
        self.current: Argument | None = None  # the one of the op that arrays are made for
        self.owners: dict[int, Argument] = {}

    def array(self, argument: Argument) -> np.ndarray:
        """The view that a descriptor is."""
        rank, dtype = argument.rank, DTYPES[argument.dtype]
        shape = tuple(argument.dims[:rank])
        if not argument.bytes:
            found = np.empty(shape, dtype)
        else:
            strides = tuple(stride * dtype.itemsize for stride in argument.strides[:rank])
            offset = argument.offset * dtype.itemsize
            found = np.ndarray(shape, dtype, self._buffer(argument), offset, strides)
        self.arguments.append((found, argument))
        if self.current is not None:
            self.owners[id(found)] = self.current
        return found

    def value(self, argument: Argument) -> Any:
        """An argument of the op."""
        self.current = argument
        return _value(argument, self)

    def note_written(self, array: np.ndarray) -> None:
        """That an evaluator writes an array."""
        owner = self.owners.get(id(array))
        if owner is not None:
            owner.written = 1

    def _buffer(self, argument: Argument) -> Any:
        if self.real:
            return (ctypes.c_char * argument.bytes).from_address(argument.alias)
        return np.zeros(argument.bytes, np.uint8)

    def handle_of(self, array: np.ndarray) -> Argument:
        """The argument that an array was made of."""
        return next(argument for each, argument in self.arguments if each is array)


def _is_about_arguments(error: BaseException) -> bool:
    """Whether NumPy has not taken dtypes, dimensions or shapes, whatever the numbers are."""
    return isinstance(error, (TypeError, np.exceptions.AxisError)) or "could not be broadcast" in str(error)


def _scalar(argument: Argument) -> complex:
    dtype = DTYPES[argument.dtype]
    if dtype == np.bool_:
        return bool(argument.integer)
    if dtype.kind in "iu":
        return argument.integer % (1 << 64) if dtype == np.uint64 else argument.integer
    return complex(argument.real, argument.imaginary) if dtype.kind == "c" else argument.real


def _text(argument: Argument) -> str | None:
    return ctypes.string_at(argument.items).decode() if argument.items else None


def _members(argument: Argument, memory: Memory) -> list[Any] | None:
    if argument.rank < 0:
        return None
    members = ctypes.cast(argument.items, ctypes.POINTER(Argument))
    return [_value(members[i], memory) for i in range(argument.count)]


def _numbers(argument: Argument) -> tuple[Any, ...] | None:
    if argument.rank < 0:
        return None
    return tuple(ctypes.cast(argument.items, ctypes.POINTER(_ITEMS[chr(argument.kind)]))[: argument.count])


_CONVERSIONS: dict[str, Callable[[Argument], Any]] = {
    "S": lambda argument: None if argument.rank < 0 else _scalar(argument),
    "I": _numbers,
    "F": _numbers,
    "B": _numbers,
    "z": _text,
    "d": lambda argument: DTYPES.get(argument.integer, argument.integer),
    "b": lambda argument: bool(argument.integer),
    "g": lambda argument: argument.real,
    "f": lambda argument: argument.real,
    "q": lambda argument: argument.integer % (1 << 64),
}


def _value(argument: Argument, memory: Memory) -> Any:
    """An argument as evaluators see it: an array, a number, a tuple of numbers, a list of arrays, or None."""
    kind = chr(argument.kind)
    if kind == "T":
        return None if argument.rank < 0 else memory.array(argument)
    if kind in "LR":
        return _members(argument, memory)
    conversion = _CONVERSIONS.get(kind)
    return conversion(argument) if conversion else argument.integer


class Device:
    """The libraries of a toolkit with an evaluator behind them. One at a time in a process, as the real ones."""

    def __init__(self, toolkit: Toolkit) -> None:
        self.toolkit = toolkit
        self.failures: list[str] = []  # tracebacks of evaluators
        self.is_idle = False
        self.evaluators = dict(EVALUATORS)
        self.core = ctypes.CDLL(str(toolkit.libraries / CORE), mode=ctypes.RTLD_GLOBAL)
        self._evaluator = _EVALUATE(self._evaluate)  # must not be collected: streams call it
        self.core.sim_set_evaluator(self._evaluator)
        self.core.sim_read_log.restype = self.core.sim_read_violations.restype = ctypes.c_size_t
        self.core.sim_calls.restype = self.core.sim_pending.restype = ctypes.c_int64
        atexit.register(self.close)

    def close(self) -> None:
        """Lets streams finish; nothing is evaluated afterwards."""
        atexit.unregister(self.close)
        self.core.sim_drain(5000)
        self.core.sim_set_evaluator(None)

    def library(self, name: str) -> ctypes.CDLL:
        """A library of the toolkit, as programs load it."""
        return ctypes.CDLL(str(self.toolkit.libraries / name), mode=ctypes.RTLD_GLOBAL)

    @cached_property
    def _objects(self) -> ctypes.CDLL:
        return self.library("libnnopbase.so")

    # -------------------- evaluation --------------------

    def _evaluate(self, phase: int, name: bytes, count: int, arguments: Any) -> int:
        """Called by C: in the first phase by the thread that launches, then by that of the stream."""
        if self.is_idle and phase:
            return 0
        try:
            return self._run(bool(phase), name.decode(), arguments[:count])
        except Refused as error:
            self.core.sim_explain(str(error).encode())
            return error.code
        except BaseException as error:  # noqa: BLE001 (C is no place for it: the device fails, and a test finds it)
            if not phase:  # of zeros, which may be out of an op's domain
                return PARAM_INVALID if _is_about_arguments(error) else 0
            self.failures.append(f"{name.decode()} in {threading.current_thread().name}\n{traceback.format_exc()}")
            self.core.sim_explain(self.failures[-1].splitlines()[-1].encode())
            return AICORE_EXCEPTION

    def _run(self, real: bool, name: str, arguments: list[Argument]) -> int:
        evaluator = self.evaluators.get(name)
        if evaluator is None:
            raise Refused("the simulator has no evaluator for it", FIND_KERNEL)
        memory = Memory(real)

        def report(out: np.ndarray, shape: tuple[int, ...]) -> None:
            argument = memory.handle_of(out)
            if real:
                self._report_shape(argument, shape)

        begin(report, memory.note_written)
        with np.errstate(all="ignore"):
            evaluator(*map(memory.value, arguments))
        return 0

    def _report_shape(self, argument: Argument, shape: tuple[int, ...]) -> None:
        handle, generation = ctypes.c_void_p(argument.handle), ctypes.c_uint64(argument.generation)
        self._objects.sim_set_view_shape(handle, generation, (ctypes.c_int64 * 8)(*shape), len(shape))

    def forget_checks(self) -> None:
        """Evaluators are asked again in the first phase about calls like earlier ones that they accepted."""
        self._objects.sim_forget_accepted()

    # -------------------- what happened --------------------

    def stats(self) -> dict[str, int]:
        """How much there is of everything; see STATISTICS."""
        values = (ctypes.c_int64 * len(STATISTICS))()
        self.core.sim_statistics(values)
        return dict(zip(STATISTICS, values))

    def leaks(self) -> dict[str, int]:
        """What a program that has cleaned up has none of."""
        return {name: value for name, value in self.stats().items() if name in LIVE and value}

    def violations(self) -> list[str]:
        """What was done that a real device punishes late or not at all, since the last question."""
        return self._read(self.core.sim_read_violations).splitlines()

    def calls(self, name: str) -> int:
        """How often a function of the runtime was called; a `*` at the end stands for anything."""
        return int(self.core.sim_calls(name.encode()))

    def pending(self, stream: int | None) -> int:
        """How many jobs a stream still has to do."""
        return int(self.core.sim_pending(ctypes.c_void_p(stream)))

    def peek(self, address: int, size: int) -> bytes:
        """Device memory, which programs can't read."""
        copy = (ctypes.c_char * size)()
        assert self.core.sim_peek(ctypes.c_void_p(address), copy, ctypes.c_size_t(size)) == 0
        return bytes(copy)

    def _read(self, function: Any) -> str:
        room = 1 << 12
        while True:
            text = ctypes.create_string_buffer(room)
            needed = function(text, ctypes.c_size_t(room))
            if needed < room:
                return text.value.decode()
            room = 2 * needed

    @contextmanager
    def log(self) -> Iterator[list[Launch]]:
        """The list is filled at the end of the block: launches in their order, with dtypes and shapes."""
        found: list[Launch] = []
        self.core.sim_start_log(0)
        try:
            yield found
        finally:
            self.core.sim_stop_log()
            for line in self._read(self.core.sim_read_log).splitlines():
                name, stream, arguments = line.split("\t")
                found.append(Launch(name, int(stream), arguments))

    @contextmanager
    def journal(self) -> Iterator[list[str]]:
        """The list is filled at the end of the block: the names of all calls, both phases of ops, in their order."""
        found: list[str] = []
        self.core.sim_start_log(1)
        try:
            yield found
        finally:
            self.core.sim_stop_log()
            found += self._read(self.core.sim_read_log).splitlines()

    # -------------------- what shall happen --------------------

    @contextmanager
    def paused(self, stream: int | None = None) -> Iterator[None]:
        """A stream (None: the default one of the thread's context) takes jobs and does not begin any."""
        if self.core.sim_pause(ctypes.c_void_p(stream), 1):
            raise ValueError("there is no such stream")
        try:
            yield
        finally:
            self.core.sim_pause(ctypes.c_void_p(stream), 0)

    @contextmanager
    def all_paused(self) -> Iterator[None]:
        """The same for all streams that there are."""
        self.core.sim_pause_all(1)
        try:
            yield
        finally:
            self.core.sim_pause_all(0)

    @contextmanager
    def scheduled(self, seed: int) -> Iterator[None]:
        """One stream at a time runs, in an order that the number decides. What is queued starts when the block ends."""
        self.core.sim_schedule(ctypes.c_int64(seed))
        self.core.sim_pause_all(1)
        try:
            yield
        finally:
            self.core.sim_pause_all(0)
            self.core.sim_settle(10000)
            self.core.sim_schedule(ctypes.c_int64(0))

    @contextmanager
    def injected(self, name: str, code: int, phase: int = 2, nth: int = 1) -> Iterator[None]:
        """The nth call from now on fails: of an op (phase 0 GetWorkspaceSize, 2 launch, 1 when it runs) or of a
        function of the runtime (phase 2; 1 for what streams do). A `*` at the end of the name stands for anything."""
        self.core.sim_inject(name.encode(), nth, code, phase)
        try:
            yield
        finally:
            self.core.sim_clear_injections()

    @contextmanager
    def delayed(self, name: str, seconds: float) -> Iterator[None]:
        """Each run of an op takes that much longer."""
        self.core.sim_set_delay(name.encode(), ctypes.c_uint(int(seconds * 1e6)))
        try:
            yield
        finally:
            self.core.sim_clear_delays()

    @contextmanager
    def idle(self) -> Iterator[None]:
        """Ops do nothing when streams come to them: for measurements of the side of programs."""
        self.is_idle = True
        try:
            yield
        finally:
            self.core.sim_settle(10000)
            self.is_idle = False

    @contextmanager
    def limited_memory(self, size: int, device: int = 0) -> Iterator[None]:
        """The device has that many bytes, blocks in use included."""
        self.core.sim_set_memory_limit(device, ctypes.c_int64(size))
        try:
            yield
        finally:
            self.core.sim_set_memory_limit(device, ctypes.c_int64(-1))

    def reset(self) -> None:
        """As if the process were new: no handles, memory, rules or violations."""
        self.core.sim_clear_injections()
        self.core.sim_clear_delays()
        self.core.sim_schedule(ctypes.c_int64(0))
        self.core.sim_reset()
        self.violations()
        self.failures.clear()
