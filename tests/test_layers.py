"""Imports point down: a module imports from its own layer and from lower ones, and there are no cycles."""

import ast
import re
from copy import deepcopy
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import mindtorch

ROOT = Path(__file__).parent.parent
SOURCES = {"mindtorch": ROOT / "mindtorch", "mindtorch._generated": ROOT / "generated"}

# Lowest layer first; the entry with the longest matching prefix decides. The drawing is in docs/internals.md.
LAYERS = [
    ["_support"],
    ["_core"],
    ["dispatch.schema"],
    ["dispatch"],
    ["dispatch.arguments", "iterator"],
    ["dispatch.factory", "dispatch.modes"],
    ["dispatch.dispatcher", "backends", "_generated.kernels.cpu"],
    ["autograd._engine", "autograd.anomaly_mode", "autograd.grad_mode"],
    ["autograd"],
    ["composite"],
    ["_generated"],
    ["_functions", "_functorch"],
    ["_tensor_methods"],
    [
        "_C", "__config__", "_custom_ops", "_higher_order_ops", "_inductor", "_tensor", "_tensor_str", "_utils",
        "accelerator", "amp", "autograd.__init__", "autograd.profiler", "autograd.variable", "cpu", "cuda", "fft",
        "functional", "futures", "library", "linalg", "mps", "onnx", "overrides", "profiler", "quasirandom", "random",
        "signal", "sparse", "special", "storage", "testing", "torch_version", "types", "version", "xpu",
    ],
    ["nn"],
    [
        "_decomp", "_subclasses", "ao", "compiler", "distributions", "func", "fx", "jit", "masked",
        "multiprocessing", "optim", "serialization",
    ],
    ["_dynamo", "_guards", "distributed", "hub", "program"],
    ["__main__", "_as_torch", "kernels", "npu", "pytest_plugin", "utils"],
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
        raise LookupError(f"{module} is in no room of LAYERS")
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


@pytest.mark.parametrize("room", ["backends", "composite", "autograd.formulas"])
def test_what_begins_with_an_underscore_stays_in_its_module(room):
    """What kernels of two families need has a name without one, in their `common` folder. (Elsewhere it may be a name
    of PyTorch's.)"""
    shared = [
        f"{path.relative_to(ROOT)}:{node.lineno} {alias.name}"
        for module, path in MODULES.items()
        if module.startswith(f"{room}.")
        for node in ast.walk(imports_in(path))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mindtorch.")
        for alias in node.names
        if alias.name.startswith("_")
    ]
    assert shared == []


def test_no_module_has_a_name_that_users_see_as_something_else():
    """`from mindtorch import dtype` would give the module while the package loads, and the class afterwards."""
    names = MODULES.keys() - {"__init__"}
    assert [name for name in names if not isinstance(getattr(mindtorch, name, mindtorch), ModuleType)] == []


# What looks into the interpreter, and the only modules that do: none on the way of a call that succeeds. With reasons.
LOOKS = {
    r"\b(?:_getframe|currentframe|walk_stack|extract_stack|inspect\.stack|f_back|f_locals|tb_frame)\b": {
        "_support.warnings": "a warning points at the line of the program that caused it",
        "dispatch.arguments.call_sites": "texts of errors tell what was given by position from keywords, as torch's do",
        "fx._symbolic_trace": "wrap names the globals of the module that calls it, as in torch",
        "fx.proxy": "a, b = proxy is asked for as many items as there are names",
        "fx.traceback": "nodes note the stack of the program, if that is asked for",
        "dispatch.modes.anomaly": "anomaly mode shows the stack of the forward call",
        "library.fake": "an op that is defined twice names both places",
        "utils.checkpoint_log": "debug=True of checkpoint shows the stack of each op",
    },
    r"\b__code__|\bf_code|CodeType|\bco_[a-z]+\b|(?:import|from) dis\b": {
        "_support.warnings": "a warning comes once for each line",
        "dispatch.arguments.call_sites": "the instruction that made a call which is refused",
        "dispatch.methods": "when the library is imported, methods get copies of the code of functions",
        "dispatch.shown_signature": "what help() shows",
        "fx._symbolic_trace": "the parameters of a function, which is traced with *args as one of them",
        "fx.experimental.proxy_tensor": "whether a function has *args, of which a trace needs the number",
        "fx.graph_module": "tracebacks through generated code show what was traced",
        "fx.proxy": "the instruction that asks a proxy for its items or its truth",
        "library.fake": "the line of a definition",
    },
    r"(?:import|from) gc\b|get_objects|get_referrers|getrefcount": {
        "autograd._engine.accumulate_grad": "a gradient without other references is kept without a copy",
        "autograd._engine.history": "a node without other references is changed in its place",
        "autograd._engine.tenants": "tensors follow a storage that grows; a list of them would cost every view",
    },
    r"\.__class__ = ": {
        "distributed.fsdp.sharding": "fully_shard changes the class of a module, as in torch",
        "nn.modules.lazy": "a lazy layer becomes an ordinary one, as in torch",
        "nn.parameter": "so does a lazy parameter",
        "nn.utils.parametrize": "a parametrized module gets a class of its own, as in torch",
    },
}


def test_few_modules_look_into_the_interpreter():
    texts = {module: path.read_text() for module, path in MODULES.items()}
    found = {words: {module for module, text in texts.items() if re.search(words, text)} for words in LOOKS}
    assert found == {words: set(modules) for words, modules in LOOKS.items()}


def test_every_room_has_a_module():
    rooms = [room for rooms in LAYERS for room in rooms]
    empty = [room for room in rooms if not any(each == room or each.startswith(room + ".") for each in MODULES)]
    assert empty == [] and len(set(rooms)) == len(rooms)


def room_of(module: str) -> str:
    rooms = (room for rooms in LAYERS for room in rooms if module == room or module.startswith(room + "."))
    return max(rooms, key=len)


def test_the_drawing_in_the_docs_shows_all_rooms_and_imports():
    drawing = (ROOT / "docs/internals.md").read_text().partition("```mermaid\n")[2].partition("```")[0]
    drawn = {
        room: node for node, label in re.findall(r'(\w+)\["([^"]*)"\]', drawing) for room in re.split(r",\s+", label)
    }
    assert sorted(drawn) == sorted(room for rooms in LAYERS for room in rooms)
    arrows = set(re.findall(r'^ +(\w+)(?:\["[^"]*"\])? --> (\w+)$', drawing, re.MULTILINE))
    found = {
        (drawn[room_of(module)], drawn[room_of(name)]) for module, path in MODULES.items() for name in imported_by(path)
    }
    assert arrows <= found, "nothing is imported along an arrow"
    assert [pair for pair in sorted(found) if pair[0] != pair[1] and pair[1] not in _reached(pair[0], arrows)] == []


def _reached(start: str, arrows: set[tuple[str, str]]) -> set[str]:
    behind = {end for begin, end in arrows if begin == start}
    return behind.union(*(_reached(node, arrows) for node in behind))
