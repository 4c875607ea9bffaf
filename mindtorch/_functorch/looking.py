"""What torch.func has besides derivatives: looking at the tensors inside a transform, and `functionalize`."""

import functools
from collections.abc import Callable
from typing import Any

from mindtorch._core import state
from mindtorch._core.batched_array import BatchedArray
from mindtorch._core.tensor import Tensor, alias_of, wrap

_thread = state.thread

_REMOVABLE = ("mutations", "mutations_and_views")


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """The values of a tensor without a transform around them: those of all samples, outside of the graph.

    With `recurse=False` only the innermost `vmap` is left out.
    """
    if not _thread.transforms:
        return tensor
    array = tensor._mt_array
    while isinstance(array, BatchedArray):
        array = array.inner
        if not recurse:
            break
    return alias_of(tensor) if array is tensor._mt_array else wrap(array)


def functionalize(func: Callable, *, remove: str = "mutations") -> Callable[..., Any]:
    """The function, which computes the same without in-place ops.

    Programs see a difference only in what a tracer writes down; there is none here, so nothing has to be replaced.
    """
    if remove not in _REMOVABLE:
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are:\n"
            "     remove='mutations': all inplace and out= operators will be removed from the program, and replaced "
            "with their out-of-place equivalents.\n"
            "     remove='mutations_and_views': In addition to the above, all aliasing operators {view} will be "
            "replaced with their non-aliasing counterparts, {view}_copy.\n"
        )

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return wrapped
