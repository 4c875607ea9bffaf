"""`vmap`: arguments, results, randomness, printing and error texts are those of torch."""

import numpy as np
import pytest

from tests.parity.support.inputs import ramp
from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same, programs

program, test_program = programs()


def rows(T):
    return T.arange(6.0).reshape(2, 3)


def mapped(T, function, *args, **options):
    """What a call of vmap gives, or its error as text."""
    return tried(lambda: T.vmap(function, **options)(*args))


# One call each: the library, the rows of a 2 x 3 matrix.
CALLS = {
    # arguments
    "no arguments": lambda T, x: T.vmap(lambda: 1)(),
    "in_dims of a wrong type": lambda T, x: T.vmap(len, in_dims="a")(x),
    "in_dims None": lambda T, x: T.vmap(len, in_dims=None)(x),
    "nothing to map over": lambda T, x: T.vmap(len, in_dims=(None,))(x),
    "too many in_dims": lambda T, x: T.vmap(len, in_dims=(0, 0))(x),
    "in_dims in a list": lambda T, x: T.vmap(len, in_dims=[0])(x),
    "in_dims too large": lambda T, x: T.vmap(len, in_dims=2)(x),
    "in_dims too small": lambda T, x: T.vmap(len, in_dims=-3)(x),
    "in_dim of a number": lambda T, x: T.vmap(len, in_dims=(0, 0))(x, 1),
    "in_dim that is a float": lambda T, x: T.vmap(len, in_dims=(0, 1.0))(x, x),
    "in_dims of another structure": lambda T, x: T.vmap(len, in_dims=({"a": 0},))([x, x]),
    "in_dims of a dict": lambda T, x: T.vmap(lambda v: v["a"] + v["b"], in_dims=({"a": 0, "b": None},))(
        {"a": x, "b": T.ones(3)}
    ),
    "one in_dim for a list": lambda T, x: T.vmap(lambda v: v[0] * v[1])([x, x + 1]),
    "one in_dim for nested lists": lambda T, x: T.vmap(lambda v, w: v[0] * v[1][0] - w, in_dims=(0, 1))(
        (x, [x + 1]), x.T
    ),
    "negative in_dims": lambda T, x: T.vmap(lambda v: v * 2, in_dims=-1)(x),
    "different sizes": lambda T, x: T.vmap(T.add)(x, x.T),
    "different sizes in a list": lambda T, x: T.vmap(lambda v: v[0])([x, x.T]),
    "a tensor without dimensions": lambda T, x: T.vmap(len)(T.tensor(1.0)),
    "no samples": lambda T, x: T.vmap(lambda v: v * 2)(x[:0]),
    "a keyword is not mapped": lambda T, x: T.vmap(lambda v, y=0: v * y)(x, y=T.arange(3.0)),
    "a keyword of another size": lambda T, x: T.vmap(lambda v, y=0: v * y)(x, y=T.arange(2.0)),
    "a number beside": lambda T, x: T.vmap(T.mul, in_dims=(0, None))(x, 3),
    "not callable": lambda T, x: T.vmap(3)(x),
    "unknown randomness": lambda T, x: T.vmap(len, randomness="foo")(x),
    "chunk_size 0": lambda T, x: T.vmap(len, chunk_size=0)(x),
    "chunks": lambda T, x: T.vmap(lambda v: v * 2, chunk_size=2, in_dims=1)(x),
    "chunks with out_dims": lambda T, x: T.vmap(lambda v: (v * 2, v.sum()), chunk_size=2, in_dims=1, out_dims=(1, 0))(
        x
    ),
    "chunks of a pair": lambda T, x: T.vmap(lambda v, w: v * w, chunk_size=1, in_dims=(0, None))(x, x[0]),
    # results
    "returns None": lambda T, x: T.vmap(lambda v: None)(x),
    "returns a number": lambda T, x: T.vmap(lambda v: 1)(x),
    "returns a string": lambda T, x: T.vmap(lambda v: (v, "a"))(x),
    "returns a list": lambda T, x: T.vmap(lambda v: [v * 1, v + 1])(x),
    "returns a dict": lambda T, x: T.vmap(lambda v: {"a": v * 1})(x),
    "returns nested": lambda T, x: T.vmap(lambda v: {"a": [v * 1, (v.sum(), v[0])]})(x),
    "returns a constant": lambda T, x: T.vmap(lambda v: T.ones(2))(x),
    "out_dims too large": lambda T, x: T.vmap(lambda v: v, out_dims=2)(x),
    "out_dims 1": lambda T, x: T.vmap(lambda v: v * 1, out_dims=1)(x),
    "out_dims -1": lambda T, x: T.vmap(lambda v: v * 1, out_dims=-1)(x),
    "out_dims for one tensor": lambda T, x: T.vmap(lambda v: v, out_dims=(0, 0))(x),
    "one out_dim in a tuple": lambda T, x: T.vmap(lambda v: v * 1, out_dims=(1,))(x),
    "out_dims of a wrong type": lambda T, x: T.vmap(lambda v: v, out_dims="a")(x),
    "out_dims None": lambda T, x: T.vmap(lambda v: v, out_dims=None)(x),
    "out_dims None of a constant": lambda T, x: T.vmap(lambda v: T.ones(2), out_dims=None)(x),
    "out_dims for each": lambda T, x: T.vmap(lambda v: (v * 1, v + 1), out_dims=(0, 1))(x),
    "out_dims None for one": lambda T, x: T.vmap(lambda v: (v * 1, 3), out_dims=(0, None))(x),
    "too many out_dims": lambda T, x: T.vmap(lambda v: (v, v), out_dims=(0, 1, 1))(x),
    "out_dims in a list": lambda T, x: T.vmap(lambda v: (v, v), out_dims=[0, 1])(x),
    "out_dims of a dict": lambda T, x: T.vmap(lambda v: {"a": v * 1, "b": v[0]}, out_dims={"a": 1, "b": 0})(x),
    # what one sample of many cannot do
    "item": lambda T, x: T.vmap(lambda v: v.sum().item())(x),
    "bool": lambda T, x: T.vmap(lambda v: v.sum() if v.sum() > 0 else v)(x),
    "int": lambda T, x: T.vmap(lambda v: int(v.sum()))(x),
    "float": lambda T, x: T.vmap(lambda v: float(v.sum()))(x),
    "tolist": lambda T, x: T.vmap(lambda v: v.tolist())(x),
    "numpy": lambda T, x: T.vmap(lambda v: v.numpy())(x),
    "data_ptr": lambda T, x: T.vmap(lambda v: v.data_ptr())(x),
    "untyped_storage": lambda T, x: T.vmap(lambda v: v.untyped_storage())(x),
    "nonzero": lambda T, x: T.vmap(lambda v: v.nonzero())(x),
    "boolean mask": lambda T, x: T.vmap(lambda v: v[v > 1])(x),
    "masked_select": lambda T, x: T.vmap(lambda v: v.masked_select(v > 1))(x),
    "slice by a tensor": lambda T, x: T.vmap(lambda v, i: v[:i])(x, T.tensor([0, 1])),
    "contains": lambda T, x: T.vmap(lambda v: 3.0 in v)(x),
    "format": lambda T, x: T.vmap(lambda v: f"{v.sum()}")(x),
    "requires_grad_": lambda T, x: T.vmap(lambda v: v.requires_grad_())(x),
    "backward": lambda T, x: T.vmap(lambda v: v.sum().backward())(x.clone().requires_grad_()),
    "mul_ of a sample into a tensor": lambda T, x: T.vmap(lambda v: T.zeros(3).mul_(v))(x),
    "copy_ of a sample into a tensor": lambda T, x: T.vmap(lambda v: T.zeros(3).copy_(v))(x),
    "fill_ with a sample": lambda T, x: T.vmap(lambda v: T.zeros(3).fill_(v[0]))(x),
    "index_put_ of a sample": lambda T, x: T.vmap(lambda v: T.zeros(3).index_put_((T.tensor([0]),), v[:1]))(x),
    "out=": lambda T, x: T.vmap(lambda v: T.add(v, 1, out=T.zeros(3)))(x),
    "sizes that don't fit": lambda T, x: T.vmap(lambda v: v + T.ones(4))(x),
    "a dimension that is none": lambda T, x: T.vmap(lambda v: v.sum(3))(x),
    "item with randomness": lambda T, x: T.vmap(lambda v: v.sum().item(), randomness="same")(x),
    # what it can
    "iteration": lambda T, x: T.vmap(lambda v: sum(each for each in v))(x),
    "facts": lambda T, x: T.vmap(lambda v: T.tensor([*v.shape, *v.stride(), v.ndim, v.numel()]), in_dims=1)(x),
    "an index for each sample": lambda T, x: T.vmap(lambda v, i: v[i])(x, T.tensor([0, 1])),
    "indices for each sample": lambda T, x: T.vmap(lambda v, i: v[i])(x, T.tensor([[0, 1], [2, 2]])),
    "an index for one table": lambda T, x: T.vmap(lambda v, i: v[i], in_dims=(None, 0))(x, T.tensor([0, 1, 1])),
    "two indices": lambda T, x: T.vmap(lambda i, j: x[i, j])(T.tensor([0, 1]), T.tensor([2, 0])),
    "new_zeros": lambda T, x: T.vmap(lambda v: v.new_zeros(2).copy_(v[:2]))(x),
    "zeros_like": lambda T, x: T.vmap(lambda v: T.zeros_like(v).add_(v))(x),
    "in place": lambda T, x: (T.vmap(lambda v: v.mul_(2))(x), x),
    "set items": lambda T, x: T.vmap(lambda v: v.clone().index_fill_(0, T.tensor([1]), 7.0))(x),
    "where": lambda T, x: T.vmap(lambda v: T.where(v > 1, v, T.zeros(3)))(x),
    "promotion of samples without dimensions": lambda T, x: T.vmap(lambda a, b: a + b)(
        T.arange(2), T.ones(2, 3, dtype=T.uint8)
    ),
    "promotion of wide samples": lambda T, x: T.vmap(lambda a, b: a * b)(T.ones(2, dtype=T.float64), x),
    "promotion with a scalar tensor": lambda T, x: T.vmap(lambda a: a * T.tensor(2.0, dtype=T.float64))(x[:, 0]),
    "comparison of wide samples": lambda T, x: T.vmap(lambda a, b: a > b)(T.ones(2, dtype=T.float64) * 2.5, x),
    "matrices": lambda T, x: T.vmap(T.mm, in_dims=(0, None))(T.ones(4, 2, 3), x.T),
    "matrix and vectors": lambda T, x: T.vmap(T.mv, in_dims=(None, 0))(x, x),
    "dot": lambda T, x: T.vmap(T.dot)(x, x),
    "outer": lambda T, x: T.vmap(T.outer)(x, x),
    "einsum": lambda T, x: T.vmap(lambda a, b: T.einsum("i,j->ij", a, b))(x, x),
    "nested": lambda T, x: T.vmap(T.vmap(lambda a, b: a * b, in_dims=(0, None)), in_dims=(None, 0))(x[0], x[1]),
    "nested dot": lambda T, x: T.vmap(T.vmap(T.dot, (None, 0)), (0, None))(x, x + 1),
    "three levels": lambda T, x: T.vmap(T.vmap(T.vmap(lambda a, b: a - b, (None, 0)), (0, None)), (0, 0))(
        x, x.T[:2].T[:2]
    ),
    "softmax": lambda T, x: T.vmap(lambda v: v.softmax(0))(x),
    "max": lambda T, x: T.vmap(lambda v: v.max(0))(x),
    "sort": lambda T, x: T.vmap(lambda v: v.sort(descending=True))(x),
    "argmax": lambda T, x: T.vmap(lambda v: v.argmax(), in_dims=1)(x),
    "norm": lambda T, x: T.vmap(lambda v: v.norm())(x),
    "cumsum": lambda T, x: T.vmap(lambda v: v.cumsum(-1), in_dims=1)(x),
    "cat": lambda T, x: T.vmap(lambda v: T.cat([v, T.ones(2)]))(x),
    "stack": lambda T, x: T.vmap(lambda v: T.stack([T.ones(3), v], -1))(x),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_call(call):
    assert_same(lambda T: tried(call, T, rows(T)))


# -------------------- random numbers --------------------

RANDOM = {
    "randn": lambda T, v: T.randn(2) + v[0],
    "rand": lambda T, v: T.rand(2, 2),
    "randint": lambda T, v: T.randint(9, (2,)),
    "randint from": lambda T, v: T.randint(3, 9, (2,)),
    "randn in place": lambda T, v: T.zeros(2).normal_(),
    "uniform_ of a sample": lambda T, v: v.clone().uniform_(),
    "normal_ of a sample": lambda T, v: v.clone().normal_(),
    "rand_like": lambda T, v: T.rand_like(v),
    "randn_like": lambda T, v: T.randn_like(v),
    "rand_like of a tensor": lambda T, v: T.rand_like(T.ones(2)),
    "randint_like": lambda T, v: T.randint_like(v, 9),
    "dropout": lambda T, v: T.nn.functional.dropout(v + 1),
    "dropout of a tensor": lambda T, v: T.nn.functional.dropout(T.ones(5)),
    "dropout in evaluation": lambda T, v: T.nn.functional.dropout(v, training=False),
    "bernoulli": lambda T, v: T.bernoulli(v / 10),
    "bernoulli of a tensor": lambda T, v: T.bernoulli(T.full((4,), 0.5)),
    "normal": lambda T, v: T.normal(v, 1.0),
    "normal of a size": lambda T, v: T.normal(0.0, 1.0, (2,)),
    "multinomial": lambda T, v: T.multinomial(v + 1, 1),
    "nothing random": lambda T, v: v * 2,
}


@pytest.mark.parametrize("randomness", ["error", "same", "different"])
@pytest.mark.parametrize("draw", RANDOM.values(), ids=RANDOM)
def test_random(draw, randomness):
    def run(T):
        T.manual_seed(0)
        return tried(lambda: T.vmap(lambda v: draw(T, v), randomness=randomness)(rows(T)))

    assert_same(run)


@program
def the_same_numbers_in_every_chunk(T):
    T.manual_seed(3)
    return T.vmap(lambda v: v + T.randn(3), randomness="same", chunk_size=1)(rows(T))


@program
def nested_randomness(T):
    T.manual_seed(0)
    return T.vmap(T.vmap(lambda v: T.randn(2), randomness="different"), randomness="different")(rows(T))


# -------------------- printing --------------------


@program
def printing(T):
    seen = []

    def look(v):
        seen.extend([repr(v), str(v[0]), repr(v > 1)])
        return v * 1

    T.vmap(look)(rows(T))
    T.vmap(look, in_dims=1)(rows(T))
    T.vmap(T.vmap(look))(rows(T).reshape(1, 2, 3))
    return seen


# -------------------- derivatives --------------------


@program
def gradient_through_vmap(T):
    weight = T.ones(3, requires_grad=True)
    x = rows(T).requires_grad_()
    T.vmap(lambda v: (weight * v).sum() * v[0])(x).sum().backward()
    return weight.grad, x.grad


@program
def gradient_of_a_result_that_is_the_same_for_all(T):
    weight = T.ones(3, requires_grad=True)
    T.vmap(lambda v: weight * 2)(rows(T)).sum().backward()
    return weight.grad


@program
def gradient_through_nested_vmaps(T):
    a, b = T.arange(3.0, requires_grad=True), T.arange(2.0, requires_grad=True)
    T.vmap(T.vmap(lambda x, y: x * x * y, (0, None)), (None, 0))(a, b).sum().backward()
    return a.grad, b.grad


@program
def second_derivative_through_vmap(T):
    x = rows(T).requires_grad_()
    (first,) = T.autograd.grad(T.vmap(lambda v: (v**3).sum())(x).sum(), x, create_graph=True)
    (second,) = T.autograd.grad(first.sum(), x)
    return first.detach(), second


@program
def gradients_of_each_sample(T):
    def loss(weight, x):
        return (T.tanh(weight @ x) ** 2).sum()

    weight = T.arange(6.0).reshape(2, 3) / 10
    return T.vmap(T.func.grad(loss), (None, 0))(weight, rows(T)).contiguous()


@program
def gradients_of_each_sample_of_a_model(T):
    T.manual_seed(0)
    model = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.ReLU(), T.nn.Linear(4, 2))
    parameters = {name: value.detach() for name, value in model.named_parameters()}

    def loss(parameters, x, y):
        logits = T.func.functional_call(model, parameters, (x.unsqueeze(0),))
        return T.nn.functional.cross_entropy(logits, y.unsqueeze(0))

    found = T.vmap(T.func.grad(loss), (None, 0, 0))(parameters, rows(T), T.tensor([0, 1]))
    return {name: value.contiguous() for name, value in found.items()}


@program
def forward_mode_outside_of_vmap(T):
    return T.func.jvp(T.vmap(lambda v: v.sin() * v.sum()), (rows(T),), (T.ones(2, 3),))


@program
def forward_mode_inside_of_vmap(T):
    return T.vmap(lambda v, t: T.func.jvp(T.sin, (v,), (t,)), (0, None))(rows(T), T.ones(3))


@program
def many_vectors_at_once(T):
    x = T.arange(3.0, requires_grad=True)
    vectors = T.eye(3)
    return T.autograd.grad(x**3, x, vectors, is_grads_batched=True)


@program
def vectorized_jacobians(T):
    def function(x):
        return (x.exp() * x.sum()).reshape(3)

    x = T.arange(3.0)
    jacobian = T.autograd.functional.jacobian
    hessian = T.autograd.functional.hessian
    return (
        jacobian(function, x, vectorize=True),
        jacobian(function, x, vectorize=True, strategy="forward-mode"),
        hessian(lambda x: function(x).sum(), x, vectorize=True),
    )


# -------------------- networks --------------------


@program
def an_ensemble(T):
    T.manual_seed(0)
    models = [T.nn.Linear(3, 2) for _ in range(4)]
    parameters, buffers = T.func.stack_module_state(models)
    base = T.nn.Linear(3, 2)

    def call(parameters, buffers, x):
        return T.func.functional_call(base, (parameters, buffers), (x,))

    return T.vmap(call, in_dims=(0, 0, None))(parameters, buffers, rows(T))


@program
def batch_norm_without_batched_statistics(T):
    layer = T.nn.BatchNorm1d(3)
    return mapped(T, layer, rows(T).expand(2, 2, 3))


LAYERS = {
    "conv2d": lambda T: T.nn.Conv2d(2, 4, 3, padding=1),
    "conv1d in groups": lambda T: T.nn.Sequential(T.nn.Flatten(2), T.nn.Conv1d(2, 4, 3, groups=2)),
    "conv_transpose2d": lambda T: T.nn.ConvTranspose2d(2, 3, 2, stride=2),
    "max_pool2d": lambda T: T.nn.MaxPool2d(2),
    "avg_pool2d": lambda T: T.nn.AvgPool2d(2),
    "adaptive_avg_pool2d": lambda T: T.nn.AdaptiveAvgPool2d(2),
    "layer_norm": lambda T: T.nn.LayerNorm(4),
    "group_norm": lambda T: T.nn.GroupNorm(2, 2),
    "batch_norm in evaluation": lambda T: T.nn.BatchNorm2d(2).eval(),
    "batch_norm without statistics": lambda T: T.nn.BatchNorm2d(2, track_running_stats=False),
    "gelu": lambda T: T.nn.GELU(),
    "attention": lambda T: T.nn.Sequential(T.nn.Flatten(1, 2), Attention(T)),
}


class Attention:
    """Attention of a tensor to itself, as a layer."""

    def __new__(cls, T):
        class Layer(T.nn.Module):
            def forward(self, x):
                return T.nn.functional.scaled_dot_product_attention(x, x, x)

        return Layer()


@pytest.mark.parametrize("make", LAYERS.values(), ids=LAYERS)
def test_gradients_of_each_sample_of_layers(make):
    def run(T):
        T.manual_seed(0)
        layer = make(T).double()
        state = {name: value.detach() for name, value in layer.state_dict().items()}
        images = ramp(T, -1, 1, 3 * 2 * 4 * 4, T.float64, np.sin).reshape(3, 2, 4, 4)

        def loss(trained, image):
            return (T.func.functional_call(layer, {**state, **trained}, (image.unsqueeze(0),)) ** 2).mean()

        trained = {name: state[name] for name, _ in layer.named_parameters()}
        found = T.vmap(T.func.grad(loss, argnums=(0, 1)), (None, 0))(trained, images)
        return [(str(each.dtype), each.double().reshape(-1)) for each in (*found[0].values(), found[1])]

    assert_same(run)
