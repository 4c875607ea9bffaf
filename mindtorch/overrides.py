"""Taking over calls: `TorchFunctionMode` and what classes with `__torch_function__` need."""

from mindtorch.dispatch import torch_function

DisableTorchFunctionSubclass = torch_function.without_torch_function
TorchFunctionMode = torch_function.TorchFunctionMode
handle_torch_function = torch_function.handle_torch_function
has_torch_function = torch_function.has_torch_function
