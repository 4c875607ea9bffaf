"""`Node`: the base of the generated nodes. Adds saved tensors to `NodeBase`."""

from typing import Any

import numpy as np

from mindtorch.autograd.node_base import NodeBase, second_backward
from mindtorch.autograd.saved_tensor import SavedTensor, unpack
from mindtorch.tensor import Tensor, wrap

_SAVED = "_saved_"
_RAW_SAVED = "_raw_saved_"


class Node(NodeBase):
    """A node that keeps tensors for its formula: the saved tensor `other` is in the field `other_saved`."""

    saved: tuple[str, ...] = ()  # the names of the saved tensors

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Give every field the default None: what was not saved."""
        super().__init_subclass__(**kwargs)
        cls.saved_fields = tuple(f"{name}_saved" for name in cls.saved)
        for field in cls.saved_fields:
            setattr(cls, field, None)

    def __getattr__(self, name: str) -> Any:
        """`_saved_x`: what was saved, for the curious; `_raw_saved_x`: the SavedTensor, which takes hooks."""
        raw = name.removeprefix(_RAW_SAVED)
        if raw in self.saved and raw != name:
            return self._raw_saved(raw)
        saved = name.removeprefix(_SAVED)
        if saved in self.saved and saved != name:
            return self._saved(saved)
        if saved in vars(self) and saved != name:
            return vars(self)[saved]  # a number, a shape: kept as it is
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

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
