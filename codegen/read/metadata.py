"""Facts about a tensor that a formula may use without the tensor itself: its shape, its dtype and the like."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ..model import Argument, Type

METADATA_ATTRIBUTES = frozenset("shape dtype ndim device layout".split())
METADATA_METHODS = frozenset("numel stride storage_offset dim size is_complex is_floating_point".split())
LIST_METADATA = frozenset("shapes dtypes".split())
INDEXED_METADATA = frozenset("size stride".split())

# What arrives for an argument that is no tensor; an int may arrive for a float.
_LISTS = (list, tuple)
_VALUES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "SymInt": (int,),
    "bool": (bool,),
    "float": (int, float),
    "Scalar": (int, float, complex),
    "str": (str,),
}


def value_attributes(kind: Type) -> frozenset[str]:
    """The attributes of an argument that is no single tensor; empty if they are not known here."""
    values = _LISTS if kind.is_list else _VALUES.get(kind.base, ())
    shared = set.intersection(*[set(dir(each)) for each in values]) if values else set()
    names = frozenset(name for name in shared if not name.startswith("_"))
    return names | LIST_METADATA if kind.is_tensor_list else names


def owner_of(node: ast.AST) -> str | None:
    """The name in front of the dot, of an attribute or of a method's call."""
    attribute = node.func if isinstance(node, ast.Call) else node
    if isinstance(attribute, ast.Attribute) and isinstance(attribute.value, ast.Name):
        return attribute.value.id
    return None


def metadata_key(node: ast.AST, argument: Argument) -> str | None:
    """``self.shape`` or ``self.stride()`` if the node reads only that of its owner, which is ``argument``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        known = argument.type.is_tensor and _is_metadata_call(node, node.func.attr)
        return f"{argument.name}.{node.func.attr}()" if known else None
    assert isinstance(node, ast.Attribute)
    facts = LIST_METADATA if argument.type.is_tensor_list else METADATA_ATTRIBUTES
    known = argument.type.holds_tensors and node.attr in facts
    return f"{argument.name}.{node.attr}" if known else None


def _is_metadata_call(call: ast.Call, method: str) -> bool:
    most = 1 if method in INDEXED_METADATA else 0
    return method in METADATA_METHODS and not call.keywords and len(call.args) <= most


def whole_names(tree: ast.AST, key_of: Callable[[ast.AST], str | None]) -> Iterator[str]:
    """The names that a formula uses otherwise than for metadata, which ``key_of`` knows."""
    if key_of(tree) is not None:
        for argument in getattr(tree, "args", ()):
            yield from whole_names(argument, key_of)
        return
    if isinstance(tree, ast.Name):
        yield tree.id
    for child in ast.iter_child_nodes(tree):
        yield from whole_names(child, key_of)
