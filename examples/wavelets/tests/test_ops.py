"""Every op of ops.yaml: values, variants, shapes, backends and derivatives. See mindtorch.testing.ops."""

import pytest
import samples
from wavelets._generated.op_table import OPS

from mindtorch.testing.ops import checks


@pytest.mark.parametrize("check", checks(OPS, samples), ids=str)
def test_op(check):
    check()
