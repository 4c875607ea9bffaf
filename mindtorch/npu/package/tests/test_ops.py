"""Every op of ops.yaml: values, shapes, devices and derivatives. See mindtorch.testing.ops."""

import sys
from pathlib import Path

import pytest

from mindtorch.npu import as_torch_npu
from mindtorch.testing.ops import checks

as_torch_npu()
sys.path.insert(0, str(Path(__file__).parent))

import samples  # noqa: E402  beside this file

from torch_npu._generated.op_table import OPS  # noqa: E402  there is no torch_npu before


@pytest.mark.parametrize("check", checks(OPS, samples), ids=str)
def test_op(check):
    check()
