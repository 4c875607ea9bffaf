"""What libraries do with torch's classes: they derive from them, override their parts, and ask for rare names."""

import copy
from importlib import import_module

import numpy as np
import pytest

from tests.parity.support.programs import assert_same, programs, sample

program, test_program = programs()


def tried(function):
    """What a call gives, or its error as text."""
    try:
        return function()
    except (RuntimeError, TypeError, ValueError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"


# -------------------- modules --------------------


@program
def members_found_by_getattr(T):
    """A module that looks at who asks for its parameters, as layers with random weights do."""
    asked = []

    def watched(layer):
        class Watched(layer):
            def __getattr__(self, name):
                value = super().__getattr__(name)
                if isinstance(value, T.nn.Parameter):
                    asked.append(name)
                    return value.detach() * 2
                return value

        return Watched

    layers = [watched(T.nn.Linear)(3, 4), watched(T.nn.Conv1d)(2, 3, 2), watched(T.nn.LayerNorm)(3)]
    inputs = [sample(T, 2, 3), sample(T, 1, 2, 3), sample(T, 2, 3)]
    shown = []
    for layer, x in zip(layers, inputs):
        with T.no_grad():
            for parameter in layer.parameters():
                parameter.copy_(sample(T, *parameter.shape))
        asked.clear()
        shown.append(layer(x))
        shown.append(list(asked))
    return shown


@program
def layer_that_describes_itself_once(T):
    calls = []

    class Layer(T.nn.Linear):
        def extra_repr(self):
            calls.append(1)
            return super().extra_repr()

    return repr(T.nn.Sequential(Layer(2, 3), T.nn.Identity())), len(calls)


@program
def members_of_another_kind(T):
    """Constraints beside parameters, found by the module's own search."""

    class Constrained(T.nn.Module):
        def __init__(self, name, inner=None):
            super().__init__()
            self._constraints = {name: f"{name} > 0"}
            self.inner = inner

        def named_constraints(self, **options):
            return self._named_members(lambda module: module._constraints.items(), **options)

    shared = Constrained("scale")
    outer = Constrained("noise", shared)
    outer.again = shared
    return (
        list(outer.named_constraints()),
        list(outer.named_constraints(prefix="model", recurse=False)),
        [name for name, _ in outer.named_constraints(remove_duplicate=False)],
    )


@program
def hooks_of_state_dicts(T):
    """Hooks before loading that change keys, with and without the module, and one that gives another dictionary."""
    seen = []

    class Renamed(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = T.nn.Parameter(T.zeros(2))
            self._register_load_state_dict_pre_hook(self.rename)
            self._register_load_state_dict_pre_hook(lambda *given: seen.append(type(given[0]).__name__), True)

        def rename(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
            seen.append(id(self))
            state_dict[f"{prefix}weight"] = state_dict.pop(f"{prefix}old")

    model = Renamed()
    twin = copy.deepcopy(model)
    keys = [each.load_state_dict({"old": T.ones(2)}) for each in (model, twin)]
    ids = [each for each in seen if isinstance(each, int)]
    twin._register_state_dict_hook(lambda module, state, prefix, metadata: {f"new.{key}": state[key] for key in state})
    model.register_state_dict_post_hook(lambda *given: {})
    return (
        keys,
        seen[1],
        ids == [id(model), id(twin)],
        model.weight,
        twin.state_dict(),
        tried(model.state_dict),
    )


@program
def convolution_with_its_own_weight(T):
    """Weight standardization by `_conv_forward`, and a layer that overrides it."""

    class Standardized(T.nn.Conv2d):
        def forward(self, x):
            spread, mean = T.std_mean(self.weight, dim=[1, 2, 3], keepdim=True)
            return self._conv_forward(x, (self.weight - mean) / (spread + 1e-5), self.bias)

    class Scaled(T.nn.Conv1d):
        def _conv_forward(self, input, weight, bias):
            return super()._conv_forward(input, weight * 3, None)

    x = sample(T, 1, 2, 5, 5)
    two = Standardized(2, 3, 3, padding=1, padding_mode="reflect")
    one = Scaled(2, 2, 3, stride=2, padding="valid")
    with T.no_grad():
        for parameter in (*two.parameters(), *one.parameters()):
            parameter.copy_(sample(T, *parameter.shape))
    result = two(x)
    result.square().sum().backward()
    return result, x.grad, two.weight.grad, one(x[0])


@program
def transposed_convolution_of_a_size(T):
    layer = T.nn.ConvTranspose2d(2, 1, 3, stride=2, padding=1)
    x = T.ones(1, 2, 4, 4)
    geometry = (layer.stride, layer.padding, layer.kernel_size, 2, layer.dilation)
    return [
        list(layer._output_padding(x, None, *geometry)),
        layer._output_padding(x, [8, 7], *geometry),
        layer._output_padding(x, [1, 1, 8, 8], *geometry[:-1]),
        layer(x, output_size=(8, 8)).shape,
        layer(x[0], output_size=(1, 7, 8)).shape,
        tried(lambda: layer(x, output_size=(9, 7))),
        tried(lambda: layer(x, output_size=T.Size([6, 7]))),
        tried(lambda: layer(x, output_size=(7,))),
        tried(lambda: layer(x[0], output_size=(1, 1, 7, 7))),
    ]


@pytest.mark.parametrize("norm_first", (False, True))
def test_blocks_of_transformers(norm_first):
    """Layers that replace a block of torch's."""

    def run(T):
        class Encoder(T.nn.TransformerEncoderLayer):
            def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
                return 0.5 * super()._sa_block(x, attn_mask, key_padding_mask, is_causal=is_causal)

            def _ff_block(self, x):
                return super()._ff_block(x).tanh()

        class Decoder(T.nn.TransformerDecoderLayer):
            def _mha_block(self, x, mem, attn_mask, key_padding_mask, is_causal=False):
                return super()._mha_block(x, mem * 2, attn_mask, key_padding_mask, is_causal)

            def _ff_block(self, x):
                return super()._ff_block(x) + x

        options = {"dropout": 0.0, "batch_first": True, "norm_first": norm_first}
        T.manual_seed(0)
        encoder, decoder = Encoder(4, 2, 8, **options), Decoder(4, 2, 8, **options)
        memory = encoder(sample(T, 2, 3, 4))
        return memory, decoder(sample(T, 2, 2, 4, seed=1), memory)

    assert_same(run)


# -------------------- optimizers --------------------


@program
def optimizer_around_another(T):
    """A wrapper that is an optimizer by name only: it never calls `__init__` of the base."""

    class Lookahead(T.optim.Optimizer):
        def __init__(self, optimizer):
            self.optimizer = optimizer
            self.param_groups = optimizer.param_groups

        def step(self, closure=None):
            return self.optimizer.step(closure)

    x = T.ones(2, requires_grad=True)
    wrapper = Lookahead(T.optim.SGD([x], lr=0.1))
    for _ in range(2):
        wrapper.optimizer.zero_grad()
        (x * x).sum().backward()
        wrapper.step()
    return x, tried(wrapper.state_dict)


@program
def hooks_of_a_derived_step(T):
    """A step that calls the step of its base runs the hooks once, unless there are instances of the base as well."""
    seen = []

    class Base(T.optim.Optimizer):
        def __init__(self, parameters):
            super().__init__(parameters, {})

        def step(self, closure=None):
            seen.append("base")

    class Derived(Base):
        def step(self, closure=None):
            seen.append("derived")
            super().step()

    def run(cls):
        optimizer = cls([T.ones(1, requires_grad=True)])
        optimizer.register_step_pre_hook(lambda *given: seen.append(f"hook of {type(given[0]).__name__}"))
        optimizer.step()

    for cls in (Derived, Base, Derived):
        run(cls)
    return seen


# -------------------- distributions --------------------


@program
def transform_that_is_a_module(T):
    """A flow with parameters is a transform and a module, in either order of its bases."""
    Transform, constraints = T.distributions.transforms.Transform, T.distributions.constraints

    class Scale(Transform, T.nn.Module):
        domain = codomain = constraints.real_vector
        bijective = True

        def __init__(self):
            super().__init__(cache_size=1)
            self.log_scale = T.nn.Parameter(T.tensor([0.5, -0.5]))

        def _call(self, x):
            return x * self.log_scale.exp()

        def _inverse(self, y):
            return y / self.log_scale.exp()

        def log_abs_det_jacobian(self, x, y):
            return self.log_scale.sum().expand(x.shape[:-1])

        __hash__ = T.nn.Module.__hash__

    flow = Scale()
    base = T.distributions.Normal(T.zeros(2), T.ones(2))
    x = T.tensor([[1.0, 2.0]])
    y = flow(x)
    density = T.distributions.TransformedDistribution(base, [flow]).log_prob(y.detach())
    density.sum().backward()
    cached_x, cached_y = flow._cached_x_y
    return density, flow.log_scale.grad, len(list(flow.parameters())), cached_x is not None, cached_y is not None


@program
def names_of_constraints_and_transforms(T):
    transforms = T.distributions.transforms
    inverse = transforms.ExpTransform().inv
    return sorted(T.distributions.constraints.__all__), isinstance(inverse, transforms._InverseTransform)


# -------------------- sizes --------------------

_SIZES = {
    "zeros": lambda T, two: T.zeros([two, 3]),
    "zeros, one by one": lambda T, two: T.zeros(two, 3),
    "randint": lambda T, two: T.randint(0, 1, (two,)),
    "view": lambda T, two: T.ones(6).view(two, 3),
    "reshape": lambda T, two: T.ones(6).reshape((two, 3)),
    "expand": lambda T, two: T.ones(1, 3).expand(two, 3),
    "repeat": lambda T, two: T.ones(1, 3).repeat([two, 3]),
    "sum": lambda T, two: T.ones(1, 2, 3).sum([two]),
    "permute": lambda T, two: T.ones(1, 2, 3).permute(two, 0, 1),
    "split": lambda T, two: T.ones(4).split([two, 2]),
    "pad": lambda T, two: T.nn.functional.pad(T.ones(4), [two, 1]),
    "adaptive_avg_pool2d": lambda T, two: T.nn.functional.adaptive_avg_pool2d(T.ones(1, 1, 4, 4), [two, 1]),
    "interpolate": lambda T, two: T.nn.functional.interpolate(T.ones(1, 1, 4, 4), [two, 3], mode="bilinear"),
    "interpolate, one size": lambda T, two: T.nn.functional.interpolate(T.ones(1, 1, 4, 4), size=two),
}
_TWOS = {
    "0-dim": lambda T: T.tensor(2),
    "1-dim": lambda T: T.tensor([2]),
    "2-dim": lambda T: T.tensor([[2]], dtype=T.int32),
    "of NumPy": lambda T: np.int64(2),
}


@pytest.mark.parametrize("form", _SIZES)
@pytest.mark.parametrize("two", _TWOS)
def test_tensors_in_sizes(form, two):
    """A size may come as an integer tensor with one element, as `randint(..., (1,))` gives it."""
    assert_same(lambda T: _SIZES[form](T, _TWOS[two](T)))


@program
def tensors_that_are_no_sizes(T):
    return [
        tried(lambda: T.zeros([T.tensor([2, 3]), 3])),
        tried(lambda: T.zeros([T.tensor([2.0]), 3])),
        tried(lambda: T.ones(6).reshape(2, T.tensor([3, 1]))),
        tried(lambda: T.ones(6).view(2, T.tensor([3.0]))),
        tried(lambda: T.ones(4).unsqueeze(T.tensor([0]))),
    ]


# -------------------- names --------------------


@program
def one_tensor_by_two_names(T):
    parameter = T.nn.Parameter(T.ones(2))
    layer = T.nn.Linear(2, 2)
    layer.bias = parameter
    return layer.bias._cdata == parameter._cdata, layer.weight._cdata == parameter._cdata, type(parameter._cdata)


@program
def dtypes_that_are_compared(T):
    """Tables of dtypes name those that a tensor rarely has."""
    eights = [getattr(T, f"float8_{name}") for name in ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")]
    rare = (T.complex32, T.chalf, *eights)
    facts = [(str(d), d.itemsize, d.is_complex, d.is_floating_point, d.is_signed) for d in rare]
    as_default = tried(lambda: T.set_default_dtype(T.float8_e5m2))
    return facts, T.ones(2).dtype in rare, T.complex32 is T.chalf, T.complex32.to_real(), as_default


@program
def names_that_are_imported(T):
    """Modules and classes that libraries import and hardly use."""
    scatter_gather = import_module(f"{T.__name__}.nn.parallel.scatter_gather")
    return (
        sorted(name for name in ("gather", "scatter") if hasattr(scatter_gather, name)),
        isinstance(T.futures.Future(), T.Future),
        T.torch is T,
        issubclass(T.jit.TracerWarning, Warning),
        issubclass(T.jit.Error, Exception),
        T.onnx.is_in_onnx_export(),
        T._C._is_tracing(),
    )


@program
def running_transforms(T):
    seen = []

    def watched(x):
        seen.append(T._C._are_functorch_transforms_active())
        return (x * x).sum()

    x = T.ones(3)
    for function in (watched, T.func.grad(watched), T.func.vmap(watched), T.func.jacfwd(watched)):
        function(x)
    return seen


@program
def methods_that_are_traced(T):
    """`trace_module` calls each method once with its inputs; the module behaves as before."""

    class Layer(T.nn.Module):
        def forward(self, x):
            return x + 1

        def twice(self, x, y):
            return 2 * x * y

    layer = Layer().eval()
    traced = T.jit.trace_module(layer, {"forward": T.ones(2), "twice": (T.ones(2), T.ones(2))})
    return traced(T.zeros(2)), traced.twice(T.ones(2), T.full((2,), 3.0))


# -------------------- objects that take over calls --------------------


@program
def operators_that_are_no_tensors(T):
    """Lazy matrices have `__torch_function__` without being tensors; they see a call as it was written."""
    seen = []

    class Lazy:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append((func.__name__, len(args), sorted(kwargs or {})))
            return "taken over"

    lazy, dense = Lazy(), T.ones(2)
    results = [
        T.sum(lazy, dim=-1),
        T.sum(lazy, -1),
        T.prod(lazy, dim=-2),
        T.linalg.eigh(lazy),
        T.linalg.svd(lazy),
        T.isclose(lazy, dense),
        T.equal(dense, lazy),
        T.allclose(lazy, lazy, rtol=0.1),
        T.var(lazy),
        T.std(lazy, dim=0),
        T.pow(lazy, 2),
        T.einsum("i->", lazy),
        T.cat([lazy, dense]),
        T.max(lazy, -1),
        T.diagonal(lazy, dim1=-1, dim2=-2),
        T.linalg.solve(lazy, dense),
        T.matmul(dense, lazy),
    ]
    return seen, results
