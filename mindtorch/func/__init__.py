"""Functions of functions: derivatives, `vmap`, and modules as functions of their parameters."""

from mindtorch.func.forward import jvp, linearize
from mindtorch.func.jacobians import hessian, jacfwd, jacrev
from mindtorch.func.looking import debug_unwrap, functionalize
from mindtorch.func.modules import functional_call, replace_all_batch_norm_modules_, stack_module_state
from mindtorch.func.rearranging import rearrange
from mindtorch.func.reverse import grad, grad_and_value, vjp
from mindtorch.func.vmap import vmap

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "rearrange",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
