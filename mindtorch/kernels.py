"""Compiles loops of pointwise ops, rows and conversions for the machine at hand: `python -m mindtorch.kernels build`.

Runs load them then. Without it they are compiled when they are missed; see docs/performance.md.
"""

import argparse
import os
import sys

from mindtorch._support.lazy import lazy
from mindtorch.backends.cpu.compiled import expressions, settings

background = lazy("mindtorch.backends.cpu.compiled.background")
building = lazy("mindtorch.backends.cpu.compiled.building")
cache = lazy("mindtorch.backends.cpu.compiled.cache")

_NOT_INSTALLED = "compiled kernels need llvmlite, which is not installed: pip install 'mindtorch[jit]'"
_NOT_WRITABLE = "no kernels can be kept in {}: MINDTORCH_KERNELS names another folder"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m mindtorch.kernels", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")
    build = commands.add_parser("build", help="compile what is missing")
    build.add_argument(
        "names",
        nargs="*",
        help="the expressions, row kernels and conversions that are meant (default: all)",
    )
    build.add_argument("--in-background", action="store_true", help="at the lowest priority, and in one process only")
    options = parser.parse_args(arguments)
    if not settings.is_installed():
        return _failed(_NOT_INSTALLED)
    names = options.names or expressions.all_names()
    if unknown := [name for name in names if name not in expressions.all_names()]:
        return _failed(f"there is nothing to compile of the name {unknown[0]!r}")
    return _build_in_background(names) if options.in_background else _build(names)


def _failed(message: str) -> int:
    sys.stderr.write(f"{message}\n")
    return 1


def _build(names: list[str]) -> int:
    missing = [name for name in names if cache.find(name) is None]
    for name in missing:
        if not cache.store(name, building.build(name)):
            return _failed(_NOT_WRITABLE.format(cache.directory()))
    sys.stdout.write(f"{cache.directory()}: {len(missing)} compiled, {len(names) - len(missing)} were there\n")
    return 0


def _build_in_background(names: list[str]) -> int:
    if not background.take_lock():
        return 0
    try:
        if hasattr(os, "nice"):
            os.nice(19)
        return _build(names)
    finally:
        background.release_lock()


if __name__ == "__main__":
    sys.exit(main())
