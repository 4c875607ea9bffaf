"""The ops of the table are called whether or not torch advises against them; its warnings are compared elsewhere."""

from pathlib import Path

import pytest

from tests.harness import ADVICE


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            for text in ADVICE:
                item.add_marker(pytest.mark.filterwarnings(f"ignore:{text}:UserWarning"))
