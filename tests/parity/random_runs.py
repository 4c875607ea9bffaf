"""Runs a random program in mindtorch and in torch side by side and compares everything visible after each statement."""

import math
import re
import warnings
from typing import Any

import numpy as np
import torch

import mindtorch
from tests.harness import error_difference, to_numpy, value_difference

_NAME = re.compile(r"\bt\d+\b")
_ATTRIBUTE = re.compile(r"\.([a-z]\w+)")
_WRITES = re.compile(r"\w_\(|out=|\] ?[-+*/]?= |[-+*/]= ")
_ADDRESS = re.compile(r"0x[0-9a-f]+")
INTEGERS = {torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}
ERRORS = (
    ArithmeticError, AttributeError, IndexError, NameError, NotImplementedError, RuntimeError, TypeError, ValueError, Warning,
)  # fmt: skip


class Env(dict):
    """The names that a program sees in one library: the library, `make`, and the tensors made so far."""

    def __init__(self, T: Any, make: Any):
        super().__init__(T=T, make=lambda *spec: make(T, *spec), calls=[])
        self.T = T

    def tensors(self) -> dict[str, Any]:
        return {name: value for name, value in self.items() if name[0] == "t" and isinstance(value, self.T.Tensor)}


class Pair:
    """One program, running in both libraries.

    Values are compared within the tolerance of their dtype after every statement and then made equal, so that rounding
    cannot pile up. A quiet run does not look at the graph before the end: looking renews the history of views.
    """

    def __init__(self, make: Any, quiet: bool):
        self.ours, self.theirs = Env(mindtorch, make), Env(torch, make)
        self.quiet = quiet
        self.versions: dict[int, tuple[int, Any]] = {}

    def allows(self, line: str) -> bool:
        """Whether what a statement does is defined: not when it writes memory that it also reads differently."""
        if not all(hasattr(mindtorch.Tensor, name) or hasattr(mindtorch, name) for name in _ATTRIBUTE.findall(line)):
            return False  # one of the operators that only torch has
        tensors = self.theirs.tensors()
        used = [tensors[name] for name in dict.fromkeys(_NAME.findall(line)) if name in tensors]
        if not _WRITES.search(line):
            return True
        return not any(map(overlaps_itself, used)) and not any(
            partly_overlap(one, other) for place, one in enumerate(used) for other in used[:place]
        )

    def step(self, line: str) -> str | None:
        """Run a statement in both; how they then differ."""
        errors = [run(line, env) for env in (self.ours, self.theirs)]
        if isinstance(errors[1], NameError):  # a shrunk program that dropped too much
            return None
        if any(errors):
            return prefixed("error", error_difference(*errors)) or self.compare()
        return self.compare()

    def compare(self, quiet: bool | None = None) -> str | None:
        ours, theirs = self.ours.tensors(), self.theirs.tensors()
        if list(ours) != list(theirs):
            return f"names: {list(ours)}, expected {list(theirs)}"
        quiet = self.quiet if quiet is None else quiet
        for name in theirs:
            text = tensor_difference(ours[name], theirs[name], quiet) or self.version_difference(ours[name], theirs[name])
            if text and text.startswith("value") and theirs[name].dtype in INTEGERS and self.has_large_numbers():
                ours[name]._array[...] = to_numpy(theirs[name])  # what becomes of large numbers is not defined
                text = None
            if text:
                return text.replace(": ", f": {name} ", 1)
        if self.ours["calls"] != self.theirs["calls"]:
            return f"hook calls: {self.ours['calls']}, expected {self.theirs['calls']}"
        return sharing_difference(ours, theirs)

    def version_difference(self, ours: Any, theirs: Any) -> str | None:
        """Whether a version went up by another number than torch's since both tensors were new.

        How often an operator of several steps writes its own result before it returns is nobody's business.
        """
        if theirs.is_inference():
            return None
        gap = ours._version - theirs._version
        key = id(theirs)
        if key not in self.versions:
            self.versions[key] = (gap, theirs)  # which keeps the tensor, and so its id
        expected = self.versions[key][0]
        return None if gap == expected else f"version: {ours._version}, expected {theirs._version + expected}"

    def has_large_numbers(self) -> bool:
        """Whether a tensor has numbers that a conversion to a small integer does not keep."""
        for tensor in self.theirs.tensors().values():
            numbers = tensor.detach()
            if numbers.is_floating_point() and numbers.numel() and not bool(((numbers > -1) & (numbers < 127)).all()):
                return True
        return False

    def finish(self) -> str | None:
        """Send a gradient back from everything, then compare once more, with what is printed."""
        return self.compare(quiet=False) or self.step(FINAL) or self.compare(quiet=False) or self.printed()

    def printed(self) -> str | None:
        for name, theirs in self.theirs.tensors().items():
            left, right = (_ADDRESS.sub("@", repr(tensor)) for tensor in (self.ours[name], theirs))
            if left != right:
                return f"repr: {name} {left}, expected {right}"
        return None


FINAL = (
    "for t in [t for n, t in sorted(locals().items()) if n[0] == 't' and isinstance(t, T.Tensor) and "
    "t.requires_grad and not t.is_inference()]: (t.abs() if t.is_complex() else t).sum().backward(retain_graph=True)"
)


def places(tensor: Any) -> np.ndarray:
    """Where in its storage the elements of a tensor are, in elements."""
    found = np.array(tensor.storage_offset())
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        found = found[..., None] + stride * np.arange(size)
    return found.reshape(-1)


def overlaps_itself(tensor: Any) -> bool:
    """Whether elements share memory in a way that torch does not look for (a stride of 0 is refused)."""
    where = places(tensor)
    return len(np.unique(where)) < len(where) and 0 not in tensor.stride()


def partly_overlap(one: Any, other: Any) -> bool:
    """Whether two tensors share some elements without being the same, which torch sees in dense tensors only."""
    if one.untyped_storage().data_ptr() != other.untyped_storage().data_ptr():
        return False
    same = one.shape == other.shape and one.stride() == other.stride() and one.data_ptr() == other.data_ptr()
    return not same and bool(np.intersect1d(places(one), places(other)).size)


def run(line: str, env: Env) -> Exception | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if env.T is torch else "error")  # torch's own warnings are UserWarnings
        warnings.simplefilter("ignore", UserWarning)
        try:
            exec(line, env)
        except ERRORS as error:
            return error
    return None


def prefixed(kind: str, text: str | None) -> str | None:
    return text and f"{kind}: {text}"


def tensor_difference(ours: Any, theirs: Any, quiet: bool) -> str | None:
    facts = {
        "dtype": lambda t: str(t.dtype),
        "shape": lambda t: tuple(t.shape),
        "strides": lambda t: tuple(t.stride()) if t.numel() else None,
        "inference": lambda t: t.is_inference(),
        "is_view": lambda t: t._is_view(),
    }
    if not quiet:
        facts |= GRAPH_FACTS
    for what, fact in facts.items():
        left, right = observed(fact, ours), observed(fact, theirs)
        if left != right:
            return f"{what}: {left}, expected {right}"
    text = prefixed("value", close(ours, theirs))
    if text:
        return text
    if not quiet and theirs.is_leaf and (theirs.grad is not None or ours.grad is not None):
        return gradient_difference(ours.grad, theirs.grad)
    return None


def observed(fact: Any, tensor: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return fact(tensor)
        except ERRORS as error:
            return f"{type(error).__name__}: {str(error).splitlines()[0]}"


GRAPH_FACTS = {
    "requires_grad": lambda t: t.requires_grad,
    "leaf": lambda t: t.is_leaf,
    "grad_fn": lambda t: t.grad_fn and kind_of_node(t.grad_fn),
    "output_nr": lambda t: t.output_nr,
    "retains_grad": lambda t: t.retains_grad,
}


def kind_of_node(node: Any) -> str:
    """A node's name without its number: torch numbers the nodes of in-place variants on their own."""
    name = node.name().removeprefix("torch::autograd::").rstrip("0123456789")
    return "View" if name in ("ViewBackward", "ReshapeAliasBackward") else name


def close(ours: Any, theirs: Any) -> str | None:
    left, right = values(ours), values(theirs)
    text = value_difference(left, right, str(theirs.dtype).removeprefix("torch."), 4.0)
    if text is None and left.size and not np.array_equal(left, right):
        if ours._array.flags.writeable:
            ours._array[...] = right
    return text


def values(tensor: Any) -> np.ndarray:
    return tensor._array if isinstance(tensor, mindtorch.Tensor) else to_numpy(tensor)


def gradient_difference(ours: Any, theirs: Any) -> str | None:
    if ours is None or theirs is None:
        return f"grad: {ours}, expected {theirs}"
    text = tensor_difference(ours, theirs, True)
    return text and f"grad {text}"


def sharing_difference(ours: dict[str, Any], theirs: dict[str, Any]) -> str | None:
    """Which tensors share storage, and where in it they start."""
    for name, tensor in theirs.items():
        for other, twin in theirs.items():
            if name < other and tensor.numel() and twin.numel():
                expected = tensor.untyped_storage().data_ptr() == twin.untyped_storage().data_ptr()
                shared = np.may_share_memory(storage_root(ours[name]), storage_root(ours[other]))
                if shared != expected:
                    return f"sharing: {name} and {other} {shared}, expected {expected}"
                gap = ours[name].data_ptr() - ours[other].data_ptr()
                if expected and gap != tensor.data_ptr() - twin.data_ptr():
                    return f"offset: {name} and {other} {gap}"
    return None


def storage_root(tensor: Any) -> np.ndarray:
    array = tensor._array
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def first_difference(make: Any, lines: list[str], quiet: bool) -> str | None:
    pair = Pair(make, quiet)
    for line in lines:
        difference = pair.step(line)
        if difference:
            return difference
    return pair.finish()
