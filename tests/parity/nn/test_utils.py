"""Parametrizations, pruning, lazy layers and initial values do what those of PyTorch do: values, gradients, texts."""

import copy

import pytest
import torch.nn.utils.prune  # noqa: F401  (torch does not import it by itself)

from tests.parity.support.programs import assert_same, outcome, programs, sample

program, test_program = programs()


def used(T, module, *shape):
    """What a module computes, its gradients and its state."""
    x = sample(T, *shape)
    first = module(x)
    first.sum().backward()
    grads = {name: parameter.grad for name, parameter in module.named_parameters()}
    return [repr(module), first, module(x), grads, x.grad, dict(module.state_dict()), module.eval()(x)]


# -------------------- parametrizations --------------------

LAYERS = {
    "linear": (lambda nn: nn.Linear(3, 4), (2, 3)),
    "wide linear": (lambda nn: nn.Linear(5, 4), (2, 5)),
    "square linear": (lambda nn: nn.Linear(4, 4), (2, 4)),
    "convolution": (lambda nn: nn.Conv2d(3, 4, 2, bias=False), (1, 3, 3, 3)),
    "transposed convolution": (lambda nn: nn.ConvTranspose1d(3, 4, 2), (1, 3, 3)),
}

WRAPPERS = {
    "weight_norm": lambda nn, m: nn.utils.parametrizations.weight_norm(m),
    "weight_norm along 1": lambda nn, m: nn.utils.parametrizations.weight_norm(m, dim=1),
    "weight_norm of all": lambda nn, m: nn.utils.parametrizations.weight_norm(m, dim=None),
    "spectral_norm": lambda nn, m: nn.utils.parametrizations.spectral_norm(m),
    "spectral_norm of three steps": lambda nn, m: nn.utils.parametrizations.spectral_norm(m, n_power_iterations=3),
    "older weight_norm": lambda nn, m: nn.utils.weight_norm(m),
    "older weight_norm of all": lambda nn, m: nn.utils.weight_norm(m, dim=None),
    "older spectral_norm": lambda nn, m: nn.utils.spectral_norm(m),
    "random_unstructured": lambda nn, m: nn.utils.prune.random_unstructured(m, "weight", 0.4),
    "l1_unstructured": lambda nn, m: nn.utils.prune.l1_unstructured(m, "weight", 3),
    "random_structured": lambda nn, m: nn.utils.prune.random_structured(m, "weight", 0.5, 0),
    "ln_structured": lambda nn, m: nn.utils.prune.ln_structured(m, "weight", 1, 2, 1),
    "identity": lambda nn, m: nn.utils.prune.identity(m, "weight"),
    "pruned twice": lambda nn, m: nn.utils.prune.l1_unstructured(
        nn.utils.prune.random_unstructured(m, "weight", 0.3), "weight", 0.4
    ),
    "pruned twice by channel": lambda nn, m: nn.utils.prune.l1_unstructured(
        nn.utils.prune.ln_structured(m, "weight", 1, 2, 0), "weight", 2
    ),
    "pruned twice, then by channel": lambda nn, m: nn.utils.prune.ln_structured(
        nn.utils.prune.l1_unstructured(m, "weight", 2), "weight", 1, 2, 0
    ),
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("layer", LAYERS)
def test_wrapped_layer(layer, wrapper):
    make, shape = LAYERS[layer]

    def run(T):
        T.manual_seed(0)
        return used(T, WRAPPERS[wrapper](T.nn, make(T.nn)), *shape)

    assert_same(run)


REMOVERS = {
    "weight_norm": lambda nn, m: nn.utils.parametrize.remove_parametrizations(m, "weight"),
    "spectral_norm": lambda nn, m: nn.utils.parametrize.remove_parametrizations(m, "weight"),
    "older weight_norm": lambda nn, m: nn.utils.remove_weight_norm(m),
    "older spectral_norm": lambda nn, m: nn.utils.remove_spectral_norm(m),
    "l1_unstructured": lambda nn, m: nn.utils.prune.remove(m, "weight"),
    "pruned twice": lambda nn, m: nn.utils.prune.remove(m, "weight"),
}


@pytest.mark.parametrize("wrapper", REMOVERS)
def test_removed(wrapper):
    def run(T):
        T.manual_seed(0)
        module = REMOVERS[wrapper](T.nn, WRAPPERS[wrapper](T.nn, T.nn.Linear(3, 4)))
        again = outcome(lambda T: repr(REMOVERS[wrapper](T.nn, module)), T)
        return [*used(T, module, 2, 3), again, [name for name, _ in module.named_parameters()]]

    assert_same(run)


@pytest.mark.parametrize("trivial", [True, False])
@pytest.mark.parametrize("how", ["matrix_exp", "cayley", "householder", None])
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)])
def test_orthogonal(how, trivial, shape):
    def run(T):
        T.manual_seed(0)
        layer = T.nn.Linear(*shape, bias=False)
        made = T.nn.utils.parametrizations.orthogonal(layer, orthogonal_map=how, use_trivialization=trivial)
        weight = made.weight
        weight[0, 0].backward()
        return [repr(made), weight, dict(made.state_dict()), [each.grad for each in made.parameters()]]

    assert_same(run)


@program
def a_parametrization_of_ones_own(T):
    class Symmetric(T.nn.Module):
        def forward(self, X):
            return X.triu() + X.triu(1).transpose(-1, -2)

        def right_inverse(self, A):
            return A.triu()

    class Doubled(T.nn.Module):
        def forward(self, X):
            return 2 * X

        def right_inverse(self, A):
            return A / 2

    T.manual_seed(0)
    parametrize, layer = T.nn.utils.parametrize, T.nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    seen = [layer.weight, repr(layer), parametrize.is_parametrized(layer), parametrize.is_parametrized(layer, "bias")]
    parametrize.register_parametrization(layer, "weight", Doubled())
    layer.weight = T.ones(3, 3)
    with parametrize.cached():
        seen += [layer.weight is layer.weight]
    seen += [layer.weight, dict(layer.state_dict()), repr(copy.deepcopy(layer))]
    seen += [parametrize.type_before_parametrizations(layer).__name__, type(layer).__name__]
    target = parametrize.transfer_parametrizations_and_params(layer, T.nn.Linear(3, 3))
    seen += [repr(target), target.weight]
    return [*seen, parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False).weight]


@program
def a_parametrization_of_several_tensors(T):
    class Product(T.nn.Module):
        def forward(self, x, y):
            return x @ y

        def right_inverse(self, A):
            return A, T.eye(A.shape[-1])

    layer = T.nn.utils.parametrize.register_parametrization(T.nn.Linear(2, 2), "weight", Product())
    layer.weight = T.ones(2, 2)
    leave = outcome(lambda T: T.nn.utils.parametrize.remove_parametrizations(layer, "weight", False), T)
    return [dict(layer.named_parameters())["parametrizations.weight.original1"], layer.weight, leave]


def _parametrized(T, forward, right_inverse=None, **options):
    body = {"forward": forward} | ({"right_inverse": right_inverse} if right_inverse else {})
    layer = T.nn.Linear(2, 3)
    return T.nn.utils.parametrize.register_parametrization(
        layer, "weight", type("Mine", (T.nn.Module,), body)(), **options
    )


ERRORS = {
    "another shape": lambda T: _parametrized(T, lambda self, x: x[0]),
    "another dtype": lambda T: _parametrized(T, lambda self, x: x.double()),
    "no tensor": lambda T: _parametrized(T, lambda self, x: 3),
    "an inverse of another dtype": lambda T: _parametrized(T, lambda self, x: x, lambda self, x: x.double()),
    "an inverse that is no tensor": lambda T: _parametrized(T, lambda self, x: x, lambda self, x: 3),
    "an inverse with a number": lambda T: _parametrized(T, lambda self, x, y: x, lambda self, x: (x, 3)),
    "no inverse": lambda T: setattr(_parametrized(T, lambda self, x: x), "weight", T.ones(3, 2)),
    "an unknown name": lambda T: T.nn.utils.parametrize.register_parametrization(
        T.nn.Linear(2, 2), "other", T.nn.Identity()
    ),
    "nothing to remove": lambda T: T.nn.utils.parametrize.remove_parametrizations(T.nn.Linear(2, 2), "weight"),
    "an unknown map": lambda T: T.nn.utils.parametrizations.orthogonal(T.nn.Linear(2, 2), orthogonal_map="x"),
    "a vector": lambda T: T.nn.utils.parametrizations.orthogonal(T.nn.Linear(2, 2), "bias"),
    "a weight that is not there": lambda T: T.nn.utils.parametrizations.spectral_norm(T.nn.ReLU()),
    "no steps": lambda T: T.nn.utils.parametrizations.spectral_norm(T.nn.Linear(2, 2), n_power_iterations=0),
    "two norms": lambda T: T.nn.utils.weight_norm(T.nn.utils.weight_norm(T.nn.Linear(2, 2))),
    "no weight norm": lambda T: T.nn.utils.remove_weight_norm(T.nn.Linear(2, 2)),
    "no pruning": lambda T: T.nn.utils.prune.remove(T.nn.Linear(2, 2), "weight"),
    "too much": lambda T: T.nn.utils.prune.l1_unstructured(T.nn.Linear(2, 2), "weight", 9),
    "a share above one": lambda T: T.nn.utils.prune.l1_unstructured(T.nn.Linear(2, 2), "weight", 1.5),
    "an amount of text": lambda T: T.nn.utils.prune.l1_unstructured(T.nn.Linear(2, 2), "weight", "x"),
    "channels of a vector": lambda T: T.nn.utils.prune.ln_structured(T.nn.Linear(2, 2), "bias", 1, 2, 0),
    "scores of another shape": lambda T: T.nn.utils.prune.l1_unstructured(
        T.nn.Linear(2, 2), "weight", 1, importance_scores=T.ones(3)
    ),
    "to be pickled": lambda T: T.nn.utils.parametrizations.weight_norm(T.nn.Linear(2, 2)).__getstate__(),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    assert_same(ERRORS[name])


@program
def pruning_of_several_layers(T):
    T.manual_seed(0)
    prune, layers = T.nn.utils.prune, [T.nn.Linear(3, 4), T.nn.Linear(4, 2)]
    prune.global_unstructured([(each, "weight") for each in layers], pruning_method=prune.L1Unstructured, amount=0.4)
    prune.custom_from_mask(layers[0], "bias", T.tensor([1, 0, 1, 0]))
    model = T.nn.Sequential(*layers)
    return [dict(model.state_dict()), model(T.ones(2, 3)), prune.is_pruned(model), prune.is_pruned(T.nn.ReLU())]


@program
def layers_are_fused(T):
    T.manual_seed(0)
    fusion = T.nn.utils
    pairs = [
        (fusion.fuse_conv_bn_eval, T.nn.Conv2d(2, 3, 2, bias=False), T.nn.BatchNorm2d(3), (1, 2, 3, 3)),
        (fusion.fuse_linear_bn_eval, T.nn.Linear(2, 3), T.nn.BatchNorm1d(3), (4, 2)),
    ]
    results = []
    for fuse, layer, norm, shape in pairs:
        norm.running_mean.uniform_()
        norm.running_var.uniform_()
        results.append(outcome(lambda T, fuse=fuse, layer=layer, norm=norm: fuse(layer, norm), T))
        results.append(fuse(layer.eval(), norm.eval())(sample(T, *shape)))
    return results


@program
def state_of_the_older_weight_norm_is_loaded_by_the_newer(T):
    T.manual_seed(0)
    old = T.nn.utils.weight_norm(T.nn.Linear(2, 3))
    new = T.nn.utils.parametrizations.weight_norm(T.nn.Linear(2, 3))
    return [str(new.load_state_dict(old.state_dict())), new.weight - old.weight]


@program
def modules_without_initial_values(T):
    made = T.nn.utils.skip_init(T.nn.Linear, 3, 2)
    refused = [outcome(lambda T, kind=kind: T.nn.utils.skip_init(kind), T) for kind in (T.nn.ReLU, T.nn.Flatten)]
    return [repr(made), made.weight.shape, made.weight.is_meta, refused]


# -------------------- lazy layers --------------------

LAZY = {
    "linear": (lambda nn: nn.LazyLinear(4), (2, 3)),
    "linear without bias": (lambda nn: nn.LazyLinear(4, bias=False), (3,)),
    "Conv1d": (lambda nn: nn.LazyConv1d(4, 2), (2, 3, 4)),
    "Conv2d": (lambda nn: nn.LazyConv2d(4, 2, stride=2, groups=2, bias=False), (2, 6, 4, 4)),
    "Conv2d of one image": (lambda nn: nn.LazyConv2d(4, 2, padding=1, padding_mode="reflect"), (3, 4, 4)),
    "Conv3d": (lambda nn: nn.LazyConv3d(4, 2), (1, 3, 2, 3, 2)),
    "ConvTranspose1d": (lambda nn: nn.LazyConvTranspose1d(4, 2), (2, 3, 4)),
    "ConvTranspose2d": (lambda nn: nn.LazyConvTranspose2d(4, 2, 2, output_padding=1), (2, 3, 4, 4)),
    "ConvTranspose3d": (lambda nn: nn.LazyConvTranspose3d(4, 2), (1, 3, 2, 3, 2)),
    "BatchNorm1d": (lambda nn: nn.LazyBatchNorm1d(), (4, 3)),
    "BatchNorm2d": (lambda nn: nn.LazyBatchNorm2d(affine=False), (4, 3, 2, 2)),
    "BatchNorm3d": (lambda nn: nn.LazyBatchNorm3d(track_running_stats=False), (2, 3, 2, 2, 2)),
    "InstanceNorm1d": (lambda nn: nn.LazyInstanceNorm1d(affine=True), (4, 3, 4)),
    "InstanceNorm2d": (lambda nn: nn.LazyInstanceNorm2d(track_running_stats=True), (4, 3, 4, 2)),
    "InstanceNorm3d": (lambda nn: nn.LazyInstanceNorm3d(), (1, 3, 2, 2, 2)),
    "groups that do not fit": (lambda nn: nn.LazyConv1d(4, 2, groups=2), (2, 3, 4)),
    "a number of dimensions that does not fit": (lambda nn: nn.LazyConv1d(4, 2), (4,)),
}


@pytest.mark.filterwarnings("ignore:Lazy modules are a new feature:UserWarning")
@pytest.mark.parametrize("name", LAZY)
def test_lazy(name):
    make, shape = LAZY[name]

    def run(T):
        T.manual_seed(0)
        module = make(T.nn)
        before = [repr(module), module.has_uninitialized_params(), [repr(each) for each in module.parameters()]]
        return [*before, *used(T, module, *shape), type(module).__name__, len(module._forward_pre_hooks)]

    assert_same(run)


@program
def lazy_layers_can_be_copied_and_loaded(T):
    T.manual_seed(0)
    model = T.nn.Sequential(T.nn.LazyLinear(4), T.nn.ReLU(), T.nn.LazyLinear(1))
    twin, third = copy.deepcopy(model), T.nn.Sequential(*[copy.deepcopy(each) for each in model]).double()
    model(T.randn(5, 3))
    twin.load_state_dict(model.state_dict())
    optimizer = T.optim.SGD(third.parameters(), 0.1)
    third(T.ones(2, 2).double()).sum().backward()
    optimizer.step()
    return [repr(twin), twin(T.ones(2, 3)), repr(third), dict(third.state_dict())]


@program
def what_uninitialized_parameters_refuse(T):
    parameter = T.nn.UninitializedParameter()
    tries = [lambda T: parameter.shape, lambda T: parameter.share_memory_(), lambda T: (parameter + 1).tolist()]
    texts = [str(outcome(each, T)[0]).replace("mindtorch", "torch").split(" in <")[0] for each in tries]
    parameter.materialize((2, 3))
    return [*texts, type(parameter).__name__, parameter.shape, repr(T.nn.UninitializedBuffer())]


# -------------------- initial values --------------------

FILLS = {
    "dirac_": lambda i, t: i.dirac_(t.reshape(4, 3, 2)),
    "dirac_ of groups": lambda i, t: i.dirac_(t.reshape(4, 3, 2), 2),
    "dirac_ of too few": lambda i, t: i.dirac_(t),
    "dirac_ of odd groups": lambda i, t: i.dirac_(t.reshape(4, 3, 2), 3),
    "orthogonal_": lambda i, t: i.orthogonal_(t),
    "orthogonal_ and wide": lambda i, t: i.orthogonal_(t.view(4, 6), gain=2),
    "orthogonal_ of more": lambda i, t: i.orthogonal_(t.view(4, 3, 2)),
    "orthogonal_ of a vector": lambda i, t: i.orthogonal_(t[0]),
    "orthogonal_ of nothing": lambda i, t: i.orthogonal_(t[:0]),
    "sparse_": lambda i, t: i.sparse_(t, 0.4),
    "sparse_ of a vector": lambda i, t: i.sparse_(t[0], 0.4),
    "uniform": lambda i, t: i.uniform(t),
    "kaiming_normal": lambda i, t: i.kaiming_normal(t),
    "constant": lambda i, t: i.constant(t, 3.0),
}


@pytest.mark.parametrize("name", FILLS)
def test_fill(name):
    def run(T):
        T.manual_seed(0)
        return [FILLS[name](T.nn.init, T.zeros(8, 3)), T.rand(1)]

    assert_same(run)


# -------------------- several devices or processes --------------------


@program
def modules_for_several_devices(T):
    T.manual_seed(0)
    model = T.nn.Sequential(T.nn.Conv2d(1, 2, 1), T.nn.BatchNorm2d(2))
    synced = T.nn.SyncBatchNorm.convert_sync_batchnorm(model)
    parallel = T.nn.DataParallel(synced)
    x = sample(T, 2, 1, 3, 3)
    bad = outcome(lambda T: T.nn.SyncBatchNorm(3)(T.ones(3)), T)
    return [repr(parallel), parallel(x), list(parallel.state_dict()), parallel.eval()(x), bad]


@program
def modules_that_are_compiled(T):
    T.manual_seed(0)
    model = T.nn.Linear(2, 1)
    compiled = T.compile(model, backend="eager")
    twice = T.compile(lambda x: 2 * x, backend="eager")
    return [list(compiled.state_dict()), compiled.in_features, twice(3), compiled(T.ones(1, 2)) - model(T.ones(1, 2))]


@program
def scaled_losses(T):
    T.manual_seed(0)
    model, scaler = T.nn.Linear(2, 1), T.amp.GradScaler("cpu", init_scale=4.0, growth_interval=2)
    optimizer, seen = T.optim.SGD(model.parameters(), 0.1), []
    for factor in (1.0, 1.0, float("inf"), 2.0):
        optimizer.zero_grad()
        scaler.scale(model(T.ones(3, 2)).mean() * factor).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        seen.append([scaler.get_scale(), model.weight.detach().clone(), dict(scaler.state_dict())])
    return [*seen, outcome(lambda T: scaler.step(optimizer), T)[0]]


@program
def what_asks_for_an_accelerator(T):
    device = T.accelerator.current_accelerator().type if T.accelerator.is_available() else "cpu"
    T.backends.cudnn.benchmark = True
    T.backends.cudnn.deterministic = True
    T.manual_seed(1)
    T.cuda.manual_seed_all(1)
    with T.autocast("cuda", enabled=False), T.autocast(device_type="cpu", enabled=False):
        result = T.ones(2).to(device)
    disabled = T.amp.GradScaler("cuda", enabled=False)
    facts = [T.cuda.is_available(), T.backends.mps.is_available(), T.backends.cudnn.is_available(), T.version.cuda]
    return [result, facts, disabled.scale(result), disabled.state_dict(), disabled.get_scale()]


@program
def submodules_are_set(T):
    model = T.nn.Sequential(T.nn.Linear(2, 2), T.nn.Sequential(T.nn.ReLU()))
    model.set_submodule("1.0", T.nn.Tanh())
    model.set_submodule("1.more", T.nn.Identity())
    wrong = [("", T.nn.ReLU()), ("1.x", T.nn.ReLU(), True), ("0.weight", T.nn.ReLU()), ("0.a.b", T.nn.ReLU()), ("1", 3)]
    tries = [outcome(lambda T, args=args: model.set_submodule(*args), T)[0] for args in wrong]
    return [repr(model), tries, len(list(model.modules(remove_duplicate=False)))]


@program
def modules_with_a_state_of_their_own(T):
    class Counting(T.nn.Linear):
        count = 0

        def forward(self, x):
            self.count += 1
            return super().forward(x)

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    T.manual_seed(0)
    model, plain = T.nn.Sequential(Counting(2, 2)), T.nn.Sequential(T.nn.Linear(2, 2))
    model(T.ones(1, 2))
    state, twin = model.state_dict(), T.nn.Sequential(Counting(2, 2))
    twin.load_state_dict(state)
    loads = [
        outcome(lambda T: str(plain.load_state_dict(state)), T),
        outcome(lambda T: str(twin.load_state_dict(plain.state_dict())), T),
        str(plain.load_state_dict(state, strict=False)),
    ]
    return [list(state), twin[0].count, loads, outcome(lambda T: plain.get_extra_state(), T)]


@program
def names_of_wrapped_models(T):
    state = T.nn.DataParallel(T.nn.Sequential(T.nn.Linear(1, 1))).state_dict()
    T.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    return [list(state), list(state._metadata), T.nn.modules.utils._pair(3), T.nn.modules.utils._triple((1, 2, 3))]


# -------------------- what programs ask of classes --------------------

RELATED = (
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AvgPool2d", "AvgPool3d", "BatchNorm1d", "BatchNorm2d", "Conv1d",
    "Conv2d", "ConvTranspose2d", "Dropout", "Dropout2d", "Hardtanh", "InstanceNorm2d", "LayerNorm", "LazyBatchNorm2d",
    "LazyConv2d", "LazyInstanceNorm2d", "LazyLinear", "Linear", "MaxPool1d", "MaxPool2d", "MaxPool3d", "Module", "ReLU",
    "ReLU6", "SyncBatchNorm",
)  # fmt: skip
BASES = ("batchnorm._BatchNorm", "batchnorm._NormBase", "conv._ConvNd", "dropout._DropoutNd", "pooling._MaxPoolNd")


@program
def which_layers_are_others(T):
    layers = {name: getattr(T.nn, name) for name in RELATED}
    bases = {name: getattr(getattr(T.nn.modules, name.split(".")[0]), name.split(".")[1]) for name in BASES}
    bases |= layers
    return [f"{one} is a {other}" for one in layers for other in bases if issubclass(layers[one], bases[other])]


@program
def losses_and_schedules_of_ones_own(T):
    class Doubled(T.nn.modules.loss._Loss):
        def forward(self, input):
            return 2 * input.sum() if self.reduction == "sum" else 2 * input.mean()

    class Halved(T.optim.lr_scheduler._LRScheduler):
        def get_lr(self):
            return [base * 0.5**self.last_epoch for base in self.base_lrs]

    optimizer = T.optim.SGD([T.zeros(1, requires_grad=True)], 1.0)
    schedule = Halved(optimizer)
    optimizer.step()
    schedule.step()
    return [Doubled(reduction="sum")(T.ones(3)), repr(Doubled()), schedule.get_last_lr()]


# -------------------- failures leave the module as it was --------------------

IMPOSSIBLE_PRUNINGS = {
    "l1_unstructured": lambda P, m: P.l1_unstructured(m, "weight", 1000),
    "random_unstructured": lambda P, m: P.random_unstructured(m, "weight", 1000),
    "ln_structured": lambda P, m: P.ln_structured(m, "weight", 1000, 2, 0),
    "random_structured": lambda P, m: P.random_structured(m, "weight", 1, 7),
    "a mask of another shape": lambda P, m: P.custom_from_mask(m, "weight", m.bias),
    "the second": lambda P, m: P.l1_unstructured(P.identity(m, "weight"), "weight", 1000),
}


@pytest.mark.parametrize("name", IMPOSSIBLE_PRUNINGS)
def test_a_pruning_that_fails(name):
    def run(T):
        layer = T.nn.Linear(3, 4)
        failed = outcome(lambda T: IMPOSSIBLE_PRUNINGS[name](T.nn.utils.prune, layer), T)
        names = [each for each, _ in layer.named_parameters()], [each for each, _ in layer.named_buffers()]
        return failed, names, len(layer._forward_pre_hooks), tuple(layer.weight.shape)

    assert_same(run)


# -------------------- sequences --------------------


@program
def sequences_out_of_padding_have_memory_of_their_own(T):
    R, found = T.nn.utils.rnn, []
    for batch_first in (True, False):
        padded = T.arange(12.0).view(3, 4) if batch_first else T.arange(12.0).view(4, 3)
        sequences = R.unpad_sequence(padded, T.tensor([4, 2, 1]), batch_first)
        found.append([(each, each.stride(), each.storage_offset(), each._is_view()) for each in sequences])
        sequences[0].zero_()
        found.append(padded.sum())
    return found


@program
def sequences_out_of_padding_and_their_gradients(T):
    x = sample(T, 3, 4)
    first, second, _ = T.nn.utils.rnn.unpad_sequence(x * 1, T.tensor([4, 2, 1]), batch_first=True)
    return type(second.grad_fn).__name__, T.autograd.grad(first.sum() + (second * 2).sum(), x)


@program
def fewer_lengths_than_sequences(T):
    return T.nn.utils.rnn.unpad_sequence(T.ones(3, 4), T.tensor([4, 2]), batch_first=True)


@program
def no_sequences(T):
    return T.nn.utils.rnn.pad_sequence([])


@program
def lengths_that_are_neither_sorted_nor_positive(T):
    return T.nn.utils.rnn.pack_padded_sequence(T.ones(3, 2), [0, 1])


# -------------------- lazy layers --------------------

CONVERTED = {
    "LazyLinear": ((3,), (2, 5)),
    "LazyConv1d": ((2, 3), (1, 4, 5)),
    "LazyConvTranspose2d": ((2, 3), (1, 4, 5, 5)),
    "LazyBatchNorm1d": ((), (3, 4)),
    "LazyBatchNorm2d": ((), (2, 3, 4, 4)),
    "LazyInstanceNorm2d": ((1e-5, 0.1, True, True), (1, 2, 3, 3)),
}


@pytest.mark.parametrize("way", ["double", "half", "to"])
@pytest.mark.parametrize("name", CONVERTED)
def test_a_lazy_layer_of_another_dtype(name, way):
    """Until the first call its parameters and buffers refuse whatever needs a shape, also after they are converted."""
    arguments, shape = CONVERTED[name]

    def run(T):
        layer = getattr(T.nn, name)(*arguments)
        layer = layer.to(T.float64) if way == "to" else getattr(layer, way)()
        refused = [outcome(lambda T, each=each: each.shape, T) for each in layer.state_dict().values()
                   if each.__class__.__name__.startswith("Uninitialized")]  # fmt: skip
        dtypes = [str(each.dtype).partition(".")[2] for each in layer.state_dict().values()]
        return refused, dtypes, layer.float()(T.ones(shape)).shape, type(layer).__name__

    assert_same(run)


@program
def lazy_parameters(T):
    lazy = T.nn.parameter.UninitializedParameter()
    facts = T.nn.parameter.is_lazy(lazy), T.nn.parameter.is_lazy(T.nn.Parameter(T.ones(1))), repr(lazy)
    lazy.materialize((2, 2))
    buffer = T.nn.parameter.UninitializedBuffer(dtype=T.float64)
    buffer.materialize((3,))
    return facts, tuple(lazy.shape), type(lazy).__name__, tuple(buffer.shape), str(buffer.dtype)
