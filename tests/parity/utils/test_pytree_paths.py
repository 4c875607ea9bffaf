"""Paths to the leaves of trees, dataclasses as trees, and structures as text, as in `torch.utils._pytree`."""

import json
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field

import pytest
import torch
import torch.utils._pytree as theirs

import mindtorch
import mindtorch.utils._pytree as ours

Point = namedtuple("Point", "x y")
TREES = {
    "leaf": 1,
    "empty": {},
    "all": {
        "a": [1, (2,)],
        "b": OrderedDict(z=3),
        "d": deque([6], maxlen=3),
        "e": defaultdict(int, {"q": 7}),
        3: None,
    },
    "named": Point(1, [2, Point(3, 4)]),
}


def tried(function, *args, **kwargs):
    try:
        return repr(function(*args, **kwargs))
    except (ValueError, TypeError, NotImplementedError) as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("name", TREES)
def test_paths(name):
    def program(library):
        pairs, spec = library.tree_flatten_with_path(TREES[name])
        mapped = library.tree_map_with_path(lambda path, leaf: (library.keystr(path), leaf), TREES[name])
        found = [library.key_get(TREES[name], path) for path, _ in pairs]
        return repr((pairs, spec, mapped, found, library.tree_leaves_with_path(TREES[name])))

    assert program(ours) == program(theirs)


def test_paths_of_several_trees_and_leaves_of_ones_own():
    def program(library):
        lists = library.tree_leaves_with_path([1, [2]], is_leaf=lambda tree: tree == [2])
        sums = library.tree_map_with_path(lambda path, one, other: (path, one + other), [1, 2], [3, 4])
        return repr((lists, sums)), tried(library.tree_map_with_path, lambda *_: 0, [1, 2], [3])

    assert program(ours) == program(theirs)


def test_containers_without_keys():
    class Box:
        pass

    for library in (ours, theirs):
        library.register_pytree_node(Box, lambda box: ([1], None), lambda children, _: Box())
    for call in ("tree_flatten_with_path", "tree_leaves_with_path"):
        assert tried(getattr(ours, call), Box()) == tried(getattr(theirs, call), Box())


@pytest.mark.parametrize("name", TREES)
def test_structures_as_text(name):
    texts = [tried(library.treespec_dumps, library.tree_structure(TREES[name])) for library in (ours, theirs)]
    assert texts[0] == texts[1]
    if name != "named":
        spec = ours.tree_structure(TREES[name])
        text = theirs.treespec_dumps(theirs.tree_structure(TREES[name]))
        assert ours.treespec_loads(text) == spec and json.loads(ours.treespec_dumps(spec)) == json.loads(text)


@pytest.mark.parametrize(("call", "value"), [("treespec_dumps", [1]), ("treespec_loads", "[2, 3]")])
def test_wrong_structures(call, value):
    assert tried(getattr(ours, call), value) == tried(getattr(theirs, call), value)


def test_sizes_are_containers():
    texts = [repr(library.tree_flatten([T.Size([1, 2])])) for library, T in ((ours, mindtorch), (theirs, torch))]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    "options", [{}, {"field_names": ["a", "b"], "drop_field_names": ["c"]}, {"field_names": ["a", "b", "c"]}]
)
def test_dataclasses(options):
    @dataclass
    class Data:
        a: int
        b: object
        c: int = 3
        d: int = field(default=4, init=False)

    def program(library):
        library.register_dataclass(Data, **options)
        data = Data(1, [2, None], 5)
        mapped = library.tree_map(lambda leaf: leaf and leaf + 1, data)
        return repr((library.tree_flatten(data), mapped, library.tree_flatten_with_path(data)))

    assert program(ours) == program(theirs)


def test_wrong_fields():
    @dataclass
    class Data:
        a: int

    for options in ({"field_names": []}, {"field_names": ["a", "z"]}):
        texts = [tried(library.register_dataclass, Data, **options) for library in (ours, theirs)]
        assert texts[0] == texts[1]
    assert tried(ours.register_dataclass, Point) == tried(theirs.register_dataclass, Point)


@pytest.mark.parametrize("call", ("tree_all_only", "tree_any_only"))
@pytest.mark.parametrize("tree", ([1, 2.0, -3.0], [-1], [], [1.5]))
def test_leaves_of_a_type(call, tree):
    results = [getattr(library, call)(int, lambda leaf: leaf > 0, tree) for library in (ours, theirs)]
    assert results[0] == results[1]
