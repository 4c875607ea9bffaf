"""What can be differentiated of a sample of torch's, in every way; the same code runs with both libraries.

Each check is a function of a `Case` that returns what is to be compared.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import mindtorch
from tests.parity.support import opinfo
from tests.parity.support.opinfo_shown import attempt, tensors, values_only


@dataclass(frozen=True, slots=True)
class Case:
    """A sample in one library: the function, its arguments, which are fresh leaves, and the library."""

    T: Any
    function: Callable
    in_place: Callable | None
    args: tuple
    kwargs: dict

    def __call__(self, args: tuple, kwargs: dict) -> Any:
        self.T.manual_seed(1)
        return self.function(*args, **kwargs)

    def leaves(self) -> list:
        return [each for each in tensors((self.args, self.kwargs), self.T) if each.requires_grad]

    def with_leaves(self, new: list) -> tuple[tuple, dict]:
        """The arguments with others in the places of the leaves."""
        by_id = {id(leaf): other for leaf, other in zip(self.leaves(), new, strict=True)}
        return replaced((self.args, self.kwargs), by_id)


# -------------------- arguments --------------------


def replaced(value: Any, by_id: dict[int, Any]) -> Any:
    """The same structure, with some objects of it replaced."""
    if id(value) in by_id:
        return by_id[id(value)]
    if type(value) in (list, tuple):
        return type(value)(replaced(each, by_id) for each in value)
    if type(value) is dict:
        return {key: replaced(each, by_id) for key, each in value.items()}
    return value


def cases(info: Any, sample: Any) -> tuple[Case, Case]:
    """The sample in mindtorch and in torch."""
    arguments = opinfo.arguments(sample)
    leaves = {id(each): each.detach().requires_grad_(each.requires_grad) for each in tensors(arguments, torch)}
    args, kwargs = opinfo.Conversion()(arguments)
    process = sample.output_process_fn_grad
    wrapper = _direct if "masked" in info.gradcheck_wrapper.__name__ else info.gradcheck_wrapper
    function, in_place = _call(wrapper, info.op, process), info.inplace_variant
    own = _call(*map(opinfo.counterpart, (wrapper, info.op, process)))
    own_in_place = in_place and opinfo.counterpart(in_place)
    return (
        Case(mindtorch, own, own_in_place, args, kwargs),
        Case(torch, function, in_place, *replaced(arguments, leaves)),
    )


def _direct(op: Callable, *args: Any, **kwargs: Any) -> Any:
    """In the place of what clears the elements that a mask leaves out: here they have to be the same."""
    return op(*args, **kwargs)


def _call(wrapper: Callable, op: Callable, process: Callable) -> Callable:
    """The op for arguments that have what the derivative asks for, such as symmetry, without what isn't determined."""
    return lambda *args, **kwargs: process(wrapper(op, *args, **kwargs))


def random_like(T: Any, tensor: Any, number: int = 0) -> Any:
    """The same random numbers in both libraries, contiguous."""
    generator = np.random.RandomState(number + tensor.numel())
    shape = tuple(tensor.shape)
    numbers = generator.uniform(0.5, 1.5, shape)
    if tensor.is_complex():
        numbers = numbers + 1j * generator.uniform(0.5, 1.5, shape)
    return T.as_tensor(numbers).to(tensor.dtype)


def differentiable(result: Any, T: Any) -> list:
    return [each for each in tensors(result, T) if each.requires_grad]


def _randoms(T: Any, like: list, number: int = 0) -> list:
    return [random_like(T, each, number + place) for place, each in enumerate(like)]


def widened(case: Case) -> Case:
    """The same sample in double precision."""
    given = (case.args, case.kwargs)
    wide = {id(each): _double(case.T, each) for each in tensors(given, case.T)}
    return Case(case.T, case.function, case.in_place, *replaced(given, wide))


def _double(T: Any, tensor: Any) -> Any:
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return tensor
    wide = tensor.detach().to(T.complex128 if tensor.is_complex() else T.float64)
    return wide.requires_grad_(tensor.requires_grad)


def nudged(case: Case, number: int) -> Case:
    """The same sample with numbers that differ in their last digits."""
    T = case.T
    generator = T.Generator().manual_seed(number)

    def moved(leaf: Any) -> Any:
        signs = T.randint(0, 2, tuple(leaf.shape), generator=generator).to(leaf.dtype) * 2 - 1
        return (leaf.detach() * (1 + signs * T.finfo(leaf.dtype).eps)).requires_grad_()

    args, kwargs = case.with_leaves([moved(leaf) for leaf in case.leaves()])
    return Case(T, case.function, case.in_place, args, kwargs)


# -------------------- checks --------------------


def gradient(case: Case) -> Any:
    """Which results require grad, and the gradient of every input."""
    result = case(case.args, case.kwargs)
    outputs, facts = differentiable(result, case.T), _flags(result, case.T)
    if not outputs:
        return facts
    return facts, case.T.autograd.grad(outputs, case.leaves(), _randoms(case.T, outputs), allow_unused=True)


def _flags(result: Any, T: Any) -> list:
    return [(each.requires_grad, each.is_leaf) for each in tensors(result, T)]


def second_gradient(case: Case) -> Any:
    """The gradients of the gradients, by the inputs and by what the first gradients began with."""
    outputs = differentiable(case(case.args, case.kwargs), case.T)
    begin = [each.requires_grad_() for each in _randoms(case.T, outputs)]
    return _gradient_of_gradient(case, outputs, begin)


def _gradient_of_gradient(case: Case, outputs: list, begin: list) -> Any:
    if not outputs:
        return None
    leaves, T = case.leaves(), case.T
    first = T.autograd.grad(outputs, leaves, begin, allow_unused=True, create_graph=True)
    again = differentiable(first, T)
    if not again:
        return _flags(first, T)
    second = T.autograd.grad(again, [*leaves, *begin], _randoms(T, again, 7), allow_unused=True)
    return [each is not None and each.requires_grad for each in first], second


def tangent(case: Case) -> Any:
    """Forward mode, with one tangent for all inputs."""
    T = case.T
    with T.autograd.forward_ad.dual_level():
        args, kwargs = case.with_leaves(_duals(case))
        return [_unpacked(T, each) for each in tensors(case(args, kwargs), T)]


def single_tangents(case: Case) -> Any:
    """Forward mode, each time with a tangent for only one input."""
    leaves = case.leaves()
    if len(leaves) < 2:
        return None
    return [_single_tangent(case, leaves, place) for place in range(len(leaves))]


_ROUNDED = 1e-9  # what is left of double numbers that cancel


def _single_tangent(case: Case, leaves: list, place: int) -> Any:
    T = case.T
    with T.autograd.forward_ad.dual_level():
        new = [each.detach() for each in leaves]
        new[place] = T.autograd.forward_ad.make_dual(new[place], random_like(T, new[place]))
        args, kwargs = case.with_leaves(new)
        return [_unpacked(T, each) for each in tensors(case(args, kwargs), T)]


def _duals(case: Case) -> list:
    T, leaves = case.T, case.leaves()
    randoms = _randoms(T, leaves, 3)
    make = T.autograd.forward_ad.make_dual
    return [make(leaf.detach(), each) for leaf, each in zip(leaves, randoms, strict=True)]


def _unpacked(T: Any, tensor: Any) -> Any:
    """The value and its tangent; one of zeros counts as none, which one library or the other makes of it."""
    value, tangent = T.autograd.forward_ad.unpack_dual(tensor)
    return value, None if tangent is None or bool((tangent.abs() <= _ROUNDED).all()) else tangent


def tangent_of_gradient(case: Case) -> Any:
    """Forward over reverse: the gradients of inputs with tangents, and their tangents."""
    T, leaves = case.T, case.leaves()
    with T.autograd.forward_ad.dual_level():
        duals = [each.requires_grad_() for each in _duals(case)]
        args, kwargs = case.with_leaves(duals)
        outputs = differentiable(case(args, kwargs), T)
        if not outputs:
            return None
        grads = T.autograd.grad(outputs, duals, _randoms(T, outputs), allow_unused=True, create_graph=True)
        assert len(grads) == len(leaves)
        # Whether a tangent requires grad is not compared: torch's do for zeros that are multiplied by what does.
        return [each if each is None else _plain(_unpacked(T, each)) for each in grads]


def _plain(values: tuple) -> list:
    return [each if each is None else each.detach() for each in values]


def batched(case: Case) -> Any:
    """`vmap` over each tensor, in the first and in the last dimension."""
    given = (case.args, case.kwargs)
    places = list(tensors(given, case.T))
    return [_batched(case, each, dim) for each, dim in itertools.product(places, (0, -1))]


def _batched(case: Case, tensor: Any, dim: int) -> Any:
    T, plain = case.T, tensor.detach()
    other = plain / 2 if plain.is_floating_point() or plain.is_complex() else plain
    both = T.stack([plain, other], dim)

    def function(one: Any) -> Any:
        args, kwargs = replaced((case.args, case.kwargs), {id(tensor): one})
        return list(tensors(case.function(*args, **kwargs), T))

    T.manual_seed(1)
    return values_only(attempt(T, T.func.vmap(function, in_dims=dim, randomness="same"), both))


_SUBJECTS = (lambda x: x, lambda x: x.clone(), lambda x: x.clone().view_as(x))


def in_place(case: Case) -> Any:
    """The in-place variant: on a leaf, which is refused, on a copy of it, and on a view of a copy."""
    if case.in_place is None or not isinstance(case.args[0], case.T.Tensor):
        return None
    return [attempt(case.T, _written, case, begin) for begin in _SUBJECTS]


def _written(case: Case, begin: Callable) -> Any:
    T = case.T
    T.manual_seed(1)
    subject = begin(case.args[0])
    version = subject._version
    result = case.in_place(subject, *case.args[1:], **case.kwargs)
    facts = _flags([result], T), result is subject, subject._version - version
    outputs = differentiable(result, T)
    if not outputs:
        return facts
    return facts, T.autograd.grad(outputs, case.leaves(), _randoms(T, outputs), allow_unused=True)


CHECKS = {
    check.__name__: check
    for check in (
        gradient,
        second_gradient,
        tangent,
        single_tangents,
        tangent_of_gradient,
        batched,
        in_place,
    )
}
# What depends on the dtype in no other way than the gradient does is checked for the widest ones.
DTYPES = {"gradient": ("float64", "complex128", "float32", "float16", "bfloat16", "complex64")}
WIDE = ("float64", "complex128")
