"""Nested containers are taken apart and put together as by `torch.utils._pytree`."""

from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest
import torch.utils._pytree as theirs

import mindtorch.utils._pytree as ours

Point = namedtuple("Point", "x y")

TREES = {
    "leaf": 1,
    "none": None,
    "empty": (),
    "tuple": (1, 2),
    "nested": [1, (2, {"a": 3, "b": []}), None],
    "namedtuple": Point(1, [2, 3]),
    "named result": (Point(1, 2), {"p": Point(3, (4,))}),
    "ordered": OrderedDict(b=1, a=(2, 3)),
    "default": defaultdict(list, a=[1], b=2),
    "deque": deque([1, (2, 3)], 5),
    "wide": (1, 2, (3, 4, {"x": 5, "y": (6, 7)})),
    "text": ["ab", {"c": "d"}],
}


def tried(function, *args):
    try:
        return function(*args)
    except (ValueError, TypeError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("name", TREES)
def test_flatten_and_unflatten(name):
    tree = TREES[name]
    leaves, spec = ours.tree_flatten(tree)
    expected, their_spec = theirs.tree_flatten(tree)
    assert leaves == expected and repr(spec) == repr(their_spec)
    assert ours.treespec_pprint(spec) == theirs.treespec_pprint(their_spec)
    for fact in ("num_leaves", "num_nodes", "num_children"):
        assert getattr(spec, fact) == getattr(their_spec, fact)
    again = ours.tree_unflatten(leaves, spec)
    assert again == tree and type(again) is type(tree)
    too_many = [*leaves, 0]
    assert tried(ours.tree_unflatten, too_many, spec) == tried(theirs.tree_unflatten, too_many, their_spec)


@pytest.mark.parametrize("first", TREES)
@pytest.mark.parametrize("second", TREES)
def test_equal_structures(first, second):
    same = [library.tree_structure(TREES[first]) == library.tree_structure(TREES[second]) for library in (ours, theirs)]
    assert same[0] == same[1]


@pytest.mark.parametrize(
    "prefix", [0, None, (0, 1), [0, 1], (0, None), (0, (1, 2)), (0, 1, 2), {"a": 0}, [0, (1, 2), 3]]
)
@pytest.mark.parametrize("name", TREES)
def test_broadcast(name, prefix):
    found = [
        library._broadcast_to_and_flatten(prefix, library.tree_structure(TREES[name])) for library in (ours, theirs)
    ]
    assert found[0] == found[1]


@pytest.mark.parametrize("name", TREES)
def test_maps(name):
    tree = TREES[name]

    def results(library):
        return [
            library.tree_map(lambda leaf: [leaf], tree),
            library.tree_map(lambda a, b: (a, b), tree, tree),
            library.tree_map(str, tree, is_leaf=lambda value: isinstance(value, list)),
            library.tree_map_only(int, lambda leaf: leaf + 1, tree),
            library.tree_map_only((int, str), str, tree),
            library.tree_map_only(lambda leaf: leaf == 2, str, tree),
            library.tree_leaves(tree),
            library.tree_all(lambda leaf: leaf, tree),
            library.tree_any(lambda leaf: leaf, tree),
            library.tree_map_(lambda leaf: None, tree) is tree,
            library.arg_tree_leaves(tree, key=tree),
            library.tree_is_leaf(tree),
        ]

    assert results(ours) == results(theirs)


def test_a_type_of_ones_own():
    class Pair:
        def __init__(self, first, second):
            self.parts = first, second

    def check(library):
        library.register_pytree_node(Pair, lambda pair: (list(pair.parts), "context"), lambda parts, _: Pair(*parts))
        leaves, spec = library.tree_flatten([Pair(1, (2, 3))])
        again = library.tree_unflatten([4, 5, 6], spec)
        return leaves, again[0].parts, repr(spec), tried(library.register_pytree_node, Pair, None, None)

    assert check(ours) == check(theirs)


def test_constants_belong_to_the_structure():
    class Mode:
        def __init__(self, name):
            self.name = name

        def __eq__(self, other):
            return self.name == other.name

        def __hash__(self):
            return hash(self.name)

    class Plain:
        pass

    class WithoutHash:
        def __eq__(self, other):
            return True

    def check(library):
        library.register_constant(Mode)
        leaves, spec = library.tree_flatten([Mode("a"), 2])
        _, other = library.tree_flatten([Mode("b"), 3])
        _, same = library.tree_flatten([Mode("a"), 4])
        again = library.tree_map(lambda leaf: leaf + 1, [Mode("a"), 2])
        refused = [tried(library.register_constant, each) for each in (Plain, WithoutHash)]
        return leaves, spec == other, spec == same, again[0].name, again[1], refused

    assert check(ours) == check(theirs)
