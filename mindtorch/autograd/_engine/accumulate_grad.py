"""`AccumulateGrad`: the end of the backward graph, where a leaf's `.grad` is stored.

Note [Gradient layout contract]: a stored gradient has the strides of its variable when the variable is non-overlapping
and dense, and is row-major contiguous otherwise, so that whoever walks over both together (optimizers) finds them laid
out alike. The first gradient is taken over when it is not shared and obeys, otherwise it is copied into a
tensor that does. Later gradients are added in place, which keeps the layout, except when the backward pass itself is
recorded (grad mode on). The contract is not enforced beyond that: a gradient that breaks it costs speed only.
"""

import threading
from sys import getrefcount
from typing import Any
from weakref import ref

import numpy as np

from mindtorch._core import geometry, state
from mindtorch._core.autograd_meta import AutogradMeta
from mindtorch._core.layout import strided
from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor, alias_of, autograd_meta, edge_to, set_output, wrap
from mindtorch._support.warnings import warn_once
from mindtorch.autograd._engine.hooks import run_post_accumulate_hooks, run_post_hooks, run_pre_hooks, run_tensor_hooks
from mindtorch.autograd._engine.node_base import NodeBase
from mindtorch.backends.device_array import DeviceArray
from mindtorch.dispatch.modes import torch_dispatch

_LAST = (1 << 64) - 1  # leaves run as soon as they can: a higher number than any other node
_thread = state.thread
_making = threading.RLock()  # two threads may need what is made on demand for the same leaf


class AccumulateGrad(NodeBase):
    """Adds what it is given to the `.grad` of a leaf, its `variable`.

    A leaf has its node from the moment it requires grad (`tensor._mt_edge`). The node has what it needs of the leaf,
    its array and its autograd fields, but not the tensor: that would be a cycle.
    """

    __slots__ = ("meta", "leaf", "array")

    accumulates = begins = True

    def __init__(self, leaf: Tensor) -> None:
        self.next_edges = self._mt_saved = ()
        self.sequence_nr = _LAST
        self.meta = autograd_meta(leaf)
        self.leaf = ref(leaf)
        self.array = leaf._mt_array
        set_output(self, self.array)

    @property
    def variable(self) -> Tensor:
        """The leaf; if the program has let it go, a tensor that has all of it."""
        leaf = self.leaf()
        return self._stand_in() if leaf is None else leaf

    def _stand_in(self) -> Tensor:
        with _making:
            leaf = self.leaf()
            if leaf is None:
                leaf = wrap(self.array)
                leaf._mt_meta, leaf._mt_edge = self.meta, edge_to(self)
                if _thread.own_tensors is not None:
                    _thread.own_tensors.note_stand_in(leaf, self.leaf)
                self.leaf = ref(leaf)
        return leaf

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    def apply(self, edges: tuple, *grads: Any) -> tuple:
        self.receive(list(grads))
        return ()

    def receive(self, gradients: list) -> None:
        """Store the gradient that is the only element of a list.

        The list gives it up, so that a gradient without other references can be recognised and taken over.
        """
        if self.meta.base is not None and not self.meta.requires_grad:
            return  # a view from no_grad mode, which requires grad as its base does: no gradient can get there
        hooks = self.meta.hooks
        if hooks:
            gradients[0] = run_tensor_hooks(hooks.values(), gradients[0])
        extras = self.extras
        if extras is None:
            self._store(gradients)
            return
        if extras.pre_hooks:
            gradients[:] = run_pre_hooks(extras.pre_hooks.values(), gradients)
        seen = tuple(gradients)
        self._store(gradients)
        if extras.hooks:
            run_post_hooks(extras.hooks.values(), (), seen)

    def capture(self, grad: Any) -> Any:
        """The gradient after the leaf's tensor hooks, for `grad()`, which does not store it."""
        hooks = self.meta.hooks
        return run_tensor_hooks(hooks.values(), grad) if hooks else grad

    def _store(self, gradients: list) -> None:
        variable, meta = self.variable, self.meta
        # A leaf without requires_grad had it when the graph was made, or is only a view of a tensor that has.
        if gradients[0] is not None and meta.requires_grad:
            with meta.storing or storing_lock(meta):
                if meta.grad is None:
                    meta.grad = first_gradient(variable, gradients)
                else:
                    if meta.grad._mt_array.strides != variable._mt_array.strides:
                        _warn_of_layout(meta.grad, variable)
                    meta.grad = add_gradient(meta.grad, gradients.pop())
        elif gradients[0] is not None and meta.base is None and variable.grad_fn is not None:
            raise RuntimeError("leaf variable has been moved into the graph interior")
        if meta.post_accumulate_hooks:
            run_post_accumulate_hooks(meta.post_accumulate_hooks.values(), variable)


def storing_lock(meta: AutogradMeta) -> Any:
    """The lock of a tensor for which several threads may have a gradient: to look at what is stored, to add to it and
    to store the sum has to be one step. Hooks run outside of it."""
    with _making:
        if meta.storing is None:
            meta.storing = threading.RLock()  # a gradient's class may have ops of its own, which may do anything
    return meta.storing


def first_gradient(variable: Tensor, gradients: list) -> Tensor:
    """What to store as the `.grad` of a variable that has none, given the gradient in a list that gives it up."""
    steal = not _thread.grad_enabled and is_stealable(gradients, variable)
    grad = gradients.pop()
    if state.active_modes and not _thread.grad_enabled and torch_dispatch.is_wanted((grad,)):
        if _is_all_of_its_memory(grad) and obeys_layout_contract(grad, variable):
            return torch_dispatch.ask_op("detach", grad)
        steal = False
    if steal:
        return grad if grad._mt_meta is None and grad._mt_edge is None else _detached(grad)
    if grad.layout is not strided:
        return grad if _thread.grad_enabled else alias_of(grad.clone())
    return clone_obey_contract(grad, variable)


def _detached(grad: Tensor) -> Tensor:
    alias = alias_of(grad)
    if grad.is_inference():
        autograd_meta(alias).inference = True
    return alias


def _is_all_of_its_memory(tensor: Tensor) -> bool:
    base = getattr(tensor._mt_array, "base", None)
    return base is None or base.size == tensor._mt_array.size


def add_gradient(stored: Tensor, grad: Tensor) -> Tensor:
    """The sum to store: in place, unless it is recorded or a dense gradient meets a stored sparse one."""
    if stored.is_sparse and not grad.is_sparse:
        return grad + stored
    return stored + grad if _thread.grad_enabled else stored.add_(grad)


def clear_gradient(grad: Tensor) -> None:
    """Fill a stored gradient with zeros. It may be a view, of a buffer for many of them, which `detach_` refuses."""
    if grad.grad_fn is not None:
        grad.detach_()
    else:
        grad.requires_grad_(False)
    grad.zero_()


def is_stealable(gradients: list, variable: Tensor) -> bool:
    """Whether the gradient in the list may become the stored one as it is: nothing else can reach it or its memory, and
    its layout obeys the contract."""
    grad = gradients[0]
    array = grad._mt_array
    if getrefcount(grad) > ONE_OWNER or getrefcount(array) > ONE_OWNER:
        return False
    if not (_owns_its_memory(array, grad) if type(array) is np.ndarray else _is_alone_on_its_root(array)):
        return False
    return array_obeys_layout(array, variable._mt_array) or not _thread.grad_layout_enforced


def _owns_its_memory(array: np.ndarray, grad: Tensor) -> bool:
    base = array.base
    if base is None:
        return True
    if type(base) is not np.ndarray or base.base is not None:
        return False
    viewed = None if grad._mt_meta is None else grad._mt_meta.base
    if viewed is None or viewed._mt_array is not base:
        return getrefcount(base) <= ONE_OWNER
    # The gradient itself refers to what it is a view of, and that to the memory.
    return getrefcount(viewed) <= ONE_OWNER and getrefcount(base) <= ONE_OWNER + 1


def _is_alone_on_its_root(array: Any) -> bool:
    if not isinstance(array, DeviceArray):
        return False
    root = array.root
    return getrefcount(root) <= ONE_OWNER


def _count_with_one_owner() -> int:
    """What getrefcount says of a local variable that one other object refers to (this depends on the interpreter)."""
    value = object()
    owner = [value]
    return getrefcount(value) if owner else 0


ONE_OWNER = _count_with_one_owner()


def obeys_layout_contract(grad: Tensor, variable: Tensor) -> bool:
    """Whether the strides of a gradient are those that Note [Gradient layout contract] asks for."""
    return array_obeys_layout(grad._mt_array, variable._mt_array)


def _warn_of_layout(grad: Tensor, variable: Tensor) -> None:
    """Say, once, that gradients are added to one that does not obey the contract: one that the user put there."""
    if _thread.grad_enabled or not _thread.grad_layout_enforced or grad.layout is not strided:
        return
    if obeys_layout_contract(grad, variable):
        return
    warn_once(
        "grad and param do not obey the gradient layout contract. This is not an error, but may impair performance.\n"
        f"grad.sizes() = {list(grad.shape)}, strides() = {list(grad.stride())}\n"
        f"param.sizes() = {list(variable.shape)}, strides() = {list(variable.stride())}",
        kind="gradient layout",
    )


def array_obeys_layout(array: Any, variable_array: Any) -> bool:
    """`obeys_layout_contract` for arrays."""
    if not geometry.is_dense(variable_array):
        return array.flags.c_contiguous
    if array.strides == variable_array.strides and array.itemsize == variable_array.itemsize:
        return 0 not in array.strides or 0 in array.shape
    own, wanted = geometry.strides_of(array), geometry.strides_of(variable_array)
    # A stride of 0 on a dimension of size 1 betrays an expanded tensor, whose memory belongs to another one. The ranks
    # differ if the variable was given another one after the graph was made.
    return all(
        stride == expected if size != 1 else stride != 0 for size, stride, expected in zip(array.shape, own, wanted)
    )


def clone_obey_contract(grad: Tensor, variable: Tensor) -> Tensor:
    """A copy of a gradient that obeys the contract; part of the gradient's history when grad mode is on."""
    if geometry.is_dense(variable._mt_array):
        return grad.new_empty_strided(variable.shape, variable.stride()).copy_(grad)
    return grad.clone(memory_format=contiguous_format)
