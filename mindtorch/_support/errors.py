"""torch's error texts that more than one module raises: each function returns the exception to raise."""

from collections.abc import Iterable, Sequence
from typing import Any

from mindtorch._support.op_names import qualified
from mindtorch._support.own_names import is_own

_HEAP_TYPE = 1 << 9  # the flag of classes made by a class statement; CPython names all others with their module


def type_name(value: Any) -> str:
    """How torch names the type of an argument in its messages."""
    cls = type(value)
    if hasattr(cls, "torch_name"):
        return cls.torch_name
    if cls.__module__.partition(".")[0] == "torch" and not is_own(cls.__module__):
        return f"{cls.__module__}.{cls.__name__} of the package torch"
    if cls.__flags__ & _HEAP_TYPE or cls.__module__ == "builtins":
        return cls.__name__
    return f"{cls.__module__}.{cls.__name__}"


class _LinAlgError(RuntimeError):
    """A matrix that an op of linear algebra cannot work with: singular, or not positive-definite."""


LinAlgError = _LinAlgError  # the public name; messages show the other one, as in torch


class AcceleratorError(RuntimeError):
    """What a device, its runtime or one of its ops has refused or failed to do; `error_code` is the runtime's.

    `is_of_arguments`: an op does not take what it was given, and has done nothing.
    """

    __module__ = "mindtorch"

    torch_name = "torch.AcceleratorError"

    def __init__(self, message: str, error_code: int = 0, is_of_arguments: bool = False) -> None:
        super().__init__(message)
        self.error_code = error_code
        self.is_of_arguments = is_of_arguments


class OutOfMemoryError(RuntimeError):
    """A device has no memory left. The CPU raises something else; programs catch this to try smaller batches."""

    __module__ = "mindtorch"


# -------------------- arguments --------------------


def argument_type(function: str, name: str, position: int | None, expected: str, value: Any) -> TypeError:
    """An argument of the wrong type; `position` counts from 1 and is None for a keyword argument."""
    place = f" (position {position})" if position else ""
    return TypeError(f"{function}(): argument '{name}'{place} must be {expected}, not {type_name(value)}")


def wrong_out_count(expected: int, given: int) -> TypeError:
    """An `out=` of too few or too many tensors."""
    return TypeError(f"expected tuple of {expected} elements but got {given}")


def element_shared() -> RuntimeError:
    return RuntimeError(
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
        "Please clone() the tensor before performing the operation."
    )


def inference_write() -> RuntimeError:
    return RuntimeError(
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a "
        "normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
    )


def out_requires_grad(op: str) -> RuntimeError:
    return RuntimeError(
        f"{op}(): functions with out=... arguments don't support automatic differentiation, "
        "but one of the arguments requires grad."
    )


def empty_tensor_list(op: str) -> Exception:
    if op == "cat":
        return ValueError("torch.cat(): expected a non-empty list of Tensors")
    return RuntimeError(f"{op} expects a non-empty TensorList")


def wrong_length(values: Sequence[object], size: int) -> Exception:
    return RuntimeError(f"Tried to convert a List with {len(values)} elements to a fixed-size array of size {size}")


def unpacking_overflow() -> ValueError:
    """An int that 64 bits don't hold."""
    return ValueError(UNPACKING_OVERFLOW)


def check_ints(numbers: Iterable[int]) -> None:
    """Refuses numbers that 64 bits don't hold, where they would lead to a result.

    What a kernel or a composite raises with it is put in torch's words by the function that was called.
    """
    for number in numbers:
        if not -(2**63) <= number < 2**63:
            raise unpacking_overflow()


UNPACKING_OVERFLOW = "Overflow when unpacking long long"


# -------------------- memory --------------------


def no_memory(nbytes: int) -> RuntimeError:
    return RuntimeError(
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to "
        f"allocate {nbytes} bytes. Error code 12 (Cannot allocate memory)"
    )


def too_many_dims() -> RuntimeError:
    return RuntimeError("only tensors with up to 64 dims are supported")


def no_objects() -> RuntimeError:
    """More tensors than there is memory for: what C++ raises when a vector of them is made."""
    return RuntimeError("std::bad_alloc")


def storage_overflow(sizes: Sequence[int], strides: Sequence[int] | None = None) -> RuntimeError:
    """More bytes than can be counted; with the strides, in elements, if they were chosen."""
    chosen = "" if strides is None else f" and strides={list(strides)}"
    return RuntimeError(f"Storage size calculation overflowed with sizes={list(sizes)}{chosen}")


def numel_overflow() -> RuntimeError:
    """More elements than can be counted."""
    return RuntimeError("numel: integer multiplication overflow")


# -------------------- dtypes and devices --------------------


def numpy_dtype_unsupported(numpy_dtype: Any) -> TypeError:
    return TypeError(
        f"can't convert np.ndarray of type {numpy_dtype.type.__module__}.{numpy_dtype.type.__name__}. "
        "The only supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, "
        "uint64, uint32, uint16, uint8, and bool."
    )


def device_unavailable(device_type: str) -> Exception:
    if device_type in ("cuda", "xpu"):
        return AssertionError(f"Torch not compiled with {device_type.upper()} enabled")
    if device_type == "npu":
        return RuntimeError(
            "The npu device is not available: the Ascend libraries (libascendcl.so, libopapi.so) were not found. "
            "Install CANN and source its set_env.sh."
        )
    return RuntimeError(f"mindtorch has no backend for the {device_type} device")


def no_accelerator() -> RuntimeError:
    return RuntimeError("Cannot access accelerator device when none is available.")


def no_pinned_memory() -> RuntimeError:
    return RuntimeError(
        "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available on "
        "this system."
    )


def no_kernel(op: str, backend: str, available: list[str]) -> NotImplementedError:
    return NotImplementedError(
        f"Could not run '{qualified(op)}' with arguments from the '{backend}' backend. This could be because the "
        "operator doesn't exist for this backend, or was omitted during the selective/custom build process (if using "
        "custom build). If you are a Facebook employee using PyTorch on mobile, please visit "
        f"https://fburl.com/ptmfixes for possible resolutions. '{qualified(op)}' is only available for these backends: "
        f"[{', '.join(available)}]."
    )


# -------------------- dimensions --------------------


def unequal_entries(first: Sequence[int], other: Sequence[int], place: int) -> RuntimeError:
    """The error of tensors that cannot be stacked."""
    return RuntimeError(
        f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and {list(other)} at entry "
        f"{place}"
    )


def dim_out_of_range(dim: int, ndim: int) -> IndexError:
    low, high = -max(ndim, 1), max(ndim, 1) - 1
    return IndexError(f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})")


# -------------------- tensors and Python values --------------------


def control_flow_in_vmap() -> RuntimeError:
    return RuntimeError(
        "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support "
        "that yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
    )


def number_of_samples() -> RuntimeError:
    return RuntimeError(
        "vmap: It looks like you're either (1) calling .item() on a Tensor or (2) attempting to use a Tensor in some "
        "data-dependent control flow or (3) encountering this error in PyTorch internals. For (1): we don't support "
        "vmap over calling .item() on a Tensor, please try to rewrite what you're doing with other operations. For "
        "(2): we don't support data-dependent control flow in vmap yet, please file an issue at "
        "https://github.com/pytorch/pytorch/issues . For (3): please file an issue."
    )


def ambiguous_truth(numel: int) -> RuntimeError:
    count = "more than one value" if numel else "no values"
    return RuntimeError(f"Boolean value of Tensor with {count} is ambiguous")


def not_a_scalar(numel: int) -> RuntimeError:
    return RuntimeError(f"a Tensor with {numel} elements cannot be converted to Scalar")


def meta_item() -> RuntimeError:
    return RuntimeError("Tensor.item() cannot be called on meta tensors")


def meta_data() -> NotImplementedError:
    return NotImplementedError("Cannot copy out of meta tensor; no data!")


def no_gradient(index: int) -> RuntimeError:
    """A backward pass was asked of a tensor that takes no part in autograd."""
    return RuntimeError(f"element {index} of tensors does not require grad and does not have a grad_fn")


def only_leaf_flag(wanted: bool) -> RuntimeError:
    """`requires_grad` was set on a tensor that is no leaf; who wanted False gets advice."""
    advice = (
        " If you want to use a computed variable in a subgraph that doesn't require differentiation use var_no_grad = "
        "var.detach()."
    )
    return RuntimeError("you can only change requires_grad flags of leaf variables." + ("" if wanted else advice))


# -------------------- what does not exist --------------------


def derivative_not_implemented(argument: str) -> NotImplementedError:
    """`argument` names the op and its argument: "igamma: input"."""
    return NotImplementedError(f"the derivative for '{argument}' is not implemented.")


def no_derivative(op: str) -> RuntimeError:
    """For an op of which no derivative is implemented at all."""
    return RuntimeError(f"derivative for {op} is not implemented")


def no_strides(layout: Any) -> RuntimeError:
    """For what asks a sparse tensor where its elements lie in memory."""
    if not layout.is_compressed:
        return NotImplementedError("Cannot access storage of SparseTensorImpl")
    return RuntimeError(f"Sparse {layout.shown.removeprefix('Sparse').upper()} tensors do not have strides")


def missing_kernel(op: str, backend: str, signature: str, file: str) -> NotImplementedError:
    """What a generated stub raises until the kernel is implemented."""
    return NotImplementedError(f"{op} has no {backend} kernel: define `def {signature}` in {file}")


def inside_transform(method: str, more: str = "") -> RuntimeError:
    """A method of tensors was called in a function that a transform of torch.func runs."""
    return RuntimeError(
        f"You are attempting to call Tensor.{method}{more} inside of a function being transformed by a functorch "
        "transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, "
        f"jacfwd, hessian) or call {method} outside of a function being transformed instead."
    )


def multiple_dispatch_failed(name: str, protocol: str, modes: Sequence[object], types: Iterable[type]) -> TypeError:
    """All that could take over a call have returned NotImplemented; the last of the modes was asked."""
    lines = [f"  - mode object {modes[-1]}"] if modes else []
    lines += [f"  - tensor subclass {cls}" for cls in types]
    return TypeError(
        f"Multiple dispatch failed for '{name}'; all {protocol} handlers returned NotImplemented:\n\n"
        + "\n".join(lines)
        + "\n\nFor more information, try re-running with TORCH_LOGS=not_implemented"
    )
