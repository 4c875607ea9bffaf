"""Programs of a few lines, run on both libraries: what they show has to be the same text.

Each function of the files `*_programs.py` is one. Its body is run as the top of a module in which `torch` is one of the
libraries; `show` notes a line, `refused` the error that a call raises.
"""

import ast
import contextlib
import io
import re
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = Path(__file__).parent
_CHANGES = (
    (r"\bmindtorch\b", "torch"),  # names of modules and classes
    (r"0x[0-9a-f]+", "0x"),  # addresses
    (r"<eval_with_key>\.\d+", "<eval_with_key>"),
)


def programs(file: str) -> Iterator[tuple[str, str]]:
    """The programs of a file, by name."""
    text = (FOLDER / file).read_text()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            lines = text.splitlines()[node.lineno : node.end_lineno]
            yield node.name, textwrap.dedent("\n".join(lines))


def outcome(name: str, source: str, library: ModuleType) -> str:
    """What a program shows, with the names of torch."""
    module: Any = ModuleType("fx_program")
    source = re.sub(r"^( *)from torch\b", rf"\1from {library.__name__}", source, flags=re.MULTILINE)
    lines: list[str] = []
    module.torch = library
    module.show = lambda *values: lines.append(" ".join([str(value) for value in values]))
    module.refused = lambda function, *args: lines.append(_error(function, *args))
    before = sys.modules.get("fx_program")
    # Where a program has torch import its compiler, that replaces `manual_seed` and its kin.
    functions = dict(vars(library)) if library.__name__ == "torch" else {}
    sys.modules["fx_program"] = module
    printed = io.StringIO()
    try:
        with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
            warnings.simplefilter("always")
            with contextlib.redirect_stderr(printed):
                exec(compile(source, f"<{name}>", "exec"), vars(module))
    finally:
        if before is None:
            del sys.modules["fx_program"]
        else:
            sys.modules["fx_program"] = before
        for changed in [key for key, value in functions.items() if vars(library)[key] is not value]:
            setattr(library, changed, functions[changed])
    lines += [f"warned: {each.message}" for each in caught if each.category is UserWarning]
    text = "\n".join([*lines, printed.getvalue()])
    for pattern, name in _CHANGES:
        text = re.sub(pattern, name, text)
    return text


def _error(function: Callable, *args: Any) -> str:
    try:
        result = function(*args)
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"
    return f"no error: {result}"


def generated_code(source: str, library: ModuleType) -> str:
    """The code of the graph module `found` that a program makes, or the kind of error that it raises."""
    names: dict[str, Any] = {"torch": library, "__name__": "fx_program"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(source, names)
        except (TypeError, ValueError, RuntimeError, NotImplementedError) as error:
            return type(error).__name__
    code: str = names["found"].code
    return code
