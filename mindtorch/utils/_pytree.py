"""Nested Python containers as trees, under the name that programs know; see mindtorch._support.pytree."""

from mindtorch._support.pytree import (
    SUPPORTED_NODES,
    Context,
    LeafSpec,
    NodeDef,
    PyTree,
    TreeSpec,
    _broadcast_to_and_flatten,
    arg_tree_leaves,
    flatten_dict,
    is_namedtuple_class,
    is_namedtuple_instance,
    map_only,
    node_type_of,
    register_constant,
    register_pytree_node,
    tree_all,
    tree_all_only,
    tree_any,
    tree_any_only,
    tree_flatten,
    tree_is_leaf,
    tree_iter,
    tree_leaves,
    tree_map,
    tree_map_,
    tree_map_only,
    tree_map_only_,
    tree_structure,
    tree_unflatten,
    treespec_pprint,
    unflatten_dict,
)
from mindtorch._support.pytree_paths import (
    GetAttrKey,
    KeyEntry,
    KeyPath,
    MappingKey,
    SequenceKey,
    flatten_dict_with_keys,
    key_get,
    keystr,
    register_dataclass,
    tree_flatten_with_path,
    tree_leaves_with_path,
    tree_map_with_path,
)
from mindtorch._support.pytree_text import treespec_dumps, treespec_loads

PyTreeSpec = TreeSpec

# By these names other libraries register containers that are like dictionaries.
_dict_flatten, _dict_unflatten, _dict_flatten_with_keys = flatten_dict, unflatten_dict, flatten_dict_with_keys
_get_node_type, _register_pytree_node = node_type_of, register_pytree_node

__all__ = [
    "SUPPORTED_NODES",
    "Context",
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "LeafSpec",
    "MappingKey",
    "NodeDef",
    "PyTree",
    "PyTreeSpec",
    "SequenceKey",
    "TreeSpec",
    "_broadcast_to_and_flatten",
    "arg_tree_leaves",
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "key_get",
    "keystr",
    "map_only",
    "register_dataclass",
    "register_constant",
    "register_pytree_node",
    "tree_all",
    "tree_all_only",
    "tree_any",
    "tree_any_only",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_is_leaf",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_map_with_path",
    "tree_structure",
    "tree_unflatten",
    "treespec_dumps",
    "treespec_loads",
    "treespec_pprint",
]


def is_namedtuple(obj: object) -> bool:
    """Whether this is a named tuple or a class of them."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))
