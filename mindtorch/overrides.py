"""Taking over calls: `TorchFunctionMode` and what classes with `__torch_function__` need."""

from mindtorch.dispatch.torch_function import TorchFunctionMode as TorchFunctionMode
from mindtorch.dispatch.torch_function import handle_torch_function as handle_torch_function
from mindtorch.dispatch.torch_function import has_torch_function as has_torch_function
from mindtorch.dispatch.torch_function import without_torch_function as DisableTorchFunctionSubclass
