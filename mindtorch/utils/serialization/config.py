"""What `save` and `load` do when they are not told, under PyTorch's name: `config.load.mmap = True`."""

from mindtorch.serialization.config import load as load
from mindtorch.serialization.config import save as save
