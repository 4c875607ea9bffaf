"""The methods and properties of Tensor that are about autograd."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any
from weakref import ref

from mindtorch._core import state
from mindtorch._core.autograd_meta import AutogradMeta, edge_left, takes_part
from mindtorch._core.batched_array import BatchedArray
from mindtorch._core.dtype import c_name
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.tensor import (
    InferenceVersion,
    Tensor,
    alias_of,
    autograd_meta,
    be_of_inference,
    extend_tensor,
    give_data_version,
)
from mindtorch._support import errors
from mindtorch._support.warnings import warn
from mindtorch.autograd._engine.detaching import edge_outside_of
from mindtorch.autograd._engine.engine import backward
from mindtorch.autograd._engine.execution import queue_callback
from mindtorch.autograd._engine.history import (
    edge_of,
    is_view,
    may_be_taken_again,
    noted_edge,
    require_grad,
    set_array,
    stop_requiring_grad,
)
from mindtorch.autograd._engine.hooks import RemovableHandle, add_hook, registering
from mindtorch.autograd._engine.hooks_in_levels import HooksInside, in_its_level, shown_node
from mindtorch.autograd._engine.node import Node
from mindtorch.autograd._engine.shown_levels import edge_in_function, is_hidden, is_shown_as_leaf
from mindtorch.dispatch.modes import torch_dispatch
from mindtorch.dispatch.modes.captures import check_detach, depths_of, is_left_to_a_function, owner_of, seen_by
from mindtorch.dispatch.modes.tangents import drop_tangent, give_outer_tangents

_thread = state.thread


@extend_tensor
class FlagMethods:
    """`requires_grad` and the tensor's place in the graph."""

    @property
    def requires_grad(self: Any) -> bool:
        meta = self._mt_meta
        if meta is not None and meta.left is not None:
            return bool(meta.left.edge)
        if (_thread.transforms or type(self._mt_array) is BatchedArray) and is_hidden(self):
            return False
        return takes_part(self)

    @requires_grad.setter
    def requires_grad(self: Any, value: Any) -> None:
        if not isinstance(value, bool):
            raise RuntimeError("requires_grad must be a bool")
        if not self.is_leaf:
            raise errors.only_leaf_flag(value)
        if value and not _is_differentiable(self.dtype):
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients")
        _set_requires_grad(self, value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        raise RuntimeError("requires_grad must be a bool")

    def requires_grad_(self: Any, requires_grad: bool = True) -> Tensor:
        """Set whether gradients are computed for this leaf; returns the tensor."""
        if not isinstance(requires_grad, bool):
            raise errors.argument_type("requires_grad_", "requires_grad", 1, "bool", requires_grad)
        if _thread.transforms and not is_left_to_a_function():
            raise errors.inside_transform("requires_grad_()", " (or perhaps using torch.autograd.functional.* APIs)")
        _set_requires_grad(self, requires_grad)
        return self

    @property
    def grad_fn(self: Any) -> Node | None:
        edge = edge_left(self)
        if edge is None:
            if (_thread.transforms or type(self._mt_array) is BatchedArray) and is_shown_as_leaf(self):
                return None
            edge = edge_in_function(self._mt_edge or edge_of(self))
        if not edge or edge[0].begins:
            return None
        return shown_node(edge)[0] if state.batch_levels else edge[0]

    @property
    def is_leaf(self: Any) -> bool:
        edge = edge_left(self)
        if edge is None:
            if (_thread.transforms or type(self._mt_array) is BatchedArray) and is_shown_as_leaf(self):
                return True
            edge = edge_in_function(self._mt_edge or edge_of(self))
        return not edge or edge[0].begins

    @property
    def output_nr(self: Any) -> int:
        edge = edge_left(self)
        if edge is None:
            edge = self._mt_edge or (self._mt_meta.edge if is_view(self) else None)
        return edge[1] if edge else 0

    @property
    def name(self: Any) -> str | None:
        return None if self._mt_meta is None else self._mt_meta.name

    def detach_(self: Any) -> Tensor:
        """Cut the tensor off from its history, in place."""
        if _thread.inference and not self.is_inference():
            return self  # torch, too, leaves tensors from outside in the graph
        check_detach(self)
        if self._is_view():
            raise RuntimeError(_DETACHED_VIEW)
        if (_thread.transforms or _thread.dual_levels) and _detach_from_transform(self):
            return self
        meta = self._mt_meta
        if meta is not None and meta.base is not None and meta.is_same:
            meta.base.detach_()
            return self
        if meta is not None and meta.base is not None:  # the same tensor on the other side of a `vmap`, which it leaves
            self._mt_meta = AutogradMeta()
        if self._mt_edge and not self._mt_edge[0].accumulates:
            self._mt_edge = None
        stop_requiring_grad(self)  # hooks stay: those of a leaf where they are, others for when it is one
        return self


def _detach_from_transform(tensor: Tensor) -> bool:
    """Let a tensor leave the innermost transform, if it is in one; whether that is so. Of a program's own level of
    forward AD it loses its tangent."""
    if _innermost_transform(tensor) == "under vmap":
        raise RuntimeError(_DETACHED_VIEW)
    own = seen_by(tensor)
    is_forward = drop_tangent(tensor, 0 if own is None else own.depth)
    if own is not None and not is_forward and tensor._mt_edge:
        tensor._mt_edge = edge_outside_of(own, tensor._mt_edge, tensor._mt_array)
        if tensor._mt_meta is not None:
            tensor._mt_meta.requires_grad = False  # an input of the transform did
    return own is not None


def _set_requires_grad(tensor: Tensor, value: bool) -> None:
    edge = edge_left(tensor)
    has_left = edge is not None
    if edge is None:
        edge = edge_of(tensor) if may_be_taken_again(tensor) else noted_edge(tensor)
    is_inner = bool(edge) and not edge[0].accumulates
    if is_inner and not value:
        raise errors.only_leaf_flag(value)
    if not value:
        if has_left:
            tensor._mt_meta.left.stop_requiring_grad()
        else:
            stop_requiring_grad(tensor)
        return
    if not _is_differentiable(tensor.dtype):
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    if is_inner:
        return
    if has_left:
        tensor._mt_meta.left.require_grad(tensor)
        return
    if tensor.is_inference():
        if not _thread.inference:
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
    if not edge or not autograd_meta(tensor).requires_grad:
        require_grad(tensor)


def _is_differentiable(dtype: Dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex


@extend_tensor
class GradMethods:
    """`.grad`, `.data`, `backward`."""

    def backward(
        self: Any,
        gradient: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Compute the gradients of this tensor and add them to the `.grad` of the leaves of its graph."""
        backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    @property
    def grad(self: Any) -> Tensor | None:
        """The gradient that backward has stored."""
        meta = self._mt_meta
        grad = None if meta is None else meta.grad
        if (
            grad is None
            and (self._mt_edge is not None or edge_left(self))
            and not self.retains_grad
            and _is_inner(self)
        ):
            warn(_NON_LEAF_GRAD, UserWarning)
        return grad

    @grad.setter
    def grad(self: Any, value: Any) -> None:
        if value is not None:
            _check_grad(self, value)
            autograd_meta(self).grad = value
        elif self._mt_meta is not None:
            self._mt_meta.grad = None

    @grad.deleter
    def grad(self: Any) -> None:
        if self._mt_meta is not None:
            self._mt_meta.grad = None

    @property
    def grad_dtype(self: Any) -> Dtype:
        return self.dtype

    @property
    def data(self: Any) -> Tensor:
        """The same memory outside of autograd, with a version of its own: writes through it go unnoticed."""
        if state.active_modes:
            if torch_dispatch.is_wanted((self,)):
                result = torch_dispatch.ask_op("detach", self)
                result._mt_version = None if result.is_inference() else [0]
                return result
            if _thread.vmap_levels and _innermost_transform(self) == "under vmap":
                raise RuntimeError("accessing `data` under vmap transform is not allowed")
        alias = alias_of(self)
        if _thread.transforms:
            _stay_where(alias, self)
        if self._mt_meta is not None and self._mt_meta.left is not None:
            _leave_like(alias, self)
        if self.is_inference():
            be_of_inference(alias)
        return alias

    @data.setter
    def data(self: Any, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {errors.type_name(value)}")
        where = _innermost_transform(self) if _thread.transforms else None
        if where is None and edge_left(self) is not None:
            where = "under vmap" if type(self._mt_array) is BatchedArray else "inside functorch"
        if where is not None:
            raise RuntimeError(f"mutating directly with `.data` {where} transform is not allowed.")
        if type(value._mt_array) is not type(self._mt_array):
            raise RuntimeError(
                "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor "
                "type."
            )
        if self.requires_grad and not _is_differentiable(value.dtype):
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        set_array(self, value._mt_array)
        if self.is_inference() != value.is_inference():
            autograd_meta(self).inference = value.is_inference()

    @data.deleter
    def data(self) -> None:
        raise RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!")


def _stay_where(alias: Tensor, tensor: Tensor) -> None:
    """Have the data of a tensor be in the transforms that the tensor is in: it leaves the graph of the innermost only,
    outside of which it is the tensor itself, and what a function has captured remains captured."""
    own, edge = owner_of(tensor), noted_edge(tensor)
    if type(tensor._mt_version) is InferenceVersion:
        alias._mt_version = tensor._mt_version
    elif own is not None and tensor.is_inference():
        alias._mt_version = InferenceVersion(own.depth)
    elif own is not None and not own.is_left:
        give_data_version(alias, tensor)
    if own is not None and not own.is_left:
        own.data[id(alias)] = alias, tensor
        alias._mt_edge = None if not edge else edge_outside_of(own, edge, tensor._mt_array, is_input_outside=True)
        if alias._mt_edge is not None and own.records_outside:
            autograd_meta(alias).is_recorded_data = True
        give_outer_tangents(alias, tensor, own.depth)
    elif own is None and _thread.own_tensors is not None:
        _thread.own_tensors.made.discard(alias)


def _leave_like(alias: Tensor, tensor: Tensor) -> None:
    """Have the data of a tensor that has left a transform be the tensor itself outside of it."""
    alias._mt_edge = edge_of(tensor) or None
    autograd_meta(alias).left = tensor._mt_meta.left.of_data()


def _is_inner(tensor: Tensor) -> bool:
    """Whether a tensor is known to be no leaf; also of a view that may not be read any more."""
    edge = edge_left(tensor)
    if edge is not None:
        return bool(edge) and not edge[0].begins
    edge = noted_edge(tensor)
    return bool(edge) and not edge[0].begins and not is_hidden(tensor)


def _innermost_transform(tensor: Tensor) -> str | None:
    """In torch's words, which transform a tensor is in: the innermost for whose function it was made."""
    array, depths = tensor._mt_array, depths_of(tensor)
    if type(array) is BatchedArray and array.level.depth > max(depths, default=0):
        return "under vmap"
    return "inside functorch" if depths else None


def _check_grad(tensor: Tensor, grad: Any) -> None:
    if not isinstance(grad, Tensor):
        raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {errors.type_name(grad)}")
    if grad is tensor:
        raise RuntimeError("can't assign Variable as its own grad")
    if grad.dtype is not tensor.dtype:
        raise RuntimeError(
            f"attempting to assign a gradient with dtype '{c_name(grad.dtype)}' to a tensor with grad_dtype "
            f"'{tensor.dtype.storage_name}'. The gradient must match the tensor's grad_dtype (defaults to the "
            "tensor's dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None to allow "
            "any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break "
            "downstream systems that assume they match."
        )
    if grad.device.type != tensor.device.type:
        raise RuntimeError(
            f"attempting to assign a gradient with device type '{grad.device.type}' to a tensor with device type "
            f"'{tensor.device.type}'. Please ensure that the gradient and the tensor are on the same device"
        )
    if grad.device != tensor.device:
        raise RuntimeError(
            f"attempting to assign a gradient located on device with index '{grad.device.index}' to a tensor located "
            f"on device with index '{tensor.device.index}'. Please ensure that the gradient and the tensor are on the "
            "same device"
        )
    if tensor.is_sparse and not grad.is_sparse:
        raise RuntimeError("attempting to assign a gradient to a tensor that has data of a different type")
    if grad.shape != tensor.shape:
        raise RuntimeError(
            f"attempting to assign a gradient of size '{list(grad.shape)}' to a tensor of size '{list(tensor.shape)}'. "
            "Please ensure that the gradient and the tensor are the same size"
        )


class ExecutionEngine:
    """`Variable._execution_engine`, by which programs reach the engine in torch."""

    queue_callback = staticmethod(queue_callback)


@extend_tensor
class HookMethods:
    """Hooks on tensors."""

    _execution_engine = ExecutionEngine()

    def register_hook(self: Any, hook: Callable) -> RemovableHandle:
        """Call `hook(grad)` when the gradient of this tensor is known; a tensor that it returns replaces the
        gradient."""
        own: Any = owner_of(self) if _thread.transforms else None
        if self._mt_meta is not None and self._mt_meta.left is not None:
            own = self._mt_meta.left.graph
        with registering:
            meta = self._prepare_hooks()
            meta.hooks, handle = add_hook(meta.hooks, in_its_level(hook, own))
        return handle

    def _prepare_hooks(self: Any) -> Any:
        """Make room for hooks. A view that may not be read any more is asked for its place in the graph only for the
        first of them."""
        left = edge_left(self)
        if not self.requires_grad and (left is not None or _thread.transforms or edge_of(self) is None):
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        meta = autograd_meta(self)
        if meta.hooks is not None and may_be_taken_again(self):
            edge_of(self)  # if it is taken again, it forgets the hooks of what it was
        if meta.hooks is None:
            meta.hooks = OrderedDict()
            edge = edge_of(self) if left is None else left
            hooks: OrderedDict[int, Any] = OrderedDict()
            meta.hooks = hooks  # a view that was taken again has forgotten the others
            if edge and not edge[0].accumulates:
                edge[0].add_tensor_hooks(edge[1], hooks if left is None else HooksInside(hooks))
        return meta

    def register_post_accumulate_grad_hook(self: Any, hook: Callable) -> RemovableHandle:
        """Call `hook(tensor)` after a gradient was added to the `.grad` of this leaf."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if not self.is_leaf:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        meta = autograd_meta(self)
        with registering:
            meta.post_accumulate_hooks, handle = add_hook(meta.post_accumulate_hooks, hook)
        return handle

    @property
    def _backward_hooks(self: Any) -> Any:
        return None if self._mt_meta is None else self._mt_meta.hooks

    @_backward_hooks.setter
    def _backward_hooks(self: Any, hooks: Any) -> None:
        if hooks is None and self._mt_meta is None:
            return
        autograd_meta(self).hooks = hooks
        if hooks is not None and not self.is_leaf:
            self.grad_fn.add_tensor_hooks(self.output_nr, hooks)

    @_backward_hooks.deleter
    def _backward_hooks(self) -> None:
        raise RuntimeError("Deletion of _backwards_hooks not allowed!")

    def retain_grad(self: Any) -> None:
        """Store the gradient in `.grad` although the tensor is no leaf."""
        if self.retains_grad:
            return
        left = edge_left(self)
        if left is None and self.requires_grad and not may_be_taken_again(self) and not noted_edge(self):
            if _thread.transforms:
                raise errors.inside_transform("retain_grad()")
            return  # a leaf, to which no gradient gets, even if it may not be read any more
        edge = edge_of(self) if left is None else left or None
        if edge is None or (_thread.transforms and not self.requires_grad):
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if _thread.transforms:
            raise errors.inside_transform("retain_grad()")
        if not edge:
            return
        node, output_nr, *_ = edge
        meta = autograd_meta(self)
        if not node.accumulates and not meta.retains_grad:
            node.retain(output_nr, ref(self))
            meta.retains_grad = True

    @property
    def retains_grad(self: Any) -> bool:
        return self._mt_meta is not None and bool(self._mt_meta.retains_grad)


_DETACHED_VIEW = (
    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, "
    "and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be "
    "called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
    "torch/optim/optimizer.py as the solution."
)
_NON_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
    "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, "
    "use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure you access "
    "the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information."
)
