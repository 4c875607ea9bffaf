"""Tensors of which some elements count as missing: `mindtorch.masked`."""

from mindtorch.masked.data import is_masked_tensor as is_masked_tensor
from mindtorch.masked.normalizations import cumprod as cumprod
from mindtorch.masked.normalizations import cumsum as cumsum
from mindtorch.masked.normalizations import log_softmax as log_softmax
from mindtorch.masked.normalizations import logaddexp as logaddexp
from mindtorch.masked.normalizations import normalize as normalize
from mindtorch.masked.normalizations import softmax as softmax
from mindtorch.masked.normalizations import softmin as softmin
from mindtorch.masked.reductions import amax as amax
from mindtorch.masked.reductions import amin as amin
from mindtorch.masked.reductions import argmax as argmax
from mindtorch.masked.reductions import argmin as argmin
from mindtorch.masked.reductions import logsumexp as logsumexp
from mindtorch.masked.reductions import mean as mean
from mindtorch.masked.reductions import median as median
from mindtorch.masked.reductions import norm as norm
from mindtorch.masked.reductions import prod as prod
from mindtorch.masked.reductions import std as std
from mindtorch.masked.reductions import sum as sum
from mindtorch.masked.reductions import var as var
from mindtorch.masked.tensor import MaskedTensor as MaskedTensor
from mindtorch.masked.tensor import as_masked_tensor as as_masked_tensor
from mindtorch.masked.tensor import masked_tensor as masked_tensor
