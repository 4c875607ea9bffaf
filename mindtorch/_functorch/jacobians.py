"""Whole matrices of derivatives as functions of functions: `jacrev`, `jacfwd`, `hessian`."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._functorch.arguments import Argnums, chosen, refuse_complex
from mindtorch._functorch.forward import jvp_of_arguments
from mindtorch._functorch.reverse import vjp_of_arguments
from mindtorch._functorch.vmap import vmap
from mindtorch._support.pytree import tree_flatten, tree_leaves, tree_map
from mindtorch.autograd._engine.unit_vectors import unit_vectors
from mindtorch.dispatch import ops


def jacrev(
    func: Callable,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """A function that computes the Jacobian of `func` by reverse mode: a row for each element of the outputs.

    `chunk_size` is how many rows are computed at a time; all, if it is None. Where the rows are put together makes no
    difference here, so `_preallocate_and_copy` is accepted and not used.
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        refuse_complex("jacrev", args, "inputs")
        output, products, *aux = vjp_of_arguments(func, args, argnums, has_aux)
        outputs, output_spec = tree_flatten(output)
        refuse_complex("jacrev", outputs, "outputs")
        inputs, input_spec = tree_flatten(chosen(args, argnums, as_tuple=False))
        chunks = [
            _rows_of_chunk(lambda *weights: products(output_spec.unflatten(weights)), basis, chunk_size)
            for basis in unit_vectors(outputs, chunk_size)
        ]
        stacked = [column[0] if len(column) == 1 else ops.cat(column) for column in zip(*chunks, strict=True)]
        by_input = [_split_rows(rows, outputs, source) for rows, source in zip(stacked, inputs, strict=True)]
        result = output_spec.unflatten(map(input_spec.unflatten, zip(*by_input, strict=True)))
        return (result, *aux) if has_aux else result

    return wrapper


def _rows_of_chunk(products: Callable, basis: Sequence[Tensor], chunk_size: int | None) -> list[Tensor]:
    """The rows for some unit vectors, by input. A chunk of one is a plain call, for functions that vmap refuses."""
    if chunk_size != 1:
        return tree_leaves(vmap(products)(*basis))
    return [each.unsqueeze(0) for each in tree_leaves(products(*[each.squeeze(0) for each in basis]))]


def _split_rows(rows: Tensor, outputs: Sequence[Tensor], source: Tensor) -> list[Tensor]:
    parts = rows.split([output.numel() for output in outputs])
    return [part.view(output.shape + source.shape) for part, output in zip(parts, outputs, strict=True)]


def jacfwd(
    func: Callable, argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """A function that computes the Jacobian of `func` by forward mode: a column for each element of the inputs."""

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        refuse_complex("jacfwd", args, "inputs")
        sources, source_spec = tree_flatten(args if argnums is None else chosen(args, argnums))
        if not sources:
            raise AssertionError("tensors must have at least one element")
        columns_of = functools.partial(_columns, func, args, argnums, has_aux)
        (basis,) = unit_vectors(sources)
        results = vmap(columns_of, randomness=randomness)(source_spec.unflatten(basis))
        columns, aux = results if has_aux else (results, None)
        one = isinstance(argnums, int)

        def by_source(stacked: Tensor) -> Any:
            parts = source_spec.unflatten(_split_columns(stacked, sources))
            return parts[0] if one else parts

        jacobian = tree_map(by_source, columns)
        return (jacobian, tree_map(lambda values: values[0], aux)) if has_aux else jacobian

    return wrapper


def _columns(func: Callable, args: tuple, argnums: Any, has_aux: bool, tangents: Any) -> Any:
    primals, found, *aux = jvp_of_arguments(func, args, tangents, argnums, has_aux=has_aux)
    refuse_complex("jacfwd", primals, "outputs")
    return (found, *aux) if has_aux else found


def _split_columns(stacked: Tensor, sources: Sequence[Tensor]) -> list[Tensor]:
    parts = stacked.movedim(0, -1).split([source.numel() for source in sources], dim=-1)
    return [
        part.unflatten(-1, source.shape) if source.ndim else part.squeeze(-1)
        for part, source in zip(parts, sources, strict=True)
    ]


def hessian(func: Callable, argnums: Argnums = 0) -> Callable[..., Any]:
    """A function that computes the second derivatives of `func`: forward mode over reverse mode."""
    return jacfwd(jacrev(func, argnums), argnums)
