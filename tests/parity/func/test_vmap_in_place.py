"""Ops inside `vmap` that write, or whose arguments are written later: what is refused, in which order, what is seen.

An op in place makes the checks that it makes outside; those of `vmap` stand between those of the transforms further in
and further out; and what autograd saves is what PyTorch saves, which may be a copy of another dtype.
"""

from operator import methodcaller

import pytest

from tests.parity.support.programs import assert_same

DTYPES = ("bool", "uint8", "int64", "float32", "complex64")
SHAPES = ((4,), (2, 2), (1, 2, 2))  # of samples without dimensions, of vectors, of matrices

# -------------------- of one tensor --------------------

ALONE = {
    **{
        name: methodcaller(name)
        for name in (
            "abs_ neg_ sign_ sgn_ ceil_ floor_ round_ trunc_ frac_ sqrt_ square_ reciprocal_ relu_ logical_not_ "
            "bitwise_not_ nan_to_num_ tril_ triu_ tril triu zero_"
        ).split()
    },
    **{f"{name} along a dimension": methodcaller(name, 0) for name in "cumsum_ cumprod_ cumsum cumprod".split()},
    "cumsum_ of a dtype": lambda a: a.cumsum_(0, dtype=a.real.dtype),
    **{
        f"{name} number": methodcaller(name, 1.5)
        for name in "add_ mul_ div_ pow_ fmod_ lt_ clamp_ clamp_min_ clamp_max_ fill_".split()
    },
    "clamp_ complex": lambda a: a.clamp_(1 + 1j, 2),
}


@pytest.mark.parametrize("op", ALONE)
def test_of_one_tensor(op):
    for dtype in DTYPES:
        for shape in SHAPES if dtype == "float32" else SHAPES[:1]:  # what is refused for a dtype is so for any shape
            assert_same(lambda T, dtype=dtype, shape=shape: written(T, ALONE[op], dtype, shape))


def written(T, op, dtype, shape):
    x = T.tensor([1, 0, 3, 1]).to(getattr(T, dtype)).reshape(shape)
    return T.vmap(op)(x), x


# -------------------- of two --------------------

TWO = (
    "add_ sub_ mul_ div_ atan2_ copysign_ copy_ clamp_min_ clamp_max_ logical_and_ pow_ fmod_ remainder_ floor_divide_ "
    "float_power_ lt_ hypot_ xlogy_ heaviside_ nextafter_ gcd_ bitwise_and_ bitwise_left_shift_"
).split()
OTHERS = ((), (1,), (1, 1), (2,), (1, 2), (2, 2), (4,))


@pytest.mark.parametrize("op", TWO)
def test_shapes_of_what_is_the_same_for_all(op):
    """Larger ones than those of the samples that are written, some of which broadcast in a batch."""

    def program(T):
        dtype = T.int64 if op.startswith(("gcd", "bitwise")) else T.float64
        found = []
        for other in OTHERS:
            for shape in (*SHAPES[:2], (4, 1), (1, 4)):
                x, y = T.tensor([5, 0, 3, 1]).to(dtype).reshape(shape), T.ones(other).to(dtype) * 2
                found.append(outcome(lambda x=x, y=y: (T.vmap(lambda a: getattr(a, op)(y))(x).tolist(), x.tolist())))
        return found

    assert_same(program)


@pytest.mark.parametrize("other", ["a", "a[None]", "a[None, None]", "x[0]", "x"])
@pytest.mark.parametrize("op", ["add_", "mul_", "copy_", "pow_", "lt_"])
def test_samples_seen_with_more_dimensions(op, other):
    """In the same memory, which is refused or not."""

    def program(T):
        x = T.tensor([5.0, 0.0, 3.0, 1.0])
        values = {"a": lambda a: a, "a[None]": lambda a: a[None], "a[None, None]": lambda a: a[None, None]}
        value = values.get(other, lambda a: x[0] if other == "x[0]" else x)
        seen = [
            outcome(lambda f=f: (T.vmap(f)(x).tolist(), x.tolist()))
            for f in (
                lambda a: getattr(a, op)(value(a)),
                lambda a: getattr(a[None], op)(value(a)),
            )
        ]
        return seen

    assert_same(program)


def outcome(run):
    try:
        return run()
    except (RuntimeError, IndexError, NotImplementedError) as error:
        return f"{type(error).__name__}: {error}"


# -------------------- in which order --------------------

LOOKED_AT = {
    "mask": lambda T, t, a: t.__setitem__(a > 0, -1),
    "index_put_": lambda T, t, a: t.index_put_((a > 0,), T.tensor(1.0)),
    "values": lambda T, t, a: t.index_put_((a > 0,), a),
    "accumulated": lambda T, t, a: t.index_put_((a > 0,), T.tensor(1.0), accumulate=True),
    "mask of a view": lambda T, t, a: t[None].__setitem__((0, a > 0), 1),
    "another mask": lambda T, t, a: t.__setitem__(T.tensor([True, False, False]), a[0]),
    "uniform_": lambda T, t, a: t.uniform_(),
    "random_": lambda T, t, a: t.random_(),
    "bernoulli_": lambda T, t, a: t.bernoulli_(),
    "relu_": lambda T, t, a: t.relu_(),
    "abs_": lambda T, t, a: t.abs_(),
}
# `w(t, a)` writes t; `x` has two samples, and `V` is vmap.
WHERE = {
    "inside": lambda T, V, w, x: V(lambda a: T.func.grad(lambda t: w(t, a))(a))(x),
    "inside, the same for all": lambda T, V, w, x: V(lambda a: T.func.grad(lambda t: w(t, a))(T.zeros(3)))(x),
    "inside, a copy": lambda T, V, w, x: V(lambda a: T.func.grad(lambda t: w(t * 1, a))(a))(x),
    "captured inside": lambda T, V, w, x: V(lambda a: T.func.grad(lambda t: w(a, t))(a * 1))(x),
    "outside": lambda T, V, w, x: T.func.grad(lambda t: V(lambda a, b: w(a, b))(t, x).sum())(x * 1),
    "a leaf": lambda T, V, w, x: V(lambda a, b: w(a, b))((x * 1).requires_grad_(), x),
    "nothing": lambda T, V, w, x: V(lambda a, b: w(a, b))(x * 1, x),
    "a leaf for all": lambda T, V, w, x: with_leaf(x, lambda leaf: V(lambda a: w(leaf, a))(x)),
    "the same for all": lambda T, V, w, x: with_target(x, lambda target: V(lambda a: w(target, a))(x)),
    "nested": lambda T, V, w, x: V(lambda c: V(lambda a: w(c, a))(x))(x * 1),
}


def with_leaf(x, run):
    return run((x[0] * 1).requires_grad_())


def with_target(x, run):
    return run(x[0] * 1)


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("op", LOOKED_AT)
def test_order_of_checks(op, where):
    def program(T):
        x = T.tensor([[1.0, -2, 3], [4, 5, -6]])

        def write(t, a):
            LOOKED_AT[op](T, t, a)
            return t.sum()

        return [
            refusal(lambda randomness=randomness: run(T, write, x, randomness)) for randomness in ("error", "different")
        ]

    def run(T, write, x, randomness):
        return WHERE[where](T, lambda f: T.vmap(f, randomness=randomness), write, x)

    assert_same(program)


def refusal(run):
    try:
        run()
    except RuntimeError as error:
        return str(error)
    return None


# -------------------- what is saved --------------------

PAIRS = "mul div fmod remainder pow hypot fmax fmin maximum atan2 copysign xlogy logaddexp clamp_min clamp_max".split()


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("op", [*PAIRS, "addcmul", "clamp"])
def test_numbers_of_another_dtype_are_saved_as_copies(op, is_first):
    """The argument may be written before the backward pass, if it is converted for the op."""

    def program(T):
        return [
            gradients(T, op, is_first, dtypes, shape, wants)
            for dtypes in (("uint8", "float64"), ("float32", "float64"), ("float64", "float32"), ("float32", "float32"))
            for shape in ((), (3, 2))
            for wants in ("other", "both")
            if wants == "other" or dtypes[0] != "uint8"
        ]

    assert_same(program)


def gradients(T, op, is_first, dtypes, shape, wants):
    leaf = T.tensor([2, 1, 3]).to(getattr(T, dtypes[0]))
    other = ((T.arange(6.0).to(getattr(T, dtypes[1])) / 3 + 0.2).reshape(3, 2)[(1, 1) if not shape else ...]).clone()
    other.requires_grad_()
    numbers = leaf.requires_grad_() * 1 if wants == "both" else leaf

    def call(number):
        if op == "addcmul":
            return T.addcmul(other, number, other)
        if op == "clamp":
            return T.clamp(other, number, number + 1)
        return getattr(T, op)(*((number, other) if is_first else (other, number)))

    result = T.vmap(call)(numbers)
    with T.no_grad():
        numbers.add_(1)
    try:
        result.sum().backward()
    except RuntimeError as error:
        return str(error).partition(": [")[0]  # torch names other nodes
    return other.grad.contiguous(), leaf.grad if wants == "both" else None


# -------------------- views in place --------------------

VIEWS = {
    "t_": lambda T, a: a.t_(),
    "transpose_": lambda T, a: a.transpose_(0, 1),
    "swapaxes_": lambda T, a: a.swapaxes_(0, 1),
    "unsqueeze_": lambda T, a: a.unsqueeze_(1),
    "squeeze_": lambda T, a: a.squeeze_(),
    "written": lambda T, a: a.t_().mul_(2),
    "beside": lambda T, a: (a.t_(), a * 1),
    "used": lambda T, a: a.t_() * T.arange(6.0).reshape(3, 2),
    "nested": lambda T, a: T.vmap(lambda b: b.unsqueeze_(0))(a),
}


@pytest.mark.parametrize("dims", [(0, 0), (1, 0), (0, 1)])
@pytest.mark.parametrize("name", VIEWS)
def test_samples_that_become_other_views(name, dims):
    def program(T):
        leaf = T.arange(12.0).reshape(2, 2, 3).requires_grad_()
        found = T.vmap(lambda a: VIEWS[name](T, a), *dims)(leaf * 1)
        results = found if isinstance(found, tuple) else (found,)
        sum((each * each).sum() for each in results).backward()
        return results, leaf.grad

    assert_same(program)
