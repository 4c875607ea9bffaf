"""The ops of the table are called whether or not torch advises against them; its warnings are compared elsewhere."""

from pathlib import Path

import pytest

# The texts of warnings that come with a call, however it is made.
_ADVICE = (
    r"(torch\.|at\W\W)\w+ is deprecated",
    r"Using torch\.cross",
    r"index_reduce\(\) is in beta",
    r"Using padding='same'",
    r"torch\.searchsorted\(\)",
)


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            for text in _ADVICE:
                item.add_marker(pytest.mark.filterwarnings(f"ignore:{text}:UserWarning"))
