"""The backend of tensors inside `vmap`: rules that give the kernel for a batch from that for one sample."""

from mindtorch._core.batched_array import BatchedArray
from mindtorch.backends.batched.fallback import one_by_one
from mindtorch.dispatch.keys import register_array_class
from mindtorch.dispatch.registry import register_fallback

register_array_class("Batched", BatchedArray)
register_fallback(BatchedArray, one_by_one)
