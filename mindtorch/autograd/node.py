"""`Node`: the base of the generated nodes. Adds saved tensors to `NodeBase`."""

from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from mindtorch.autograd.node_base import NodeBase, second_backward
from mindtorch.autograd.saved_tensor import SavedTensor, unpack
from mindtorch.tensor import Tensor, wrap


class Node(NodeBase):
    """A node that keeps tensors for its formula: the saved tensor `other` is in the field `other_saved`.

    For the curious there are properties: `_saved_x` is what was saved, `_raw_saved_x` the SavedTensor, which takes
    hooks. They are made with the class, because a `__getattr__` would slow down every look at any field of a node.
    """

    saved: tuple[str, ...] = ()  # the names of the saved tensors
    values: tuple[str, ...] = ()  # the names of numbers, shapes and the like, which are kept as they are

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Give every field the default None: what was not saved."""
        super().__init_subclass__(**kwargs)
        cls.saved_fields = tuple(f"{name}_saved" for name in cls.saved)
        for name in cls.saved:
            setattr(cls, f"{name}_saved", None)
            setattr(cls, f"_saved_{name}", property(partial(cls._saved, name=name)))
            setattr(cls, f"_raw_saved_{name}", property(partial(cls._raw_saved, name=name)))
        for name in cls.values:
            setattr(cls, f"_saved_{name}", property(attrgetter(name)))

    def name(self) -> str:
        """Nodes that torch derives from its table end in a number; others are known by their full C++ name."""
        own = type(self).__name__
        return own if own[-1].isdigit() else f"torch::autograd::{own}"

    def _saved(self, name: str) -> Any:
        held = getattr(self, f"{name}_saved")
        if isinstance(held, list):
            return tuple(unpack(each, self) for each in held)
        return _as_tensor(unpack(held, self))

    def _raw_saved(self, name: str) -> Any:
        if self.released:
            raise second_backward()
        held = getattr(self, f"{name}_saved")
        if isinstance(held, list):
            held[:] = map(as_saved_tensor, held)
            return tuple(held)
        raw = as_saved_tensor(held)
        setattr(self, f"{name}_saved", raw)
        return raw


def _as_tensor(value: Any) -> Tensor | None:
    """Formulas get a Python number as such, a user gets a tensor."""
    return value if value is None or isinstance(value, Tensor) else wrap(np.asarray(value))


def as_saved_tensor(held: Any) -> SavedTensor:
    return held if isinstance(held, SavedTensor) else SavedTensor(held)
