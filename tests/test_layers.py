"""Imports point down: a module imports from its own layer and from lower ones, and there are no cycles."""

import ast
import re
import sys
from copy import deepcopy
from functools import cache
from pathlib import Path
from types import ModuleType

import mindtorch

ROOT = Path(__file__).parent.parent
SOURCES = {"mindtorch": ROOT / "mindtorch", "mindtorch._generated": ROOT / "generated"}

# Lowest layer first; the entry with the longest matching prefix decides.
LAYERS = [
    ["errors", "lazy", "op_names", "pytree", "pytree_paths", "pytree_text", "quiet", "threads", "typing", "warning"],
    ["dtype", "device", "layout", "memory_format", "named_result", "promotion", "size", "state"],
    ["aligned", "batched_array", "geometry", "mapping", "roots", "storage", "typed_storage"],
    ["autograd_meta", "tensor", "generator", "kinds"],
    ["dispatch"],
    ["iterator", "backends"],
    ["autograd"],
    ["composite"],
    ["_generated"],
    [
        "autograd.functional", "autograd.gradcheck", "autograd.graph", "autograd.variable", "autograd.__init__",
        "creation", "indexing",
        "func", "interop", "methods", "nested_data", "printing",
    ],
    [
        "autograd.profiler", "func.__init__", "func.modules",
        "nn", "npu", "optim", "profiler", "serialization", "testing", "utils",
    ],
    ["__init__"],
]  # fmt: skip


def layer_of(module: str) -> int:
    """The layer of a module, named without the leading `mindtorch.`."""
    found = [
        (len(prefix), number)
        for number, prefixes in enumerate(LAYERS)
        for prefix in prefixes
        if module == prefix or module.startswith(prefix + ".")
    ]
    if not found:
        return len(LAYERS) - 2  # an area of its own at the top, such as fft or linalg
    return max(found)[1]


def modules() -> dict[str, Path]:
    """All modules by dotted name without the leading `mindtorch.`; packages end in `__init__`."""
    found = {}
    for package, folder in SOURCES.items():
        prefix = package.partition(".")[2]
        for path in sorted(folder.rglob("*.py")):
            parts = [*([prefix] if prefix else []), *path.relative_to(folder).with_suffix("").parts]
            if parts != ["_generated", "__init__"] or package == "mindtorch._generated":
                found[".".join(parts)] = path
    return found


MODULES = modules()


class _RunTime(ast.NodeTransformer):
    """Leaves out what only type checkers read."""

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        is_for_types = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return node.orelse if is_for_types else self.generic_visit(node)


# One begins its line, as black has it. So may a line of a docstring.
STATEMENT = re.compile(r"^([ \t]*)(?:import\b|from\b[^(\n]*\bimport\b)[^(\n]*(?:\([^)]*\))?", re.MULTILINE)


@cache
def imports_in(path: Path) -> ast.Module:
    """The imports of a file, which are few lines of it; or all of it if some are inside of something."""
    text = path.read_text()
    found = list(STATEMENT.finditer(text))
    return ast.parse(text if any(each[1] for each in found) else "\n".join([each[0] for each in found]))


def imported_by(path: Path) -> set[str]:
    """The library's modules that a file imports when it runs."""
    found = set()
    for node in ast.walk(_RunTime().visit(deepcopy(imports_in(path)))):
        if isinstance(node, ast.Import):
            found |= {_module(alias.name, "") for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {_module(node.module, alias.name) for alias in node.names}
    return {name for name in found if name}


def _module(module: str, name: str) -> str:
    """The module that `from module import name` loads, or an empty string when it isn't one of the library's."""
    if module != "mindtorch" and not module.startswith("mindtorch."):
        return ""
    inside = module.partition(".")[2]
    for candidate in (f"{inside}.{name}", f"{inside}.{name}.__init__", inside, f"{inside}.__init__"):
        if candidate.strip(".") in MODULES:
            return candidate.strip(".")
    return ""


def test_imports_point_down():
    upward = [
        f"{module} (layer {layer_of(module)}) imports {name} (layer {layer_of(name)})"
        for module, path in MODULES.items()
        for name in sorted(imported_by(path))
        if layer_of(name) > layer_of(module)
    ]
    assert upward == []


def test_there_are_no_cycles():
    graph = {module: imported_by(path) - {module} for module, path in MODULES.items()}
    done: set[str] = set()
    for start in graph:
        _visit(start, graph, [], done)


def _visit(module: str, graph: dict[str, set[str]], path: list[str], done: set[str]) -> None:
    assert module not in path, " -> ".join([*path[path.index(module) :], module])
    if module in done:
        return
    for name in sorted(graph.get(module, ())):
        _visit(name, graph, [*path, module], done)
    done.add(module)


def test_no_imports_inside_functions():
    hidden = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in MODULES.values()
        for function in ast.walk(imports_in(path))
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(function)
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    assert hidden == []


def test_modules_are_not_imported_by_a_name_that_users_see_as_something_else():
    """`from mindtorch import dtype` gives the module while the package loads, and the class afterwards."""
    rebound = {name for name in MODULES if not isinstance(getattr(mindtorch, name, sys), ModuleType)}
    imported = [
        f"{module} imports {alias.name}"
        for module, path in MODULES.items()
        for node in ast.walk(imports_in(path))
        if isinstance(node, ast.ImportFrom) and node.module == "mindtorch"
        for alias in node.names
        if alias.name in rebound
    ]
    assert rebound and imported == []
