"""Runs a random program in mindtorch and in torch side by side and compares everything visible after each statement."""

import copy
import re
import warnings
from itertools import zip_longest
from typing import Any

import numpy as np
import torch

import mindtorch
from tests.harness import error_difference, to_numpy, value_difference
from tests.parity.random_programs.differences import (
    ALIKE,
    COMPOSITE,
    difference_of_errors,
    difference_of_refusals,
    is_avoided,
    is_undefined,
    may_be_differentiated,
    may_be_refused,
    may_be_written,
    may_go_unnoticed,
    may_write_gradient,
    mend_halfway,
    mend_value,
)
from tests.parity.random_programs.notes import Numbers, coarser, in_threads, noted

_NAME = re.compile(r"\bt\d+\b")
_ATTRIBUTE = re.compile(r"\.([a-z]\w+)")
_OWNERS = (
    mindtorch.Tensor,
    mindtorch,
    mindtorch.nn,
    mindtorch.nn.functional,
    mindtorch.linalg,
    mindtorch.fft,
    mindtorch.func,
    mindtorch.autograd,
)
WRITES = re.compile(r"\w_\(|out=|inplace=True|\] ?[-+*/]?= |[-+*/]= ")
# Statements whose results are converted, so that they are as exact as the coarsest of the operands.
_CONVERTS = re.compile(r"out=|\(\(.*\)\.to\(T\.|cross_entropy|poisson_nll|cosine_sim")
# Statements that do several things, after some of which there may be an error.
_SEVERAL = re.compile(r"\n|backward\(|autograd\.grad|T\.func|checkpoint|in_threads|\bM?f\d+\(|Ff\d+\.")
_COARSE = re.compile(
    r"\.(b?float16|float32|complex64|float|half)\b"
)  # precisions that a function may compute in, unseen
_READS_GRADIENT = re.compile(r"= \S+\.grad$", re.MULTILINE)
_UNSTABLE = re.compile(r"grad_fn=<\w+>")  # names of nodes are compared apart
ERRORS = (
    AssertionError,
    ArithmeticError,
    AttributeError,
    LookupError,
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
        super().__init__(T=T, make=lambda *spec: make(T, *spec), calls=[], note=self.note, in_threads=in_threads)
        self.update(fwAD=T.autograd.forward_ad, copy=copy)
        self.T = T

    def note(self, where: str, *values: Any) -> Any:
        """Write down what a hook or a function sees; it is given on."""
        self["calls"].append((where, [noted(value, self.T) for value in values]))
        return values[0] if values else None

    def tensors(self) -> dict[str, Any]:
        return {name: value for name, value in self.items() if name[0] == "t" and isinstance(value, self.T.Tensor)}


class Pair:
    """One program, running in both libraries.

    Values are compared within the tolerance of their dtype after every statement and then made equal, so that rounding
    cannot pile up. A quiet run does not look at the graph before the end: looking renews the history of views.
    """

    def __init__(self, make: Any, quiet: bool, strict: bool = False):
        self.ours, self.theirs = Env(mindtorch, make), Env(torch, make)
        self.quiet, self.strict = quiet, strict
        self.parted = False
        self.coarsest = torch.float64  # of the dtypes that the program has had
        self.precision: str | None = None  # the dtype whose tolerance holds for what the last statement has made
        self.versions: dict[int, tuple[int, list[int], Any]] = {}
        self.lines: list[str] = []

    def allows(self, line: str) -> bool:
        return is_defined(line, self.theirs.tensors())

    def step(self, line: str) -> str | None:
        """Run a statement in both; how they then differ."""
        self.lines.append(line)
        errors = [run(line, env) for env in (self.ours, self.theirs)]
        for name in _COARSE.findall(line):
            self._note_precision(getattr(torch, name))
        if _SEVERAL.search(line) and any(map(_becomes_float, self.theirs.tensors().values())):
            self._note_precision(torch.float32)
        self.precision = "float32" if _CONVERTS.search(line) else None
        if isinstance(errors[1], (NameError, SyntaxError)):  # a shrunk program that dropped too much
            self.parted = True
        if self.parted:
            return None
        if any(errors) and self.strict:
            # Of two reasons for an error each library has found one, perhaps after different parts of what is done.
            self.parted = is_undefined(errors[1]) or not all(errors) or self._has_parts_of_threads(line)
            self.parted = self.parted or (bool(_SEVERAL.search(line)) and error_difference(*errors) is not None)
            self._drop_unknown()
            mend_halfway(errors[1], line, self.ours.tensors(), self.theirs.tensors())
            if all(errors) and self._has_parts_of_threads(line):
                return None
            return prefixed("error", self.difference_of_refusals(*errors)) or self.compare()
        if any(errors):
            # How far a backward pass got before an error is not defined; other errors may be allowed to differ.
            self.parted = "backward(" in line or is_undefined(errors[1]) or error_difference(*errors) is not None
            self.parted = self.parted or ("out=" in line and self._has_other_shapes())  # before or after the error
            mend_halfway(errors[1], line, self.ours.tensors(), self.theirs.tensors())
            return prefixed("error", self.difference_of_errors(*errors)) or self.compare()
        self._drop_unknown()
        return self.compare()

    def _has_parts_of_threads(self, line: str) -> bool:
        """Whether how far a pass got is not defined: torch numbers the nodes of each thread on their own."""
        return bool(_SEVERAL.search(line)) and any("in_threads" in each for each in self.lines)

    def difference_of_errors(self, ours: Exception | None, theirs: Exception | None) -> str | None:
        if theirs is None and may_be_refused(ours, self.lines, self.theirs.tensors().values()):
            return None
        if ours is None and may_go_unnoticed(theirs, self.lines):
            return None
        return difference_of_errors(ours, theirs)

    def difference_of_refusals(self, ours: Exception | None, theirs: Exception | None) -> str | None:
        tensors = self.theirs.tensors().values()
        if may_be_refused(ours, self.lines, tensors):  # and so torch may go on to an error of another reason
            return None
        reasons = (may_be_differentiated, may_be_written, may_write_gradient)
        if ours is None and any(each(theirs, self.lines) for each in reasons):
            return None
        has_views = "make_dual" in self.lines[-1] or any(tensor._is_view() for tensor in tensors)
        return difference_of_refusals(ours, theirs, has_views)

    def _has_other_shapes(self) -> bool:
        return any(self.ours[name].shape != tensor.shape for name, tensor in self.theirs.tensors().items())

    def _drop_unknown(self) -> None:
        """Forget the results of a dtype that mindtorch has not, and what has left a transform that has ended."""
        for name, tensor in self.theirs.tensors().items():
            if tensor.dtype is torch.complex32 or is_wrapped(tensor) or tensor._is_zerotensor():
                del self.theirs[name]
                self.ours.pop(name, None)

    def compare(self, quiet: bool | None = None) -> str | None:
        if self.parted:
            return None
        ours, theirs = self.ours.tensors(), self.theirs.tensors()
        if list(ours) != list(theirs):
            return f"names: {list(ours)}, expected {list(theirs)}"
        quiet = self.quiet if quiet is None else quiet
        for name in theirs:
            precision = self.precision if theirs[name].dtype is torch.float64 else None
            if self.strict:
                precision = self._note_precision(theirs[name].dtype)
                text = strict_difference(ours[name], theirs[name], quiet, precision, self._reads_gradients())
            else:
                text = tensor_difference(ours[name], theirs[name], quiet, precision)
            text = text or self.version_difference(ours[name], theirs[name])
            if text and text.startswith("value") and mend_value(ours[name], theirs[name], theirs):
                text = None
            if text:
                return text.replace(": ", f": {name} ", 1)
        Numbers.precision = self._note_precision(torch.float64)
        for mine, other in zip_longest(self.ours["calls"], self.theirs["calls"]):
            if mine != other:
                return f"hook calls: {mine}, expected {other}"
        return base_difference(ours, theirs) or sharing_difference(ours, theirs)

    def _reads_gradients(self) -> bool:
        """Whether offsets are a library's own business: a stored gradient may be a part of a larger one."""
        return any(_READS_GRADIENT.search(line) for line in self.lines)

    def _note_precision(self, dtype: torch.dtype) -> str:
        """The coarsest precision that the program has computed in so far: what is compared may come from there."""
        if dtype.is_floating_point or dtype.is_complex:
            self.coarsest = max(self.coarsest, dtype.to_real(), key=lambda each: torch.finfo(each).eps)
        return str(self.coarsest).removeprefix("torch.")

    def version_difference(self, ours: Any, theirs: Any) -> str | None:
        """Whether a version went up by another number than torch's since both tensors were new.

        How often an operator of several steps writes its own result before it returns does not matter.
        """
        versions = [observed(version, tensor) for tensor in (ours, theirs)]
        if not all(isinstance(each, int) for each in versions):
            return None  # tensors of inference mode have none
        gap = versions[0] - versions[1]
        key = id(theirs)
        expected, before, _ = self.versions.get(key, (gap, versions, None))
        if self.strict and "vmap" in "".join(self.lines[-1:]):  # how often a batching rule writes is its own business
            is_written, is_expected = (now != then for now, then in zip(versions, before, strict=True))
            expected = gap if is_written == is_expected else expected
        self.versions[key] = (expected, versions, theirs)  # which keeps the tensor, and so its id
        return None if gap == expected else f"version: {versions[0]}, expected {versions[1] + expected}"

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


def is_defined(line: str, tensors: dict[str, Any]) -> bool:
    """Whether what a statement does is defined: not when it writes memory that it also reads differently."""
    if not all(any(hasattr(owner, name) for owner in _OWNERS) for name in _ATTRIBUTE.findall(line)):
        return False  # one of the operators that only torch has
    used = [tensors[name] for name in dict.fromkeys(_NAME.findall(line)) if name in tensors]
    if is_avoided(line, used, list(tensors.values())):
        return False
    if not WRITES.search(line):
        return True
    return not any(map(overlaps_itself, used)) and not any(
        partly_overlap(one, other) for place, one in enumerate(used) for other in used[:place]
    )


FINAL = (
    "for each in [t for n, t in sorted(locals().items()) if n[0] == 't' and isinstance(t, T.Tensor) and "
    "(t.is_floating_point() or t.is_complex()) and t.requires_grad and not t.is_inference()]: "
    "(each.abs() if each.is_complex() else each).sum().backward(retain_graph=True)"
)


def places(tensor: Any, but_steps_of: int | None = None) -> np.ndarray:
    """Where in its storage the elements of a tensor are, in elements; along those of some stride, only the first."""
    found = np.array(tensor.storage_offset())
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        found = found[..., None] + stride * np.arange(size if stride != but_steps_of else min(size, 1))
    return found.reshape(-1)


def overlaps_itself(tensor: Any) -> bool:
    """Whether elements share memory in a way that torch does not look for (a stride of 0 is refused, but a part of the
    tensor may have none)."""
    where = places(tensor, but_steps_of=0)
    return len(np.unique(where)) < len(where)


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
        if left != right and right not in COMPOSITE:
            return f"{what}: {left}, expected {right}"
    if theirs.dtype in (torch.float16, torch.bfloat16):
        precision = None
    text = prefixed("value", close(ours, theirs, precision))
    if text:
        return text
    if not quiet and observed(is_leaf, theirs) is True and (theirs.grad is not None or ours.grad is not None):
        return gradient_difference(ours.grad, theirs.grad)
    return None


def strict_difference(ours: Any, theirs: Any, quiet: bool, precision: str, any_offset: bool = False) -> str | None:
    """How anything that can be seen of two tensors differs."""
    for what, fact in (STRICT_FACTS if quiet else STRICT_FACTS | STRICT_GRAPH_FACTS).items():
        left, right = observed(fact, ours), observed(fact, theirs)
        if left != right and not (any_offset and what == "offset"):
            return f"{what}: {left}, expected {right}"
    text = prefixed("value", close(ours, theirs, coarser(str(theirs.dtype).removeprefix("torch."), precision)))
    if text or quiet or observed(is_leaf, theirs) is not True and observed(retains_grad, theirs) is not True:
        return text
    gradients = [observed(stored_gradient, tensor) for tensor in (ours, theirs)]
    if any(isinstance(each, str) for each in gradients):  # of a view that may not be read any more
        return None if gradients[0] == gradients[1] else f"grad: {gradients[0]}, expected {gradients[1]}"
    return strict_gradient_difference(*gradients, precision)


def strict_gradient_difference(ours: Any, theirs: Any, precision: str) -> str | None:
    """How two stored gradients differ: not by whether they are parts of larger ones, which several leaves may share."""
    if theirs is not None and is_wrapped(theirs):
        return None  # of a transform that has ended: torch cannot read it
    if ours is None or theirs is None:
        return None if ours is theirs else f"grad: {ours}, expected {theirs}"
    text = strict_difference(ours, theirs, False, precision, any_offset=True)
    return text and f"grad {text}"


def _becomes_float(tensor: torch.Tensor) -> bool:
    """Whether functions compute single-precision numbers of a tensor, which may be seen in double precision only."""
    return not (tensor.is_floating_point() or tensor.is_complex())


def is_wrapped(tensor: Any) -> bool:
    """Whether a tensor of torch is one of a transform, or of a batch of gradients."""
    functorch = torch._C._functorch
    return functorch.is_functorch_wrapped_tensor(tensor) or functorch.is_legacy_batchedtensor(tensor)


def observed(fact: Any, tensor: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return fact(tensor)
        except ERRORS as error:
            return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def version(tensor: Any) -> int:
    return tensor._version


def stored_gradient(tensor: Any) -> Any:
    return tensor.grad


def is_leaf(tensor: Any) -> bool:
    return tensor.is_leaf


def strides(tensor: Any) -> tuple[int, ...] | None:
    """The strides that matter: those of dimensions with more than one element."""
    return tuple(s for s, size in zip(tensor.stride(), tensor.shape) if size > 1) if tensor.numel() else None


def retains_grad(tensor: Any) -> bool:
    return tensor.retains_grad


STRICT_FACTS = {
    "type": lambda t: type(t).__name__,
    "dtype": lambda t: str(t.dtype),
    "shape": lambda t: tuple(t.shape),
    "strides": strides,
    "offset": lambda t: t.storage_offset() if t.numel() else None,
}
GRAPH_FACTS = {
    "inference": lambda t: t.is_inference(),
    "requires_grad": lambda t: t.requires_grad,
    "leaf": is_leaf,
    "grad_fn": lambda t: t.grad_fn and kind_of_node(t.grad_fn),
    "output_nr": lambda t: t.output_nr,
    "retains_grad": lambda t: t.retains_grad,
}
STRICT_GRAPH_FACTS = GRAPH_FACTS | {"grad_fn": lambda t: t.grad_fn is not None, "output_nr": lambda t: None}


def kind_of_node(node: Any) -> str:
    """A node's name without its number: torch numbers the nodes of in-place variants on their own."""
    name = node.name().removeprefix("torch::autograd::").rstrip("0123456789")
    return ALIKE.get(name, name)


def close(ours: Any, theirs: Any, precision: str | None = None) -> str | None:
    left, right = values(ours), values(theirs)
    if theirs.is_complex() and left.shape == right.shape and left.flags.writeable:
        # Complex infinities and nans come in many forms, and C++ compilers and NumPy give different ones.
        np.copyto(left, right, where=~np.isfinite(right) & ~np.isfinite(left))
    text = value_difference(left, right, precision or str(theirs.dtype).removeprefix("torch."), 4.0)
    if text is None and left.size and left.flags.writeable:
        left[...] = right  # the signs of zeros too
    return text


def values(tensor: Any) -> np.ndarray:
    # Of a clone: torch refuses to resize what NumPy has seen.
    return tensor._mt_array if isinstance(tensor, mindtorch.Tensor) else to_numpy(tensor.detach().clone())


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
            if not expected and tensor._base is not None and all(tensor._base is not each for each in theirs.values()):
                continue  # what a transform has made, and the program does not see
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
    array = tensor._mt_array
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def first_difference(make: Any, lines: list[str], quiet: bool, strict: bool = False) -> str | None:
    pair = Pair(make, quiet, strict)
    for line in lines:
        difference = pair.step(line)
        if difference:
            return difference
    return pair.finish()
