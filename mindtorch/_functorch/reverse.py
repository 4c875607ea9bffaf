"""Reverse mode as functions of functions: `vjp`, `grad`, `grad_and_value`."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Literal, ParamSpec, overload

from mindtorch._core import state
from mindtorch._core.tensor import Tensor
from mindtorch._functorch.arguments import Argnums, check_outputs, chosen, positions_of, replaced, split_aux
from mindtorch._functorch.levels import Level, outside_of_inference, reverse_level
from mindtorch._support import errors
from mindtorch._support.pytree import TreeSpec, tree_flatten, tree_map, treespec_pprint
from mindtorch.autograd._engine.engine import starting_gradients
from mindtorch.autograd._engine.execution import run_backward
from mindtorch.autograd._engine.history import NOWHERE
from mindtorch.autograd._engine.shown_levels import leads_to
from mindtorch.dispatch import ops
from mindtorch.dispatch.modes.captures import differentiating
from mindtorch.dispatch.modes.views_from_no_grad import noting_views

P = ParamSpec("P")

_thread = state.thread


def grad(func: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[P, Any]:
    """A function that computes the gradient of `func`, which returns one number, with respect to some arguments."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        found, value = _grad_and_value(func, argnums, has_aux, args, kwargs)
        return (found, value[1]) if has_aux else found

    return wrapper


def grad_and_value(func: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[P, tuple[Any, Any]]:
    """A function that computes the gradient of `func` and its value."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return _grad_and_value(func, argnums, has_aux, args, kwargs)

    return wrapper


_GRAD = "grad_and_value(f)(*args)"


def _grad_and_value(func: Callable, argnums: Any, has_aux: bool, args: tuple, kwargs: dict) -> tuple:
    positions_of(argnums, len(args))  # refused before anything runs
    with reverse_level() as level:
        inputs, args = _entered(level, args, argnums)
        output, aux = split_aux(level.run(func, args, kwargs), has_aux, _GRAD)
        _check_scalar(output)
        level.close()
        flat_inputs, spec = tree_flatten(inputs)
        found = _gradients(level, [output], flat_inputs, None, keep_graph=False, may_record=level.records_outside)
        found = spec.unflatten(map(level.released, found))
        output, aux = level.released(output), tree_map(level.released, aux) if has_aux else None
    return found, ((output, aux) if has_aux else output)


def _entered(level: Level, args: tuple, argnums: Any) -> tuple[Any, tuple]:
    """The aliases of the inputs to differentiate with respect to, and all arguments with the aliases in their places.

    Without argnums these are all.
    """
    if argnums is None:
        inputs = tree_map(level.enter, args)
        return inputs, inputs
    inputs = tree_map(level.enter, chosen(args, argnums, as_tuple=False))
    new = inputs if isinstance(argnums, tuple) else (inputs,)
    return inputs, replaced(args, new, positions_of(argnums, len(args)))


def _check_scalar(output: Any) -> None:
    if not isinstance(output, Tensor):
        raise RuntimeError(f"{_GRAD}: Expected f(*args) to return a Tensor, got {type(output)}")
    if output.dim() != 0:
        raise RuntimeError(
            f"{_GRAD}: Expected f(*args) to return a scalar Tensor, got tensor with {output.dim()} dims. Maybe you "
            "wanted to use the vjp or jacrev APIs instead?"
        )


@overload
def vjp(func: Callable, *primals: Any, has_aux: Literal[False] = False) -> tuple[Any, Callable[..., Any]]: ...
@overload
def vjp(func: Callable, *primals: Any, has_aux: Literal[True]) -> tuple[Any, Callable[..., Any], Any]: ...
@overload
def vjp(
    func: Callable, *primals: Any, has_aux: bool
) -> tuple[Any, Callable[..., Any]] | tuple[Any, Callable[..., Any], Any]: ...
def vjp(func: Callable, *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The outputs of `func`, and a function from cotangents of these to their products with the Jacobian."""
    return vjp_of_arguments(func, primals, None, has_aux)


def vjp_of_arguments(func: Callable, primals: tuple, argnums: Any, has_aux: bool) -> tuple:
    """`vjp` with respect to some of the arguments; None stands for all."""
    with reverse_level() as level:
        inputs, primals = _entered(level, primals, argnums)
        output, aux = split_aux(level.run(func, primals, {}), has_aux, "vjp(f, *primals)")
        outputs, spec = tree_flatten(output)
        check_outputs(outputs, "vjp(f, *primals)")
        level.close()
        results = spec.unflatten(map(level.released, outputs))
        aux = tree_map(level.released, aux) if has_aux else None
        _check_differentiable(outputs)
    products = functools.partial(_products, level, outputs, spec, inputs)
    return (results, products, aux) if has_aux else (results, products)


def _check_differentiable(outputs: Sequence[Tensor]) -> None:
    for output in outputs:
        if not (output.is_floating_point() or output.is_complex()):
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                f"{output.dtype}"
            )


def _products(
    level: Level,
    outputs: list[Tensor],
    spec: TreeSpec,
    inputs: Any,
    cotangents: Any,
    retain_graph: bool = True,
    create_graph: bool | None = None,
) -> Any:
    """The products of cotangents with the Jacobian: what `vjp` returns, given the call that it is for."""
    weights, own_spec = tree_flatten(cotangents)
    if own_spec != spec:
        raise RuntimeError(
            "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
            f"cotangents: {treespec_pprint(own_spec)}, primal output: {treespec_pprint(spec)}"
        )
    flat_inputs, input_spec = tree_flatten(inputs)
    may_record = _thread.grad_enabled if create_graph is None else create_graph
    with outside_of_inference():
        found = _gradients(level, outputs, flat_inputs, weights, retain_graph, may_record)
        return input_spec.unflatten(map(level.released, found))


def _is_asked(level: Level, output: Tensor, weight: Any) -> bool:
    """Whether gradients are asked for from a result. Of a complex number without a weight there are none, which only
    matters if it depends on the inputs."""
    if not level.has_history(output):
        return False
    edge = level.edge_of(output)
    return weight is not None or not output.is_complex() or edge is NOWHERE or leads_to(edge[0], level.own)


def _gradients(
    level: Level, outputs: list, inputs: list, weights: list | None, keep_graph: bool, may_record: bool
) -> list[Tensor]:
    """The gradients of some inputs of a level; zeros where there are none. Recorded only if more can
    be asked for."""
    all_pairs = zip(outputs, weights or [None] * len(outputs))
    pairs = [(output, weight) for output, weight in all_pairs if _is_asked(level, output, weight)]
    if not pairs:
        return [ops.zeros_like(each) for each in inputs]
    edges = [level.edge_of(each) for pair in pairs for each in pair if isinstance(each, Tensor)]
    shows_hooks = level.is_running and level.own.has_hooks  # which see that the pass is recorded
    records = may_record and (shows_hooks or level.reaches_outside(edges))
    used, used_weights = zip(*pairs, strict=True)
    starts, ends = ([level.edge_of(each) for each in tensors] for tensors in (used, inputs))
    starting = starting_gradients(used, used_weights)
    if NOWHERE in starts:
        raise errors.no_gradient(starts.index(NOWHERE))
    with differentiating(level.own, shows_hooks, writable_views=may_record and not records), noting_views():
        found = run_backward(starts, starting, keep_graph or records, records, ends, capture=True)
    return [ops.zeros_like(each) if one is None else one for one, each in zip(found, inputs, strict=True)]
