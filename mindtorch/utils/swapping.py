"""`swap_tensors`: two tensor objects exchange all that they are."""

from typing import Any
from weakref import getweakrefs, ref

from mindtorch._core.tensor import Tensor, share_version
from mindtorch.autograd._engine.accumulate_grad import AccumulateGrad

_SLOTS = ("_mt_array", "_mt_kind", "_mt_version", "_mt_edge", "_mt_meta", "__class__", "__dict__")


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Everybody who holds one of the two has the other from now on: contents, history, class and attributes."""
    for tensor in (t1, t2):
        if not isinstance(tensor, Tensor):
            raise AttributeError(f"'{type(tensor).__name__}' object has no attribute '_use_count'")
    for name, tensor in (("t1", t1), ("t2", t2)):
        if any(each is not _ref_of_node(tensor) for each in getweakrefs(tensor)):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    first, second = ([getattr(tensor, slot) for slot in _SLOTS] for tensor in (t1, t2))
    for tensor, values in ((t1, second), (t2, first)):
        for slot, value in zip(_SLOTS, values):
            setattr(tensor, slot, value)
    for tensor in (t1, t2):
        node = _leaf_node(tensor)
        if node is not None:
            node.leaf = ref(tensor)
    _raise_versions(t1, t2)


def _raise_versions(*tensors: Tensor) -> None:
    """A node that has kept one of the tensors finds another version, as after a write."""
    counters = [share_version(tensor) for tensor in tensors if not tensor.is_inference()]
    highest = max((counter[0] for counter in counters), default=0)
    for counter in counters:
        counter[0] = highest + 1


def _leaf_node(tensor: Tensor) -> Any:
    """The node that collects the gradients of a leaf, and knows which tensor it is."""
    node = tensor._mt_edge[0] if tensor._mt_edge else None
    return node if isinstance(node, AccumulateGrad) else None


def _ref_of_node(tensor: Tensor) -> Any:
    node = _leaf_node(tensor)
    return None if node is None else node.leaf
