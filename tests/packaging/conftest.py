"""What the tests of the built wheel share: a wheel made from the sdist of a copy of the tree."""

import shutil
import sys

import pytest

from tests.packaging.commands import ROOT, run

collect_ignore = ["every_word"]  # a package of its own, whose tests run where it is installed: test_every_word.py

NOT_SOURCES = shutil.ignore_patterns(".git", ".venv*", "build", "dist", "site", "*.egg-info", "__pycache__", ".*_cache")


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """A wheel built from the sdist of a copy of the tree; the copy is gone when the wheel is used."""
    copy = tmp_path_factory.mktemp("sources") / "copy"
    shutil.copytree(ROOT, copy, ignore=NOT_SOURCES)
    dist = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", dist, copy, cwd=dist)
    shutil.rmtree(copy)
    assert len(list(dist.glob("*.tar.gz"))) == 1
    (built,) = dist.glob("*.whl")
    return built
