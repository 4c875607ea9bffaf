"""For the same seed the numbers are PyTorch's, in whatever order ops, sizes, dtypes and layouts are mixed."""

import pytest
import torch

import mindtorch
from tests.parity.support.library_programs import tried
from tests.parity.support.programs import programs
from tests.parity.support.roundings import agree

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int64", "int32", "int16", "int8", "uint8", "bool")
SIZES = (*range(1, 40), 64, 100, 1000)

FILLS = {
    "uniform": (FLOATS, lambda x: x.uniform_()),
    "uniform between": (FLOATS, lambda x: x.uniform_(-2.5, 3.25)),
    "uniform over the whole range": (FLOATS[1:2], lambda x: x.uniform_(-8e307, 8e307)),
    "normal": (FLOATS, lambda x: x.normal_()),
    "normal around": (FLOATS, lambda x: x.normal_(1.5, 0.3)),
    "exponential": (FLOATS, lambda x: x.exponential_(1.7)),
    "bernoulli": (FLOATS + INTEGERS, lambda x: x.bernoulli_(0.3)),
    "random": (FLOATS + INTEGERS, lambda x: x.random_()),
    "random to": (FLOATS + INTEGERS, lambda x: x.random_(2)),
    "random from": (FLOATS + INTEGERS[:4], lambda x: x.random_(-100, 20)),
    "random from far": (("int64",), lambda x: x.random_(-(2**40), 2**41)),
    "random over all": (("int64",), lambda x: x.random_(-(2**63), None)),
}

LAYOUTS = {
    "row-major": lambda T, n, dtype: T.zeros(n, dtype=dtype),
    "transposed": lambda T, n, dtype: T.zeros(3, n, dtype=dtype).t(),
    "every second": lambda T, n, dtype: T.zeros(2 * n, dtype=dtype)[::2],
}


@pytest.fixture(autouse=True)
def same_seed():
    torch.manual_seed(11)
    mindtorch.manual_seed(11)


def same(ours, theirs):
    """Equal but for the last bits, in which logarithms and sines differ: an angle is rounded that is up to 2 pi. Halves
    are computed in single precision."""
    return agree(ours, theirs, 4 if theirs.dtype in (torch.float16, torch.bfloat16) else 16, largest=1.0)


def states_agree():
    return mindtorch.get_rng_state().tolist() == torch.get_rng_state().tolist()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("fill", FILLS)
def test_fill(fill, layout):
    dtypes, call = FILLS[fill]
    for dtype in dtypes:
        for size in SIZES:
            ours, theirs = (call(LAYOUTS[layout](T, size, getattr(T, dtype))) for T in (mindtorch, torch))
            assert same(ours, theirs), (dtype, size)
    assert states_agree()


@pytest.mark.parametrize(
    "call",
    [
        lambda T: T.rand(3, 4),
        lambda T: T.randn(7),
        lambda T: T.randn(5, 5, dtype=T.float64),
        lambda T: T.randint(10, (3, 3)),
        lambda T: T.randint(-5, 2**40, (8,)),
        lambda T: T.randperm(30),
        lambda T: T.rand_like(T.zeros(4, 3).t()),
        lambda T: T.randn_like(T.zeros(4)),
        lambda T: T.randint_like(T.zeros(4), 9),
        lambda T: T.bernoulli(T.full((5, 4), 0.4)),
        lambda T: T.normal(T.zeros(3), T.ones(3)),
        lambda T: T.normal(T.zeros(20), 2.0),
        lambda T: T.normal(1.0, 2.0, (4,)),
        lambda T: T.multinomial(T.tensor([[0.1, 0.2, 0.7], [0.5, 0.4, 0.1]]), 2),
        lambda T: T.multinomial(T.tensor([0.1, 0.2, 0.7]), 1),
        lambda T: T.multinomial(T.tensor([[0.1, 0.2, 0.7], [0.5, 0.4, 0.1]]), 8, replacement=True),
        lambda T: T.nn.functional.dropout(T.ones(40), 0.3),
        lambda T: T.rand(6, generator=T.Generator().manual_seed(5)),
    ],
)
def test_function(call):
    """Each twice, with other draws between, so that left-over numbers show."""
    for _ in range(2):
        ours, theirs = call(mindtorch), call(torch)
        assert same(ours, theirs) and ours.stride() == theirs.stride()
        mindtorch.randn(3), torch.randn(3)
    assert states_agree()


def test_states_are_exchangeable():
    torch.randn(5)
    mindtorch.set_rng_state(mindtorch.tensor(torch.get_rng_state().tolist(), dtype=mindtorch.uint8))
    assert same(mindtorch.randn(30), torch.randn(30))


@pytest.mark.parametrize("seed", [0, 1, 123456789, 2**32 + 5, 2**63, -3])
def test_seeds(seed):
    torch.manual_seed(seed)
    mindtorch.manual_seed(seed)
    assert mindtorch.rand(700).tolist() == torch.rand(700).tolist()
    assert mindtorch.initial_seed() == torch.initial_seed()


program, test_program = programs()


@program
def normal_numbers_into_tensors(T):
    T.manual_seed(3)
    ones = T.ones(2)
    calls = [
        lambda: T.normal(2.0, 3.0, (2,), out=T.empty(2)),
        lambda: T.normal(0.0, ones, out=T.empty(2, dtype=T.float64)),
        lambda: T.normal(0.0, 1.0, (2,), out=T.empty(2, dtype=T.float64)),
    ]
    return [tried(call) for call in calls]
