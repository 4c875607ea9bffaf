"""Blocks of random programs: bodies of functions and of `with`, written line by line.

What a line would do is seen on copies of the program's tensors, in torch, before the block is part of the program.
"""

import re
import textwrap
from dataclasses import dataclass
from typing import Any

import torch

from tests.parity.random_programs.differences import is_differentiable
from tests.parity.random_programs.runs import WRITES, Env, is_defined, is_wrapped, run
from tests.parity.random_programs.writer import Maker, Writer, make

MAY_FAIL = 0.06  # of the lines with an error, how many stay
_TENSOR = re.compile(r"\bt\d+\b")
_ASSIGNED = re.compile(r"^(t\d+)(, t\d+)? [-+*/]?= ")
# In the function of a vmap, torch changes the shape of the tensor outside, not that of the sample.
_RESHAPES = re.compile(r"\.(t|squeeze|unsqueeze|transpose|swapaxes)_\(")
# Ops without a rule for forward mode, or with tangents that share memory, or whose derivatives are nan; torch's where
# forgets complex gradients.
# A complex number minus a tensor has a tangent of another dtype, and a number, as a sample, two windows of no elements;
# any along no dimensions of a sample is along all of them.
_WITHOUT_TANGENTS = re.compile(
    r"cumprod|fmod|frac\(|remainder|floor_divide|//|%|T\.where|\dj\) - |rsub\(.*\dj|unfold\(\S+, 0,|a(ny|ll)\(dim=\[\]"
)
# Views through which torch lets a function write what it has captured: of all elements, and of other ones.
_SLICE = r"(?:\.\.\.|[-\d]*:[-\d:]*)"
OPEN_VIEWS = re.compile(rf"\b(t\d+)(?:\[(?:\.\.\.|{_SLICE}(?:, {_SLICE})+)\]|\.view\(T\.int)")
_QUOTIENTS = re.compile(r"/|div")
_NUMBERS = re.compile(r"[-+*/]=? -?\d+\.\d|-?\d+\.\d+\)? [-+*/]|, -?\d+\.\d")  # beside a tensor
_POWERS = re.compile(r"\*\*|pow")
# In the copies of a body nothing requires grad, so that `is_avoided` does not see a gradient that hides nan (sgn).
_OF_VARIABLES = re.compile(r"sgn")
_ON_GRAPHS = re.compile(
    r"backward\(|autograd\.grad|_hook|retain_grad|note\("
)  # copies have no graph: errors say nothing


class Body(Writer):
    """Writes the lines of a block on copies of tensors, to which it gives names."""

    def __init__(self, parent: Writer, tensors: dict[str, Any], owned: bool, is_transformed: bool = False):
        self.random, self.root, self.depth = parent.random, parent.root, parent.depth + 1
        self.env = Env(torch, make)
        self.env.update(tensors)
        self.kept = () if owned else tuple(tensors)  # the names that lines may not bind to something else
        self.is_transformed = parent.is_transformed or is_transformed
        self.captured: set[Any] = set()  # where the memory of captured tensors is
        self.outer = parent
        self.has_mixed_writes = False  # into tensors of another dtype

    def new(self) -> str:
        return self.fresh()

    def write(self, makers: list[Maker], length: int) -> list[str]:
        lines: list[str] = []
        for _ in range(length * 5):
            line = self.pick(makers)(self) if len(lines) < length else None
            if line and self._suits(line) and self._works(line):
                lines.append(line)
                self.has_mixed_writes |= _writes_another_dtype(line, self.env.tensors())
        if isinstance(self.outer, Body):
            self.outer.has_mixed_writes |= self.has_mixed_writes
        return lines

    def _suits(self, line: str) -> bool:
        bound = _ASSIGNED.match(line)
        if (
            self.kept
            and (_RESHAPES.search(line) or _OF_VARIABLES.search(line))
            or (self.is_transformed and _WITHOUT_TANGENTS.search(line))
        ):
            return False
        tensors = self.env.tensors()
        if self.is_transformed and (
            _is_power_without_tangent(line, tensors)
            or _is_quotient_without_derivative(line, tensors)
            or _has_number_of_another_dtype(line, tensors)
            or any(place_of(tensors[name]) in self.captured for name in OPEN_VIEWS.findall(line) if name in tensors)
        ):
            return False
        return not (bound and bound[1] in self.kept) and is_defined(line, self.env.tensors())

    def _works(self, line: str) -> bool:
        error = run(line, self.env)
        return error is None or bool(_ON_GRAPHS.search(line)) or self.chance(MAY_FAIL)


def _is_power_without_tangent(line: str, tensors: dict[str, Any]) -> bool:
    """Whether a statement may raise a real number to the power of a complex one: torch's tangents are real, too; or a
    negative number to the power of a tensor: the derivatives of torch's tangents are nan."""
    if not _POWERS.search(line):
        return False
    used = [tensors[name] for name in _TENSOR.findall(line)[-2:] if name in tensors]
    are_complex = [tensor.is_complex() for tensor in used]
    if not all(are_complex):
        return any(are_complex) or "j" in line or (len(used) > 1 and bool((used[0] < 0).any()))
    return False


def _used(line: str, tensors: dict[str, Any]) -> list[Any]:
    return [tensors[name] for name in _TENSOR.findall(line) if name in tensors]


def _is_quotient_without_derivative(line: str, tensors: dict[str, Any]) -> bool:
    """Whether a statement may divide by zero: the derivatives of torch's tangents are nan there."""
    used = _used(line, tensors)[-1:]
    return bool(_QUOTIENTS.search(line) and used and (used[0] == 0).any())


def _has_number_of_another_dtype(line: str, tensors: dict[str, Any]) -> bool:
    """Whether a statement computes with a number without dimensions and with another dtype: torch's tangents, and its
    samples, have the wider one."""
    used = _used(line, tensors)
    scalars = {tensor.dtype for tensor in used if not tensor.ndim and is_differentiable(tensor)}
    if scalars and "addc" in line and len({tensor.dtype for tensor in used}) > 1:
        return True
    return bool(_NUMBERS.search(line)) and bool(scalars - {torch.float64, torch.complex128})


def _writes_another_dtype(line: str, tensors: dict[str, Any]) -> bool:
    """Whether a statement may write a tensor with the numbers of another dtype: torch's tangent keeps the latter."""
    dtypes = {tensor.dtype for tensor in _used(line, tensors) if is_differentiable(tensor)}
    return bool(WRITES.search(line)) and len(dtypes) > 1


_FORWARD = re.compile(r"T\.func\.(jvp|jacfwd|hessian)")
_MAPPED = re.compile(r"T\.vmap")
_TRANSFORMED = re.compile(r"T\.(vmap|func)")
_MAPPED_GRADIENT = re.compile(r"T\.vmap\(.*T\.func\.")


@dataclass(frozen=True, slots=True)
class Function:
    """A function of a program: its name, the lines that define it, and what it gives for the tensors it is tried on."""

    name: str
    text: str
    result: Any
    captures: bool  # whether it uses tensors from outside
    has_mixed_writes: bool  # into tensors of another dtype

    def suits(self, call: str, *texts: str) -> bool:
        """Whether torch's results are right when the function, with these other parts, is called in this way."""
        text = "".join((self.text, *texts))
        return not (
            (self.has_mixed_writes and _FORWARD.search(call))  # tangent_written_in_another_dtype
            or ("mark_non_differentiable" in text and _MAPPED.search(call))  # samples_that_are_marked
            or (_TRANSFORMED.search(call) and _WITHOUT_TANGENTS.search(text))
            or ("is_grads_batched" in text and _MAPPED_GRADIENT.search(call))  # batch_of_gradients_of_a_sample
        )


def copied(tensors: dict[str, Any]) -> dict[str, Any]:
    """Copies of tensors which share memory as the tensors do, outside of any graph but for leaves."""
    storages: dict[int, Any] = {}
    return {name: _copy(tensor, storages) for name, tensor in tensors.items() if _has_memory(tensor)}


def _copy(tensor: Any, storages: dict[int, Any]) -> Any:
    storage = tensor.untyped_storage()
    kept = storages.setdefault(storage.data_ptr(), storage.clone())
    with torch.no_grad():
        copy = torch.empty(0, dtype=tensor.dtype)
        copy.set_(kept, tensor.storage_offset(), tensor.shape, tensor.stride())
    return copy.requires_grad_() if tensor.requires_grad and not tensor._is_view() and tensor.is_leaf else copy


def place_of(tensor: Any) -> int | None:
    """Where the memory of a tensor is, if it has memory of its own."""
    return tensor.untyped_storage().data_ptr() if _has_memory(tensor) else None


def _has_memory(tensor: Any) -> bool:
    """Sparse tensors have several pieces of memory, what has left a transform has none, nor has a ZeroTensor."""
    return not (tensor.is_sparse or is_wrapped(tensor) or tensor._is_zerotensor())


def sample_of(tensor: Any, dim: int | None = None) -> Any:
    """A copy of a tensor, or of what a `vmap` over a dimension shows of it."""
    copy = copied({"": tensor})[""].detach()
    return copy if dim is None else copy.select(dim, 0)


def indented(lines: list[str]) -> str:
    return textwrap.indent("\n".join(lines), "    ")


def block(w: Writer, header: str, makers: list[Maker], length: int) -> str | None:
    """Lines under a header such as `with ...:`, which bind names of the program."""
    body = Body(w, copied(w.env.tensors()), owned=isinstance(w, Body) is False)
    lines = body.write(makers, length)
    return f"{header}\n{indented(lines)}" if lines else None


def function(
    w: Writer, inputs: list[Any], makers: list[Maker], length: int, used: list[str] | None, is_transformed: bool = False
) -> Function | None:
    """A function of tensors such as these, which captures others that share no memory with those used, if any."""
    names = [w.fresh() for _ in inputs]
    tensors = w.env.tensors()
    places = {place_of(tensors[name]) for name in used or ()}
    outer = copied({name: each for name, each in tensors.items() if place_of(each) not in places} if used else {})
    few = dict(list(outer.items())[-2:])
    body = Body(w, few | dict(zip(names, inputs, strict=True)), owned=False, is_transformed=is_transformed)
    body.captured = set(map(place_of, few.values()))
    lines = body.write(makers, length)
    made = {name: tensor for name, tensor in body.env.tensors().items() if name not in few}
    result = body.result(made)
    if result is None:
        return None
    name = f"f{w.number()}"
    text = f"def {name}({', '.join(names)}):\n{indented([*lines, f'return {result}'])}"
    captures = any(re.search(rf"\b{each}\b", text) for each in few)
    return Function(name, text, body.env[result], captures, body.has_mixed_writes)
