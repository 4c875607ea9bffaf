"""`Node`: the base of the generated nodes. Adds saved tensors to `NodeBase`."""

from collections.abc import Mapping
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from mindtorch._core import state
from mindtorch._core.tensor import LevelVersion, Tensor, wrap
from mindtorch.autograd._engine.node_base import NodeBase, second_backward
from mindtorch.autograd._engine.saved_tensor import FREED, SavedTensor, as_object, unpack
from mindtorch.autograd._engine.shown_levels import leads_to
from mindtorch.dispatch.modes.captures import OwnTensors

_thread = state.thread


class Node(NodeBase):
    """A node that keeps tensors for its formula: those that `saved` names are in `_mt_saved`, in that order.

    For the curious there are properties: `_saved_x` is what was saved, `_raw_saved_x` the SavedTensor, which takes
    hooks. They are made with the class, because a `__getattr__` would slow down every look at any field of a node.
    """

    __slots__ = ()  # in a subclass: the names of numbers, shapes and the like, which are kept as they are

    schema = ""  # that of the op, which nodes that are written by hand need not have
    facts: Mapping[str, str | None] = {}  # what users find facts about tensors under, None where they do not
    saved: tuple[str, ...] = ()  # the names of the saved tensors
    saved_for: tuple[int | None, ...] = ()  # for each the edge for which alone it is saved, if any is for one alone

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.of_list = "(Tensor[] " in cls.schema
        for place, name in enumerate(cls.saved):
            setattr(cls, f"_saved_{name}", property(partial(cls._show_saved, place=place)))
            setattr(cls, f"_raw_saved_{name}", property(partial(cls._show_raw, place=place)))
        for field in vars(cls).get("__slots__", ()):
            shown = cls.facts.get(field, field)
            if shown is not None:
                setattr(cls, f"_saved_{shown}", property(attrgetter(field)))

    def name(self) -> str:
        """Nodes that torch derives from its table end in a number, or so does the view that they copy; others are known
        by their full C++ name."""
        own = type(self).__name__
        return own if own.removesuffix("_copy")[-1].isdigit() else f"torch::autograd::{own}"

    def unpack(self) -> tuple:
        """The saved tensors, as the formulas get them; a list for a list of tensors."""
        kept = self._mt_saved
        if kept is None:
            return self._nothing_saved()
        for held in kept:
            if type(held) is Tensor:
                counter = held._mt_version
                if counter is not None and (counter[0] or type(counter) is LevelVersion):
                    return self._unpack_one_by_one(kept)
            elif held is not None and type(held) is not float:
                return self._unpack_one_by_one(kept)
        return kept

    def _nothing_saved(self) -> tuple:
        """After the node was used: an error, unless no edge needed anything, so that nothing could be freed."""
        if not self.saved_for or any([place is None or self.next_edges[place] is not None for place in self.saved_for]):
            raise second_backward()
        return (None,) * len(self.saved)

    def _unpack_one_by_one(self, kept: tuple) -> tuple:
        """The same for what has to be looked at more closely; another pass may free the node's own reference to it."""
        try:
            return tuple([_unpacked(held, self) for held in kept])
        except RuntimeError:
            if _thread.differentiated is None or not self.saved_for:
                raise
            own = _thread.differentiated
            pairs = zip(kept, self.saved_for, strict=True)
            return tuple([_unpacked(held, self) if self._is_kept_in(own, place) else None for held, place in pairs])

    def _is_kept_in(self, own: OwnTensors, place: int | None) -> bool:
        """Whether something is saved in the graph of a transform: what only gradients of outer ones need is not."""
        edge = self.next_edges[place] if place is not None else None
        return place is None or (edge is not None and leads_to(edge[0], own))

    def keep_object(self, output: Tensor, copy: Tensor) -> None:
        """Keep an output as an object of its class: `copy`, which is outside of the graph."""
        self._mt_saved = tuple([as_object(held, output, copy) for held in self._mt_saved])

    def _show_saved(self, place: int) -> Any:
        value = self.unpack()[place]
        return tuple(value) if isinstance(value, list) else _as_tensor(value)

    def _show_raw(self, place: int) -> Any:
        kept = self._mt_saved
        if kept is None:
            return SavedTensor(FREED)
        held = kept[place]
        if isinstance(held, list):
            held[:] = map(as_saved_tensor, held)
            return tuple(held)
        raw = as_saved_tensor(held)
        self._mt_saved = (*kept[:place], raw, *kept[place + 1 :])
        return raw


def _unpacked(held: Any, node: Node) -> Any:
    return [unpack(each, node) for each in held] if isinstance(held, list) else unpack(held, node)


def _as_tensor(value: Any) -> Tensor | None:
    """Formulas get a Python number as such, a user gets a tensor."""
    return value if value is None or isinstance(value, Tensor) else wrap(np.asarray(value))


def as_saved_tensor(held: Any) -> SavedTensor:
    return held if isinstance(held, SavedTensor) else SavedTensor(held)
