"""Tensors in compressed sparse layouts from their parts: `sparse_csr_tensor` and its kin."""

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch._core.device import device
from mindtorch._core.dtype import dtype
from mindtorch._core.dtype import int64 as _int64
from mindtorch._core.interop import require_grad
from mindtorch._core.layout import layout as Layout
from mindtorch._core.layout import sparse_bsc, sparse_bsr, sparse_csc, sparse_csr
from mindtorch._core.tensor import Tensor
from mindtorch._functions.creation import as_tensor
from mindtorch.dispatch import ops
from mindtorch.sparse.invariants import check_parts, check_sparse_tensor_invariants


def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Sequence[int] | None = None,
    *,
    dtype: dtype | None = None,
    layout: Layout | None = None,
    device: "device | str | None" = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Tensor:
    """A tensor in a compressed layout; without a size, it is the smallest one that holds all indices."""
    if layout is None or not layout.is_compressed:
        shown = "none" if layout is None else layout.shown
        raise RuntimeError(f"sparse_compressed_tensor expected sparse compressed tensor layout but got {shown}")
    return _from_parts(
        (compressed_indices, plain_indices, values), size, layout, dtype, device, requires_grad, check_invariants
    )


def _maker(name: str, layout: Layout, indices: tuple[str, str]) -> Callable[..., Tensor]:
    """The function that makes tensors of one layout, whose two kinds of indices have these names."""
    wanted = layout

    def make(
        *parts: Any,
        size: Sequence[int] | None = None,
        dtype: dtype | None = None,
        layout: Layout | None = None,
        device: "device | str | None" = None,
        pin_memory: bool = False,
        requires_grad: bool = False,
        check_invariants: bool | None = None,
        **named: Any,
    ) -> Tensor:
        if layout not in (None, wanted):
            raise RuntimeError(f"{name}: layout must be {wanted.shown} but got {layout.shown}")
        given, size = _bound(name, (*indices, "values"), parts, named, size)
        return _from_parts(given, size, wanted, dtype, device, requires_grad, check_invariants)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"A tensor of layout {layout} from its {indices[0]}, {indices[1]} and values."
    return make


def _bound(name: str, names: tuple[str, ...], parts: Sequence[Any], named: dict[str, Any], size: Any) -> tuple:
    """The three parts and the size of a call."""
    if len(parts) == len(names) + 1 and size is None:
        *parts, size = parts
    given = dict(zip(names, parts)) | named
    if len(parts) > len(names) or set(given) != set(names) or not isinstance(size, Sequence | None):
        raise TypeError(
            f"{name}() received an invalid combination of arguments; it takes {', '.join(names)} and an optional size"
        )
    return tuple(given[each] for each in names), size


def _from_parts(
    parts: Sequence[Any],
    size: Sequence[int] | None,
    layout: Layout,
    dtype: dtype | None,
    device: Any,
    requires_grad: bool,
    check: bool | None,
) -> Tensor:
    values = as_tensor(parts[2], dtype, device)
    compressed, plain = (_as_indices(part, values.device) for part in parts[:2])
    if size is None:
        result = ops.sparse_compressed_tensor_comp_plain_value(compressed, plain, values, layout=layout)
    else:
        result = ops.sparse_compressed_tensor_comp_plain_value_size(compressed, plain, values, size, layout=layout)
    if check_sparse_tensor_invariants.is_enabled() if check is None else check:
        check_parts(result._mt_array)
    return require_grad(result.detach()) if requires_grad else result


def _as_indices(part: Any, target: device) -> Tensor:
    """Tensors of indices keep their dtype."""
    return part.to(target) if isinstance(part, Tensor) else as_tensor(part, _int64, target)


sparse_csr_tensor = _maker("sparse_csr_tensor", sparse_csr, ("crow_indices", "col_indices"))
sparse_csc_tensor = _maker("sparse_csc_tensor", sparse_csc, ("ccol_indices", "row_indices"))
sparse_bsr_tensor = _maker("sparse_bsr_tensor", sparse_bsr, ("crow_indices", "col_indices"))
sparse_bsc_tensor = _maker("sparse_bsc_tensor", sparse_bsc, ("ccol_indices", "row_indices"))
