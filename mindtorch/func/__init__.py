"""Functions of functions: derivatives, `vmap`, and modules as functions of their parameters."""

from mindtorch._functorch.forward import jvp, linearize
from mindtorch._functorch.jacobians import hessian, jacfwd, jacrev
from mindtorch._functorch.looking import debug_unwrap, functionalize
from mindtorch._functorch.rearranging import rearrange
from mindtorch._functorch.reverse import grad, grad_and_value, vjp
from mindtorch._functorch.vmap import vmap
from mindtorch.func.modules import functional_call, replace_all_batch_norm_modules_, stack_module_state

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
