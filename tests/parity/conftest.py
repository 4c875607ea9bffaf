"""Parity tests compare with PyTorch; without it they are skipped."""

import pytest

torch = pytest.importorskip("torch", reason="parity tests need the peer extra: pip install 'mindtorch[peer]'")


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    torch.set_num_threads(1)
