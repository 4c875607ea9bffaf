"""The random order of tests: reproducible, complete, and with the tests of a file together."""

from itertools import groupby
from pathlib import Path
from types import SimpleNamespace

from tests.conftest import shuffled

TESTS = [SimpleNamespace(path=Path(f"test_{file}.py"), name=number) for file in "abcdef" for number in range(20)]


def names(tests):
    return [(test.path, test.name) for test in tests]


def test_a_seed_gives_an_order():
    orders = [names(shuffled(TESTS, seed)) for seed in range(5)]
    assert orders == [names(shuffled(TESTS, seed)) for seed in range(5)]
    assert all(one != other for place, one in enumerate(orders) for other in orders[:place])


def test_all_tests_run_and_those_of_a_file_together():
    order = shuffled(TESTS, 1)
    files = [(path, [test.name for test in tests]) for path, tests in groupby(order, key=lambda test: test.path)]
    assert sorted(names(order)) == sorted(names(TESTS))
    assert len(files) == 6 and [path for path, _ in files] != sorted(path for path, _ in files)
    assert all(tests != sorted(tests) for _, tests in files)
