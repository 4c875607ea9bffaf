"""Runs what random programs have found: for each kind of fault, short programs whose last line is compared."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from tests.parity.random_programs.writer import make
from tests.parity.support.programs import assert_same


def compared(kinds: Mapping[str, Sequence[str]], before: Mapping[str, str]) -> Callable[[str], None]:
    """The test of all programs; `before` has the lines that stand in front of those of a kind."""
    codes = [
        pytest.param(f"{before.get(kind, '')}\n{code}", id=f"{kind}: {code[-60:]}")
        for kind, codes in kinds.items()
        for code in codes
    ]

    @pytest.mark.parametrize("code", codes)
    def test_program(code: str) -> None:
        assert_same(lambda T: value_of(code, T))

    return test_program


def value_of(code: str, T: Any) -> Any:
    """What the last expression of a program gives, or the text of an error that programs don't expect."""
    names = {"T": T, "N": np, "make": lambda *spec: make(T, *spec)}
    *statements, last = code.replace("; ", "\n").split("\n")
    try:
        exec("\n".join(statements), names)
        return eval(last, names) if " = " not in last else exec(last, names)
    except IndexError as error:
        return f"IndexError: {error}"
