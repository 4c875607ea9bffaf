"""Runs a random program in mindtorch and in torch side by side and compares everything visible after each statement."""

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
_UNSTABLE = re.compile(r"grad_fn=<\w+>")  # names of nodes are compared apart
INTEGERS = {torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}
ERRORS = (
    ArithmeticError,
    AttributeError,
    IndexError,
    NameError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    ValueError,
    Warning,
)


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
        self.parted = False
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
            self.parted = self.parted or not all(errors)  # by an error that is allowed to differ
            return prefixed("error", difference_of_errors(*errors)) or self.compare()
        return self.compare()

    def compare(self, quiet: bool | None = None) -> str | None:
        if self.parted:
            return None
        ours, theirs = self.ours.tensors(), self.theirs.tensors()
        if list(ours) != list(theirs):
            return f"names: {list(ours)}, expected {list(theirs)}"
        quiet = self.quiet if quiet is None else quiet
        for name in theirs:
            text = tensor_difference(ours[name], theirs[name], quiet) or self.version_difference(
                ours[name], theirs[name]
            )
            if text and text.startswith("value") and theirs[name].dtype in INTEGERS and self.has_large_numbers():
                ours[name]._array[...] = to_numpy(theirs[name])  # what becomes of large numbers is not defined
                text = None
            if text:
                return text.replace(": ", f": {name} ", 1)
        if self.ours["calls"] != self.theirs["calls"]:
            return f"hook calls: {self.ours['calls']}, expected {self.theirs['calls']}"
        return base_difference(ours, theirs) or sharing_difference(ours, theirs)

    def version_difference(self, ours: Any, theirs: Any) -> str | None:
        """Whether a version went up by another number than torch's since both tensors were new.

        How often an operator of several steps writes its own result before it returns is nobody's business.
        """
        if ours.is_inference() or theirs.is_inference():
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
        if self.parted:
            return None
        for name, theirs in self.theirs.tensors().items():
            left, right = (" ".join(_UNSTABLE.sub("", repr(tensor)).split()) for tensor in (self.ours[name], theirs))
            if left != right:
                return f"repr: {name} {left}, expected {right}"
        return None


FINAL = (
    "for each in [t for n, t in sorted(locals().items()) if n[0] == 't' and isinstance(t, T.Tensor) and "
    "t.requires_grad and not t.is_inference()]: "
    "(each.abs() if each.is_complex() else each).sum().backward(retain_graph=True)"
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


# What torch refuses and mindtorch may do: derivatives that only mindtorch has, boolean negation inside of torch's
# formulas, values that torch saves needlessly, and views that torch has not yet noticed to be no leaves any more.
MAY_WORK = (
    "derivative for aten::",
    "Negation, the `-` operator",
    "Autograd not support dtype",
    "is output 0 of torch::autograd",
    "a leaf Variable that requires grad is being used",
    "Inference tensors cannot be saved",
)
# Two errors at once: which one is raised first may differ.
EITHER = (
    "in-place operation.",
    "modified inplace",
    "not implemented for",
    "support automatic differentiation",
    "inplace operation:",
    "Inference tensors cannot be saved",
    "is not implemented",
    "implicitly created only",
    "cannot be converted to type",
    "clamp is not supported for complex",
    "Autograd not support dtype",
    "desired output type",
)


def difference_of_errors(ours: Exception | None, theirs: Exception | None) -> str | None:
    text = str(theirs)
    if ours is None and any(part in text for part in MAY_WORK):
        return None
    if ours is not None and any(part in str(ours) for part in EITHER) and any(part in text for part in EITHER):
        return None
    return error_difference(ours, theirs)


def prefixed(kind: str, text: str | None) -> str | None:
    return text and f"{kind}: {text}"


def tensor_difference(ours: Any, theirs: Any, quiet: bool, precision: str | None = None) -> str | None:
    """How two tensors differ; `precision` is the dtype whose tolerance holds, if not that of the tensors."""
    facts = {
        "dtype": lambda t: str(t.dtype),
        "shape": lambda t: tuple(t.shape),
        "strides": strides,
    }
    if not quiet:
        facts |= GRAPH_FACTS
    for what, fact in facts.items():
        left, right = observed(fact, ours), observed(fact, theirs)
        if left != right:
            return f"{what}: {left}, expected {right}"
    if theirs.dtype in (torch.float16, torch.bfloat16):
        precision = None
    text = prefixed("value", close(ours, theirs, precision))
    if text:
        return text
    if not quiet and observed(is_leaf, theirs) is True and (theirs.grad is not None or ours.grad is not None):
        return gradient_difference(ours.grad, theirs.grad)
    return None


def strides(tensor: Any) -> tuple[int, ...] | None:
    """The strides that matter: those of dimensions with more than one element."""
    return tuple(s for s, size in zip(tensor.stride(), tensor.shape) if size > 1) if tensor.numel() else None


def observed(fact: Any, tensor: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return fact(tensor)
        except ERRORS as error:
            return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def is_leaf(tensor: Any) -> bool:
    return tensor.is_leaf


GRAPH_FACTS = {
    "inference": lambda t: t.is_inference(),
    "requires_grad": lambda t: t.requires_grad,
    "leaf": is_leaf,
    "grad_fn": lambda t: t.grad_fn and kind_of_node(t.grad_fn),
    "output_nr": lambda t: t.output_nr,
    "retains_grad": lambda t: t.retains_grad,
}


def kind_of_node(node: Any) -> str:
    """A node's name without its number: torch numbers the nodes of in-place variants on their own."""
    name = node.name().removeprefix("torch::autograd::").rstrip("0123456789")
    return ALIKE.get(name, name)


# Nodes that do the same under another name.
ALIKE = {
    "ReshapeAliasBackward": "ViewBackward",
    "FillBackward": "CopyBackwards",  # a number is written into a single element: torch makes it a tensor first
    "UnsafeViewBackward": "SqueezeBackward",  # how a vector times a matrix is made of other ops
    "FloorDivideBackward": "NotImplemented",
    "RemainderBackward": "NotImplemented",
}


def close(ours: Any, theirs: Any, precision: str | None = None) -> str | None:
    left, right = values(ours), values(theirs)
    text = value_difference(left, right, precision or str(theirs.dtype).removeprefix("torch."), 4.0)
    if text is None and left.size and left.flags.writeable:
        left[...] = right  # the signs of zeros too
    return text


def values(tensor: Any) -> np.ndarray:
    return tensor._array if isinstance(tensor, mindtorch.Tensor) else to_numpy(tensor)


def gradient_difference(ours: Any, theirs: Any) -> str | None:
    if ours is None or theirs is None:
        return f"grad: {ours}, expected {theirs}"
    text = tensor_difference(ours, theirs, True, "float32" if theirs.is_floating_point() else "complex64")
    return text and f"grad {text}"


def base_difference(ours: dict[str, Any], theirs: dict[str, Any]) -> str | None:
    """Which tensors are views of others."""
    for name, tensor in theirs.items():
        for other, base in theirs.items():
            expected = tensor._base is base
            if (ours[name]._base is ours[other]) != expected:
                return f"base: {other} of {name} {not expected}, expected {expected}"
    return None


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
