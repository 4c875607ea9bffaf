"""Values, dtypes and strides of thousands of random cases over random layouts; see `cases.py`."""

import pytest

from tests.parity.memory import cases

# Cases per kind and seed; together more than 20,000.
COUNT = 250
SEEDS = {"pointwise": 20, "reduction": 20, "copying": 20, "writing": 16, "joining": 10, "images": 10}


@pytest.mark.parametrize(
    ("kind", "seed"), [(kind, seed) for kind, seeds in SEEDS.items() for seed in range(seeds)], ids=str
)
def test_random_layouts(kind, seed):
    found = cases.differences(kind, seed, COUNT)
    assert not found, "\n\n".join([f"{len(found)} of {COUNT} cases differ", *found[:3]])


def test_there_are_enough_cases():
    assert set(SEEDS) == set(cases.KINDS)
    assert sum(SEEDS.values()) * COUNT > 20_000
