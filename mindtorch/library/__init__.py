"""Ops that need no YAML: `torch.library`. See docs/library.md."""

from mindtorch.library.checking import opcheck as opcheck
from mindtorch.library.custom_ops import CustomOpDef as CustomOpDef
from mindtorch.library.custom_ops import custom_op as custom_op
from mindtorch.library.fake import get_ctx as get_ctx
from mindtorch.library.libraries import Library as Library
from mindtorch.library.libraries import _scoped_library as _scoped_library
from mindtorch.library.libraries import define as define
from mindtorch.library.libraries import impl as impl
from mindtorch.library.operator import fallthrough_kernel as fallthrough_kernel
from mindtorch.library.registering import register_autograd as register_autograd
from mindtorch.library.registering import register_fake as register_fake
from mindtorch.library.registering import register_kernel as register_kernel
from mindtorch.library.registering import register_vmap as register_vmap
from mindtorch.library.signatures import infer_schema as infer_schema
