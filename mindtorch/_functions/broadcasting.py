"""Functions that bring several tensors to matching shapes; torch, too, writes them in Python."""

from collections.abc import Sequence
from typing import Any

from mindtorch import iterator
from mindtorch._core.size import Size
from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn_once
from mindtorch.dispatch import ops
from mindtorch.dispatch.arguments.errors import wrong_tensor_element
from mindtorch.dispatch.modes.captures import itself


def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """The tensors expanded to their common shape."""
    given = checked_tensors(tensors)
    shape = iterator.broadcast_shapes(*[tuple(tensor.shape) for tensor in given])
    return tuple([itself(tensor) if tensor.shape == shape else tensor.expand(shape) for tensor in given])


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of the given shapes broadcast to."""
    given = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    common = [1] * max(map(len, given), default=0)
    for number, shape in enumerate(given):
        for place in range(-1, -1 - len(shape), -1):
            if shape[place] < 0:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
            if shape[place] in (1, common[place]):
                continue
            if common[place] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {shape[place]} at {place}! Mismatching argument at "
                    f"index {number} had {shape}; but expected shape should be broadcastable to {common}"
                )
            common[place] = shape[place]
    return Size(common)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Grids of coordinates, one per given 1-d tensor."""
    given = _unpacked(tensors)
    _check_axes(given, "ij" if indexing is None else indexing)
    if indexing is None:
        warn_once("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.")
    given = [tensor.reshape(-1) for tensor in given]
    swap = indexing == "xy" and len(given) >= 2
    if swap:
        given[:2] = given[1::-1]
    shape = [tensor.numel() for tensor in given]
    grids = [
        tensor.view([-1 if other == dim else 1 for other in range(len(given))]).expand(shape)
        for dim, tensor in enumerate(given)
    ]
    if swap:
        grids[:2] = grids[1::-1]
    return tuple(grids)


def _check_axes(given: Sequence[Any], indexing: str) -> None:
    """Refuse what makes no grid, in torch's order."""
    if not given:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if any(tensor.dtype is not given[0].dtype for tensor in given):
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if any(tensor.device != given[0].device for tensor in given):
        raise RuntimeError("meshgrid expects all tensors to have the same device")
    if indexing not in ("ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    for tensor in given:
        if tensor.ndim > 1:
            raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {tensor}")


def _unpacked(tensors: Sequence[Any]) -> list[Any]:
    """The tensors of a call that may have been given as one list."""
    return checked_tensors(tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors)


def checked_tensors(tensors: Sequence[Any]) -> list[Any]:
    """The arguments of a call that takes any number of tensors, and nothing else."""
    if not all(isinstance(tensor, Tensor) for tensor in tensors):
        raise wrong_tensor_element(tensors, 0)
    return list(tensors)


def atleast_1d(*tensors: Any) -> Any:
    """The tensor, or each of the tensors, with one dimension or more."""
    return _each(tensors, lambda tensor: tensor.reshape(1) if tensor.ndim == 0 else itself(tensor))


def atleast_2d(*tensors: Any) -> Any:
    """The tensor, or each of the tensors, with two dimensions or more."""
    return _each(tensors, _at_least_2d)


def _at_least_2d(tensor: Any) -> Any:
    if tensor.ndim < 2:
        return tensor.reshape(1, 1) if tensor.ndim == 0 else tensor.unsqueeze(0)
    return itself(tensor)


def atleast_3d(*tensors: Any) -> Any:
    """The tensor, or each of the tensors, with three dimensions or more."""
    return _each(tensors, _at_least_3d)


def _at_least_3d(tensor: Any) -> Any:
    if tensor.ndim < 2:
        return tensor.reshape(1, 1, 1) if tensor.ndim == 0 else tensor.unsqueeze(0).unsqueeze(-1)
    return tensor.unsqueeze(-1) if tensor.ndim == 2 else itself(tensor)


def cartesian_prod(*tensors: Any) -> Tensor:
    """All combinations of an element of each 1-d tensor, one a row."""
    given = checked_tensors(tensors)
    for tensor in given:
        if tensor.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(tensor.shape)}")
    if len(given) == 1:
        return itself(given[0])
    return ops.stack([grid.flatten() for grid in meshgrid(given, indexing="ij")], 1)


def block_diag(*tensors: Any) -> Tensor:
    """A matrix with the given ones along its diagonal and zero elsewhere."""
    return ops.block_diag(checked_tensors(tensors))


def split(tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Views of parts of one size, or of the sizes in a list."""
    return tensor.split(split_size_or_sections, dim)


def _each(tensors: Sequence[Any], change: Any) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return change(tensors[0])
    return tuple([change(tensor) for tensor in _unpacked(tensors)])
