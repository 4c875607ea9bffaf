"""What holds for every test."""

import pytest

from mindtorch import warning


@pytest.fixture(autouse=True)
def nothing_said_yet(monkeypatch):
    """Warnings that come once in a program come once in a test: what is seen does not depend on the tests before it."""
    monkeypatch.setattr(warning, "_given", set())
    monkeypatch.setattr(warning, "_always", False)
