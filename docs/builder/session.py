"""Runs the lines of an example, and gives what an interactive Python would show."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from contextlib import redirect_stdout
from io import StringIO

import mindtorch


def transcript(statements: Iterable[str]) -> str:
    """The statements behind prompts, each with its output. What a statement raises ends the build."""
    mindtorch.manual_seed(0)
    namespace: dict[str, object] = {"torch": mindtorch}
    before = mindtorch.is_warn_always_enabled()
    mindtorch.set_warn_always(True)  # an example shows its warnings whatever other examples have shown
    try:
        return "\n".join(line for statement in statements for line in _run(statement, namespace))
    finally:
        mindtorch.set_warn_always(before)


def _run(statement: str, namespace: dict[str, object]) -> list[str]:
    output = StringIO()
    with redirect_stdout(output), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(compile(statement, "example", "single"), namespace)
    first, *more = statement.splitlines()
    shown = [f"{each.category.__name__}: {each.message}".splitlines()[0] for each in caught]
    return [f">>> {first}", *(f"... {line}" for line in more), *shown, *output.getvalue().splitlines()]
