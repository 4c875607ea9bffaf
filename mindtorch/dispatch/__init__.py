"""How a call finds its kernel: schemas, the registry of ops, and the path of intercepted calls."""

from mindtorch.dispatch.families import functions_of as functions_of
from mindtorch.dispatch.keys import register_backend as register_backend
from mindtorch.dispatch.namespace import ops as ops
from mindtorch.dispatch.overloads import operators as operators
from mindtorch.dispatch.registry import register_kernel as register_kernel
