"""Lists and dictionaries that cannot be changed: the arguments of nodes, whose uses a graph keeps track of."""

from typing import Any, NoReturn, TypeVar

from mindtorch._support.pytree import Context, flatten_dict, register_pytree_node
from mindtorch._support.pytree_paths import SequenceKey, flatten_dict_with_keys
from mindtorch.fx._compatibility import compatibility

__all__ = ["immutable_dict", "immutable_list"]

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")

_ADVICE = """\
If you are attempting to modify the kwargs or args of a torch.fx.Node object,
instead create a new copy of it and assign the copy to the node:

    new_args = ...  # copy and mutate args
    node.args = new_args"""


def _no_mutation(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(f"{type(self).__name__!r} object does not support mutation. {_ADVICE}")


@compatibility(is_backward_compatible=True)
class immutable_list(list[T]):
    """A list that raises a TypeError when it is changed; it can be hashed."""

    __delitem__ = __iadd__ = __imul__ = __setitem__ = _no_mutation
    append = clear = extend = insert = pop = remove = reverse = sort = _no_mutation

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self),)


@compatibility(is_backward_compatible=True)
class immutable_dict(dict[K, V]):
    """A dictionary that raises a TypeError when it is changed; it can be hashed."""

    __delitem__ = __ior__ = __setitem__ = clear = pop = popitem = setdefault = update = _no_mutation

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self.items()),)


def _immutable_list_flatten(values: list[Any]) -> tuple[list[Any], Context]:
    return list(values), None


def _immutable_list_unflatten(children: Any, context: Context) -> immutable_list[Any]:
    return immutable_list(children)


def _immutable_list_flatten_with_keys(values: list[Any]) -> tuple[list[Any], Context]:
    return [(SequenceKey(place), value) for place, value in enumerate(values)], None


def _immutable_dict_flatten(values: dict[Any, Any]) -> tuple[list[Any], Context]:
    return flatten_dict(values)


def _immutable_dict_unflatten(children: Any, keys: Context) -> immutable_dict[Any, Any]:
    return immutable_dict(zip(keys, children))


register_pytree_node(
    immutable_list,
    _immutable_list_flatten,
    _immutable_list_unflatten,
    serialized_type_name="torch.fx.immutable_collections.immutable_list",
    flatten_with_keys_fn=_immutable_list_flatten_with_keys,
)
register_pytree_node(
    immutable_dict,
    _immutable_dict_flatten,
    _immutable_dict_unflatten,
    serialized_type_name="torch.fx.immutable_collections.immutable_dict",
    flatten_with_keys_fn=flatten_dict_with_keys,
)
