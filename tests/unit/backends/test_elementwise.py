"""What an elementwise kernel says to a dtype that it has no computation for."""

import numpy as np
import pytest

import mindtorch as torch
from mindtorch._core.promotion import INT64
from mindtorch.backends.cpu.common.computing import FLOATS, Op, compute, loops
from mindtorch.backends.cpu.common.elementwise import binary, unary
from mindtorch.backends.cpu.common.unsupported_dtypes import raising
from mindtorch.dispatch.registry import kernel_table, register_kernel, register_op, unregister_op

FLOATS_ONLY = Op(loops(np.logaddexp, FLOATS))
OWN_TEXT = Op(loops(np.exp2, FLOATS), unsupported=raising(RuntimeError, "twice takes no {dtype}", INT64))


@pytest.fixture
def kernel_of():
    """A function that registers an op with a kernel, and gives what the op's function would call."""
    registered = []

    def register(name, kernel):
        registered.append(register_op(f"testing::{name}(Tensor self) -> Tensor", lambda: None).name)
        register_kernel("CPU", registered[-1], kernel)
        table = kernel_table(registered[-1])
        return lambda *tensors: table[np.ndarray](*[tensor._mt_array for tensor in tensors])

    yield register
    for name in registered:
        unregister_op(name)
        kernel_table(name).clear()


@pytest.mark.parametrize(
    ("dtype", "name"), [(torch.int64, "Long"), (torch.bool, "Bool"), (torch.complex64, "ComplexFloat")]
)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_a_dtype_without_a_computation_is_refused_by_the_name_of_the_op(kernel_of, dtype, name, shape):
    kernel = kernel_of("logaddexp", binary(FLOATS_ONLY))
    with pytest.raises(NotImplementedError, match=f"^\"logaddexp\" not implemented for '{name}'$"):
        kernel(torch.ones(shape, dtype=dtype), torch.ones(shape, dtype=dtype))


def test_the_variants_of_an_op_say_its_name(kernel_of):
    kernel = unary(Op(loops(np.exp2, FLOATS)))
    kernel_of("exp2.first", kernel)
    with pytest.raises(NotImplementedError, match="^\"exp2\" not implemented for 'Long'$"):
        kernel_of("exp2.out", kernel)(torch.ones(2, dtype=torch.int64))


def test_a_text_of_its_own_comes_first(kernel_of):
    with pytest.raises(RuntimeError, match="^twice takes no Long$"):
        kernel_of("twice", unary(OWN_TEXT))(torch.ones(2, dtype=torch.int64))


def test_a_computation_without_a_kernel_has_no_name():
    with pytest.raises(NotImplementedError, match="^\"elementwise\" not implemented for 'Long'$"):
        compute(FLOATS_ONLY, (np.ones(2, np.int64), np.ones(2, np.int64)))
