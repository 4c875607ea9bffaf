"""Which release of PyTorch this one behaves like, its own number, and which build options it has: none."""

from mindtorch.torch_version import TorchVersion

__version__ = TorchVersion("2.13.0")
mindtorch = "0.1.0"  # the release of this library, as in pyproject.toml
git_version = "cf30153c4c131c8164ee7798e5022d810682e2cb"  # PyTorch's commit of that release
cuda = None
hip = None
rocm = None
xpu = None
debug = False
