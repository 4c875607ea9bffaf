"""Parity tests compare with PyTorch; without it they are skipped."""

import pytest

torch = pytest.importorskip("torch", reason="parity tests need the peer extra: pip install 'mindtorch[peer]'")


def pytest_collection_modifyitems(items):
    """torch warns about its own parts when forward mode loads; every other warning stays an error."""
    for item in items:
        item.add_marker(pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"))


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    torch.set_num_threads(1)
