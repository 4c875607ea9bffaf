"""The class of modules that were given to `compile`, where programs look for it."""

from mindtorch.compiler import OptimizedModule as OptimizedModule
