"""The leaves of trees with the path to each, `tree_map_with_path` and its kin; dataclasses as trees."""

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from mindtorch._support.pytree import (
    SUPPORTED_NODES,
    Context,
    PyTree,
    flatten_dict,
    leaves_up_to,
    node_def_of,
    register_pytree_node,
    tree_structure,
)
from mindtorch._support.warnings import warn


@dataclass(frozen=True)
class SequenceKey:
    """The step to an element of a list or tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        return sequence[self.idx]


@dataclass(frozen=True)
class MappingKey:
    """The step to a value of a dictionary."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        return mapping[self.key]


@dataclass(frozen=True)
class GetAttrKey:
    """The step to an attribute, or to a field of a named tuple."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        return getattr(obj, self.name)


KeyEntry = Any
KeyPath = tuple[KeyEntry, ...]


def keystr(kp: KeyPath) -> str:
    """A path as one would write it: `['a'][0].x`."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What a path leads to."""
    for step in kp:
        obj = step.get(obj)
    return obj


def sequence_keys(values: Sequence) -> list[KeyEntry]:
    return [SequenceKey(index) for index in range(len(values))]


def _mapping_keys(values: Any) -> list[KeyEntry]:
    return [MappingKey(key) for key in values]


def flatten_dict_with_keys(values: dict) -> tuple[list[tuple[KeyEntry, Any]], Context]:
    children, keys = flatten_dict(values)
    return list(zip(_mapping_keys(values), children, strict=True)), keys


_KEYS: dict[Any, Callable[[Any], list[KeyEntry]]] = {
    **dict.fromkeys((tuple, list, deque), sequence_keys),
    **dict.fromkeys((dict, OrderedDict, defaultdict), _mapping_keys),
    namedtuple: lambda values: [GetAttrKey(name) for name in type(values)._fields],
}


def tree_flatten_with_path(
    tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> tuple[list[tuple[KeyPath, Any]], Any]:
    """The leaves from left to right, each behind its path, and the structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_leaves_with_path(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> list[tuple[KeyPath, Any]]:
    found: list[tuple[KeyPath, Any]] = []
    _collect(found, (), tree, is_leaf)
    return found


def _collect(found: list[tuple[KeyPath, Any]], path: KeyPath, tree: PyTree, is_leaf: Callable | None) -> None:
    node = None if is_leaf is not None and is_leaf(tree) else node_def_of(tree)
    if node is None:
        found.append((path, tree))
        return
    if node.flatten_with_keys_fn is not None:
        pairs = node.flatten_with_keys_fn(tree)[0]
    elif node.type in _KEYS:
        pairs = list(zip(_KEYS[node.type](tree), node.flatten_fn(tree)[0], strict=True))
    else:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {node.type}. Please pass a flatten_with_keys_fn argument "
            "to register_pytree_node."
        )
    for key, child in pairs:
        _collect(found, (*path, key), child, is_leaf)


def tree_map_with_path(
    func: Callable, tree: PyTree, *rests: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> PyTree:
    """The same tree with `func(path, leaf, ...)` for each leaf; the other trees have the structure of the first."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    paths, leaves = zip(*pairs) if pairs else ((), ())
    return spec.unflatten(map(func, paths, leaves, *[leaves_up_to(spec, rest) for rest in rests]))


# -------------------- dataclasses --------------------


def register_dataclass(
    cls: type,
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Make a dataclass known as a container of its fields; those that are dropped come back with their defaults."""
    names = _field_names(cls, field_names, drop_field_names or [])
    if cls in SUPPORTED_NODES:
        warn(f"{cls} is already registered as pytree node. Overwriting the previous registration.")
        del SUPPORTED_NODES[cls]

    def flatten(value: Any) -> tuple[list, Context]:
        given = [name for name in names if getattr(value, name) is not None]
        absent = [name for name in names if getattr(value, name) is None]
        return [getattr(value, name) for name in given], [given, absent]

    def flatten_with_keys(value: Any) -> tuple[list, Context]:
        children, context = flatten(value)
        return [(GetAttrKey(name), child) for name, child in zip(context[0], children)], context

    def unflatten(children: Any, context: Context) -> Any:
        given, absent = context
        return cls(**dict(zip(given, children)), **dict.fromkeys(absent))

    register_pytree_node(
        cls,
        flatten,
        unflatten,
        serialized_type_name=serialized_type_name,
        flatten_with_keys_fn=flatten_with_keys,
    )


def _field_names(cls: type, field_names: list[str] | None, dropped: list[str]) -> list[str]:
    if not is_dataclass(cls):
        if field_names is None:
            raise ValueError(
                f"field_names must be specified with a list of all fields used to initialize {cls}, as it is not a "
                "dataclass."
            )
        return field_names
    initial = [each for each in fields(cls) if each.init]
    if field_names is None:
        return [each.name for each in initial if each.name not in dropped]

    _check_field_names({each.name for each in initial}, set(field_names), set(dropped))
    return field_names


def _check_field_names(all_names: set[str], named: set[str], dropped: set[str]) -> None:
    missing, unexpected = all_names - named - dropped, named - all_names
    if not missing and not unexpected:
        return
    text = "field_names does not include all dataclass fields.\n"
    if missing:
        text += (
            f"Missing fields in `field_names`: {missing}. If you want to include these fields in the pytree, please "
            "add them to `field_names`, otherwise please add them to `drop_field_names`.\n"
        )
    if unexpected:
        text += (
            f"Unexpected fields in `field_names`: {unexpected}. Please remove these fields, or add them to "
            "`drop_field_names`.\n"
        )
    raise ValueError(text)
