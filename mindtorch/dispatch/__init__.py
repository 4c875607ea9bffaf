"""How a call finds its kernel: schemas, the registry of ops, and the path of calls that somebody looks at."""

from mindtorch.dispatch.namespace import ops as ops
