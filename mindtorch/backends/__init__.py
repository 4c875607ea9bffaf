"""The backends: sets of kernels, each over an array class of its own. Some names are of what torch has beside them."""

from mindtorch.backends import cuda as cuda
from mindtorch.backends import cudnn as cudnn
from mindtorch.backends import jit as jit
from mindtorch.backends import mkl as mkl
from mindtorch.backends import mkldnn as mkldnn
from mindtorch.backends import mps as mps
from mindtorch.backends import npu as npu
from mindtorch.backends import openmp as openmp
from mindtorch.backends import opt_einsum as opt_einsum
