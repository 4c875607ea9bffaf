"""The structure of a tree as JSON text and back: `treespec_dumps`, `treespec_loads`."""

import json
from collections import OrderedDict, defaultdict, deque, namedtuple
from importlib import import_module
from typing import Any

from mindtorch._support.pytree import LEAF, SUPPORTED_NODES, Context, NodeDef, TreeSpec

_PROTOCOL = 1
_BUILT_IN = {
    each: f"{each.__module__}.{each.__qualname__}" for each in (tuple, list, dict, OrderedDict, defaultdict, deque)
}


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """The text of a structure, in the only protocol that there is."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"Expected `treespec` to be an instance of PyTreeSpec but got item of type {type(treespec)}.")
    _check_protocol(_PROTOCOL if protocol is None else protocol)
    return json.dumps((_PROTOCOL, _as_data(treespec)))


def treespec_loads(serialized: str) -> TreeSpec:
    """The structure that a text describes."""
    protocol, data = json.loads(serialized)
    _check_protocol(protocol)
    return _from_data(data)


def _check_protocol(protocol: int) -> None:
    if protocol != _PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: {[_PROTOCOL]}")


def _as_data(spec: TreeSpec) -> dict[str, Any]:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    node = SUPPORTED_NODES[spec.type]
    children = [_as_data(child) for child in spec.children_specs]
    return {
        "type": _name_of(node, spec.context),
        "context": _context_data(node, spec.context),
        "children_spec": children,
    }


def _name_of(node: NodeDef, context: Context) -> str:
    name = node.serialized_type_name or _BUILT_IN.get(node.type)
    if name is not None:
        return name
    if node.type is namedtuple:
        raise NotImplementedError(
            f"Can't serialize TreeSpec of namedtuple class {context} because we didn't register a "
            "serializated_type_name. Please register using `_register_namedtuple`."
        )
    raise NotImplementedError(
        f"No registered serialization name for {node.type} found. Please update your _register_pytree_node call with a "
        "`serialized_type_name` kwarg."
    )


def _context_data(node: NodeDef, context: Context) -> Any:
    if node.to_dumpable_context is not None:
        return node.to_dumpable_context(context)
    if node.type is defaultdict:
        factory, keys = context
        return {
            "default_factory_module": factory.__module__,
            "default_factory_name": factory.__qualname__,
            "dict_context": keys,
        }
    return json.dumps(context)


def _from_data(data: dict[str, Any]) -> TreeSpec:
    if data["type"] is None:
        return LEAF
    node = _node_named(data["type"])
    children = tuple(_from_data(child) for child in data["children_spec"])
    return TreeSpec(node.type, _context_from(node, data["context"]), children)


def _node_named(name: str) -> NodeDef:
    for node in SUPPORTED_NODES.values():
        if name in (node.serialized_type_name, _BUILT_IN.get(node.type)):
            return node
    raise NotImplementedError(
        f"Deserializing `{name}` in pytree is not registered; call register_pytree_node with this "
        "`serialized_type_name`."
    )


def _context_from(node: NodeDef, data: Any) -> Context:
    if node.from_dumpable_context is not None:
        return node.from_dumpable_context(data)
    if node.type is defaultdict:
        module = import_module(data["default_factory_module"])
        return [getattr(module, data["default_factory_name"]), data["dict_context"]]
    return json.loads(data)
