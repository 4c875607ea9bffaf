"""Parity tests compare with PyTorch; without it they are skipped."""

import pytest

from tests.harness import ADVICE
from tests.npu.fixtures import client, device, toolkit  # noqa: F401 (for the evaluators of the simulated NPU)

try:
    import torch
except ImportError:
    torch = None


class Skipped(pytest.Module):
    """A module that is not imported, as PyTorch is not there."""

    def collect(self):
        pytest.skip("parity tests need the peer extra: pip install torch==2.13.0", allow_module_level=True)


def pytest_pycollect_makemodule(module_path, parent):
    return Skipped.from_parent(parent, path=module_path) if torch is None else None


# torch warns about its own parts when forward mode loads; what it advises against is called all the same.
MARKS = [
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
    *[pytest.mark.filterwarnings(f"ignore:{text}:UserWarning") for text in ADVICE],
]


def pytest_collection_modifyitems(items):
    for item in items:
        for mark in MARKS:
            item.add_marker(mark)


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def both_seeded(seeded):
    """Both libraries draw the same numbers."""
    torch.default_generator.manual_seed(0)
