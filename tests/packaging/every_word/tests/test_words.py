"""The checks of every key and word, in the process in which this package's ops are registered."""

import everyword
import pytest

from tests.packaging.every_word_checks import CHECKS


@pytest.mark.parametrize("check", CHECKS)
def test_word(check):
    CHECKS[check][0](everyword)
