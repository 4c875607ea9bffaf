"""Runs a suite of tests that was written for PyTorch: `pytest -p mindtorch.pytest_plugin`."""

from mindtorch import version
from mindtorch._as_torch import install_as_torch

install_as_torch()  # now, before the suite's own plugins and files import torch


def pytest_report_header() -> str:
    """What pytest shows at the head of a run."""
    return f"torch: mindtorch {version.mindtorch}"
