"""Products of samples that do not fit: PyTorch tells the shapes of the product that it makes of all samples."""

import pytest

from tests.parity.support.programs import assert_same

SHAPES = {
    "mm": ((4, 5), (6, 7)),
    "mv": ((4, 5), (6,)),
    "dot": ((5,), (6,)),
    "vdot": ((5,), (6,)),
    "bmm": ((2, 4, 5), (2, 6, 7)),
    "matmul": ((5,), (6, 7)),
    "bmm (batches)": ((2, 4, 5), (4, 5, 7)),
    "mm (a vector)": ((4,), (6, 7)),
    "mv (vectors)": ((5,), (6,)),
    "dot (a matrix)": ((5, 2), (5,)),
    "bmm (a matrix)": ((2, 4, 5), (5, 6)),
}
BATCHED = {"left": (0, None), "right": (None, 0), "both": (0, 0)}
SAMPLES = 3


@pytest.mark.parametrize("batched", BATCHED)
@pytest.mark.parametrize("name", SHAPES)
def test_error(name, batched):
    def program(T):
        shapes = zip(SHAPES[name], BATCHED[batched], strict=True)
        args = [T.ones(shape if dim is None else (SAMPLES, *shape)) for shape, dim in shapes]
        return T.vmap(getattr(T, name.partition(" ")[0]), in_dims=BATCHED[batched])(*args)

    assert_same(program)
