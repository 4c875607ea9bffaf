"""Transforms of functions give the same derivatives as in PyTorch, keep them apart as PyTorch does, and refuse the same
things with the same texts."""

import itertools
import warnings

import pytest

from tests.parity.support.programs import assert_same, programs, sample

program, test_program = programs()


def vector(T, size=3, seed=0):
    return sample(T, size, requires_grad=False, seed=seed)


def pair(T, size=3):
    return vector(T, size), vector(T, size, seed=1)


def matrix(T):
    return sample(T, 3, 3, requires_grad=False)


def tried(function, *args, **kwargs):
    """What a call returns, or its error."""
    try:
        return function(*args, **kwargs)
    except (RuntimeError, ValueError, TypeError, NotImplementedError) as error:
        return f"{type(error).__name__}: {error}"


# -------------------- every transform of many functions --------------------

SMOOTH = {
    "square": lambda T, x: x * x,
    "cube": lambda T, x: x * x * x,
    "power": lambda T, x: x**4,
    "sine": lambda T, x: T.sin(x),
    "product": lambda T, x: T.sin(x) * T.exp(x),
    "quotient": lambda T, x: T.tanh(x) / (1 + x * x),
    "sigmoid": lambda T, x: T.sigmoid(x),
    "square_root": lambda T, x: T.sqrt(1 + x * x),
    "logarithm": lambda T, x: T.log(2 + x * x),
    "softplus": lambda T, x: T.nn.functional.softplus(x),
    "softmax": lambda T, x: T.softmax(x, 0),
    "log_softmax": lambda T, x: T.log_softmax(x, 0),
    "cumulative": lambda T, x: T.cumsum(x * x, 0),
    "outer": lambda T, x: (x[:, None] * x).sum(0),
    "matrix_vector": lambda T, x: matrix(T) @ (x * x),
    "joined": lambda T, x: T.cat([x * x, x.sin()]),
    "stacked": lambda T, x: T.stack([x * x, x.sin()]),
    "picked": lambda T, x: x[1:] * x[:-1],
    "indexed": lambda T, x: x[T.tensor([0, 2, 0])] * x,
    "flipped": lambda T, x: x.flip(0) * x,
    "normed": lambda T, x: x / x.norm(),
    "scattered": lambda T, x: T.zeros(5).index_add(0, T.tensor([1, 3, 1]), x * x),
    "where": lambda T, x: T.where(x > 0, x * x, x.exp()),
    "layer_norm": lambda T, x: T.nn.functional.layer_norm(x, (3,)),
    "in_place": lambda T, x: (x * 2).mul_(x).sin_(),
    "written_view": lambda T, x: _with_written_view(T, x),
    "constant": lambda T, x: T.ones(2),
    "linear": lambda T, x: x * 3,
    "identity": lambda T, x: x,
}


def _with_written_view(T, x):
    result = T.zeros(4)
    result[1:] = x * x
    result[0] = x[0] * x[1]
    return result * x.sum()


TRANSFORMS = {
    "grad": lambda T, f, x, v: T.func.grad(lambda y: (f(y) * f(y)).sum())(x),
    "grad_and_value": lambda T, f, x, v: T.func.grad_and_value(lambda y: f(y).sum())(x),
    "grad_of_grad": lambda T, f, x, v: T.func.grad(lambda z: (T.func.grad(lambda y: f(y).sum())(z) * v).sum())(x),
    "third": lambda T, f, x, v: T.func.grad(
        lambda w: T.func.grad(lambda z: T.func.grad(lambda y: f(y).sum())(z).sum())(w).sum()
    )(x),
    "vjp": lambda T, f, x, v: _vjp(T, f, x),
    "jvp": lambda T, f, x, v: T.func.jvp(f, (x,), (v,)),
    "jvp_of_jvp": lambda T, f, x, v: T.func.jvp(lambda y: T.func.jvp(f, (y,), (v,))[1], (x,), (v * v,)),
    "jvp_of_grad": lambda T, f, x, v: T.func.jvp(T.func.grad(lambda y: f(y).sum()), (x,), (v,)),
    "grad_of_jvp": lambda T, f, x, v: T.func.grad(lambda y: T.func.jvp(f, (y,), (v,))[1].sum())(x),
    "jvp_of_jvp_of_grad": lambda T, f, x, v: T.func.jvp(
        lambda z: T.func.jvp(T.func.grad(lambda y: f(y).sum()), (z,), (v,))[1], (x,), (v,)
    ),
    "jacrev": lambda T, f, x, v: T.func.jacrev(f)(x),
    "jacrev_in_chunks": lambda T, f, x, v: T.func.jacrev(f, chunk_size=2)(x),
    "jacrev_one_by_one": lambda T, f, x, v: T.func.jacrev(f, chunk_size=1)(x),
    "jacfwd": lambda T, f, x, v: T.func.jacfwd(f)(x),
    "hessian": lambda T, f, x, v: T.func.hessian(lambda y: f(y).sum())(x),
    "jacrev_of_jacrev": lambda T, f, x, v: T.func.jacrev(T.func.jacrev(f))(x),
    "jacfwd_of_jacfwd": lambda T, f, x, v: T.func.jacfwd(T.func.jacfwd(f))(x),
    "jacrev_of_jacfwd": lambda T, f, x, v: T.func.jacrev(T.func.jacfwd(f))(x),
    "gradients_of_samples": lambda T, f, x, v: T.func.vmap(T.func.grad(lambda y: f(y).sum()))(T.stack([x, v])),
    "jacobians_of_samples": lambda T, f, x, v: T.func.vmap(T.func.jacrev(f))(T.stack([x, v])),
    "grad_through_vmap": lambda T, f, x, v: T.func.grad(lambda y: T.func.vmap(f)(T.stack([y, v])).sum())(x),
}


def _vjp(T, f, x):
    output, products = T.func.vjp(f, x)
    return output, products(T.ones_like(output)), products(output)


def without_strides(T, result):
    """Results in one layout: those of vmap depend on where its rules put the samples."""
    if isinstance(result, tuple):
        return tuple(without_strides(T, each) for each in result)
    return result.contiguous()


# torch's forward mode takes the statistics of layer_norm for constants, so its second derivatives are wrong; and it
# cannot write to a tangent of zeros.
WRONG_IN_TORCH = {
    ("layer_norm", "grad_of_jvp"),
    ("layer_norm", "jvp_of_jvp"),
    ("layer_norm", "jvp_of_jvp_of_grad"),
    ("layer_norm", "jacfwd_of_jacfwd"),
    ("layer_norm", "jacrev_of_jacfwd"),
    ("in_place", "jacfwd_of_jacfwd"),
}


@pytest.mark.parametrize(
    ("function", "transform"),
    [each for each in itertools.product(SMOOTH, TRANSFORMS) if each not in WRONG_IN_TORCH],
)
def test_transforms(function, transform):
    def run(T):
        x, v = pair(T)
        return without_strides(T, TRANSFORMS[transform](T, lambda y: SMOOTH[function](T, y), x, v))

    assert_same(run)


@pytest.mark.parametrize("function", [name for name in SMOOTH if name not in ("in_place", "written_view")])
def test_linearize(function):
    def run(T):
        x, v = pair(T)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of its own tracer
            output, linear = T.func.linearize(lambda y: SMOOTH[function](T, y), x)
            return output, linear(v), linear(x)

    assert_same(run)


# -------------------- arguments and results --------------------


@program
def argnums(T):
    def f(x, y, z):
        return (x * y.sin() * z.exp()).sum()

    args = (vector(T), vector(T, seed=1), vector(T, seed=2))
    return [T.func.grad(f, argnums=which)(*args) for which in (0, 2, -1, (0, 1), (2, 0), (-1, 0), (1,))]


@program
def argnums_that_do_not_fit(T):
    x = vector(T)
    return [
        tried(T.func.grad(lambda *args: args[0].sum(), argnums=which), x, x)
        for which in (2, -3, (), (0, 0), (0, -2), "a", [0], None, 1.5, (0, "a"))
    ]


@program
def argnums_of_jacobians(T):
    x, y = pair(T)
    found = []
    for argnums in (0, 1, (0, 1), (1, 0), (1,)):
        for transform in (T.func.jacrev, T.func.jacfwd):
            found.append(without_strides(T, transform(T.mul, argnums)(x, y)))
    found.append(T.func.jacrev(T.mul, -1)(x, y).contiguous())  # jacfwd gives zeros for -1 in torch
    found += [tried(T.func.jacrev(T.mul, which), x, y) for which in (2, (), "a")]
    return found + [tried(T.func.jacfwd(T.mul, which), x, y) for which in (2, (), "a")]


@program
def hessian_of_two_arguments(T):
    return T.func.hessian(lambda x, y: (x.sin() * y * y).sum(), argnums=(0, 1))(*pair(T))


@program
def keyword_arguments(T):
    x, y = pair(T)
    return T.func.grad(lambda x, *, y: (x * y).sum())(x, y=y), T.func.grad_and_value(lambda x, y=1: (x * y).sum())(x)


@program
def trees_of_inputs(T):
    x, y = pair(T)

    def f(tree):
        return (tree["a"] * tree["b"][0].sin() + tree["b"][1]).sum()

    return T.func.grad(f)({"a": x, "b": [y, x * y]}), T.func.grad_and_value(f)({"a": x, "b": (y, x)})


@program
def trees_of_outputs(T):
    x = vector(T)

    def f(x):
        return {"a": x * x, "b": (x.sin(), [x.sum()])}

    output, products = T.func.vjp(f, x)
    return output, products(output), T.func.jvp(f, (x,), (x,)), T.func.jacrev(f)(x), T.func.jacfwd(f)(x)


@program
def jacobians_of_trees(T):
    x, y = pair(T)

    def f(tree):
        return {"product": tree["a"] * tree["b"], "sum": tree["a"].sum()}

    return T.func.jacrev(f)({"a": x, "b": y}), T.func.jacfwd(f)({"a": x, "b": y})


@program
def auxiliary_results(T):
    x = vector(T)

    def f(x):
        return x.sin().sum(), {"square": x * x, "input": [x]}

    def g(x):
        return x.sin(), x * x

    products = T.func.vjp(g, x, has_aux=True)
    return [
        T.func.grad(f, has_aux=True)(x),
        T.func.grad_and_value(f, has_aux=True)(x),
        (products[0], products[1](x), products[2]),
        T.func.jvp(g, (x,), (x,), has_aux=True),
        T.func.jacrev(g, has_aux=True)(x),
        T.func.jacfwd(g, has_aux=True)(x),
    ]


@program
def auxiliary_results_that_are_none(T):
    x = vector(T)
    found = []
    for f in (lambda x: x.sum(), lambda x: (x.sum(), 3), lambda x: (x.sum(), x, x), lambda x: [x.sum(), x]):
        found += [
            tried(T.func.grad(f, has_aux=True), x),
            tried(T.func.vjp, f, x, has_aux=True),
            tried(T.func.jvp, f, (x,), (x,), has_aux=True),
        ]
    return found


OUTPUTS = [
    lambda T, x: 3.0,
    lambda T, x: None,
    lambda T, x: x,
    lambda T, x: (x.sum(),),
    lambda T, x: [],
    lambda T, x: (x, 3),
    lambda T, x: x.sum().long(),
    lambda T, x: (x > 0).any(),
    lambda T, x: x.sum().item(),
    lambda T, x: T.complex(x.sum(), x.sum()),
    lambda T, x: "text",
    lambda T, x: {},
]


@pytest.mark.parametrize("number", range(len(OUTPUTS)))
def test_results_that_are_refused(number):
    def run(T):
        x = vector(T)

        def f(x):
            return OUTPUTS[number](T, x)

        return [
            tried(T.func.grad(f), x),
            tried(lambda: T.func.vjp(f, x)[0]),
            tried(T.func.jvp, f, (x,), (x,)),
            tried(T.func.jacrev(f), x),
            tried(T.func.jacfwd(f), x),
        ]

    assert_same(run)


INPUTS = [3, 2.5, None, "text", [], (), {"a": 1}, [1, 2]]


@pytest.mark.parametrize("value", INPUTS, ids=repr)
def test_inputs_that_are_refused(value):
    def run(T):
        def f(x):
            return T.ones(())

        return [tried(T.func.grad(f), value), tried(lambda: T.func.vjp(f, value)[1](T.ones(())))]

    assert_same(run)


@program
def integer_inputs(T):
    numbers = T.tensor([1, 2, 3])
    return [
        tried(T.func.grad(lambda x: x.sum()), numbers),
        tried(T.func.vjp, lambda x: x * 1.5, numbers),
        tried(T.func.jvp, T.sin, (numbers,), (numbers,)),
        T.func.grad(lambda x, n: (x * n).sum())(vector(T), numbers),
    ]


@program
def complex_inputs(T):
    z = T.complex(*pair(T))
    return [
        T.func.grad(lambda z: (z * z.conj()).real.sum())(z),
        T.func.vjp(lambda z: z * z, z)[1](z),
        T.func.jvp(lambda z: z * z, (z,), (z,)),
        tried(T.func.jacrev(lambda z: z), z),
        tried(T.func.jacfwd(lambda z: z), z),
        tried(T.func.jacrev(lambda x: T.complex(x, x)), vector(T)),
        tried(T.func.jacfwd(lambda x: T.complex(x, x)), vector(T)),
    ]


@program
def empty_inputs(T):
    return [
        T.func.grad(lambda x: (x * 2).sum())(T.zeros(0)),
        T.func.jacrev(lambda x: x * 2)(T.ones(())),
        T.func.jacfwd(lambda x: x * 2)(T.ones(())),
        T.func.hessian(lambda x: x**3)(T.tensor(2.0)),
    ]


# -------------------- what vjp, jvp and the others check --------------------


@program
def cotangents_that_do_not_fit(T):
    x = vector(T)
    products = T.func.vjp(lambda x: {"a": x, "b": (x,)}, x)[1]
    single = T.func.vjp(T.sin, x)[1]
    wrong = [x, (x,), {"a": x, "b": [x]}, {"b": (x,), "a": x}, {"a": x}, None]
    return [tried(products, each) for each in wrong] + [tried(single, each) for each in (x[:2], [x], x.sum())]


@program
def tangents_that_do_not_fit(T):
    x, v = pair(T)
    calls = [
        (x, x), ((x,), x), ((x,), (v, v)), ((x,), [v]), ((x,), (3,)), ((3,), (3,)), ((), ()), ((x,), (v[:2],)),
        ((x,), (v.double(),)), (({"a": x},), ({"b": x},)),
    ]  # fmt: skip
    return [tried(T.func.jvp, lambda *args: T.ones(3), *call) for call in calls]


@program
def strict_jvp(T):
    x = vector(T)
    return tried(T.func.jvp, lambda x: T.ones(2), (x,), (x,), strict=True), T.func.jvp(T.sin, (x,), (x,), strict=True)


@program
def tangents_of_linearize_that_do_not_fit(T):
    x, v = pair(T)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        linear = T.func.linearize(lambda x: x.sin(), x)[1]
    return tried(linear, v, v), tried(linear, v[:2]), tried(linear, v.double()), tried(linear)


@program
def linearize_of_trees(T):
    x, v = pair(T)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output, linear = T.func.linearize(lambda x, y: {"a": x * y, "b": [x.sin()]}, x, v)
        return output, linear(v, x)


@program
def chunk_sizes(T):
    x = vector(T, 5)
    found = [T.func.jacrev(lambda x: x * x.sum(), chunk_size=size)(x).contiguous() for size in (None, 1, 2, 5, 7)]
    return found + [tried(T.func.jacrev, T.sin, chunk_size=size) for size in (0, -1)]


@program
def functionalize(T):
    x = vector(T)
    valid = [T.func.functionalize(lambda x: x.clone().mul_(2), remove=each)(x) for each in REMOVABLE]
    return valid + [tried(lambda: T.func.functionalize(T.sin, remove="all")(x))]


REMOVABLE = ("mutations", "mutations_and_views")


@program
def the_function_keeps_its_name(T):
    def loss(x):
        """What it says."""
        return x.sum()

    made = [T.func.grad(loss), T.func.grad_and_value(loss), T.func.jacrev(loss), T.func.jacfwd(loss), T.vmap(loss)]
    return [(each.__name__, each.__doc__) for each in [*made, T.func.hessian(loss)]]


# -------------------- levels --------------------


@program
def perturbations_are_not_confused(T):
    def by_jvp(f):
        return lambda x: T.func.jvp(f, (x,), (T.ones(()),))[1]

    def of_a_sum(outer, inner):
        return outer(lambda x: x * inner(lambda y: x + y)(T.tensor(1.0)))(T.tensor(1.0))

    def of_a_product(outer, inner):
        return outer(lambda x: x * inner(lambda y: x * y * y)(x))(T.tensor(1.5))

    ways = list(itertools.product((T.func.grad, by_jvp), repeat=2))
    return [of_a_sum(*way) for way in ways] + [of_a_product(*way) for way in ways]


@program
def results_are_outside_of_the_level(T):
    x = vector(T)
    value, products = T.func.vjp(lambda x: x * x, x)
    found = [value, products(x), T.func.grad(lambda x: (x * x).sum())(x), *T.func.jvp(T.sin, (x,), (x,))]
    return [(each.requires_grad, each.grad_fn is None, each.is_leaf) for each in [*found[:1], found[1][0], *found[2:]]]


@program
def the_output_may_be_the_input(T):
    x, leaf = vector(T), vector(T).requires_grad_()
    return [T.func.vjp(lambda x: x, each)[0] is each for each in (x, leaf)]


@program
def results_belong_to_the_graph_outside(T):
    w, x = sample(T, 3), vector(T, seed=1)
    T.func.grad(lambda x: (x * x * w).sum())(x).sum().backward()
    first = w.grad
    w.grad = None
    T.func.grad(lambda w: (w * w * w).sum())(w).sum().backward()
    second = w.grad
    w.grad = None
    T.func.jvp(lambda w: w * w, (w,), (x,))[1].sum().backward()
    third = w.grad
    w.grad = None
    output, products = T.func.vjp(lambda x: x * w, x)
    (output.sum() + products(x)[0].sum()).backward()
    fourth = w.grad
    w.grad = None
    T.func.jacrev(lambda w: w.sin() * x)(w).sum().backward()
    return first, second, third, fourth, w.grad


@program
def cotangents_belong_to_the_graph_outside(T):
    v, x = sample(T, 3), vector(T, seed=1)
    products = T.func.vjp(T.sin, x)[1]
    (found,) = products(v)
    found.sum().backward()
    return found, v.grad


@program
def hessian_vector_products_of_a_leaf(T):
    w, v = sample(T, 3), vector(T, seed=1)
    value = T.func.jvp(T.func.grad(lambda w: (w**4).sum()), (w,), (v,))[1]
    value.sum().backward()
    return value, w.grad


@program
def no_grad_outside(T):
    w, x = sample(T, 3), vector(T, seed=1)
    with T.no_grad():
        found = [
            T.func.grad(lambda x: (x * w * x).sum())(x),
            T.func.grad(lambda w: (w * w).sum())(w),
            T.func.vjp(lambda x: x * w, x)[0],
            T.func.jvp(lambda x: x * w, (x,), (x,))[1],
            T.func.jacrev(lambda x: x * w)(x),
        ]
    return found


@program
def no_grad_inside(T):
    x = vector(T)

    def f(x):
        with T.no_grad():
            shift = x.detach() * x
        return (x * x - shift).sum()

    return T.func.grad(f)(x), T.func.jvp(f, (x,), (x,)), T.func.grad(lambda x: T.no_grad()(T.sum)(x))(x)


@program
def grad_mode_is_left_as_it_was(T):
    modes = []

    def f(x):
        modes.append(T.is_grad_enabled())
        return x.sum()

    with T.no_grad():
        T.func.grad(f)(vector(T))
        modes.append(T.is_grad_enabled())
    tried(T.func.grad(lambda x: x), vector(T))
    return modes, T.is_grad_enabled()


@program
def detach_inside(T):
    x = vector(T)
    return T.func.grad(lambda x: (x.detach() * x).sum())(x), T.func.jvp(lambda x: x.detach() * x, (x,), (x,))


@program
def autograd_grad_inside(T):
    x = vector(T)

    def f(x):
        return T.autograd.grad((x**3).sum(), x, create_graph=True)[0].sum()

    return T.func.grad(f)(x), T.func.jvp(lambda x: T.func.grad(f)(x), (x,), (x,))


@program
def inputs_inside(T):
    facts = []

    def f(x):
        facts.append((x.requires_grad, x.is_leaf, x.grad_fn is None, tuple(x.shape), str(x.dtype)))
        y = x * 2
        facts.append((y.requires_grad, y.is_leaf, y.grad_fn.name()))
        return y.sum()

    x = vector(T)
    T.func.grad(f)(x)
    T.func.grad(f)(x.requires_grad_())
    return facts


@program
def hooks_inside(T):
    seen = []

    def f(x):
        y = x * x
        y.register_hook(lambda grad: seen.append(tuple(grad.shape)))
        y.register_hook(lambda grad: grad * 2)
        return y.sum()

    return T.func.grad(f)(vector(T)), seen


@program
def leaves_made_inside(T):
    def with_parameter(x):
        return (T.nn.Parameter(T.ones(3)) * x).sum()

    def with_leaf(x):
        leaf = T.tensor([1.0, 2.0, 3.0], requires_grad=True)
        return (leaf * x * x).sum()

    x, outside = vector(T), sample(T, 3)
    return [T.func.grad(f)(x) for f in (with_parameter, with_leaf, lambda x: with_leaf(x * outside))]


@program
def vjp_can_be_called_again(T):
    x = vector(T)
    products = T.func.vjp(lambda x: (x * x, x.exp()), x)[1]
    return [products((x, x)), products((x, x)), T.func.vmap(lambda v: products((v, v)))(matrix(T))]


@program
def vjp_without_retaining(T):
    products = T.func.vjp(lambda x: x.exp(), vector(T))[1]
    return products(vector(T), retain_graph=False), tried(products, vector(T))


@program
def per_sample_gradients(T):
    weight, inputs = matrix(T), sample(T, 5, 3, requires_grad=False)

    def loss(weight, x):
        return (weight @ x).sin().sum()

    found = T.func.vmap(T.func.grad(loss), in_dims=(None, 0))(weight, inputs).contiguous()
    return found, T.func.vmap(T.func.grad_and_value(loss), in_dims=(None, 0))(weight, inputs)[1]


@program
def hessians_of_samples(T):
    inputs = sample(T, 4, 3, requires_grad=False)
    return T.func.vmap(T.func.hessian(lambda x: (x.sin() * x).sum()))(inputs).contiguous()


@program
def jvp_in_vmap_in_jvp(T):
    x, v = pair(T)

    def slopes(x):
        return T.func.vmap(lambda v: T.func.jvp(lambda y: y * y * y, (x,), (v,))[1])(T.eye(3)).contiguous()

    return T.func.jvp(slopes, (x,), (v,))


# -------------------- what is forbidden inside --------------------


@program
def requires_grad_inside(T):
    x = vector(T)
    calls = [
        lambda x: x.requires_grad_().sum(),
        lambda x: (x * 2).requires_grad_().sum(),
        lambda x: T.ones(3).requires_grad_().sum(),
        lambda x: (x * T.ones(3, requires_grad=True)).sum(),
        lambda x: T.autograd.functional.jacobian(lambda y: y * 2, x).sum(),
    ]
    return [(tried(T.func.grad(call), x), tried(T.func.vmap(call), matrix(T))) for call in calls[:3]]


@program
def retain_grad_inside(T):
    def f(x):
        y = x * 2
        y.retain_grad()
        return y.sum()

    return tried(T.func.grad(f), vector(T))


@program
def backward_inside(T):
    def f(x):
        y = x.sum()
        y.backward()
        return y

    x = vector(T)
    return tried(T.func.grad(f), x), tried(T.func.jvp, f, (x,), (x,)), tried(T.func.vmap(f), matrix(T))


@program
def saved_tensor_hooks(T):
    def f(x):
        with T.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
            return x.sum()

    x = vector(T)
    inside = tried(T.func.grad(f), x), tried(T.func.vjp, f, x)
    with T.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
        return inside, tried(T.func.grad(lambda x: x.sum()), x)


@program
def dual_levels(T):
    forward_ad = T.autograd.forward_ad
    x = vector(T)

    def f(x):
        with forward_ad.dual_level():
            return x

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, x)
        inside = tried(T.func.jvp, T.sin, (x,), (x,))
        tangent = forward_ad.unpack_dual(T.func.grad(lambda x: x.sin().sum())(dual)).tangent
    return tried(T.func.jvp, f, (x,), (x,)), inside, tangent


WRITES = {
    "mul_": lambda T, c, x: c.mul_(x),
    "number": lambda T, c, x: c.mul_(2),
    "zero_": lambda T, c, x: c.zero_(),
    "copy_": lambda T, c, x: c.copy_(x),
    "setitem": lambda T, c, x: c.__setitem__(0, x[0]),
    "view": lambda T, c, x: c[1:].mul_(2),
    "operator": lambda T, c, x: c.__iadd__(x),
    "relu": lambda T, c, x: T.nn.functional.relu(c, inplace=True),
    "made inside": lambda T, c, x: T.zeros(3).add_(x),
    "made from data": lambda T, c, x: T.tensor([1.0, 2.0, 3.0]).mul_(x),
    "copied": lambda T, c, x: c.clone().mul_(x),
    "like": lambda T, c, x: T.zeros_like(c).add_(x),
    "view of what was made": lambda T, c, x: T.zeros(3)[1:].add_(x[1:]),
    "input": lambda T, c, x: x.mul_(2),
    "computed": lambda T, c, x: (x * 2).mul_(x),
    "out of an op": lambda T, c, x: T.sin(T.ones(3), out=c),
    "out of a composite op": lambda T, c, x: T.square(T.full((3,), 2.0), out=c),
    "view as out of a composite op": lambda T, c, x: T.square(T.full((1,), 2.0), out=c[1:2]),
    "converting out of a composite op": lambda T, c, x: T.square(T.arange(3), out=c),
    "out of a composite op with several results": lambda T, c, x: T.linalg.svd(
        T.ones(3, 3), out=(T.empty(0), c, T.empty(0))
    )[1],
    "out, then in place": lambda T, c, x: T.square(T.ones(3), out=c).mul_(2),
}


@pytest.mark.parametrize("write", WRITES)
def test_writing_in_place(write):
    def run(T):
        x = vector(T)

        def f(x):
            return (WRITES[write](T, captured, x) * x).sum() if write != "setitem" else WRITES[write](T, captured, x)

        found = []
        for transform in (T.func.grad(f), lambda x: T.func.vjp(f, x)[1](T.ones(()))):
            captured = T.ones(3)
            found += [tried(transform, x), captured]
        return found

    assert_same(run)


@program
def writing_to_an_argument(T):
    x, y = pair(T)
    found = T.func.grad(lambda x, y: y.mul_(x).sum())(x, y)
    return found, y.tolist()


@program
def writing_what_an_outer_function_made(T):
    def f(x):
        made = x * 2
        return T.func.grad(lambda z: made.mul_(z).sum())(x).sum()

    def g(x):
        return T.func.grad(lambda z, made: (made.mul_(2) * z).sum())(x, x * 2).sum()

    return tried(T.func.grad(f), vector(T)), tried(T.func.grad(g), vector(T))


@program
def functions_need_setup_context(T):
    class Old(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    class New(T.autograd.Function):
        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0]

    x = vector(T)
    return [
        tried(T.func.grad(lambda x: Old.apply(x).sum()), x),
        T.func.grad(lambda x: New.apply(x).sum())(x),
        T.func.grad(lambda x: T.func.grad(lambda x: New.apply(x).sum())(x).sum())(x),
        tried(T.func.jvp, New.apply, (x,), (x,)),
    ]
