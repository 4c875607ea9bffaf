"""Nested Python containers as trees, with torch's names: taken apart into leaves, put together again, mapped over.

A `TreeSpec` is the structure of a tree without its leaves. A container type is known by a pair of functions: one gives
its children and whatever else is needed to make it again (the context), the other makes it again from both.
"""

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mindtorch._support.warnings import warn

PyTree = Any
Context = Any


class NodeDef(NamedTuple):
    """How a container type is taken apart and put together.

    `flatten_with_keys_fn` gives pairs (key, child) in the place of the children; the others are for structures as text.
    """

    type: Any
    flatten_fn: Callable[[Any], tuple[list, Context]]
    unflatten_fn: Callable[[Iterable, Context], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[list, Context]] | None = None
    serialized_type_name: str | None = None
    to_dumpable_context: Callable[[Context], Any] | None = None
    from_dumpable_context: Callable[[Any], Context] | None = None


def flatten_dict(values: dict) -> tuple[list, Context]:
    return list(values.values()), list(values)


def unflatten_dict(children: Iterable, keys: Context) -> dict:
    return dict(zip(keys, children, strict=True))


def _flatten_defaultdict(values: defaultdict) -> tuple[list, Context]:
    return list(values.values()), [values.default_factory, list(values)]


def _unflatten_defaultdict(children: Iterable, context: Context) -> defaultdict:
    factory, keys = context
    return defaultdict(factory, zip(keys, children, strict=True))


SUPPORTED_NODES: dict[Any, NodeDef] = {
    each.type: each
    for each in (
        NodeDef(tuple, lambda values: (list(values), None), lambda children, _: tuple(children)),
        NodeDef(list, lambda values: (values, None), lambda children, _: list(children)),
        NodeDef(dict, flatten_dict, unflatten_dict),
        NodeDef(namedtuple, lambda values: (list(values), type(values)), lambda children, kind: kind._make(children)),
        NodeDef(OrderedDict, flatten_dict, lambda children, keys: OrderedDict(zip(keys, children, strict=True))),
        NodeDef(defaultdict, _flatten_defaultdict, _unflatten_defaultdict),
        NodeDef(deque, lambda values: (list(values), values.maxlen), lambda children, size: deque(children, size)),
    )
}


def register_pytree_node(
    cls: type,
    flatten_fn: Callable,
    unflatten_fn: Callable,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Context], Any] | None = None,
    from_dumpable_context: Callable[[Any], Context] | None = None,
    flatten_with_keys_fn: Callable[[Any], tuple[list, Context]] | None = None,
) -> None:
    """Make a container type known."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(
        cls,
        flatten_fn,
        unflatten_fn,
        flatten_with_keys_fn,
        serialized_type_name,
        to_dumpable_context,
        from_dumpable_context,
    )


def register_constant(cls: type) -> None:
    """Make the objects of a class nodes without leaves: they are a part of the structure, and are compared with it.

    Raises TypeError if the class does not say when two of its objects are equal.
    """
    for method, default in (("__eq__", object.__eq__), ("__hash__", None)):
        if getattr(cls, method) is default:
            raise TypeError(f"register_constant(cls) expects `cls` to have a non-default `{method}` implementation.")
    register_pytree_node(cls, lambda value: ([], value), lambda children, context: context)


@dataclass(frozen=True, slots=True, repr=False)
class TreeSpec:
    """The structure of a tree: a container type with its context, and the structures of the children."""

    type: Any
    context: Context
    children_specs: tuple["TreeSpec", ...] = ()
    num_leaves: int = field(init=False, compare=False)
    num_nodes: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        children = self.children_specs
        object.__setattr__(self, "num_leaves", 1 if self.is_leaf() else sum(each.num_leaves for each in children))
        object.__setattr__(self, "num_nodes", 1 + sum(each.num_nodes for each in children))

    def __hash__(self) -> int:
        # Without the context, which may be a list.
        return hash((self.type, self.num_leaves, self.children_specs))

    @property
    def num_children(self) -> int:
        return len(self.children_specs)

    def is_leaf(self) -> bool:
        return self.type is None

    def children(self) -> list["TreeSpec"]:
        return list(self.children_specs)

    def child(self, index: int) -> "TreeSpec":
        return self.children_specs[index]

    def unflatten(self, leaves: Iterable) -> PyTree:
        """The tree of this structure with these leaves."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a pytree that "
                f"holds {self.num_leaves} items ({self})."
            )
        return _unflatten(self, iter(leaves))

    def __repr__(self) -> str:
        return _described(self, 0)


@dataclass(frozen=True, slots=True, repr=False, eq=False, init=False)
class LeafSpec(TreeSpec):
    """The structure of a leaf, for programs that make one by hand."""

    def __init__(self) -> None:
        warn(
            "`isinstance(treespec, LeafSpec)` is deprecated, use `isinstance(treespec, TreeSpec) and "
            "treespec.is_leaf()` instead.",
            FutureWarning,
        )
        TreeSpec.__init__(self, None, None)


LEAF = LeafSpec.__new__(LeafSpec)
TreeSpec.__init__(LEAF, None, None)


def _unflatten(spec: TreeSpec, leaves: Any) -> PyTree:
    if spec.is_leaf():
        return next(leaves)
    children = [_unflatten(child, leaves) for child in spec.children_specs]
    return SUPPORTED_NODES[spec.type].unflatten_fn(children, spec.context)


def _described(spec: TreeSpec, indent: int) -> str:
    if spec.is_leaf():
        return "*"
    separator = ",\n" + " " * (indent + 2)
    children = separator.join(_described(child, indent + 2) for child in spec.children_specs)
    return f"TreeSpec({spec.type.__name__}, {spec.context}, [{children}])"


class _Asterisk:
    """A leaf as it is printed."""

    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """The tree with asterisks for its leaves, as text."""
    return repr(tree_unflatten([_Asterisk()] * treespec.num_leaves, treespec))


# -------------------- apart and together --------------------


def is_namedtuple_class(cls: type) -> bool:
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def is_namedtuple_instance(value: Any) -> bool:
    return is_namedtuple_class(type(value))


def node_type_of(tree: PyTree) -> Any:
    """The type by which a container is known; one for all named tuples."""
    return namedtuple if is_namedtuple_instance(tree) else type(tree)


def node_def_of(tree: PyTree) -> NodeDef | None:
    """How to take a tree apart; None for a leaf."""
    kind = type(tree)
    known = SUPPORTED_NODES.get(kind)
    if known is None and is_namedtuple_class(kind):
        return SUPPORTED_NODES[namedtuple]
    return known


def tree_is_leaf(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> bool:
    return (is_leaf is not None and is_leaf(tree)) or node_def_of(tree) is None


def tree_flatten(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> tuple[list, TreeSpec]:
    """The leaves from left to right, and the structure."""
    leaves: list = []
    return leaves, _flatten_into(leaves, tree, is_leaf)


def _flatten_into(leaves: list, tree: PyTree, is_leaf: Callable | None) -> TreeSpec:
    node = None if is_leaf is not None and is_leaf(tree) else node_def_of(tree)
    if node is None:
        leaves.append(tree)
        return LEAF
    children, context = node.flatten_fn(tree)
    return TreeSpec(node.type, context, tuple([_flatten_into(leaves, child, is_leaf) for child in children]))


def tree_unflatten(leaves: Iterable, treespec: TreeSpec) -> PyTree:
    """The tree of a structure with these leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            f"tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec but got item of type "
            f"{type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_leaves(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> list:
    return tree_flatten(tree, is_leaf)[0]


tree_iter = tree_leaves


def tree_structure(tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> TreeSpec:
    return tree_flatten(tree, is_leaf)[1]


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list:
    """The leaves of all arguments of a call."""
    return tree_leaves((args, kwargs))


# -------------------- mapping --------------------


def tree_map(func: Callable, tree: PyTree, *rests: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> PyTree:
    """The same tree with `func(leaf, ...)` for each leaf; the other trees have the structure of the first."""
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten(map(func, leaves, *[leaves_up_to(spec, rest) for rest in rests]))


def leaves_up_to(spec: TreeSpec, tree: PyTree) -> list:
    """The subtrees of a tree that are where another has its leaves."""
    if spec.is_leaf():
        return [tree]
    node = node_def_of(tree)
    if node is None or node.type is not spec.type:
        raise ValueError(f"Node type mismatch; expected {spec.type!r}, but got {type(tree)!r}.")
    children, context = node.flatten_fn(tree)
    if len(children) != spec.num_children:
        raise ValueError(f"Node arity mismatch; expected {spec.num_children}, but got {len(children)}.")
    if context != spec.context:
        raise ValueError(
            f"Node context mismatch for node type {spec.type!r}; expected {spec.context!r}, but got {context!r}."
        )
    pairs = zip(spec.children_specs, children, strict=True)
    return [leaf for child, part in pairs for leaf in leaves_up_to(child, part)]


def tree_map_(func: Callable, tree: PyTree, *rests: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> PyTree:
    """Call `func` for each leaf and return the tree as it was."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def map_only(type_or_types_or_pred: Any) -> Callable[[Callable], Callable[[Any], Any]]:
    """A decorator: apply a function to values of some types, or for which a predicate holds, and to no others."""
    fits = _predicate(type_or_types_or_pred)
    return lambda func: lambda value: func(value) if fits(value) else value


def _predicate(type_or_types_or_pred: Any) -> Callable[[Any], bool]:
    if isinstance(type_or_types_or_pred, type | tuple) or not callable(type_or_types_or_pred):
        return lambda value: isinstance(value, type_or_types_or_pred)
    return type_or_types_or_pred


def tree_map_only(
    type_or_types_or_pred: Any, func: Callable, tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> PyTree:
    """`tree_map` for the leaves of some types; the others stay."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Any, func: Callable, tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> PyTree:
    """`tree_map_` for the leaves of some types."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> bool:
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None) -> bool:
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(
    type_or_types: Any, pred: Callable[[Any], bool], tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> bool:
    return all(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if isinstance(leaf, type_or_types))


def tree_any_only(
    type_or_types: Any, pred: Callable[[Any], bool], tree: PyTree, is_leaf: Callable[[PyTree], bool] | None = None
) -> bool:
    return any(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if isinstance(leaf, type_or_types))


def _broadcast_to_and_flatten(
    tree: PyTree, treespec: TreeSpec, is_leaf: Callable[[PyTree], bool] | None = None
) -> list | None:
    """One value for each leaf of a structure: a leaf of `tree` in the place of a subtree holds for all of it.

    None if the structures don't agree.
    """
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    node = node_def_of(tree)
    if treespec.is_leaf() or node is None or node.type is not treespec.type:
        return None
    children, context = node.flatten_fn(tree)
    if len(children) != treespec.num_children or context != treespec.context:
        return None
    found: list = []
    for child, spec in zip(children, treespec.children_specs, strict=True):
        values = _broadcast_to_and_flatten(child, spec, is_leaf)
        if values is None:
            return None
        found.extend(values)
    return found
