"""mindtorch: tensors with automatic differentiation, with the names, semantics and messages of PyTorch.

The operators are generated from ops.yaml and derivatives.yaml; this module only collects what users see.
"""

from importlib import import_module
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi
from typing import TYPE_CHECKING, Any

# First what fills the registry and the class of tensors, then the public names.
import mindtorch._functions.overridable
import mindtorch._generated.registry
import mindtorch._tensor_methods  # noqa: F401

if TYPE_CHECKING:
    from mindtorch._generated.functions import *  # noqa: F403

# isort: split
# What is written by hand takes the place of the op of that name (einsum, tensordot).
from mindtorch._core.device import device as device
from mindtorch._core.device import get_default_device as get_default_device
from mindtorch._core.device import set_default_device as set_default_device
from mindtorch._core.dtype import bfloat16 as bfloat16
from mindtorch._core.dtype import bool as bool
from mindtorch._core.dtype import cdouble as cdouble
from mindtorch._core.dtype import cfloat as cfloat
from mindtorch._core.dtype import chalf as chalf
from mindtorch._core.dtype import complex32 as complex32
from mindtorch._core.dtype import complex64 as complex64
from mindtorch._core.dtype import complex128 as complex128
from mindtorch._core.dtype import double as double
from mindtorch._core.dtype import dtype as dtype
from mindtorch._core.dtype import finfo as finfo
from mindtorch._core.dtype import float as float
from mindtorch._core.dtype import float8_e4m3fn as float8_e4m3fn
from mindtorch._core.dtype import float8_e4m3fnuz as float8_e4m3fnuz
from mindtorch._core.dtype import float8_e5m2 as float8_e5m2
from mindtorch._core.dtype import float8_e5m2fnuz as float8_e5m2fnuz
from mindtorch._core.dtype import float8_e8m0fnu as float8_e8m0fnu
from mindtorch._core.dtype import float16 as float16
from mindtorch._core.dtype import float32 as float32
from mindtorch._core.dtype import float64 as float64
from mindtorch._core.dtype import get_default_dtype as get_default_dtype
from mindtorch._core.dtype import half as half
from mindtorch._core.dtype import iinfo as iinfo
from mindtorch._core.dtype import int as int
from mindtorch._core.dtype import int8 as int8
from mindtorch._core.dtype import int16 as int16
from mindtorch._core.dtype import int32 as int32
from mindtorch._core.dtype import int64 as int64
from mindtorch._core.dtype import long as long
from mindtorch._core.dtype import set_default_dtype as set_default_dtype
from mindtorch._core.dtype import short as short
from mindtorch._core.dtype import uint8 as uint8
from mindtorch._core.dtype import uint16 as uint16
from mindtorch._core.dtype import uint32 as uint32
from mindtorch._core.dtype import uint64 as uint64
from mindtorch._core.generator import Generator as Generator
from mindtorch._core.generator import default_generator as default_generator
from mindtorch._core.generator import get_rng_state as get_rng_state
from mindtorch._core.generator import initial_seed as initial_seed
from mindtorch._core.generator import manual_seed as manual_seed
from mindtorch._core.generator import seed as seed
from mindtorch._core.generator import set_rng_state as set_rng_state
from mindtorch._core.interop import from_dlpack as from_dlpack
from mindtorch._core.interop import from_file as from_file
from mindtorch._core.interop import from_numpy as from_numpy
from mindtorch._core.interop import frombuffer as frombuffer
from mindtorch._core.layout import layout as layout
from mindtorch._core.layout import sparse_bsc as sparse_bsc
from mindtorch._core.layout import sparse_bsr as sparse_bsr
from mindtorch._core.layout import sparse_coo as sparse_coo
from mindtorch._core.layout import sparse_csc as sparse_csc
from mindtorch._core.layout import sparse_csr as sparse_csr
from mindtorch._core.layout import strided as strided
from mindtorch._core.memory_format import channels_last as channels_last
from mindtorch._core.memory_format import channels_last_3d as channels_last_3d
from mindtorch._core.memory_format import contiguous_format as contiguous_format
from mindtorch._core.memory_format import memory_format as memory_format
from mindtorch._core.memory_format import preserve_format as preserve_format
from mindtorch._core.promotion import can_cast as can_cast
from mindtorch._core.promotion import promote_types as promote_types
from mindtorch._core.size import Size as Size
from mindtorch._core.storage import UntypedStorage as UntypedStorage
from mindtorch._core.tensor import Tensor as Tensor
from mindtorch._core.threads import get_num_threads as get_num_threads
from mindtorch._core.threads import set_num_threads as set_num_threads
from mindtorch._core.typed_storage import BFloat16Storage as BFloat16Storage
from mindtorch._core.typed_storage import BoolStorage as BoolStorage
from mindtorch._core.typed_storage import ByteStorage as ByteStorage
from mindtorch._core.typed_storage import CharStorage as CharStorage
from mindtorch._core.typed_storage import ComplexDoubleStorage as ComplexDoubleStorage
from mindtorch._core.typed_storage import ComplexFloatStorage as ComplexFloatStorage
from mindtorch._core.typed_storage import DoubleStorage as DoubleStorage
from mindtorch._core.typed_storage import FloatStorage as FloatStorage
from mindtorch._core.typed_storage import HalfStorage as HalfStorage
from mindtorch._core.typed_storage import IntStorage as IntStorage
from mindtorch._core.typed_storage import LongStorage as LongStorage
from mindtorch._core.typed_storage import ShortStorage as ShortStorage
from mindtorch._core.typed_storage import TypedStorage as TypedStorage
from mindtorch._functions.broadcasting import atleast_1d as atleast_1d
from mindtorch._functions.broadcasting import atleast_2d as atleast_2d
from mindtorch._functions.broadcasting import atleast_3d as atleast_3d
from mindtorch._functions.broadcasting import block_diag as block_diag
from mindtorch._functions.broadcasting import broadcast_shapes as broadcast_shapes
from mindtorch._functions.broadcasting import broadcast_tensors as broadcast_tensors
from mindtorch._functions.broadcasting import cartesian_prod as cartesian_prod
from mindtorch._functions.broadcasting import meshgrid as meshgrid
from mindtorch._functions.broadcasting import split as split
from mindtorch._functions.comparison import allclose as allclose
from mindtorch._functions.comparison import equal as equal
from mindtorch._functions.comparison import isclose as isclose
from mindtorch._functions.creation import as_tensor as as_tensor
from mindtorch._functions.creation import asarray as asarray
from mindtorch._functions.creation import sparse_coo_tensor as sparse_coo_tensor
from mindtorch._functions.creation import tensor as tensor
from mindtorch._functions.einsum import einsum as einsum
from mindtorch._functions.einsum import tensordot as tensordot
from mindtorch._functions.inspection import get_device as get_device
from mindtorch._functions.inspection import is_complex as is_complex
from mindtorch._functions.inspection import is_conj as is_conj
from mindtorch._functions.inspection import is_distributed as is_distributed
from mindtorch._functions.inspection import is_floating_point as is_floating_point
from mindtorch._functions.inspection import is_inference as is_inference
from mindtorch._functions.inspection import is_neg as is_neg
from mindtorch._functions.inspection import is_nonzero as is_nonzero
from mindtorch._functions.inspection import is_same_size as is_same_size
from mindtorch._functions.inspection import is_signed as is_signed
from mindtorch._functions.inspection import is_storage as is_storage
from mindtorch._functions.inspection import is_tensor as is_tensor
from mindtorch._functions.inspection import numel as numel
from mindtorch._functions.inspection import result_type as result_type
from mindtorch._functions.inspection import typename as typename
from mindtorch._functions.norms import cdist as cdist
from mindtorch._functions.norms import chain_matmul as chain_matmul
from mindtorch._functions.norms import norm as norm
from mindtorch._functions.printing import get_printoptions as get_printoptions
from mindtorch._functions.printing import printoptions as printoptions
from mindtorch._functions.printing import set_printoptions as set_printoptions
from mindtorch._functions.searching import nonzero as nonzero
from mindtorch._functions.searching import unique as unique
from mindtorch._functions.searching import unique_consecutive as unique_consecutive
from mindtorch._functions.searching import unravel_index as unravel_index
from mindtorch._functions.settings import are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled
from mindtorch._functions.settings import get_deterministic_debug_mode as get_deterministic_debug_mode
from mindtorch._functions.settings import get_float32_matmul_precision as get_float32_matmul_precision
from mindtorch._functions.settings import get_num_interop_threads as get_num_interop_threads
from mindtorch._functions.settings import (
    is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled,
)
from mindtorch._functions.settings import set_default_tensor_type as set_default_tensor_type
from mindtorch._functions.settings import set_deterministic_debug_mode as set_deterministic_debug_mode
from mindtorch._functions.settings import set_float32_matmul_precision as set_float32_matmul_precision
from mindtorch._functions.settings import set_flush_denormal as set_flush_denormal
from mindtorch._functions.settings import set_num_interop_threads as set_num_interop_threads
from mindtorch._functions.settings import use_deterministic_algorithms as use_deterministic_algorithms
from mindtorch._functions.stft import stft as stft
from mindtorch._generated import functions as _functions_of_ops
from mindtorch._support import lazy as _lazy
from mindtorch._support import old_modules as _old_modules
from mindtorch._support.absent import finder as _absent
from mindtorch._support.errors import AcceleratorError as AcceleratorError
from mindtorch._support.errors import OutOfMemoryError as OutOfMemoryError
from mindtorch._support.warnings import is_warn_always_enabled as is_warn_always_enabled
from mindtorch._support.warnings import set_warn_always as set_warn_always
from mindtorch._tensor_methods.legacy import BFloat16Tensor as BFloat16Tensor
from mindtorch._tensor_methods.legacy import BoolTensor as BoolTensor
from mindtorch._tensor_methods.legacy import ByteTensor as ByteTensor
from mindtorch._tensor_methods.legacy import CharTensor as CharTensor
from mindtorch._tensor_methods.legacy import DoubleTensor as DoubleTensor
from mindtorch._tensor_methods.legacy import FloatTensor as FloatTensor
from mindtorch._tensor_methods.legacy import HalfTensor as HalfTensor
from mindtorch._tensor_methods.legacy import IntTensor as IntTensor
from mindtorch._tensor_methods.legacy import LongTensor as LongTensor
from mindtorch._tensor_methods.legacy import ShortTensor as ShortTensor
from mindtorch._tensor_methods.memory import resize_as_ as resize_as_
from mindtorch._tensor_methods.operators import conj as conj
from mindtorch._tensor_methods.operators import resolve_conj as resolve_conj
from mindtorch._tensor_methods.operators import resolve_neg as resolve_neg
from mindtorch.autograd.anomaly_mode import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from mindtorch.autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from mindtorch.autograd.anomaly_mode import set_anomaly_enabled as set_anomaly_enabled
from mindtorch.autograd.grad_mode import enable_grad as enable_grad
from mindtorch.autograd.grad_mode import inference_mode as inference_mode
from mindtorch.autograd.grad_mode import is_grad_enabled as is_grad_enabled
from mindtorch.autograd.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from mindtorch.autograd.grad_mode import no_grad as no_grad
from mindtorch.autograd.grad_mode import set_grad_enabled as set_grad_enabled
from mindtorch.dispatch import operators as _operators
from mindtorch.dispatch.schema.tags import Tag as Tag
from mindtorch.version import __version__ as __version__

_old_modules.register_old_modules()
_absent.register_stand_ins()

newaxis = None
ops = _operators
legacy_contiguous_format = contiguous_format
torch = import_module(__name__)  # programs say `torch.torch` without noticing

# What is loaded when it is first asked for: the functions of ops, except those that are written by hand (above) ...
_LATER = dict.fromkeys(_functions_of_ops.__all__, "mindtorch._generated.functions") | {
    "eig": "mindtorch._functions.removed", "load": "mindtorch.serialization", "lobpcg": "mindtorch._functions.lobpcg",
    "lstsq": "mindtorch._functions.removed", "lu": "mindtorch._functions.removed",
    "matrix_rank": "mindtorch._functions.removed", "pca_lowrank": "mindtorch._functions.lowrank",
    "return_types": "mindtorch._functions.other_names", "save": "mindtorch.serialization",
    "solve": "mindtorch._functions.removed", "svd_lowrank": "mindtorch._functions.lowrank",
    "symeig": "mindtorch._functions.removed",
}  # fmt: skip

# ... areas ...
_LAZY_MODULES = frozenset(
    (
        "_C", "__config__", "_decomp", "_dynamo", "_inductor", "_subclasses", "_tensor", "_tensor_str", "_utils",
        "accelerator", "amp", "ao", "compiler", "cpu", "cuda", "distributed", "distributions", "fft", "func",
        "functional", "futures", "fx", "hub", "jit", "library", "linalg", "masked", "mps", "multiprocessing", "nn",
        "npu", "onnx", "optim", "overrides", "profiler", "program", "quasirandom", "random", "serialization",
        "signal", "sparse", "special", "storage", "testing", "torch_version", "types", "utils", "version", "xpu",
    )
)  # fmt: skip

# ... and names of areas.
_AUTOCAST = (
    "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache", "get_autocast_cpu_dtype",
    "get_autocast_dtype", "get_autocast_gpu_dtype", "is_autocast_cache_enabled", "is_autocast_cpu_enabled",
    "is_autocast_enabled", "set_autocast_cache_enabled", "set_autocast_cpu_dtype", "set_autocast_cpu_enabled",
    "set_autocast_dtype", "set_autocast_enabled", "set_autocast_gpu_dtype",
)  # fmt: skip
_COMPRESSED = (
    "sparse_bsc_tensor", "sparse_bsr_tensor", "sparse_compressed_tensor", "sparse_csc_tensor", "sparse_csr_tensor",
)  # fmt: skip
_CHECKS = (
    "_assert", "_assert_async", "_check", "_check_index", "_check_is_size", "_check_not_implemented",
    "_check_tensor_all", "_check_tensor_all_with", "_check_type", "_check_value", "_check_with",
)  # fmt: skip
_SYMBOLIC = (
    "SymBool", "SymFloat", "SymInt", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt",
    "sym_sum",
)  # fmt: skip
_NAMES_ONLY = (
    "jagged", "qscheme", "per_tensor_affine", "per_tensor_symmetric", "per_channel_affine",
    "per_channel_symmetric", "per_channel_affine_float_qparams", "int1", "int2", "int3", "int4", "int5", "int6",
    "int7", "uint1", "uint2", "uint3", "uint4", "uint5", "uint6", "uint7", "qint8", "quint8", "qint32", "quint4x2",
    "quint2x4", "bits1x8", "bits2x4", "bits4x2", "bits8", "bits16", "float4_e2m1fn_x2",
)  # fmt: skip
_FROM_AREAS = {
    "GradScaler": "amp", "autocast": "amp", "compile": "compiler", "cosine_similarity": "nn.functional",
    "dsmm": "sparse", "get_device_module": "accelerator", "pairwise_distance": "nn.functional",
    "spmm": "sparse", "vmap": "func", "cond": "_functions.control_flow", "histogramdd": "_functions.histograms",
    "fork": "jit", "install_as_torch": "_as_torch", "wait": "jit", "while_loop": "_functions.control_flow",
    "Event": "_core.streams", "Future": "futures", "PyTorchFileReader": "serialization.archive", "ScriptModule": "jit",
    "Stream": "_core.streams", "_segment_reduce": "_functions.other_names", "_shape_as_tensor": "_functions.inspection",
    **dict.fromkeys(_CHECKS, "_functions.checks"), **dict.fromkeys(_NAMES_ONLY, "_core.names_only"),
    **dict.fromkeys(_COMPRESSED, "sparse"), **dict.fromkeys(_SYMBOLIC, "_functions.symbolic"),
    **dict.fromkeys(_AUTOCAST, "amp.settings"),
}  # fmt: skip

if TYPE_CHECKING:  # the same names: with `__getattr__`, type checkers would take every other name, too
    from mindtorch import _C as _C
    from mindtorch import __config__ as __config__
    from mindtorch import _decomp as _decomp
    from mindtorch import _dynamo as _dynamo
    from mindtorch import _inductor as _inductor
    from mindtorch import _subclasses as _subclasses
    from mindtorch import _tensor as _tensor
    from mindtorch import _tensor_str as _tensor_str
    from mindtorch import _utils as _utils
    from mindtorch import accelerator as accelerator
    from mindtorch import amp as amp
    from mindtorch import ao as ao
    from mindtorch import autograd as autograd
    from mindtorch import backends as backends
    from mindtorch import compiler as compiler
    from mindtorch import cpu as cpu
    from mindtorch import cuda as cuda
    from mindtorch import distributed as distributed
    from mindtorch import distributions as distributions
    from mindtorch import fft as fft
    from mindtorch import func as func
    from mindtorch import functional as functional
    from mindtorch import futures as futures
    from mindtorch import fx as fx
    from mindtorch import hub as hub
    from mindtorch import jit as jit
    from mindtorch import library as library
    from mindtorch import linalg as linalg
    from mindtorch import masked as masked
    from mindtorch import mps as mps
    from mindtorch import multiprocessing as multiprocessing
    from mindtorch import nn as nn
    from mindtorch import npu as npu
    from mindtorch import onnx as onnx
    from mindtorch import optim as optim
    from mindtorch import overrides as overrides
    from mindtorch import profiler as profiler
    from mindtorch import program as program
    from mindtorch import quasirandom as quasirandom
    from mindtorch import random as random
    from mindtorch import serialization as serialization
    from mindtorch import signal as signal
    from mindtorch import sparse as sparse
    from mindtorch import special as special
    from mindtorch import testing as testing
    from mindtorch import torch_version as torch_version
    from mindtorch import types as types
    from mindtorch import utils as utils
    from mindtorch import version as version
    from mindtorch import xpu as xpu
    from mindtorch._as_torch import install_as_torch as install_as_torch
    from mindtorch._core import storage as storage
    from mindtorch._core.names_only import bits1x8 as bits1x8
    from mindtorch._core.names_only import bits2x4 as bits2x4
    from mindtorch._core.names_only import bits4x2 as bits4x2
    from mindtorch._core.names_only import bits8 as bits8
    from mindtorch._core.names_only import bits16 as bits16
    from mindtorch._core.names_only import float4_e2m1fn_x2 as float4_e2m1fn_x2
    from mindtorch._core.names_only import int1 as int1
    from mindtorch._core.names_only import int2 as int2
    from mindtorch._core.names_only import int3 as int3
    from mindtorch._core.names_only import int4 as int4
    from mindtorch._core.names_only import int5 as int5
    from mindtorch._core.names_only import int6 as int6
    from mindtorch._core.names_only import int7 as int7
    from mindtorch._core.names_only import jagged as jagged
    from mindtorch._core.names_only import per_channel_affine as per_channel_affine
    from mindtorch._core.names_only import per_channel_affine_float_qparams as per_channel_affine_float_qparams
    from mindtorch._core.names_only import per_channel_symmetric as per_channel_symmetric
    from mindtorch._core.names_only import per_tensor_affine as per_tensor_affine
    from mindtorch._core.names_only import per_tensor_symmetric as per_tensor_symmetric
    from mindtorch._core.names_only import qint8 as qint8
    from mindtorch._core.names_only import qint32 as qint32
    from mindtorch._core.names_only import qscheme as qscheme
    from mindtorch._core.names_only import quint2x4 as quint2x4
    from mindtorch._core.names_only import quint4x2 as quint4x2
    from mindtorch._core.names_only import quint8 as quint8
    from mindtorch._core.names_only import uint1 as uint1
    from mindtorch._core.names_only import uint2 as uint2
    from mindtorch._core.names_only import uint3 as uint3
    from mindtorch._core.names_only import uint4 as uint4
    from mindtorch._core.names_only import uint5 as uint5
    from mindtorch._core.names_only import uint6 as uint6
    from mindtorch._core.names_only import uint7 as uint7
    from mindtorch._core.streams import Event as Event
    from mindtorch._core.streams import Stream as Stream
    from mindtorch._functions.checks import _assert as _assert
    from mindtorch._functions.checks import _assert_async as _assert_async
    from mindtorch._functions.checks import _check as _check
    from mindtorch._functions.checks import _check_index as _check_index
    from mindtorch._functions.checks import _check_is_size as _check_is_size
    from mindtorch._functions.checks import _check_not_implemented as _check_not_implemented
    from mindtorch._functions.checks import _check_tensor_all as _check_tensor_all
    from mindtorch._functions.checks import _check_tensor_all_with as _check_tensor_all_with
    from mindtorch._functions.checks import _check_type as _check_type
    from mindtorch._functions.checks import _check_value as _check_value
    from mindtorch._functions.checks import _check_with as _check_with
    from mindtorch._functions.control_flow import cond as cond
    from mindtorch._functions.control_flow import while_loop as while_loop
    from mindtorch._functions.histograms import histogramdd as histogramdd
    from mindtorch._functions.inspection import _shape_as_tensor as _shape_as_tensor
    from mindtorch._functions.lobpcg import lobpcg as lobpcg
    from mindtorch._functions.lowrank import pca_lowrank as pca_lowrank
    from mindtorch._functions.lowrank import svd_lowrank as svd_lowrank
    from mindtorch._functions.other_names import _segment_reduce as _segment_reduce
    from mindtorch._functions.removed import eig as eig
    from mindtorch._functions.removed import lstsq as lstsq
    from mindtorch._functions.removed import lu as lu
    from mindtorch._functions.removed import matrix_rank as matrix_rank
    from mindtorch._functions.removed import solve as solve
    from mindtorch._functions.removed import symeig as symeig
    from mindtorch._functions.symbolic import SymBool as SymBool
    from mindtorch._functions.symbolic import SymFloat as SymFloat
    from mindtorch._functions.symbolic import SymInt as SymInt
    from mindtorch._functions.symbolic import sym_float as sym_float
    from mindtorch._functions.symbolic import sym_int as sym_int
    from mindtorch._functions.symbolic import sym_ite as sym_ite
    from mindtorch._functions.symbolic import sym_max as sym_max
    from mindtorch._functions.symbolic import sym_min as sym_min
    from mindtorch._functions.symbolic import sym_not as sym_not
    from mindtorch._functions.symbolic import sym_sqrt as sym_sqrt
    from mindtorch._functions.symbolic import sym_sum as sym_sum
    from mindtorch._functorch.vmap import vmap as vmap
    from mindtorch._generated import return_types as return_types
    from mindtorch.accelerator import get_device_module as get_device_module
    from mindtorch.amp import GradScaler as GradScaler
    from mindtorch.amp import autocast as autocast
    from mindtorch.amp.settings import autocast_decrement_nesting as autocast_decrement_nesting
    from mindtorch.amp.settings import autocast_increment_nesting as autocast_increment_nesting
    from mindtorch.amp.settings import clear_autocast_cache as clear_autocast_cache
    from mindtorch.amp.settings import get_autocast_cpu_dtype as get_autocast_cpu_dtype
    from mindtorch.amp.settings import get_autocast_dtype as get_autocast_dtype
    from mindtorch.amp.settings import get_autocast_gpu_dtype as get_autocast_gpu_dtype
    from mindtorch.amp.settings import is_autocast_cache_enabled as is_autocast_cache_enabled
    from mindtorch.amp.settings import is_autocast_cpu_enabled as is_autocast_cpu_enabled
    from mindtorch.amp.settings import is_autocast_enabled as is_autocast_enabled
    from mindtorch.amp.settings import set_autocast_cache_enabled as set_autocast_cache_enabled
    from mindtorch.amp.settings import set_autocast_cpu_dtype as set_autocast_cpu_dtype
    from mindtorch.amp.settings import set_autocast_cpu_enabled as set_autocast_cpu_enabled
    from mindtorch.amp.settings import set_autocast_dtype as set_autocast_dtype
    from mindtorch.amp.settings import set_autocast_enabled as set_autocast_enabled
    from mindtorch.amp.settings import set_autocast_gpu_dtype as set_autocast_gpu_dtype
    from mindtorch.compiler import compile as compile
    from mindtorch.futures import Future as Future
    from mindtorch.jit import ScriptModule as ScriptModule
    from mindtorch.jit import fork as fork
    from mindtorch.jit import wait as wait
    from mindtorch.nn.functional import adaptive_avg_pool1d as adaptive_avg_pool1d
    from mindtorch.nn.functional import avg_pool1d as avg_pool1d
    from mindtorch.nn.functional import cosine_similarity as cosine_similarity
    from mindtorch.nn.functional import max_pool1d as max_pool1d
    from mindtorch.nn.functional import pairwise_distance as pairwise_distance
    from mindtorch.nn.functional import rms_norm as rms_norm
    from mindtorch.serialization import load as load
    from mindtorch.serialization import save as save
    from mindtorch.serialization.archive import PyTorchFileReader as PyTorchFileReader
    from mindtorch.sparse import dsmm as dsmm
    from mindtorch.sparse import sparse_bsc_tensor as sparse_bsc_tensor
    from mindtorch.sparse import sparse_bsr_tensor as sparse_bsr_tensor
    from mindtorch.sparse import sparse_compressed_tensor as sparse_compressed_tensor
    from mindtorch.sparse import sparse_csc_tensor as sparse_csc_tensor
    from mindtorch.sparse import sparse_csr_tensor as sparse_csr_tensor
    from mindtorch.sparse import spmm as spmm
else:

    _find = _lazy.names_from(
        "mindtorch",
        {
            **_LATER,
            **{name: f"mindtorch.{name}" for name in _LAZY_MODULES},
            **{name: f"mindtorch.{area}" for name, area in _FROM_AREAS.items()},
        },
    )

    def __getattr__(name: str) -> Any:
        if name == "__all__":  # what a star imports: few areas, and nothing that comes from them
            hidden = _LAZY_MODULES | _FROM_AREAS.keys()
            shown = {*globals(), *_LATER} - hidden | {"fft", "linalg", "nn", "special"}
            return sorted(name for name in shown if not name.startswith("_"))
        return _find(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_LAZY_MODULES, *_FROM_AREAS})
