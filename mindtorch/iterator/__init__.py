"""How the operands of an elementwise op or a reduction fit together: torch's TensorIterator, and its rules one by one.

Kernels with a short way of their own call the rules, functions over anything that has NumPy's `shape`, `strides`,
`itemsize`, `dtype` and `flags`; `TensorIteratorConfig` applies all of them and gives an iterator to walk with. Strides
of results are in elements; `None` stands for row-major. docs/memory.md explains both.
"""

from mindtorch.iterator.build import Builder as Builder
from mindtorch.iterator.build import builder_for as builder_for
from mindtorch.iterator.checks import check_devices as check_devices
from mindtorch.iterator.checks import check_result_dtype as check_result_dtype
from mindtorch.iterator.checks import check_same_dtype as check_same_dtype
from mindtorch.iterator.checks import device_name as device_name
from mindtorch.iterator.checks import needs_resize as needs_resize
from mindtorch.iterator.config import TensorIteratorConfig as TensorIteratorConfig
from mindtorch.iterator.counter import DimCounter as DimCounter
from mindtorch.iterator.layout import expanded_strides as expanded_strides
from mindtorch.iterator.layout import result_layout as result_layout
from mindtorch.iterator.memory import new_array as new_array
from mindtorch.iterator.options import Options as Options
from mindtorch.iterator.overlap import check_apart as check_apart
from mindtorch.iterator.overlap import check_distinct as check_distinct
from mindtorch.iterator.overlap import check_overlap as check_overlap
from mindtorch.iterator.overlap import check_shared as check_shared
from mindtorch.iterator.overlap import is_apart as is_apart
from mindtorch.iterator.overlap import is_at_hand as is_at_hand
from mindtorch.iterator.overlap import is_expanded as is_expanded
from mindtorch.iterator.overlap import is_same_view as is_same_view
from mindtorch.iterator.overlap import may_share as may_share
from mindtorch.iterator.overlap import warn_if_expanded as warn_if_expanded
from mindtorch.iterator.parts import BLOCK as BLOCK
from mindtorch.iterator.plan import Plan as Plan
from mindtorch.iterator.shapes import broadcast_shapes as broadcast_shapes
from mindtorch.iterator.shapes import check_inplace_shape as check_inplace_shape
from mindtorch.iterator.shapes import reduced_dims as reduced_dims
from mindtorch.iterator.shapes import reduced_shape as reduced_shape
from mindtorch.iterator.shapes import reduced_view as reduced_view
from mindtorch.iterator.tensor_iterator import TensorIterator as TensorIterator
