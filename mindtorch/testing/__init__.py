"""Making and comparing tensors in tests."""

from mindtorch.testing.comparison import assert_allclose, assert_close
from mindtorch.testing.making import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
