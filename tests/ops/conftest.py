"""The ops of the table are called whether or not torch advises against them; its warnings are compared elsewhere."""

import os
from pathlib import Path

import pytest

from tests.harness import ADVICE

HERE = f"{Path(__file__).parent}{os.sep}"
MARKS = [pytest.mark.filterwarnings(f"ignore:{text}:UserWarning") for text in ADVICE]


def pytest_collection_modifyitems(items):
    for item in items:
        if str(item.path).startswith(HERE):
            for mark in MARKS:
                item.add_marker(mark)
