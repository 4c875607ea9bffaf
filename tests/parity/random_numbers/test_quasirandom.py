"""`SobolEngine` draws PyTorch's numbers."""

import pytest
import torch

import mindtorch

DIMENSIONS = (1, 2, 3, 10, 100, 1111)


def compare(program):
    ours, theirs = (program(library, library.quasirandom.SobolEngine) for library in (mindtorch, torch))
    assert ours == theirs


@pytest.mark.parametrize("scramble", (False, True))
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_points(dimension, scramble):
    def program(T, Sobol):
        engine = Sobol(dimension, scramble=scramble, seed=5)
        drawn = [engine.draw(count).tolist() for count in (1, 3, 4)]
        return drawn, engine.quasi.tolist(), engine.shift.tolist(), engine.num_generated, repr(engine)

    compare(program)


@pytest.mark.parametrize("steps", ((0,), (1,), (5,), (100, 1), (3, 1000, 7)))
def test_fast_forward_and_reset(steps):
    def program(T, Sobol):
        engine, found = Sobol(3, scramble=True, seed=1), []
        for step in steps:
            found += [engine.fast_forward(step).num_generated, engine.draw(2).tolist()]
        return found, engine.reset().draw(2).tolist(), engine.num_generated

    compare(program)


def test_random_state_of_the_library():
    def program(T, Sobol):
        T.manual_seed(3)
        return Sobol(3, scramble=True).draw(2).tolist(), T.rand(2).tolist()

    compare(program)


def test_powers_of_two_dtypes_and_outputs():
    def program(T, Sobol):
        engine = Sobol(2)
        out = T.empty(4, 2)
        found = [engine.draw_base2(2).tolist(), engine.draw(4, out=out) is out, out.tolist()]
        return found, str(engine.draw(2, dtype=T.float64)), repr(Sobol(2, seed=4))

    compare(program)


MISTAKES = {
    "no dimension": lambda T, Sobol: Sobol(0),
    "too many": lambda T, Sobol: Sobol(21202),
    "no points": lambda T, Sobol: Sobol(2).draw(0),
    "negative": lambda T, Sobol: Sobol(2).draw(-1),
    "half precision": lambda T, Sobol: Sobol(2).draw(3, dtype=T.float16),
    "no power of two": lambda T, Sobol: [Sobol(2).fast_forward(3).draw_base2(2)],
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name):
    def program(T, Sobol):
        with pytest.raises((ValueError, RuntimeError, NotImplementedError)) as caught:
            MISTAKES[name](T, Sobol)
        return type(caught.value).__name__, str(caught.value)

    compare(program)
