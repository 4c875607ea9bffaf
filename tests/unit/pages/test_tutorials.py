"""The programs of the tutorials run, and print what the pages say."""

import pytest

from tests.tutorials import PAGES, printed, promised


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tutorial(page):
    said = promised(page)
    assert len(said) > 3
    assert printed(page, "mindtorch") == said
