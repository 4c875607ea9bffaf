"""Runs a program that was written for PyTorch: `import torch` means mindtorch in it.

python -m mindtorch program.py [arguments ...]
python -m mindtorch -m module [arguments ...]
python -m mindtorch -c code [arguments ...]
"""

from __future__ import annotations

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from mindtorch._as_torch import install_as_torch


def main(arguments: list[str]) -> None:
    """Run what the arguments of the command line say, as `__main__`, with the arguments behind that."""
    if not arguments or arguments[0] in ("-h", "--help") or (arguments[0] in ("-m", "-c") and not arguments[1:]):
        print(__doc__)  # noqa: T201 (what the command is for)
        sys.exit(0 if arguments[:1] in (["-h"], ["--help"]) else 2)
    install_as_torch()
    if arguments[0] == "-c":
        sys.argv[:] = ["-c", *arguments[2:]]
        _run(compile(arguments[1], "<string>", "exec"), {"__spec__": None})
    elif arguments[0] == "-m":
        sys.argv[:] = arguments[1:]
        _run_module(arguments[1])
    else:
        sys.argv[:] = arguments
        _run_file(arguments[0])


def _run_file(path: str) -> None:
    if not Path(path).is_file():  # a folder or an archive with a `__main__.py`
        runpy.run_path(path, run_name="__main__")
        return
    sys.path[0] = str(Path(path).resolve().parent)
    code = compile(Path(path).read_bytes(), path, "exec")
    _run(code, {"__file__": path, "__spec__": None, "__cached__": None})


def _run_module(name: str) -> None:
    spec = find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        name = f"{name}.__main__"
        spec = find_spec(name)
    if spec is None or spec.loader is None:
        sys.exit(f"{sys.executable}: No module named {name}")
    code = spec.loader.get_code(name)  # type: ignore[attr-defined]
    sys.argv[0] = spec.origin or name
    _run(code, {"__file__": spec.origin, "__spec__": spec, "__package__": spec.parent, "__loader__": spec.loader})


def _run(code: Any, facts: dict[str, Any]) -> None:
    """Run a program in a module that stays: processes and pickles that the program makes look for its names there."""
    module = ModuleType("__main__")
    vars(module).update({"__builtins__": __builtins__, "__package__": None, **facts})
    sys.modules["__main__"] = module
    exec(code, vars(module))


if __name__ == "__main__":
    main(sys.argv[1:])
