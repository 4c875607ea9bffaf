"""The programs of the tutorials are programs for PyTorch: unchanged but for the import, they print the same."""

import pytest

from tests.tutorials import PAGES, printed, promised


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tutorial(page):
    assert printed(page, "torch") == promised(page)
