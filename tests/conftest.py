"""What holds for every test, whichever ran before it in its process."""

import gc

import pytest

from mindtorch import warning


@pytest.fixture(autouse=True)
def nothing_said_yet(monkeypatch):
    """Warnings that come once in a program come once in a test."""
    monkeypatch.setattr(warning, "_given", set())
    monkeypatch.setattr(warning, "_always", False)


@pytest.fixture
def settled():
    """For tests that count who watches calls: subclasses and levels of `vmap` that wait for the garbage collector are
    gone before."""
    gc.collect()
