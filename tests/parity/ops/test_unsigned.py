"""Wide unsigned integers in the few ops that PyTorch has for them, with operands of every kind."""

import pytest

from tests.parity.support.programs import assert_same

ELEMENTWISE = ("eq", "ne", "mul", "bitwise_and", "bitwise_or", "bitwise_xor", "isclose", "equal", "kron")
OPERANDS = {
    "same": lambda T, y: y,
    "number": lambda T, y: 3,
    "number beyond": lambda T, y: 2**63,
    "negative": lambda T, y: -1,
    "bool": lambda T, y: True,
    "float": lambda T, y: 2.5,
    "complex": lambda T, y: 1j,
    "uint8": lambda T, y: y.to(T.uint8),
    "int64": lambda T, y: y.to(T.int64),
    "bools": lambda T, y: y.to(T.int64) > 1,
    "float32": lambda T, y: y.to(T.float32),
    "0-dim": lambda T, y: y[0, 1],
    "uint16": lambda T, y: y.to(T.uint16),
    "expanded": lambda T, y: y[:1],
}


def tensors(T, dtype):
    rows = ([[1, 0, 3], [2, 5, 60000]], [[1, 2, 3], [2, 1, 7]])
    return [T.tensor(each).to(getattr(T, dtype)) for each in rows]


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
@pytest.mark.parametrize("op", ELEMENTWISE)
def test_two_operands(op, dtype):
    for name, operand in OPERANDS.items():

        def of(T, write=None, operand=operand):
            x, y = tensors(T, dtype)
            return write(T, x, operand(T, y)) if write else getattr(T, op)(x, operand(T, y))

        assert_same(of)
        if op not in ("isclose", "equal", "kron") and name != "complex":  # torch warns, but once in a process only
            assert_same(lambda T: of(T, lambda T, x, z: getattr(x, f"{op}_")(z)))
            assert_same(lambda T: of(T, lambda T, x, z: getattr(T, op)(x, z, out=T.empty(0, dtype=T.int64))))


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64"])
def test_one_operand(dtype):
    assert_same(lambda T: T.unique_consecutive(tensors(T, dtype)[0], return_counts=True))
    assert_same(lambda T: T.bitwise_not(tensors(T, dtype)[0]))
    assert_same(lambda T: T.allclose(*tensors(T, dtype)))


HASHED = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 uint16"
CALLS = (
    "T.hash_tensor(x)",
    "x.hash_tensor(0)",
    "x.t().hash_tensor((0, 1), keepdim=True)",
    "T.hash_tensor(x, 0, out=T.empty(0, dtype=T.uint64))",
    "T.hash_tensor(x, out=T.empty((), dtype=T.int64))",
    "T.hash_tensor(x[:0])",
    "T.hash_tensor(x[:0], 0)",
    "T.hash_tensor(x[:0], 1)",
    "T.hash_tensor(x, mode=1)",
    "T.hash_tensor(x, 5, mode=1)",
    "T.hash_tensor(x.to('meta'), 1)",
    "T.vmap(T.hash_tensor)(x)",
)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("dtype", HASHED.split())
def test_hash_tensor(dtype):
    for call in CALLS:

        def of(T, call=call):
            return eval(call, {"T": T, "x": T.tensor([[-3.5, 2, 100], [0.1, 7, -0.0]]).to(getattr(T, dtype))})

        assert_same(of)
