"""What torch has at its top under names of its own, too."""

from mindtorch._generated import return_types as return_types
from mindtorch.dispatch import ops

_segment_reduce = ops.segment_reduce
