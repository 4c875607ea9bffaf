"""What `pickle`, `multiprocessing` and the files of `save` call to make tensors again, as torch calls it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch._core.dtype import NameOnly
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.geometry import extent_of
from mindtorch._core.layout import layout as Layout
from mindtorch._core.layout import sparse_coo
from mindtorch._core.storage import UntypedStorage
from mindtorch._core.tensor import Tensor, alias_of, fresh
from mindtorch._core.typed_storage import TypedStorage
from mindtorch._support.lazy import lazy
from mindtorch._tensor_methods.memory import array_within
from mindtorch.dispatch import ops
from mindtorch.dispatch.arguments.types import is_int

_compressed: Any = lazy("mindtorch.backends.sparsecsrcpu.array")
_coo: Any = lazy("mindtorch.backends.sparsecpu.array")
_coo_checks: Any = lazy("mindtorch.composite.sparse.sparse")
_invariants: Any = lazy("mindtorch.sparse.invariants")


# -------------------- on a storage --------------------


def rebuild_tensor(storage: Any, storage_offset: int, size: Sequence[int], stride: Sequence[int]) -> Tensor:
    """A tensor on a typed storage, as the oldest files have it."""
    return _tensor_on(storage, storage.dtype, storage_offset, size, stride, False, None)


def rebuild_tensor_v2(
    storage: TypedStorage,
    storage_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    requires_grad: bool,
    backward_hooks: Any,
    metadata: Any = None,
) -> Tensor:
    """A tensor whose dtype is that of its storage."""
    return _tensor_on(storage, storage.dtype, storage_offset, size, stride, requires_grad, metadata)


def rebuild_tensor_v3(
    storage: TypedStorage | UntypedStorage,
    storage_offset: int,
    size: Sequence[int],
    stride: Sequence[int],
    requires_grad: bool,
    backward_hooks: Any,
    dtype: Dtype,
    metadata: Any = None,
) -> Tensor:
    """A tensor that says what its dtype is."""
    return _tensor_on(storage, dtype, storage_offset, size, stride, requires_grad, metadata)


def _tensor_on(
    storage: Any, dtype: Dtype, offset: Any, size: Any, stride: Any, requires_grad: bool, metadata: Any
) -> Tensor:
    _check_arguments(dtype, offset, size, stride)
    untyped = storage.untyped()
    bits = _bits(metadata)
    tensor = fresh(array_within(untyped, dtype, offset, size, stride))
    if bits and tensor._mt_array.size and not tensor.is_meta:
        tensor = fresh(_resolved(untyped, tensor, bits))
    tensor.requires_grad = requires_grad
    return tensor


def _check_arguments(dtype: Any, offset: Any, size: Any, stride: Any) -> None:
    if not isinstance(dtype, Dtype):
        raise TypeError(f"empty(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")
    if isinstance(dtype, NameOnly):
        raise RuntimeError(f"mindtorch has no tensors of dtype {dtype}, and this is one")
    if not (isinstance(size, (tuple, list)) and isinstance(stride, (tuple, list))):
        raise TypeError("set_(): size and stride of a tensor must be tuples of ints")
    if not all(is_int(number) for number in (offset, *size, *stride)):
        raise TypeError("set_(): offset, size and stride of a tensor must be ints")


# -------------------- the conjugate and the negative bit --------------------

_BITS: dict[str, Callable[[np.ndarray], np.ndarray]] = {"conj": np.conj, "neg": np.negative}


def _bits(metadata: Any) -> list[Callable[[np.ndarray], np.ndarray]]:
    """What is still to be done to the elements: in torch such tensors look at the memory of others and note it."""
    if metadata is None:
        return []
    if not isinstance(metadata, dict):
        raise TypeError(f"expected dict, got {type(metadata).__name__}")
    return [change for name, change in _BITS.items() if metadata.get(name)]


def _resolved(untyped: UntypedStorage, tensor: Tensor, bits: list) -> np.ndarray:
    """The elements as they are meant, in memory of their own with the same strides."""
    if np.conj in bits and not tensor.dtype.is_complex:
        raise RuntimeError(f"only complex tensors have a conjugate bit, this one is of dtype {tensor.dtype}")
    shape, strides = tensor.shape, tensor.stride()
    elements = array_within(untyped, tensor.dtype, tensor.storage_offset(), (extent_of(shape, strides),), (1,))
    for change in bits:
        elements = change(elements)
    return np.ndarray(shape, elements.dtype, elements, 0, tensor._mt_array.strides)


# -------------------- of other kinds --------------------


def rebuild_sparse_tensor(layout: Layout, data: tuple) -> Tensor:
    """A sparse tensor of its parts. They are checked: indices that point outside would be followed."""
    if layout is sparse_coo:
        return _rebuilt_coo(*data)
    if not isinstance(layout, Layout) or not layout.is_compressed:
        raise NotImplementedError(f"rebuilding sparse tensor for layout {layout}")
    compressed, plain, values, size = data
    array = _compressed.CompressedArray(compressed._mt_array, plain._mt_array, values._mt_array, tuple(size), layout)
    _invariants.check_parts(array)
    return fresh(array)


def _rebuilt_coo(indices: Tensor, values: Tensor, size: Sequence[int], is_coalesced: bool | None = None) -> Tensor:
    _coo_checks.check_coo_parts(indices, values)
    if len(size) != indices.shape[0] + values.ndim - 1 or tuple(size[indices.shape[0] :]) != values.shape[1:]:
        raise RuntimeError(
            f"values has incorrect size, expected {[values.shape[0], *size[indices.shape[0] :]]}, "
            f"got {list(values.shape)}"
        )
    if not indices.is_meta:
        _coo_checks.check_coo_bounds(indices._mt_array, size)
    return fresh(_coo.SparseArray(indices._mt_array, values._mt_array, tuple(size), bool(is_coalesced)))


def rebuild_meta_tensor_no_storage(
    dtype: Dtype, size: Sequence[int], stride: Sequence[int], requires_grad: bool
) -> Tensor:
    """A tensor without data."""
    _check_arguments(dtype, 0, size, stride)
    tensor = ops.empty_strided(size, stride, dtype=dtype, device="meta")
    tensor.requires_grad = requires_grad
    return tensor


def rebuild_from_array(array: Any, requires_grad: bool) -> Tensor:
    """A tensor on an array of a backend that is not among those of torch's files."""
    tensor = fresh(array)
    tensor.requires_grad = requires_grad
    return tensor


def rebuild_wrapper_subclass(
    cls: type,
    dtype: Dtype,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int,
    layout: Layout,
    device: Any,
    requires_grad: bool,
) -> Tensor:
    """A tensor of a class with `__torch_dispatch__`, which has its values among its attributes."""
    return Tensor._make_wrapper_subclass(
        cls, size, stride, storage_offset, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


# -------------------- with a class and attributes --------------------


def rebuild_from_type_v2(function: Callable[..., Tensor], new_type: type, args: tuple, state: Any) -> Tensor:
    """A tensor of a subclass, or with attributes of its own."""
    tensor = function(*args)
    if type(tensor) is not new_type:
        tensor = _of_class(tensor, new_type)
    return with_state(tensor, state)


def _of_class(tensor: Any, cls: Any) -> Any:
    if not (isinstance(tensor, Tensor) and isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(f"a {type(tensor).__name__} cannot become a tensor of class {cls!r}")
    result = alias_of(tensor, cls)
    result.requires_grad = tensor.requires_grad
    return result


def with_state(tensor: Any, state: Any) -> Any:
    """The tensor, given the attributes that another one had."""
    if hasattr(tensor, "__setstate__"):
        tensor.__setstate__(state)
        return tensor
    if isinstance(state, tuple) and len(state) != 2:
        raise RuntimeError(f"Invalid serialized state: {state}")
    for attributes in state if isinstance(state, tuple) else (state,):
        for name, value in (attributes or {}).items():
            _check_attribute(name)
            setattr(tensor, name, value)
    return tensor


def _check_attribute(name: Any) -> None:
    """A file may not reach into what makes a tensor."""
    if not isinstance(name, str) or name.startswith(("__", "_mt_")):
        raise RuntimeError(f"Invalid serialized state: a tensor cannot be given an attribute {name!r}")
