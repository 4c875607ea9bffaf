"""Taking the leaves out of nested arguments whose structure was seen in a trace."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from mindtorch._functions.other_names import return_types
from mindtorch._support.pytree import PyTree, TreeSpec, tree_flatten

FlattenFuncSpec = Callable[[PyTree, TreeSpec], list[Any]]
FlattenFuncExactMatchSpec = Callable[[PyTree, TreeSpec], bool]
FlattenFnSpec, FlattenFnExactMatchSpec = FlattenFuncSpec, FlattenFuncExactMatchSpec

SUPPORTED_NODES: dict[type, FlattenFuncSpec] = {}
SUPPORTED_NODES_EXACT_MATCH: dict[type, FlattenFuncExactMatchSpec | None] = {}


def register_pytree_flatten_spec(
    cls: type,
    flatten_fn_spec: FlattenFuncSpec,
    flatten_fn_exact_match_spec: FlattenFuncExactMatchSpec | None = None,
) -> None:
    """Have a class of containers taken apart as a structure says; what it holds besides is left out."""
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def _deregister_pytree_flatten_spec(cls: type) -> None:
    del SUPPORTED_NODES[cls]
    del SUPPORTED_NODES_EXACT_MATCH[cls]


def tree_flatten_spec(pytree: PyTree, spec: TreeSpec) -> list[Any]:
    """The leaves of a tree that has the given structure."""
    if spec.is_leaf():
        return [pytree]
    if spec.type in SUPPORTED_NODES:
        children = SUPPORTED_NODES[spec.type](pytree, spec)
        return [leaf for child, below in zip(children, spec.children()) for leaf in tree_flatten_spec(child, below)]
    leaves, found = tree_flatten(pytree)
    if spec != found:
        raise RuntimeError(
            f"Real spec {found} of object {pytree} is different from expected spec {spec}. "
            "Please file an issue at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml"
        )
    return leaves


def _dict_flatten_spec(d: Any, spec: TreeSpec) -> list[Any]:
    return [d[key] for key in spec.context]


def _sequence_flatten_spec(d: Any, spec: TreeSpec) -> list[Any]:
    return [d[place] for place in range(spec.num_children)]


def _has_same_length(d: Any, spec: TreeSpec) -> bool:
    return len(d) == spec.num_children


register_pytree_flatten_spec(dict, _dict_flatten_spec, _has_same_length)
_SEQUENCES: tuple[Any, ...] = (list, tuple, namedtuple)
for _cls in (*_SEQUENCES, *[each for each in vars(return_types).values() if isinstance(each, type)]):
    register_pytree_flatten_spec(_cls, _sequence_flatten_spec, _has_same_length)
