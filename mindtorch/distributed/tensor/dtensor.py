"""`DTensor`: a tensor that is spread over the processes of a mesh, and computes as if it were in one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from mindtorch._core.layout import strided
from mindtorch._core.size import Size
from mindtorch._core.tensor import Tensor
from mindtorch._support.pytree import tree_flatten, tree_map, tree_unflatten
from mindtorch._tensor_methods import wrapper_subclass  # noqa: F401 - what makes wrappers
from mindtorch.autograd.function import Function
from mindtorch.autograd.grad_mode import no_grad
from mindtorch.dispatch import ops
from mindtorch.distributed.collectives import broadcast
from mindtorch.distributed.device_mesh import DeviceMesh, active_mesh
from mindtorch.distributed.tensor.drawing import drawn, is_random
from mindtorch.distributed.tensor.lookups import ON_PARTS
from mindtorch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard
from mindtorch.distributed.tensor.planning import Input, Plan, name_of, plan
from mindtorch.distributed.tensor.spreading import Placements, moved, own_block
from mindtorch.distributed.world import get_global_rank
from mindtorch.nn.parameter import Parameter


class DTensor(Tensor):
    """A tensor of which the processes of `device_mesh` have parts, as `placements` say, one for each of its dimensions.

    `distribute_tensor` and `DTensor.from_local` make them. Ops compute on the parts, and send what has to be sent.
    """

    _local_tensor: Tensor
    device_mesh: DeviceMesh
    placements: Placements

    @staticmethod
    def __new__(
        cls, local: Tensor, mesh: DeviceMesh, placements: Placements, shape: Sequence[int], requires_grad: bool = False
    ) -> Any:
        result = Tensor._make_wrapper_subclass(
            cls,
            tuple(shape),
            strides=_strides_like(local, shape),
            dtype=local.dtype,
            device=local.device,
            requires_grad=requires_grad,
        )
        result._local_tensor = local
        result.device_mesh = mesh
        result.placements = placements
        return result

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Made by `__new__`."""

    def __repr__(self) -> str:  # type: ignore[override]
        placements = tuple(self.placements)
        return f"DTensor(local_tensor={self._local_tensor}, device_mesh={self.device_mesh}, placements={placements})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        own = instead.get(name_of(func)) if instead else None
        return (own or computed)(func, args, kwargs or {})

    # -------------------- there and back --------------------

    @staticmethod
    def from_local(
        local_tensor: Tensor,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        run_check: bool = False,
        shape: Sequence[int] | None = None,
        stride: Sequence[int] | None = None,
        grad_placements: Sequence[Placement] | None = None,
    ) -> DTensor:
        """A tensor of the parts that the processes have; each gives its own. Gradients go through."""
        mesh = device_mesh or active_mesh()
        spread = _checked(placements or [Replicate()] * mesh.ndim, mesh, local_tensor.ndim)
        if run_check:
            local_tensor = _same_where_whole(local_tensor, mesh, spread)
        whole = tuple(shape) if shape is not None else _whole_shape(local_tensor, mesh, spread)
        back = None if grad_placements is None else tuple(grad_placements)
        return _FromLocal.apply(local_tensor, mesh, spread, whole, back)

    def to_local(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """The part of this process. Gradients go through: they are spread as the tensor is, if not said otherwise."""
        return _ToLocal.apply(self, None if grad_placements is None else tuple(grad_placements))

    def redistribute(
        self,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        async_op: bool = False,
        forward_dtype: Any = None,
        backward_dtype: Any = None,
    ) -> DTensor:
        """The tensor spread in another way."""
        if device_mesh is not None and device_mesh != self.device_mesh:
            raise NotImplementedError("Cross device mesh comm not supported yet!")
        if placements is None:
            raise RuntimeError("placements is needed for redistribute!")
        if forward_dtype is not None or backward_dtype is not None:
            raise NotImplementedError("redistribute in another dtype: convert the tensor first")
        return _Redistribute.apply(self, _checked(placements, self.device_mesh, self.ndim))

    def full_tensor(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """The whole tensor, in all processes."""
        whole = self.redistribute(placements=[Replicate()] * self.device_mesh.ndim)
        return whole.to_local(grad_placements=grad_placements)

    @property
    def data(self) -> Tensor:
        """The same parts, outside of autograd."""
        return super().data

    @data.setter
    def data(self, value: Tensor) -> None:
        Tensor.data.__set__(self, value)  # type: ignore[attr-defined]
        assert isinstance(value, DTensor)
        self._local_tensor, self.device_mesh, self.placements = value._local_tensor, value.device_mesh, value.placements

    def own_part(self) -> tuple[list[int], Tensor]:
        """Where the part of this process begins, and the part."""
        if any(isinstance(each, Partial) for each in self.placements):
            raise ValueError("a tensor that is still to be reduced has no parts: redistribute it first")
        return own_block(self.shape, self.device_mesh, self.placements)[0], self._local_tensor

    def item(self) -> Any:
        """The value of a tensor of one element."""
        return self.full_tensor().item()

    def tolist(self) -> Any:
        """The values of the whole tensor."""
        return self.full_tensor().tolist()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        with no_grad():
            copied = DTensor(self._local_tensor.clone(), self.device_mesh, self.placements, self.shape)
        result = copied.requires_grad_(self.requires_grad)
        if isinstance(self, Parameter):
            result = Parameter(copied.detach(), self.requires_grad)
        memo[id(self)] = result
        return result


# -------------------- ops --------------------


instead: dict[str, Any] = {}  # what computes an op for the time being, by its name


def computed(function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The result of an op on spread tensors."""
    leaves, structure = tree_flatten((args, kwargs))
    mesh = next(each.device_mesh for each in leaves if isinstance(each, DTensor))
    places = [place for place, each in enumerate(leaves) if isinstance(each, Tensor)]
    for place in places:
        leaves[place] = _spread(leaves[place], mesh, function)
    inputs = [leaves[place] for place in places]
    if any(isinstance(each, DTensor) for each in tree_flatten(kwargs)[0]):
        raise NotImplementedError(f"Operator {function} does not have a sharding strategy registered for keywords")
    described = [Input(tuple(each.shape), each.numel(), each.placements) for each in inputs]
    found = plan(function, mesh, described, args, kwargs)
    for place, each, placements in zip(places, inputs, found.inputs, strict=True):
        leaves[place] = moved(each._local_tensor, each.shape, mesh, each.placements, placements)
    local_args, local_kwargs = tree_unflatten(leaves, structure)
    if found.letters.size is not None:
        sizes = own_block(found.letters.size, mesh, found.output)[1]
        first = local_args[0].contiguous()  # the part may have other strides than the whole
        local_args = (first, sizes, *[_rows(sizes)] * found.letters.strides, *local_args[2 + found.letters.strides :])
    result = _on_parts(function, local_args, local_kwargs, inputs, mesh, found)
    if _is_inplace(function):
        args[0]._local_tensor, args[0].placements = result, found.output
        return args[0]
    return _wrapped(result, inputs, mesh, found)


def _on_parts(
    function: Any, args: tuple, kwargs: dict[str, Any], inputs: Sequence[DTensor], mesh: DeviceMesh, found: Plan
) -> Any:
    """The part of the result."""
    if is_random(function):
        generator = kwargs.pop("generator", None)
        return drawn(lambda: function(*args, **kwargs), inputs[0].shape, mesh, found.inputs[0], generator)
    on_part = ON_PARTS.get(name_of(function))
    if on_part is None:
        return function(*args, **kwargs)
    start = own_block(inputs[0].shape, mesh, found.inputs[0])[0]
    return on_part(function, start, inputs[0].shape, *args, **kwargs)


def _is_inplace(function: Any) -> bool:
    return function._schema.name.endswith("_")


def _spread(value: Tensor, mesh: DeviceMesh, function: Any) -> DTensor:
    """A tensor among the arguments as a DTensor: those without dimensions may be plain."""
    if isinstance(value, DTensor):
        if value.device_mesh != mesh:
            raise RuntimeError(f"{function}: DTensors of different meshes: {value.device_mesh} and {mesh}")
        return value
    if value.ndim:
        raise RuntimeError(
            f"{function}: got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor before "
            "calling distributed operators!"
        )
    return DTensor(value, mesh, (Replicate(),) * mesh.ndim, ())


def _wrapped(result: Any, inputs: Sequence[DTensor], mesh: DeviceMesh, found: Plan, place: int = 0) -> Any:
    if isinstance(result, (tuple, list)):
        return type(result)([_wrapped(each, inputs, mesh, found, place) for place, each in enumerate(result)])
    if result is None:
        return None
    sizes = {
        letter: size
        for spelt, each in zip(found.letters.inputs, inputs, strict=True)
        for letter, size in zip(spelt, each.shape, strict=True)
    }
    letters, placements = found.letters.result(place), found.result(place)
    spread = {each.dim for each in placements if isinstance(each, Shard)}
    shape = [sizes[letters[dim]] if dim in spread else size for dim, size in enumerate(result.shape)]
    return DTensor(result, mesh, placements, found.letters.size or shape)


def _rows(sizes: Sequence[int]) -> list[int]:
    """The strides of rows without gaps."""
    strides: list[int] = []
    step = 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides


def _strides_like(local: Tensor, shape: Sequence[int]) -> list[int]:
    """Strides without gaps, the dimensions in the order in which they are in the memory of the part."""
    strides, step = [0] * len(shape), 1
    given = local.stride()
    for dim in sorted(range(len(shape)), key=lambda dim: (given[dim], -dim)):
        strides[dim] = step
        step *= max(shape[dim], 1)
    return strides


# -------------------- gradients --------------------


class _FromLocal(Function):
    @staticmethod
    def forward(ctx: Any, local: Tensor, mesh: DeviceMesh, placements: Placements, shape: Any, back: Any) -> DTensor:
        ctx.placements = back or _for_gradients(placements)
        return DTensor(local.view_as(local), mesh, placements, shape)

    @staticmethod
    def backward(ctx: Any, grad: DTensor) -> tuple:
        return grad.redistribute(placements=ctx.placements).to_local(), None, None, None, None


class _ToLocal(Function):
    @staticmethod
    def forward(ctx: Any, tensor: DTensor, back: Placements | None) -> Tensor:
        ctx.mesh, ctx.shape = tensor.device_mesh, tensor.shape
        ctx.placements = back or _for_gradients(tensor.placements)
        return tensor._local_tensor.view_as(tensor._local_tensor)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple:
        return DTensor(grad, ctx.mesh, ctx.placements, ctx.shape), None


class _Redistribute(Function):
    @staticmethod
    def forward(ctx: Any, tensor: DTensor, placements: Placements) -> DTensor:
        ctx.placements = _for_gradients(tensor.placements)
        local = moved(tensor._local_tensor, tensor.shape, tensor.device_mesh, tensor.placements, placements)
        return DTensor(local.view_as(local), tensor.device_mesh, placements, tensor.shape)

    @staticmethod
    def backward(ctx: Any, grad: DTensor) -> tuple:
        return grad.redistribute(placements=ctx.placements), None


def _for_gradients(placements: Sequence[Placement]) -> Placements:
    """How the gradient is spread: that of a summand is that of the sum."""
    return tuple(Replicate() if isinstance(each, Partial) else each for each in placements)


# -------------------- making --------------------


def _checked(placements: Sequence[Placement], mesh: DeviceMesh, ndim: int) -> Placements:
    given = tuple(placements)
    if len(given) != mesh.ndim:
        raise ValueError(
            f"`placements` must have the same length as `device_mesh.ndim`! Found placements length: {len(given)}, and "
            f"device_mesh.ndim: {mesh.ndim}."
        )
    result: list[Placement] = []
    for each in given:
        if not isinstance(each, (Shard, Replicate, Partial)):
            raise RuntimeError(f"Trying to distribute a tensor with unsupported placements {each}")
        if isinstance(each, Shard) and not -ndim <= each.dim < ndim:
            raise RuntimeError(f"Sharding dim {each.dim} greater than tensor ndim {ndim}")
        result.append(Shard(each.dim % ndim) if isinstance(each, Shard) else each)
    return tuple(result)


def _whole_shape(local: Tensor, mesh: DeviceMesh, placements: Placements) -> tuple[int, ...]:
    """The shape of the whole, if all parts are of the size of this one."""
    shape = list(local.shape)
    for parts, each in zip(mesh.shape, placements, strict=True):
        if isinstance(each, Shard):
            shape[each.dim] *= parts
    return tuple(shape)


@no_grad()
def _same_where_whole(local: Tensor, mesh: DeviceMesh, placements: Placements) -> Tensor:
    result = local.clone()
    for dim, each in enumerate(placements):
        if isinstance(each, Replicate):
            broadcast(result, group=mesh.get_group(dim), group_src=0)
    return result


def distribute_tensor(
    tensor: Tensor,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> DTensor:
    """Spread a tensor over a mesh: that of the process of rank `src_data_rank` there, or with None that of each."""
    mesh = device_mesh or active_mesh()
    if not tensor.is_leaf:
        raise RuntimeError("`distribute_tensor` should be used to distribute leaf tensors! but found non-leaf tensor!")
    if isinstance(tensor, DTensor):
        if tensor.device_mesh != mesh:
            raise ValueError(f"Cannot distribute a DTensor with device mesh {tensor.device_mesh} to {mesh}.")
        return tensor.redistribute(placements=placements)
    spread = _checked(placements or [Replicate()] * mesh.ndim, mesh, tensor.ndim)
    if any(isinstance(each, Partial) for each in spread):
        raise RuntimeError(f"Trying to distribute a tensor with unsupported placements {spread}")
    with no_grad():
        whole = tensor.detach().contiguous()
        if src_data_rank is not None and mesh.get_coordinate() is not None:
            whole = whole.clone()
            for dim in range(mesh.ndim):
                group = mesh.get_group(dim)
                broadcast(whole, src=get_global_rank(group, src_data_rank % group.size()), group=group)
        everywhere = (Replicate(),) * mesh.ndim
        local = moved(whole, whole.shape, mesh, everywhere, spread) if mesh.get_coordinate() else whole[:0]
        result = DTensor(local.clone(), mesh, spread, tensor.shape, tensor.requires_grad)
    return result


def factory(name: str, *parameters: str) -> Any:
    """A function such as `zeros`, whose result is a DTensor; after the size it takes what the parameters are called."""
    make = getattr(ops, name)
    draws = name.startswith("rand")

    def made(
        *size: Any,
        requires_grad: bool = False,
        dtype: Any = None,
        layout: Any = strided,
        device_mesh: DeviceMesh | None = None,
        placements: Sequence[Placement] | None = None,
        **values: Any,
    ) -> DTensor:
        if layout is not strided:
            raise AssertionError("layout value not supported!")
        mesh = device_mesh or active_mesh()
        if parameters:
            size, given = size[:1], size[1:]
            values |= dict(zip(parameters, given, strict=False))
        shape = Size(size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size)
        spread = _checked(placements or [Replicate()] * mesh.ndim, mesh, len(shape))
        part = own_block(shape, mesh, spread)[1]
        making = partial(make, part, dtype=dtype, **values)
        local = drawn(making, shape, mesh, spread, None) if draws else making()
        return DTensor(local, mesh, spread, shape, requires_grad)

    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"As `torch.{name}`, spread over a mesh."
    return made


def local_of(value: Any) -> Any:
    """The part of this process, or the value itself."""
    return value.to_local() if isinstance(value, DTensor) else value


def tree_locals(tree: Any) -> Any:
    """A tree with the parts of this process in it."""
    return tree_map(local_of, tree)
