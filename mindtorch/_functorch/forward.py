"""Forward mode as functions of functions: `jvp`, `linearize`."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, overload

from mindtorch._core import state
from mindtorch._core.autograd_meta import ViewMeta
from mindtorch._core.tensor import Tensor, enter_version
from mindtorch._functorch.arguments import check_outputs, chosen, positions_of, replaced, split_aux
from mindtorch._functorch.levels import Level, outside_of_inference, running_transform
from mindtorch._support.pytree import TreeSpec, tree_flatten, tree_map
from mindtorch.autograd.forward_ad import (
    _set_fwd_grad_enabled,
    enter_dual_level,
    enter_inner_level,
    exit_dual_level,
    make_dual,
    unpack_dual,
)
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.captures import OwnTensors, watching_writes
from mindtorch.dispatch.modes.view_recipe import ViewRecipe

_thread = state.thread

_JVP = "jvp(f, primals, tangents)"


@overload
def jvp(
    func: Callable, primals: Any, tangents: Any, *, strict: bool = False, has_aux: Literal[False] = False
) -> tuple[Any, Any]: ...
@overload
def jvp(
    func: Callable, primals: Any, tangents: Any, *, strict: bool = False, has_aux: Literal[True]
) -> tuple[Any, Any, Any]: ...
@overload
def jvp(
    func: Callable, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool
) -> tuple[Any, Any] | tuple[Any, Any, Any]: ...
def jvp(func: Callable, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> tuple[Any, ...]:
    """The outputs of `func`, and the product of its Jacobian with the tangents."""
    return jvp_of_arguments(func, primals, tangents, None, strict=strict, has_aux=has_aux)


def jvp_of_arguments(
    func: Callable, primals: Any, tangents: Any, argnums: Any, *, strict: bool = False, has_aux: bool = False
) -> tuple:
    """`jvp` with respect to some of the arguments; None stands for all."""
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    sources, spec = tree_flatten(primals if argnums is None else chosen(primals, argnums))
    directions, own_spec = tree_flatten(tangents)
    if spec != own_spec:
        raise RuntimeError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            f"tuple of 3 tensors, tangents also must be. Got primals with structure {spec} and tangents with structure "
            f"{own_spec}"
        )
    _check_tensors(sources, "primals")
    _check_tensors(directions, "tangents")
    with _forward_level(directions) as level:  # an op that writes a dual tensor writes its tangent, too
        made = list(map(make_dual, sources, directions))
        level.own.give(made)
        for dual in made:
            enter_version(dual, level.graph.depth)
        duals = spec.unflatten(made)
        args = duals if argnums is None else replaced(primals, duals, positions_of(argnums, len(primals)))
        output, aux = split_aux(func(*args), has_aux, _JVP)
        outputs, output_spec = tree_flatten(output)
        check_outputs(outputs, _JVP)
        parts = [_unpacked(each, _behind_data(each, level.own), strict) for each in outputs]
        tree_map(level.keep, parts)
        aux = tree_map(level.released, aux) if has_aux else None
    results = tuple(output_spec.unflatten(part) for part in zip(*parts, strict=True))
    return (*results, aux) if has_aux else results


def _check_tensors(values: list, what: str) -> None:
    if not values:
        raise RuntimeError(f"{_JVP}: Expected {what} to contain at least one Tensor.")
    for value in values:
        if not isinstance(value, Tensor):
            raise RuntimeError(f"{_JVP}: Expected {what} to only contain Tensors, got {type(value)}")


@contextmanager
def _forward_level(args: Sequence[Tensor]) -> Iterator[Level]:
    """A level of forward AD, in any that other calls of `jvp` have opened; not in a user's own."""
    with (
        outside_of_inference(),
        running_transform() as depth,
        watching_writes(args) as own,
        _set_fwd_grad_enabled(True),
    ):
        derivatives = Level()
        derivatives.own = own
        enter = enter_inner_level if _thread.jvp_levels else enter_dual_level
        level = enter()
        _thread.dual_levels[level].depth = depth
        _thread.jvp_levels += 1
        try:
            yield derivatives
        finally:
            _thread.jvp_levels -= 1
            exit_dual_level(level=level)
            derivatives.let_go()


def _behind_data(result: Tensor, own: OwnTensors) -> Tensor:
    """The tensor that a result is the data of, or its view that the result is of the data; others themselves."""
    meta = result._mt_meta
    if type(meta) is not ViewMeta or id(result) in own.data:
        return own.behind_data(result)
    base = own.behind_data(meta.base)
    return result if base is meta.base else ViewRecipe(result, meta.base)(base)


def _unpacked(dual: Tensor, whose: Tensor, strict: bool) -> tuple[Tensor, Tensor]:
    """The parts of a result. `whose`: the tensor that it is the data of, and is outside; else the result itself."""
    primal, tangent = unpack_dual(dual)
    if whose is not dual:
        primal, _ = unpack_dual(whose)
    if tangent is None:
        if strict:
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
                "allowed with strict=True."
            )
        tangent = ops.zeros_like(primal)
    return primal, tangent


def linearize(func: Callable, *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The outputs of `func`, and the function of tangents that is its derivative at these inputs."""
    return func(*primals), partial(_linear_part, func, primals)


def _linear_part(func: Callable, primals: tuple, *tangents: Any) -> Any:
    sources, spec = tree_flatten(primals)
    directions, own_spec = tree_flatten(tangents)
    _check_like_primals(sources, spec, directions, own_spec)
    return jvp(func, primals, tangents)[1]


def _check_like_primals(sources: list, spec: TreeSpec, directions: list, own_spec: TreeSpec) -> None:
    if spec != own_spec:
        raise RuntimeError(f"Expected the tangents {own_spec} to have the same argspec as the primals {spec}")
    for index, (source, direction) in enumerate(zip(sources, directions, strict=True)):
        for fact in ("shape", "device", "dtype"):
            given, expected = getattr(direction, fact), getattr(source, fact)
            if given != expected:
                raise RuntimeError(
                    f"tangent:{index} with {fact} {given} in flattened pytree doesn't match the {fact} {expected} of "
                    "the corresponding primal."
                )
