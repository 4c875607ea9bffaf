"""What a node keeps for its formula, in words. Nothing is unpacked: no hook runs and no error is raised."""

from collections.abc import Iterator, Mapping
from typing import Any

from mindtorch._core.dtype import FROM_NUMPY
from mindtorch._core.dtype import dtype as Dtype
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.copy_slices import CopySlices
from mindtorch.autograd._engine.history import edge_of
from mindtorch.autograd._engine.node import Node
from mindtorch.autograd._engine.saved_tensor import FREED, SavedOutput, SavedTensor

Names = Mapping[tuple[int, int], str]  # of tensors, by (id of the node, output_nr)


def tensor_text(array: Any) -> str:
    """The dtype and the shape of an array, or of the metadata of an output."""
    dtype = array.dtype if isinstance(array.dtype, Dtype) else FROM_NUMPY.get(array.dtype)
    return f"{str(dtype).removeprefix('torch.')} {list(array.shape)}"


def written_by(node: Any) -> Any:
    """The node of the op that wrote a view in place, if the node is that of the view's base."""
    return node._mt_saved[0] if isinstance(node, CopySlices) and node._mt_saved else None


def attributes_of(node: Any) -> Iterator[str]:
    """The numbers, shapes and the like that a generated node keeps."""
    node = written_by(node) or node
    if isinstance(node, Node):
        for name in vars(type(node)).get("__slots__", ()):
            yield f"{name} = {getattr(node, name, None)}"


def saved_of(node: Any, names: Names) -> Iterator[str]:
    """The tensors that a node keeps, each by the name that it has in the formula."""
    kept = getattr(node, "_mt_saved", ())
    if kept is None:
        yield "saved tensors: freed"
    elif isinstance(node, CopySlices):
        yield from saved_of(written_by(node), names)
    else:
        for place, held in enumerate(kept):
            label = node.saved[place] if isinstance(node, Node) else f"saved_tensors[{place}]"
            if held is not None:
                yield f"{label}: {_held_text(held, names)}"


def _held_text(held: Any, names: Names) -> str:
    """One entry of `kept`; Note [Saved tensors] in mindtorch/autograd/_engine/saved_tensor.py has the forms."""
    if isinstance(held, list):
        return f"{len(held)} tensors"
    if isinstance(held, SavedTensor):
        held = _behind_hooks(held)
    if isinstance(held, tuple):
        held = held[0]
    if isinstance(held, SavedOutput):
        return tensor_text(held.array)
    if isinstance(held, Tensor):
        edge = edge_of(held)
        name = names.get((id(edge[0]), edge[1])) if edge else None
        return tensor_text(held._mt_array) + (f" = {name}" if name else "")
    return str(held)


def _behind_hooks(saved: SavedTensor) -> Any:
    """What a SavedTensor has: the thing itself, or what a hook has made of it."""
    if saved._held is FREED:
        return "freed"
    return saved._held if saved._unpack_hook is None else f"packed by a hook, as {type(saved._packed).__name__}"
