"""Records the ops that a function calls."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch._core import state
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.reentrant import is_running
from mindtorch.dispatch.parameters import parameters_of
from mindtorch.dispatch.registry import OpEntry
from mindtorch.dispatch.versions import current_version
from mindtorch.program.model import Program, Step
from mindtorch.program.structure import ProgramError, Ref, as_constant, leaves, mapped, tensors_in

_thread = state.thread


def record(function: Callable, *example_inputs: Tensor) -> Program:
    """The program of what `function` does with these tensors.

    The function runs once. What it decides by looking at values, and every number that it takes from a tensor, stays as
    it is now. Tensors that are no inputs become constants of the program. Backward passes cannot be recorded.
    """
    for place, value in enumerate(example_inputs):
        if not isinstance(value, Tensor):
            raise TypeError(f"input {place} of record() must be Tensor, not {type(value).__name__}")
    recorder = _Recorder(example_inputs)
    with _recording(recorder):
        result = function(*example_inputs)
    return recorder.program(result)


@contextmanager
def _recording(recorder: "_Recorder") -> Iterator[None]:
    if _thread.recorder is not None:
        raise ProgramError("a program is being recorded already")
    _thread.recorder = recorder
    state.count_thread_mode(1)
    try:
        yield
    finally:
        _thread.recorder = None
        state.count_thread_mode(-1)


class _Recorder:
    def __init__(self, inputs: tuple[Tensor, ...]) -> None:
        self._inputs = len(inputs)
        self._numbers: dict[int, int] = {}
        self._tensors: list[Tensor] = []  # by number; keeps them alive, so that no other gets the same id
        # What lies where: inputs and results by their memory; the memory of constants that steps write to.
        self._memory: dict[int, int] = {}
        self._written: set[int] = set()
        self._owners: dict[int, Any] = {}  # of that memory; alive, as the tensors, also when a tensor gets other memory
        self._constants: dict[int, Tensor] = {}
        self._scratch: dict[int, Tensor] = {}
        self._steps: list[Step] = []
        self._grad_enabled = _thread.grad_enabled
        for tensor in inputs:
            self._memory.setdefault(self._memory_of(tensor), self._number(tensor))

    def recorded(self, run: Callable, function: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        """Make a call, and write it down. The calls that it makes itself are a part of it."""
        entry: OpEntry = function.op  # type: ignore[attr-defined]
        if is_running():
            raise ProgramError(f"{entry.name} is called by a backward pass, which cannot be recorded")
        given = _by_name_of_schema(entry, args, kwargs) if entry.boxed else _by_name(function, args, kwargs)
        arguments = {name: self._value(value, f"argument '{name}' of {entry.name}") for name, value in given.items()}
        without_grad = self._grad_enabled and not _thread.grad_enabled
        _thread.recorder = None
        try:
            self._keep_what_is_written(entry, given)
            result = run(function, args, kwargs)
        finally:
            _thread.recorder = self
        made = tuple(map(self._made, tensors_in(result)))
        if made or entry.schema.is_mutable:
            self._steps.append(Step(entry.name, current_version(entry.name), arguments, made, without_grad))
        return result

    def program(self, result: Any) -> Program:
        shown = self._value(result, "the result")
        constants = {number: self._scratch.get(number, tensor) for number, tensor in self._constants.items()}
        return Program(self._inputs, constants, frozenset(self._scratch), tuple(self._steps), shown)

    def _value(self, value: Any, what: str) -> Any:
        """A value with references in the place of tensors; `what` it is, for the error."""
        try:
            return mapped(value, self._leaf)
        except TypeError as error:
            raise ProgramError(f"{what}: {error}") from None

    def _leaf(self, value: Any) -> Any:
        return Ref(self._known(value)) if isinstance(value, Tensor) else as_constant(value)

    def _number(self, tensor: Tensor) -> int:
        """The number of a tensor, a new one if it is met for the first time."""
        number = self._numbers.setdefault(id(tensor), len(self._tensors))
        if number == len(self._tensors):
            self._tensors.append(tensor)
        return number

    def _made(self, tensor: Tensor) -> int:
        memory = self._memory_of(tensor)
        if all(self._memory_of(constant) != memory for constant in self._constants.values()):
            self._memory.setdefault(memory, self._number(tensor))
        return self._number(tensor)

    def _known(self, tensor: Tensor) -> int:
        """The number of a tensor that is used; one that no step has made is a constant."""
        if id(tensor) not in self._numbers:
            memory = self._memory_of(tensor)
            if memory in self._memory:
                raise _hidden_sharing(f"%{self._memory[memory]}")
            if memory in self._written:
                raise _hidden_sharing("a constant that was written to")
            self._constants[self._number(tensor)] = tensor
        return self._number(tensor)

    def _memory_of(self, tensor: Tensor) -> int:
        """What is the same for tensors that share memory: the id of the array that owns it."""
        owner = _owner_of(tensor)
        self._owners[id(owner)] = owner
        return id(owner)

    def _keep_what_is_written(self, entry: OpEntry, given: dict[str, Any]) -> None:
        """Constants that an op is about to write to, as they are before that."""
        written = [argument.name for argument in entry.schema.arguments if argument.written]
        for tensor in tensors_in([given.get(name) for name in (*written, "out")]):
            memory = self._memory_of(tensor)
            owners = [number for number, constant in self._constants.items() if self._memory_of(constant) == memory]
            if len(owners) > 1:
                raise _hidden_sharing(f"%{owners[0]}")
            if owners and memory not in self._written:
                self._written.add(memory)
                self._scratch[owners[0]] = self._constants[owners[0]].detach().clone()


def _hidden_sharing(owner: str) -> ProgramError:
    return ProgramError(
        f"a tensor that shares the memory of {owner} was not made by an op, so what happens to it cannot be recorded: "
        "use detach() or a view instead of .data, .numpy() and the like"
    )


def _owner_of(tensor: Tensor) -> Any:
    """The array that owns the memory of a tensor."""
    array = tensor._mt_array
    while getattr(array, "base", None) is not None:
        array = array.base
    return array


def _by_name(function: Callable, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call of a generated function, without those that have their defaults."""
    names, _, defaults, _ = parameters_of(function)
    if len(args) > len(names):  # separate ints, as in `x.view(2, 3)`
        args = (*args[: len(names) - 1], args[len(names) - 1 :])
    given = dict(zip(names, args)) | kwargs
    return {name: value for name, value in given.items() if name not in defaults or not _same(value, defaults[name])}


def _by_name_of_schema(entry: OpEntry, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call of an op that `mindtorch.library` has made."""
    names = [argument.name for argument in entry.schema.arguments]
    return dict(zip(names, args)) | {"input" if name == "self" else name: value for name, value in kwargs.items()}


def _same(value: Any, default: Any) -> bool:
    if type(value) is not type(default) or any(isinstance(leaf, Tensor) for leaf in leaves(value)):
        return False
    return value is default or bool(value == default)
