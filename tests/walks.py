"""Where everything about an op is found, by its entry in ops.yaml and the folders of its family alone.

`python -m tests.walks lerp.Scalar` prints the places of an op with their lines. The rules read the
files and not the generator's model, as a reader would: the entry names the family and the words, the family the folder,
and the word the definition in it.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from zlib import crc32

import yaml

from codegen.npu.kernels import VIEWS

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = "mindtorch"


class LostWay(Exception):
    """A rule of the layout does not lead to what an entry names."""


@dataclass(frozen=True)
class Place:
    """A line of a file, and what to search for there."""

    file: str
    text: str
    line: int


@dataclass(frozen=True)
class Entry:
    """What ops.yaml, or derivatives.yaml, has about an op; ``lines`` are those of the keys."""

    name: str
    line: int
    keys: dict[str, object]
    lines: dict[str, int] = field(default_factory=dict)

    @property
    def family(self) -> str:
        return str(self.keys["family"])

    @property
    def dispatch(self) -> dict[str, str]:
        return self.keys.get("dispatch") or {}


# -------------------- the tables --------------------


@cache
def entries(file: str, key: str) -> dict[str, Entry]:
    """The entries of a table by the op that ``key`` names with its schema."""
    root = yaml.compose((ROOT / file).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    found = {}
    for node in root.value:
        keys = yaml.CSafeLoader("").construct_document(node)
        name = keys[key].partition("(")[0]
        found[name] = Entry(
            name, node.start_mark.line + 1, keys, {k.value: k.start_mark.line + 1 for k, _ in node.value}
        )
    return found


def ops() -> dict[str, Entry]:
    return entries("ops.yaml", "func")


# -------------------- definitions --------------------


@cache
def tree(file: str) -> ast.Module:
    return ast.parse((ROOT / file).read_text(encoding="utf-8"))


@cache
def definitions(file: str) -> dict[str, int]:
    """The lines of the names that the top level of a module defines."""
    return {name: node.lineno for node in tree(file).body for name in _defined(node)}


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        yield from (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))


@cache
def imports(file: str) -> dict[str, tuple[str, str]]:
    """What a module imports: by name, the file that it comes from and what it is called there."""
    found = [node for node in tree(file).body if isinstance(node, ast.ImportFrom) and node.module]
    return {
        each.asname or each.name: (f"{node.module.replace('.', '/')}.py", each.name)
        for node in found
        for each in node.names
    }


@cache
def files(place: str) -> list[str]:
    """The modules of a folder, or a single file, if there is one."""
    found = [ROOT / place] if place.endswith(".py") else sorted((ROOT / place).rglob("*.py"))
    return [path.relative_to(ROOT).as_posix() for path in found if path.is_file()]


def defined(name: str, *places: str) -> Place:
    """Where a name is defined: in one of the places, or where a module of them imports it from."""
    modules = [file for place in places for file in files(place)]
    for file in modules:
        if name in definitions(file):
            return Place(file, name, definitions(file)[name])
    for source, original in (imports(file)[name] for file in modules if name in imports(file)):
        if original in definitions(source):
            return Place(source, original, definitions(source)[original])
    raise LostWay(f"'{name}' is in none of {', '.join(places)}")


# -------------------- the walk --------------------


def schema(op: Entry) -> Place:
    return Place("ops.yaml", f"func: {op.name}", op.line)


def definition(op: Entry) -> Place:
    """What the op computes: its decomposition, its composite function, or its kernel on the CPU."""
    if "decomposition" in op.keys:
        return Place("ops.yaml", "decomposition:", op.lines["decomposition"])
    if "composite" in op.keys:
        return defined(str(op.keys["composite"]), f"{LIBRARY}/composite/{op.family}")
    backend = "CPU" if "CPU" in op.dispatch else next(iter(op.dispatch))
    return kernel(backend, op.dispatch[backend], op.family)


def kernel(backend: str, name: str, family: str) -> Place:
    folder, generated = f"{LIBRARY}/backends/{backend.lower()}/{family}", f"generated/kernels/{backend.lower()}"
    return defined(name, folder, f"{folder}.py", f"{generated}/{family}.py")


def gradient(op: Entry) -> list[Place]:
    """The formulas of an op, and the functions that they call."""
    found = entries("derivatives.yaml", "name").get(op.name)
    if found is None:
        return []
    formulas = f"{LIBRARY}/autograd/formulas"
    helpers = [defined(name, f"{formulas}/{op.family}", f"{formulas}/common.py") for name in helpers_of(found)]
    return [Place("derivatives.yaml", f"name: {op.name}", found.line), *helpers]


def helpers_of(derivative: Entry) -> list[str]:
    """The hand-written functions that formulas call."""
    written = {name for file in files(f"{LIBRARY}/autograd/formulas") for name in definitions(file)}
    text = " ".join(str(value) for key, value in derivative.keys.items() if key != "name")
    return [name for name in dict.fromkeys(re.findall(r"(?<![\w.])(\w+)\(", text)) if name in written]


def shape_rule(op: Entry) -> Place | None:
    """The rule for dtype, shape and strides, whose name is the word of `shape:`, or a kernel of its own."""
    if op.keys.get("shape", "none") != "none":
        return defined(str(op.keys["shape"]), f"{LIBRARY}/backends/meta")
    return kernel("Meta", op.dispatch["Meta"], op.family) if "Meta" in op.dispatch else None


def npu_kernel(op: Entry) -> Place | None:
    """Generated from `aclnn:`, or written by hand; views need none."""
    is_given = "NPU" in op.dispatch and op.keys.get("shape") not in VIEWS
    return kernel("NPU", op.dispatch["NPU"], op.family) if is_given else None


def sample_generator(op: Entry) -> Place | None:
    """What makes the inputs of the table-driven tests, in `tests/ops`, `tests/parity/ops` and `tests/device`."""
    samples = op.keys.get("samples", "none")
    return defined(str(samples), "tests/samples.py") if samples != "none" else None


def walk(op: Entry) -> dict[str, list[Place]]:
    """All places of an op, by what is found there."""
    found = {
        "schema": [schema(op)],
        "definition": [definition(op)],
        "gradient": gradient(op),
        "shape rule": [shape_rule(op)],
        "NPU kernel": [npu_kernel(op)],
        "samples of tests": [sample_generator(op)],
    }
    return {what: [place for place in places if place] for what, places in found.items()}


# -------------------- tables --------------------

BEGIN, END = "<!-- walks: tests/unit/pages/test_walks.py -->\n\n", "\n<!-- end of walks -->"
SEED = 16


def drawn(count: int) -> list[str]:
    """Some ops, by a checksum: a new op takes the place of one of them at most."""
    return sorted(sorted(ops(), key=lambda name: crc32(f"{SEED} {name}".encode()))[:count])


def table(names: list[str]) -> str:
    """The walks of ops, without lines, which change with every edit."""
    rows = [[f"`{name}`", f"`{ops()[name].family}`", *_cells(ops()[name])] for name in names]
    heads = ["Op", "Family", "Definition", "Gradient", "Shape rule", "NPU kernel", "Samples of tests"]
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _cells(op: Entry) -> list[str]:
    places = list(walk(op).items())[1:]
    return [
        "; ".join(f"`{place.file}`: `{place.text}`" for place in found) or _absent(op, what) for what, found in places
    ]


def _absent(op: Entry, what: str) -> str:
    """Why there is nothing to be found."""
    if what == "samples of tests":
        return "none: tests of their own"
    if "composite" in op.keys or "decomposition" in op.keys:
        return "from its parts"
    if what == "NPU kernel":
        return "none: a view" if op.keys.get("shape") in VIEWS else "none: the CPU computes it"
    return "none"


if __name__ == "__main__":
    for what, places in walk(ops()[sys.argv[1]]).items():
        for place in places:
            sys.stdout.write(f"{what}: {place.file}:{place.line} ({place.text})\n")
