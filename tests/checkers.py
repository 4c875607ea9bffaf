"""Type checkers, run over programs: what they complain about, and the types that they infer."""

import ast
import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.tutorials import PAGES, blocks

ROOT = Path(__file__).resolve().parents[1]
EVERYDAY = sorted((ROOT / "tests" / "everyday").glob("*.py"))
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@dataclass(frozen=True, order=True, slots=True)
class Remark:
    """What a checker says of a line: the type of an expression, or else an error."""

    file: str
    line: int
    column: int
    text: str
    is_type: bool


def everyday() -> dict[str, str]:
    return {path.name: path.read_text() for path in EVERYDAY}


def tutorials_and_examples() -> dict[str, str]:
    pages = {f"{page.stem}.py": "".join(blocks(page)) for page in PAGES}
    return pages | {path.name: path.read_text() for path in EXAMPLES}


def with_torch(program: str) -> str:
    """The same program for torch."""
    return re.sub(r"\bmindtorch\b", "torch", program.replace("import mindtorch as torch", "import torch"))


# -------------------- running them --------------------


def remarks(checker: str, folder: Path, programs: dict[str, str], python: Path | None = None) -> list[Remark]:
    """What a checker (`pyright` or `mypy`) says of programs, which are written to a folder.

    They use the mindtorch of an environment, whose interpreter is `python`, or else that of this checkout.
    """
    if find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed: it comes with the development tools (make install)")
    if not _can_start(checker):
        pytest.skip(f"{checker} cannot be started: pyright gets its program from registry.npmjs.org")
    for name, text in programs.items():
        (folder / name).write_text(text)
    return sorted({"pyright": _pyright, "mypy": _mypy}[checker](folder, sorted(programs), python))


@cache
def _can_start(checker: str) -> bool:
    return subprocess.run([sys.executable, "-m", checker, "--version"], capture_output=True).returncode == 0


def _environment_of_checkout(folder: Path) -> dict[str, str]:
    """For pyright: one in which this checkout is installed for editing, which is a line in a file of paths."""
    site = folder / "env" / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    site.mkdir(parents=True)
    (site / "checkout.pth").write_text(f"{ROOT}\n{sysconfig.get_path('purelib')}\n")
    return {"venvPath": str(folder), "venv": "env"}


def _pyright(folder: Path, names: list[str], python: Path | None) -> Iterator[Remark]:
    settings = {} if python else _environment_of_checkout(folder)
    settings |= {"reportMissingImports": False, "reportMissingModuleSource": False}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    run = _run(folder, "pyright", "--outputjson", *(["--pythonpath", str(python)] if python else []), *names)
    assert run.returncode < 2, run.stdout + run.stderr
    for each in json.loads(run.stdout)["generalDiagnostics"]:
        found = re.fullmatch(r'Type of ".*" is "(.*)"', each["message"], re.DOTALL)
        start = each["range"]["start"]
        text = found[1] if found else each["message"]
        if found or each["severity"] == "error":
            yield Remark(Path(each["file"]).name, start["line"] + 1, start["character"], text, bool(found))


_OF_MYPY = re.compile(r'(\w+\.py):(\d+):(\d+): (?:error: (.*)|note: Revealed type is "(.*)")')


def _mypy(folder: Path, names: list[str], python: Path | None) -> Iterator[Remark]:
    options = ["--check-untyped-defs", "--follow-imports=silent", "--ignore-missing-imports", "--show-column-numbers"]
    options += ["--python-executable", str(python)] if python else []
    run = _run(
        folder,
        "mypy",
        "--config-file=",
        "--cache-dir=cache",
        "--no-error-summary",
        *options,
        *names,
        path="" if python else str(ROOT),
    )
    assert run.returncode < 2, run.stdout + run.stderr
    for line in run.stdout.splitlines():
        if found := _OF_MYPY.fullmatch(line):
            file, number, column, error, revealed = found.groups()
            yield Remark(file, int(number), int(column) - 1, revealed or error, revealed is not None)


def _run(folder: Path, checker: str, *arguments: str, path: str = "") -> subprocess.CompletedProcess:
    environment = os.environ | {"MYPYPATH": path, "NODE_OPTIONS": "--max-old-space-size=4096"}
    environment.pop("PYTHONPATH", None)
    command = [sys.executable, "-m", checker, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


# -------------------- the types of all expressions --------------------


def revealing(program: str) -> str:
    """The program with `reveal_type` around its expressions: calls, operators, attributes and items."""
    lines = program.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    nodes = list(_expressions(ast.parse(program)))
    opened = [(starts[node.lineno - 1] + node.col_offset, 1, "reveal_type(") for node in nodes]
    closed = [(starts[node.end_lineno - 1] + node.end_col_offset, 0, ")") for node in nodes]
    for place, _, text in sorted(opened + closed, reverse=True):
        program = program[:place] + text + program[place:]
    return program


def _expressions(node: ast.AST) -> Iterator[ast.expr]:
    """What is computed where a program runs: no annotations, no bases of classes, no targets, and no functions."""
    if isinstance(node, (ast.Call, ast.BinOp, ast.Compare, ast.UnaryOp)):
        yield node
    elif isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Load) and not _is_name(node):
        yield node
    for child in _parts(node):
        yield from _expressions(child)


def _is_name(node: ast.AST) -> bool:
    """`torch.nn.Linear` is a name, like `torch`; so is `torch.nn.Linear[0]`, which can only be a type."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return isinstance(node, ast.Name) and node.id in _NAMES


_NAMES = frozenset(("F", "Dataset", "lr_scheduler", "math", "nn", "np", "optim", "torch"))


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    left_out = ("annotation", "returns", "args", "decorator_list", "bases", "items", "type_params")
    for name, value in ast.iter_fields(node):
        is_definition = isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AnnAssign, ast.With, ast.Lambda))
        if is_definition and name in left_out:
            continue
        if isinstance(node, ast.Call) and name == "func" and isinstance(value, ast.Attribute):
            value = value.value  # methods are looked at by what they return
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "super"):
            continue
        yield from (each for each in (value if isinstance(value, list) else [value]) if isinstance(each, ast.AST))


def plain(text: str) -> str:
    """A type as text that does not depend on where its parts are defined."""
    text = re.sub(r"[\w.]*\.(\w+)", r"\1", text)
    return re.sub(r"(?<!\w)_(?=[A-Z])", "", text)


def says_as_much(theirs: str, ours: str) -> bool:
    """Whether a type tells what torch's tells; where that leaves something open, it may tell more.

    Of a union it may be a member. What has Unknown inside comes from code of torch without annotations. SymInt is left
    out: it is about `torch.compile`, here there are only ints.
    """
    members = [each for each in _split(theirs.replace("int | SymInt", "int")) if each != "Unknown"]
    if members in ([], ["None"]) and members != [theirs]:  # nothing, or what is returned besides nothing, is Unknown
        return True
    if theirs == ours or ours in members or any("Unknown" in each for each in members):
        return True
    pattern = re.escape(" | ".join(members))
    return re.fullmatch(re.sub(r"\b(Any|Never)\b", ".+", pattern), ours) is not None


def _split(union: str) -> list[str]:
    """The members of a union."""
    parts, depth = [""], 0
    for word in re.split(r"( \| |[\[\]()])", union):
        depth += (word in "[(") - (word in "])") if len(word) == 1 else 0
        if word == " | " and depth == 0:
            parts.append("")
        else:
            parts[-1] += word
    return parts
