"""What `vmap` cannot do, in torch's words."""

from collections.abc import Sequence

from mindtorch._support.op_names import base_of, qualified


def inplace_on_unbatched(op: str, depth: int) -> RuntimeError:
    """Samples of the transform at a depth would have to be written into memory that all of them share."""
    name = base_of(op).rstrip("_") + "_"
    is_elsewhere = op in _WITHOUT_RULE or name not in _IN_PLACE
    what, where = (qualified(name), f"at level {depth}") if is_elsewhere else _IN_PLACE[name]
    return RuntimeError(
        f"vmap: {what}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has "
        "more elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over "
        f"{where}. Please try to use out-of-place operators instead of {what}. If said operator is being called "
        "inside the PyTorch framework, please file a bug report instead."
    )


def too_few_sizes(size: Sequence[int], ndim: int) -> RuntimeError:
    """expand of a sample takes a size for each of its dimensions or more."""
    return RuntimeError(
        f"expand: the number of sizes provided ({len(size)}) must be greater or equal to the number of dimensions in "
        f"the tensor ({ndim})"
    )


ARITHMETIC = (
    "add_ sub_ mul_ div_ atan2_ copysign_ copy_ masked_fill_ clamp_min_ clamp_max_ gcd_ lcm_ logical_and_ logical_or_ "
    "logical_xor_ bitwise_and_ bitwise_or_ bitwise_xor_ bitwise_left_shift_ bitwise_right_shift_"
).split()
WITH_RULE = ("fill_", "index_put_", "index_fill_", "index_add_", "scatter_add_", "scatter_reduce_")
# What torch calls the ops with a batching rule; the others run for one sample after the other, at a level.
_IN_PLACE = {name: ("inplace arithmetic", "in a vmap") for name in ARITHMETIC} | {
    name: (name, "in a vmap") for name in WITH_RULE
}

_WITHOUT_RULE = ("masked_fill.Tensor",)  # other than the overloads of that name


def no_fallback(op: str) -> RuntimeError:
    return RuntimeError(f"Batching rule not implemented for {qualified(op)}. We could not generate a fallback.")


def no_view(op: str) -> RuntimeError:
    return RuntimeError(
        f"Batching rule not implemented for {qualified(op)}; the fallback path doesn't work on out= or view ops."
    )


def unsupported(op: str) -> RuntimeError:
    return RuntimeError(
        f"vmap over torch.{op} isn't supported yet. Please file an issue at https://github.com/pytorch/pytorch/issues "
        "if you need this feature."
    )


def not_yet(op: str) -> RuntimeError:
    return RuntimeError(f"vmap: we do not yet support {qualified(op)}. Please file an issue")


def dynamic_shape(op: str) -> RuntimeError:
    if base_of(op) == "masked_select":
        return RuntimeError(
            "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this because for "
            "each batch this would return a differently shaped Tensor. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues if you need this feature."
        )
    return RuntimeError(
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
        f"{qualified(op)}. Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature."
    )


def boolean_mask() -> RuntimeError:
    return RuntimeError(
        "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing "
        "with a boolean mask."
    )


def running_statistics() -> RuntimeError:
    return RuntimeError(
        "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in "
        "place, were not batched.\nIf you are using a module and do not need eval mode, please set "
        "`track_running_stats` to be False.If you are using a prebuilt module and do not need eval mode, please see "
        "the functorch website for resources on how to patch your module to work with vmap"
    )


def samples_inside() -> RuntimeError:
    return RuntimeError(
        "vmap: Calling Tensor.as_strided is not supported unless the batch dims being vmapped over are at the front of "
        "the tensor (in memory layout). When they are not at the front of the tensor this operation can be error prone "
        "so we actively discourage it; please file us a bug report and/or try to express the as_strided operation in "
        "terms of PyTorch view operations"
    )
