"""What a recorded program is: numbered values, and the steps that make them."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from os import PathLike
from typing import Any, BinaryIO

from mindtorch._core import state
from mindtorch._core.tensor import Tensor
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch.versions import call_version, current_version
from mindtorch.program.structure import ProgramError, Ref, mapped, tensors_in
from mindtorch.program.writer import write

# What a call with wrong arguments, or of an op that is not there, raises.
_FAILURES = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class Step:
    """A call of an op. `arguments` are by Python name, those with their defaults left out.

    `results` are the numbers of the tensors that it gives, in order; an in-place op gives the one that it writes to.
    `without_grad`: the call was made where gradients were switched off.
    """

    op: str
    version: int
    arguments: Mapping[str, Any]
    results: tuple[int, ...]
    without_grad: bool = False

    def __str__(self) -> str:
        made = ", ".join(f"%{number}" for number in self.results)
        version = f" version {self.version}" if self.version != current_version(self.op) else ""
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        comment = "  # no grad" if self.without_grad else ""
        return f"{made}{' = ' if made else ''}{self.op}{version}({arguments}){comment}"


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A recorded function of tensors. Calling it runs the steps, on inputs of any shape and dtype that the ops take.

    The values 0, 1, ... are the inputs; `constants` are the other tensors that the steps use, by number. The `scratch`
    ones are written to: each run has its own copy. `result` is what the function gave, with `Ref` in place of tensors.
    """

    inputs: int
    constants: Mapping[int, Tensor]
    scratch: frozenset[int]
    steps: tuple[Step, ...]
    result: Any

    def __call__(self, *inputs: Tensor) -> Any:
        values = self._values(inputs)
        for place, step in enumerate(self.steps):
            try:
                self._run(step, values)
            except _FAILURES as error:
                raise ProgramError(f"step {place} of the program, {step}: {error}") from error
        return mapped(self.result, lambda leaf: values[leaf.number] if isinstance(leaf, Ref) else leaf)

    def save(self, file: str | PathLike | BinaryIO) -> None:
        """Write a file that `load` reads."""
        write(self, file)

    def _values(self, inputs: tuple[Any, ...]) -> dict[int, Tensor]:
        """The values that are there before the first step."""
        if len(inputs) != self.inputs:
            raise TypeError(f"the program takes {self.inputs} tensors but {len(inputs)} were given")
        for place, value in enumerate(inputs):
            if not isinstance(value, Tensor):
                raise TypeError(f"input {place} of the program must be Tensor, not {type(value).__name__}")
        copies = {number: self.constants[number].detach().clone() for number in self.scratch}
        return {**dict(enumerate(inputs)), **self.constants, **copies}

    @staticmethod
    def _run(step: Step, values: dict[int, Tensor]) -> None:
        arguments = {
            name: mapped(value, lambda leaf: values[leaf.number] if isinstance(leaf, Ref) else leaf)
            for name, value in step.arguments.items()
        }
        with no_grad() if step.without_grad and state.thread.grad_enabled else nullcontext():
            made = tensors_in(call_version(step.op, step.version, kwargs=arguments))
        if len(made) != len(step.results):
            raise ProgramError(f"it gives {len(made)} tensors, and not {len(step.results)} as when it was recorded")
        values.update(zip(step.results, made))

    def __str__(self) -> str:
        """A line for each constant and each step."""
        inputs = ", ".join(f"%{number}" for number in range(self.inputs))
        lines = [f"program({inputs}):"]
        for number, tensor in self.constants.items():
            kind = "constant, copied for each run" if number in self.scratch else "constant"
            lines.append(f"%{number} = {str(tensor.dtype).removeprefix('torch.')}{list(tensor.shape)} {kind}")
        return "\n    ".join([*lines, *map(str, self.steps), f"return {self.result!r}"])
