"""What holds for every test, whichever ran before it in its process; which of them run, and in which order."""

import gc
import os
import random
from itertools import groupby

import pytest

import mindtorch
from codegen.keys import FAMILIES
from codegen.model import Op
from mindtorch._support import warnings
from tests import daily

# The same loops in every run, unless one asks for the compiled ones. It is read at the first call of an op.
os.environ.setdefault("MINDTORCH_JIT", "0")


def pytest_report_header():
    return daily.HEADER


# -------------------- order --------------------


def pytest_addoption(parser):
    parser.addoption("--order", metavar="SEED", type=int, help="shuffle the files, and the tests of each")
    parser.addoption("--family", choices=FAMILIES, help="only the table-driven tests of the ops of this family")


def pytest_sessionstart(session):
    """The seed is printed, to run the tests in the same order again."""
    seed, terminal = session.config.option.order, session.config.pluginmanager.get_plugin("terminalreporter")
    if seed is not None and terminal:
        terminal.write_line(f"tests in random order: --order={seed}")


# A test or a set-up of these takes up to a minute, in processes of its own. One worker begins with them: if it came to
# them at the end, the others would wait for it, and if they were split between two workers, each would do the set-up.
LONG = {"test_add_an_op.py", "test_npu_absent.py", "test_other_devices.py", "test_types.py"}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    if config.option.family is not None:
        select_family(config, items, config.option.family)
    if config.option.order is not None:
        items[:] = shuffled(items, config.option.order)
    items.sort(key=lambda item: item.path.name not in LONG)


def shuffled(items, seed):
    """The tests of a file stay together, as they share fixtures."""
    source = random.Random(seed)
    files = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
    source.shuffle(files)
    for tests in files:
        source.shuffle(tests)
    return [test for tests in files for test in tests]


# -------------------- what is left out --------------------


def select_family(config, items, family):
    others = [item for item in items if family not in families_of(item)]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if family in families_of(item)]


def families_of(item):
    """The families of the ops that a table-driven test has as parameters."""
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return {each.family for each in parameters if isinstance(each, Op)}


def pytest_terminal_summary(terminalreporter):
    """Without a C compiler no test of the NPU backend runs: too many to pass over among other skips."""
    reports = terminalreporter.stats.get("skipped", ())
    reasons = [report.longrepr[2] for report in reports if type(report.longrepr) is tuple]
    skipped = [reason for reason in reasons if "the simulated NPU needs" in reason]
    if skipped:
        terminalreporter.write_line(f"NOT TESTED: {len(skipped)} tests of the NPU backend. {skipped[0]}", yellow=True)


# -------------------- state --------------------


def pytest_collection_finish():
    _set_aside()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    if nextitem is not None and nextitem.path != item.path:
        _set_aside()


def _set_aside():
    """Collecting garbage, as many tests do, need not look each time at tens of thousands of tests, and at what other
    files have cached: a model of all ops alone takes half a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def nothing_said_yet(monkeypatch):
    """Warnings that come once in a program come once in a test."""
    monkeypatch.setattr(warnings, "_given", set())
    monkeypatch.setattr(warnings, "_always", False)


@pytest.fixture(autouse=True)
def seeded():
    """A test draws the same numbers alone, in any order and on any day."""
    mindtorch.default_generator.manual_seed(0)


@pytest.fixture
def settled():
    """For tests that count who watches calls: subclasses and levels of `vmap` that wait for the garbage collector are
    gone before."""
    gc.collect()
