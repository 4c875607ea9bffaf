"""The compatibility rules against PyTorch's own check, on random changes of real schemas."""

from collections import Counter
from pathlib import Path
from random import Random

import pytest
import torch

from codegen.diff import compat
from tests.codegen.compat_table import TABLE
from tests.codegen.mutations import mutated, parse
from tests.harness import model

ROOT = Path(__file__).parents[3]
PAIRS = 30_000


@pytest.fixture(scope="module")
def schemas():
    """Ours and torch's, without namespace; of the latter those that our grammar can write, and none of other tests."""
    ours = [op.schema for op in model().ops.values()]
    texts = sorted(str(schema) for schema in torch._C._jit_get_all_schemas() if schema.name.startswith("aten::"))
    theirs = [parse(text.partition("::")[2]) for text in texts]
    return ours + [schema for schema in theirs if schema is not None]


def torch_schema(text):
    """torch's object for a schema, or None if it does not know the type or the default."""
    try:
        return torch._C.parse_schema(text)
    except (RuntimeError, ValueError):
        return None


def torch_verdicts(new, old):
    return torch_says(new.is_backward_compatible_with, old), torch_says(new.check_forward_compatible_with, old)


def torch_says(check, old):
    """Whether torch's check lets the change pass. It fails itself where the new schema has too few out arguments."""
    try:
        return check(old) in (True, (True, ""))
    except IndexError:
        return False


def verdicts(new, old):
    return not compat.backward(new, old), not compat.forward(new, old)


def pairs(schemas, seed, count, depth):
    """Pairs (old, new) that both parsers accept, each with torch's objects."""
    random = Random(seed)
    while count:
        old = random.choice(schemas)
        new = mutated(old, random, depth)
        texts = (str(old), str(new))
        parsed = tuple(map(torch_schema, texts)) if new else (None, None)
        if all(schema is not None for schema in parsed):
            count -= 1
            yield old, new, *parsed


@pytest.mark.parametrize("depth, count", [(1, PAIRS // 2), (2, PAIRS // 3), (3, PAIRS // 6)])
def test_random_changes_are_judged_as_by_torch(schemas, depth, count):
    wrong = []
    seen = Counter()
    for old, new, torch_old, torch_new in pairs(schemas, depth, count, depth):
        expected = torch_verdicts(torch_new, torch_old)
        seen[expected] += 1
        if verdicts(new, old) != expected:
            wrong.append((str(old), str(new), verdicts(new, old), expected))
    assert wrong == []
    assert len(seen) == 4 and min(seen.values()) > count // 100  # all four verdicts occur, none of them rarely


@pytest.mark.parametrize(("old", "new", "backward", "forward"), TABLE.values(), ids=TABLE.keys())
def test_the_table_of_changes_is_right(old, new, backward, forward):
    assert torch_verdicts(torch_schema(new), torch_schema(old)) == (backward, forward)
