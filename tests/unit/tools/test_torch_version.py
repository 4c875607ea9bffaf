"""The two numbers of a release: of the PyTorch that this behaves like, and of the library itself."""

import re
from pathlib import Path

import mindtorch

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


def test_the_own_number_is_that_of_the_project():
    found = re.search(r'^version = "(.+)"$', PROJECT.read_text(), re.MULTILINE)
    assert mindtorch.version.mindtorch == found[1]


def test_branches_of_programs_for_old_releases_are_not_taken():
    assert mindtorch.__version__ >= (2, 1)
    assert mindtorch.__version__ > "1.13.1"
    assert mindtorch.__version__ < "2.13.1"
    assert not mindtorch.__version__ < "2.9"
    assert tuple(map(int, mindtorch.__version__.split(".")[:2])) == (2, 13)
