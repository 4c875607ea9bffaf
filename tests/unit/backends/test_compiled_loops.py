"""Compiled loops: how exact they are, the same bits in every layout, and many elements at once."""

import re

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="compiled loops need llvmlite")
pytest.importorskip("mpmath", reason="exact values come from mpmath")

from llvmlite import ir  # noqa: E402
from mpmath import mp, mpf  # noqa: E402

from mindtorch.backends.cpu.compiled import building, expressions, loading, machine, values, vector_math  # noqa: E402
from mindtorch.backends.cpu.compiled.inner_loop import add_loop  # noqa: E402
from mindtorch.backends.cpu.compiled.ufuncs import ufunc  # noqa: E402
from tests.unit.backends.compiled_loops import DTYPES, WIDER, extremes, numbers, of_numpy, ulps  # noqa: E402
from tests.unit.backends.test_scalar_expressions import operands_of  # noqa: E402

# The functions of which one knows how exact they have to be, in units of the last place.
EXACT = {"exp": 1, "exp2": 1.2, "expm1": 1.5, "log": 1, "log1p": 1.5, "tanh": 1.5, "sigmoid": 1, "erf": 1.2, "erfc": 4}


def loop_of(name, function, operands):
    """A loop around a function of `vector_math`."""
    module = ir.Module(name)
    for each in values.FORMATS:
        add_loop(module, each.name, each, function, [False] * operands)
    owner, addresses = machine.addresses(machine.object_code(str(module)), [each.name for each in values.FORMATS])
    return ufunc(name, [((dtype,) * (operands + 1), each) for dtype, each in zip(DTYPES, addresses)], owner)


@pytest.fixture(scope="module")
def compiled():
    """All loops, each compiled when it is first asked for."""
    made = {}

    def of(name):
        if name not in made:
            made[name] = loading.as_ufunc(name, building.build(name))
        return made[name]

    return of


def exact_values(name, x):
    if name.startswith("erf"):
        with mp.workprec(90):
            return np.array([_exact_error_function(name, each) for each in x], np.longdouble)
    with np.errstate(all="ignore"):
        wide = x.astype(WIDER[x.dtype])
        exact = np.asarray(getattr(of_numpy(wide.dtype), name)(wide))
        return np.where(np.isinf(np.exp(-x)), 0, exact) if name == "sigmoid" else exact  # as PyTorch has it


def _exact_error_function(name, x):
    if not abs(x) < 40:
        return getattr(of_numpy(np.dtype(float)), name)(x)
    exact = getattr(mp, name)(mpf(float(x)))
    mantissa, exponent = exact.man_exp
    return np.ldexp(np.longdouble(str(abs(mantissa))), exponent) * int(mp.sign(exact))


@pytest.mark.parametrize("name", EXACT)
def test_functions_are_exact_to_the_last_place(name):
    loop = loop_of(name, getattr(vector_math, name), 1)
    for dtype in DTYPES:
        count = 400 if name.startswith("erf") else 20_000
        x = numbers(dtype, 1, count)
        with np.errstate(all="ignore"):
            found, exact = loop(x), exact_values(name, x)
            away = ulps(found, exact.astype(np.longdouble), dtype)
        worst = np.argmax(away)
        assert away[worst] <= EXACT[name], (dtype, x[worst], found[worst], exact[worst])


@pytest.mark.parametrize("name", ["tanh", "erf", "expm1", "log1p"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_odd_functions_keep_the_sign_of_zero(name, dtype):
    loop = loop_of(name, getattr(vector_math, name), 1)
    assert np.signbit(loop(np.array([0.0, -0.0], dtype))).tolist() == [False, True]


@pytest.mark.parametrize("name", expressions.names())
def test_loops_compute_what_numpy_does(compiled, name):
    for dtype in DTYPES:
        operands = operands_of(name, dtype)
        with np.errstate(all="ignore"):
            found = compiled(name)(*operands)
            expected = np.asarray(expressions.expression(name).of(of_numpy(dtype), *operands))
            scale = np.abs(expected) + np.abs(np.nan_to_num(operands[0])) + 1
            near = np.abs(found - expected) <= 16 * np.finfo(dtype).eps * scale
        assert found.dtype == dtype
        wrong = ~(near | (found == expected) | (np.isnan(found) & np.isnan(expected)))
        places = np.flatnonzero(wrong)[:3]
        values = (*operands, found, expected)
        assert [[each if np.isscalar(each) else each[place] for each in values] for place in places] == []


def layouts(x):
    """The same numbers in other places of memory, each with how many of them."""
    for offset in (0, 1, 3, 7):
        for length in (1, 2, 15, 16, 17, 63, 255, 256, 257, 300):
            room = np.empty(length + offset, x.dtype)
            room[offset:] = x[:length]
            yield room[offset:]
    yield np.repeat(x, 3)[::3]
    yield x[::-1].copy()[::-1]
    yield np.frombuffer(b"\0" + x.tobytes(), x.dtype, offset=1)


@pytest.mark.parametrize("name", ["gelu", "silu_backward", "softplus", "erfc", "lerp_Tensor"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_bits_are_the_same_in_every_layout(compiled, name, dtype):
    loop, operands = compiled(name), operands_of(name, dtype)
    many = [each if np.isscalar(each) else each[:600] for each in operands]
    with np.errstate(all="ignore"):
        whole = loop(*many)
        for first in layouts(many[0]):
            found = loop(first, *[each if np.isscalar(each) else each[: len(first)] for each in many[1:]])
            assert found.tobytes() == whole[: len(first)].tobytes()
        out = many[0].copy()
        loop(out, *many[1:], out=out)
        assert out.tobytes() == whole.tobytes()
        spread = np.zeros((600, 2), dtype)
        loop(*many, out=spread[:, 1])
        assert spread[:, 1].tobytes() == whole.tobytes() and not spread[:, 0].any()


def test_operands_are_broadcast(compiled):
    loop = compiled("lerp_Tensor")
    a, b, weight = np.arange(6.0).reshape(2, 3), np.full(3, 10.0), np.array([[0.5], [1.0]])
    assert loop(a, b, weight).tolist() == [[5.0, 5.5, 6.0], [10.0, 10.0, 10.0]]
    assert type(loop) is np.ufunc and loop.types == ["fff->f", "ddd->d"]


@pytest.mark.parametrize("name", expressions.names())
def test_loops_are_vectorized(name):
    """LLVM has to see that elements are independent of each other: a loop that is not so is ten times slower."""
    text = machine.optimized(building.text(name))
    for each in ("float", "double"):
        computed = re.findall(rf"= (?:f\w+|select|tail call|call) [^\n]*<\d+ x {each}>", text)
        assert len(computed) > 0, each
    called = set(re.findall(r"call [^\n]*@([\w.]+)\(", text))
    assert not [each for each in called if not each.startswith("llvm.")], "a function of each element alone"


def test_extreme_numbers_go_through_all_functions(compiled):
    """No result of a number is nan but where it has to be."""
    for name in ("sigmoid", "erf", "erfc", "hardsigmoid", "softplus", "elu"):
        for dtype in DTYPES:
            operands = [extremes(dtype), *operands_of(name, dtype)[1:]]
            with np.errstate(all="ignore"):
                found = compiled(name)(*operands)
            assert np.isnan(found).tolist() == np.isnan(operands[0]).tolist(), name
