"""`rearrange` by patterns, and patterns that are wrong."""

import pytest

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same, programs

program, test_program = programs()
PATTERNS = [
    ("a b c -> c b a", {}),
    ("a b c -> (a b) c", {}),
    ("a (b d) c -> a b d c", {"d": 3}),
    ("a ... -> ... a", {}),
    ("a b c -> a b c 1", {}),
    ("a b -> b a", {}),
    ("a (b d) c -> a b d c", {}),
    ("a b c", {}),
    ("a b c -> a b c", {"q": 1}),
    ("a a c -> a c", {}),
    ("(...) c -> c (...)", {}),
    ("a b c -> c (...)", {}),
    ("a ... c -> c (... a)", {}),
    ("... (c d) -> ... c d", {"c": 2}),
    ("a b (c d) -> a b c d", {"c": 3}),
    ("a b (c d) -> a b c d", {"c": 3, "d": 2}),
    ("a b c -> (a b c)", {}),
]


@pytest.mark.parametrize(("pattern", "sizes"), PATTERNS)
def test_rearrange(pattern, sizes):
    assert_same(lambda T: tried(T.func.rearrange, T.arange(24).reshape(2, 3, 4), pattern, **sizes))


@program
def rearranged_list(T):
    return T.func.rearrange([T.ones(2), T.zeros(2)], "a b -> b a")
