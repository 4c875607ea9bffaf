"""Hooks: the handle that takes one away again, and how the engine runs them."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from threading import RLock
from typing import Any
from weakref import ref

from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.tensor import Tensor
from mindtorch._support import errors

registering = RLock()  # of two threads that register the first hook of something, one makes the dictionary


class RemovableHandle:
    """What registering a hook returns: `remove()` takes the hook away. Also a context manager.

    `extra_dict` (one dictionary or several) holds facts about the hook by the same id; they go with it.
    """

    next_id = 0

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref = ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        extra = [extra_dict] if isinstance(extra_dict, dict) else extra_dict or ()
        self.extra_dict_ref = tuple(ref(each) for each in extra)

    def remove(self) -> None:
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self) -> tuple:
        return (self.hooks_dict_ref(), self.id, tuple(reference() for reference in self.extra_dict_ref))

    def __setstate__(self, state: tuple) -> None:
        hooks, self.id, *extra = state
        self.hooks_dict_ref = ref(OrderedDict() if hooks is None else hooks)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)
        self.extra_dict_ref = tuple(
            ref(OrderedDict() if each is None else each) for each in (extra[0] if extra else ())
        )

    def __enter__(self) -> "RemovableHandle":
        return self

    def __exit__(self, *exception: Any) -> None:
        self.remove()


def add_hook(hooks: "OrderedDict | None", hook: Callable) -> tuple["OrderedDict", RemovableHandle]:
    """Add a hook to a dictionary of hooks, which is made if there is none yet."""
    if hooks is None:
        hooks = OrderedDict()
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return hooks, handle


# -------------------- running them --------------------


def run_tensor_hooks(hooks: Iterable[Callable], grad: Any) -> Any:
    """The gradient after the hooks of a tensor, each of which may replace it."""
    for hook in tuple(hooks):
        result = hook(grad)
        if result is not None:
            _check_replacement(hook, grad, result)
            grad = result
    return grad


def run_pre_hooks(hooks: Iterable[Callable], grads: Sequence[Any]) -> Sequence[Any]:
    """The gradients of a node's outputs after the node's pre-hooks."""
    for hook in tuple(hooks):
        result = hook(tuple(grads))
        if result is not None:
            _check_replacements(hook, grads, result)
            grads = result
    return grads


def run_post_hooks(hooks: Iterable[Callable], results: tuple, grads: Sequence[Any]) -> tuple:
    """The gradients of a node's inputs after the node's hooks, which also see those of its outputs."""
    for hook in tuple(hooks):
        result = hook(results, tuple(grads))
        if result is not None:
            _check_replacements(hook, results, result)
            results = result
    return results


def run_post_accumulate_hooks(hooks: Iterable[Callable], tensor: Tensor) -> None:
    """Each hook sees what the one before has returned; other tensors are refused after the last."""
    shown, is_replaced = tensor, False
    for hook in tuple(hooks):
        result = hook(shown)
        if not (result is None or isinstance(result, Tensor)):
            raise TypeError(f"expected Variable, but hook returned '{errors.type_name(result)}'")
        if result is not None:
            is_replaced = is_replaced or result is not shown
            shown = result
    if is_replaced:
        raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def _check_replacements(hook: Callable, values: Sequence[Any], results: Any) -> None:
    if not isinstance(results, tuple):
        raise TypeError(f"expected tuple, but hook returned '{errors.type_name(results)}'")
    if len(results) != len(values):
        raise RuntimeError(
            f"hook '{_name(hook)}' has returned an incorrect number of values "
            f"(got {len(results)}, but expected {len(values)})"
        )
    for value, result in zip(values, results, strict=True):
        if result is not None:
            _check_replacement(hook, value, result)


def _check_replacement(hook: Callable, value: Any, result: Any) -> None:
    if value is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(result, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{errors.type_name(result)}'")
    if result.dtype is not value.dtype:
        raise RuntimeError(
            f"hook '{_name(hook)}' has changed the type of value "
            f"(was {legacy_type(value.dtype)} got {legacy_type(result.dtype)})"
        )
    if result.shape != value.shape:
        raise RuntimeError(f"hook '{_name(hook)}' has changed the size of value")


def _name(hook: Callable) -> str:
    return getattr(hook, "__name__", "<unknown>")


def legacy_type(dtype: Dtype) -> str:
    """The old name of a tensor type, which torch's messages still use: torch.FloatTensor."""
    name = dtype.storage_name
    return f"CPU{name}Type" if dtype.is_complex or name in _UNNAMED_TYPES else f"torch.{name}Tensor"


_UNNAMED_TYPES = ("Bool", "BFloat16", "UInt16", "UInt32", "UInt64")  # which never had a class of their own
