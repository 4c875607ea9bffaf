"""`x[index]` and `x[index] = value` with generated subscripts: shapes, strides, values, views, gradients and errors."""

import random

import numpy as np
import pytest
import torch

import mindtorch
from tests.parity.support.programs import assert_same

SHAPES = ((), (0,), (1,), (3,), (3, 4), (2, 3, 4), (2, 1, 3), (2, 0, 3))


class Sampler:
    """Subscripts for one shape, as functions of the library so that both get their own tensors."""

    def __init__(self, seed, shape):
        self.random = random.Random(f"{seed} {shape}")
        self.shape = shape

    def subscript(self):
        parts = []
        dim = 0
        while dim < len(self.shape) and self.random.random() < 0.8:
            part, used = self._part(dim)
            parts.append(part)
            dim += used
        if self.random.random() < 0.3:
            parts.insert(self.random.randint(0, len(parts)), lambda T: Ellipsis)
        if self.random.random() < 0.3:
            parts.insert(self.random.randint(0, len(parts)), lambda T: None)
        if len(parts) == 1 and self.random.random() < 0.7:
            return parts[0]
        return lambda T: tuple([part(T) for part in parts])

    def _part(self, dim):
        """A part of a subscript and how many dimensions it stands for."""
        extent = self.shape[dim]
        kind = self.random.choice(("int", "slice", "slice", "list", "tensor", "mask", "number", "bool"))
        if kind == "mask" and dim + 1 < len(self.shape) and self.random.random() < 0.5:
            return self._mask(self.shape[dim : dim + 2]), 2
        return getattr(self, f"_{kind}")(extent), 0 if kind == "bool" else 1

    def _place(self, extent):
        beyond = self.random.random() < 0.05
        return self.random.randint(-extent, extent - 1) if extent and not beyond else extent

    def _int(self, extent):
        place = self._place(extent)
        return lambda T: place

    def _slice(self, extent):
        start, stop = (self.random.choice((None, self.random.randint(-extent - 1, extent + 1))) for _ in range(2))
        step = self.random.choice((None, 1, 2, 3))
        return lambda T: slice(start, stop, step)

    def _list(self, extent):
        places = [self._place(extent) for _ in range(2)]
        return lambda T: places

    def _tensor(self, extent):
        places = [[self._place(extent) for _ in range(2)] for _ in range(self.random.choice((1, 2)))]
        return lambda T: T.tensor(places)

    def _number(self, extent):
        place = self._place(extent)
        return lambda T: T.tensor(place)

    def _bool(self, extent):
        flag = self.random.random() < 0.5
        return lambda T: flag

    def _mask(self, extent):
        shape = extent if isinstance(extent, tuple) else (extent,)
        chosen = np.array([self.random.random() < 0.5 for _ in range(int(np.prod(shape)))]).reshape(shape)
        return lambda T: T.tensor(chosen.tolist(), dtype=T.bool).reshape(shape)


def source(T, shape, transposed, requires_grad=False):
    count = int(np.prod(shape))
    x = T.arange(float(count)).reshape(shape[::-1] if transposed else shape)
    if transposed and len(shape) > 1:
        x = x.permute(*range(len(shape) - 1, -1, -1))
    return x.clone().requires_grad_() if requires_grad else x.clone()


def outcome(action):
    try:
        return action(), None
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        return None, (type(error).__name__, str(error))


def cases(seed):
    return [(shape, transposed) for shape in SHAPES for transposed in (False, True)]


@pytest.mark.parametrize("seed", range(30))
def test_read(seed):
    for shape, transposed in cases(seed):
        subscript = Sampler(seed, shape).subscript()
        results = []
        for T in (mindtorch, torch):
            x, index = source(T, shape, transposed, requires_grad=True), subscript(T)
            found, error = outcome(lambda x=x, index=index: x[index])
            if error is None:
                found.sum().backward()
                strides = found.stride() if found.numel() else None
                found = (
                    found.tolist(),
                    tuple(found.shape),
                    strides,
                    found._is_view(),
                    found.grad_fn.name(),
                    x.grad.tolist(),
                )
            results.append((found, error))
        assert results[0] == results[1], (shape, transposed, subscript(torch))


@pytest.mark.parametrize("seed", range(30, 60))
def test_write_number(seed):
    for shape, transposed in cases(seed):
        subscript = Sampler(seed, shape).subscript()
        results = []
        for T in (mindtorch, torch):
            x, index = source(T, shape, transposed), subscript(T)
            _, error = outcome(lambda x=x, index=index: x.__setitem__(index, 7))
            results.append(error or (x.tolist(), x._version))  # torch may write a part before it raises
        assert results[0] == results[1], (shape, transposed, subscript(torch))


@pytest.mark.parametrize("seed", range(60, 80))
def test_write_gradient(seed):
    """What is written gets the gradient of its places; what was there gets none."""
    for shape, transposed in cases(seed):
        subscript = Sampler(seed, shape).subscript()
        results = []
        for T in (mindtorch, torch):
            x = source(T, shape, transposed, requires_grad=True)
            value = T.tensor(2.0, requires_grad=True)
            y, index = x * 3, subscript(T)
            _, error = outcome(lambda y=y, index=index, value=value: y.__setitem__(index, value))
            if error is None:
                y.sum().backward()
            grads = (x.grad, value.grad)
            results.append(error or (y.tolist(), [None if grad is None else grad.tolist() for grad in grads]))
        assert results[0] == results[1], (shape, transposed, subscript(torch))


MASK = [1, 0, 1]
INDICES = {
    "NumPy's bool": lambda T: np.bool_(True),
    "NumPy's float": lambda T: np.float64(1.0),
    "floats of NumPy": lambda T: np.array([0.5, 1.0]),
    "NumPy's integer": lambda T: np.int64(1),
    "float": lambda T: 1.0,
}


@pytest.mark.parametrize("name", INDICES)
def test_indices(name):
    assert_same(lambda T: T.arange(3.0)[INDICES[name](T)])


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8")
@pytest.mark.parametrize("value", [lambda T: 2.0, lambda T: T.tensor(2.0), lambda T: T.tensor([2.0, 3.0])])
def test_numbers_for_masks_of_bytes(value):
    def program(T):
        x = T.zeros(3)
        x[T.tensor(MASK, dtype=T.uint8)] = value(T)
        return x

    assert_same(program)


@pytest.mark.parametrize("shape", [(3,), (3, 4), (3, 4, 2)])
def test_masks_of_meta_tensors(shape):
    assert_same(lambda T: tuple(T.zeros(shape, device="meta")[T.tensor(MASK).bool()].shape))
