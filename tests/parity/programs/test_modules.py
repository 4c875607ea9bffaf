"""Programs that look into modules and change them."""

import collections
import copy
import importlib
from collections import OrderedDict

from tests.parity.support.printed import printing_programs

program, test_same_text = printing_programs()


@program
def features_by_hooks(T, say):
    """Hooks of all kinds, with and without keywords, that change, count, stop, and are removed."""
    nn = T.nn
    T.manual_seed(0)
    model = nn.Sequential(collections.OrderedDict([("a", nn.Linear(3, 4)), ("act", nn.GELU()), ("b", nn.Linear(4, 2))]))
    log = []
    handles = [
        model.a.register_forward_pre_hook(lambda m, args: (args[0] * 2,)),
        model.act.register_forward_hook(lambda m, args, out: out + 1),
        model.b.register_forward_pre_hook(lambda m, args, kwargs: log.append((len(args), kwargs)), with_kwargs=True),
        model.b.register_forward_hook(
            lambda m, args, kwargs, out: log.append(out.shape), with_kwargs=True, prepend=True
        ),
        model.register_forward_hook(lambda m, args, out: log.append("always"), always_call=True),
        model.act.register_full_backward_pre_hook(lambda m, grads: tuple(g * 3 for g in grads)),
        model.a.register_full_backward_hook(
            lambda m, gi, go: log.append([None if g is None else g.shape for g in (*gi, *go)])
        ),
    ]
    x = T.ones(2, 3, requires_grad=True)
    y = model(x)
    y.sum().backward()
    say(y, x.grad, log, model.a.weight.grad)
    try:
        model(T.ones(2, 5))
    except RuntimeError as error:
        say(error, log[-1])
    for handle in handles:
        handle.remove()
    say(len(model._forward_hooks), len(model.a._forward_pre_hooks), T.equal(model(x), model.b(model.act(model.a(x)))))
    grads = {}
    for name, p in model.named_parameters():
        p.register_hook(lambda g, name=name: grads.__setitem__(name, g.norm()))
    hidden = model.act(model.a(x))
    hidden.retain_grad()
    hidden.register_hook(lambda g: g.clamp(max=0.1))
    h = hidden.register_hook(print)
    h.remove()
    model.b(hidden).sum().backward()
    say(grads, hidden.grad, hidden.is_leaf, hidden.retains_grad)
    every = T.nn.modules.module.register_module_forward_hook(lambda m, i, o: log.append(type(m).__name__))
    with every:
        model(x)
    say(log[-4:])
    with T.autograd.graph.saved_tensors_hooks(lambda t: (t.shape, t), lambda packed: packed[1]):
        z = (x**3).sum()
    say(z.grad_fn.next_functions[0][0].name(), T.autograd.grad(z, x)[0])
    post = x.register_post_accumulate_grad_hook(lambda t: log.append("accumulated"))
    (x * 2).sum().backward()
    post.remove()
    say(log[-1], x.grad)

    class Extractor(nn.Module):
        def __init__(self, net, layers):
            super().__init__()
            self.net, self._features = net, {layer: T.empty(0) for layer in layers}
            for layer in layers:
                dict([*self.net.named_modules()])[layer].register_forward_hook(self.save(layer))

        def save(self, layer):
            def fn(_, __, output):
                self._features[layer] = output

            return fn

        def forward(self, x):
            _ = self.net(x)
            return self._features

    features = Extractor(model, layers=["a", "act"])(x)
    say({name: out.shape for name, out in features.items()})
    for wrong in (
        lambda: model.register_forward_hook(3) or model(x),
        lambda: nn.ReLU().register_full_backward_hook(lambda m, gi, go: (T.ones(3),)),
        lambda: T.ones(2).register_hook(print),
        lambda: T.ones(2).retain_grad(),
        lambda: model.get_submodule("c.d"),
        lambda: model.get_submodule("a.weight"),
        lambda: model.get_parameter("a.w"),
        lambda: model.get_parameter("a"),
        lambda: model.get_buffer("a.weight"),
        lambda: model.nothing,
        lambda: (hidden * 1).register_post_accumulate_grad_hook(print),
    ):
        try:
            say(wrong() is None)
        except (TypeError, RuntimeError, AttributeError) as error:
            say(type(error).__name__, error)


@program
def model_surgery(T, say):
    """Layers replaced, deleted, inserted, shared; containers as lists and dicts; what is refused."""
    nn = T.nn
    T.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Dropout(0.5), nn.Flatten(), nn.Linear(8, 2)
    )

    def replace(module, old, make):
        for name, child in module.named_children():
            if isinstance(child, old):
                setattr(module, name, make(child))
            else:
                replace(child, old, make)

    replace(model, nn.BatchNorm2d, lambda b: nn.GroupNorm(1, b.num_features))
    replace(model, nn.ReLU, lambda _: nn.PReLU(init=0.1))
    say(model, len(model), model[-1], model[1:3], model[0].weight.shape)
    model.append(nn.Softmax(dim=1)).insert(0, nn.Identity())
    del model[4]
    model[0] = nn.ZeroPad2d(0)
    model.extend([nn.LogSigmoid(), nn.Threshold(0.1, 20)])
    say(
        model, model.pop(-1), [type(m).__name__ for m in model + nn.Sequential(nn.Tanh())], nn.Sequential(nn.Tanh()) * 2
    )
    layers = nn.ModuleList([nn.Linear(2, 2)] * 2 + [nn.Linear(2, 3)])
    layers.extend(nn.ModuleList([nn.Linear(3, 3)]))
    layers += [nn.Linear(2, 2)]
    layers.insert(1, nn.Bilinear(2, 2, 1))
    say(layers, len(list(layers.parameters())), len(list(layers.modules())), layers[::2], layers.pop(1))
    say([n for n, _ in layers.named_parameters(remove_duplicate=False)], [n for n, _ in layers.named_modules()])
    choices = nn.ModuleDict([["lrelu", nn.LeakyReLU()], ["glu", nn.GLU()]])
    choices.update({"drop": nn.AlphaDropout()})
    choices["celu"] = nn.CELU()
    say(choices, list(choices.keys()), "glu" in choices, choices.pop("glu"), [*choices], len(choices))
    tied = nn.ModuleDict({"embed": nn.Embedding(4, 3), "out": nn.Linear(3, 4, bias=False)})
    tied["out"].weight = tied["embed"].weight
    say(sum(p.numel() for p in tied.parameters()), list(tied.state_dict()), [n for n, _ in tied.named_parameters()])
    twin = copy.deepcopy(tied)
    say(twin["out"].weight is twin["embed"].weight, twin["out"].weight is tied["out"].weight)
    tied.to(T.float64)
    say(
        tied["out"].weight is tied["embed"].weight, tied["embed"].weight.dtype, tied.requires_grad_(False)["out"].weight
    )
    parameters = nn.ParameterList([T.ones(2), nn.Parameter(T.zeros(1), requires_grad=False)])
    parameters += [nn.Parameter(T.eye(2))]
    parameters.append(3)
    parameters[0] = nn.Parameter(T.zeros(3))
    say(
        parameters,
        len(parameters),
        [type(p).__name__ for p in parameters],
        parameters[-2:],
        list(parameters.state_dict()),
    )
    named = nn.ParameterDict({"b": T.ones(1), "a": 5})
    named.update({"c": nn.Parameter(T.zeros(2, 2))})
    named.setdefault("d", T.ones(2))
    say(
        named,
        list(named),
        named.get("z", "none"),
        named.popitem()[0],
        named | nn.ParameterDict({"e": T.ones(1)}),
        "a" in named,
    )

    class Net(nn.Module):
        __constants__ = ["size"]

        def __init__(self, size=2, **kwargs):
            super().__init__(**kwargs)
            self.size, self.fc = size, nn.Linear(size, size)

    class Forgetful(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(1, 1)

    for wrong in (
        lambda: Net(depth=3), lambda: Forgetful(), lambda: Net()(1), lambda: setattr(Net(), "fc", 3),
        lambda: setattr(Net().fc, "weight", T.zeros(2, 2)), lambda: Net().register_parameter("a.b", None),
        lambda: Net().register_parameter("fc", nn.Parameter(T.zeros(1))),
        lambda: Net().register_buffer("size", T.zeros(1)),
        lambda: Net().register_parameter("w", T.zeros(1)), lambda: Net().register_buffer("b", 3),
        lambda: Net().add_module("", nn.ReLU()),
        lambda: Net().add_module("m", 3), lambda: layers[9], lambda: layers["a"], lambda: nn.ModuleList([3]),
        lambda: nn.Sequential(3),
        lambda: choices["no"], lambda: nn.ModuleDict({"a": 1}), lambda: nn.ModuleDict({1: nn.ReLU()}),
        lambda: model.to("gpu"),
        lambda: model.to(T.int32), lambda: layers(1), lambda: nn.Module()(1), lambda: delattr(Net(), "nothing"),
        lambda: nn.Linear(2, -1),
        lambda: nn.Conv2d(3, 4, 3, groups=2), lambda: nn.BatchNorm2d(2)(T.ones(2, 2)), lambda: nn.GroupNorm(3, 4),
        lambda: model[99],
        lambda: nn.LayerNorm(3)(T.ones(2, 2)), lambda: nn.Sequential()[0], lambda: nn.Flatten(1, 2)(T.ones(2, 2)),
        lambda: Net().register_parameter("w", nn.Parameter(T.zeros(1)) * 2), lambda: Net().type("Float"),
        lambda: Net().cuda(),
    ):  # fmt: skip
        try:
            say(wrong() is None)
        except (
            TypeError,
            KeyError,
            AttributeError,
            RuntimeError,
            ValueError,
            IndexError,
            NotImplementedError,
            AssertionError,
        ) as error:
            say(type(error).__name__, str(error).split("\n")[0])


@program
def ghosts(T, say):
    """Models on meta, to_empty, skip_init, assigned weights, default devices and dtypes, lazy layers."""
    nn = T.nn
    T.manual_seed(0)
    with T.device("meta"):
        big = nn.TransformerEncoderLayer(1024, 16, 4096)
        x = T.ones(2, 5)
    say(
        big(T.empty(5, 1, 1024, device="meta")).shape,
        sum(p.numel() * p.element_size() for p in big.parameters()) / 2**20,
        x,
        x.is_meta,
    )
    small = nn.Linear(3, 2, device="meta", dtype=T.float64)
    say(small.weight, small, (x @ x.T).shape, x.sum(), T.empty_like(x, device="cpu").shape)
    real = small.to_empty(device="cpu")
    with T.no_grad():
        real.weight.fill_(0.5)
        real.bias.zero_()
    say(real(T.ones(1, 3, dtype=T.float64)), real is small)
    skipped = nn.utils.skip_init(nn.Linear, 3, 2, bias=False)
    say(skipped.weight.shape, skipped.weight.device, nn.init.ones_(skipped.weight))
    say(nn.Linear(2, 2, device="meta").load_state_dict({"weight": T.eye(2), "bias": T.zeros(2)}, assign=True))
    for wrong in (
        lambda: nn.Linear(2, 2, device="meta").to("cpu"), lambda: x.item(), lambda: x.tolist(), lambda: x.numpy(),
        lambda: bool(x.sum()),
        lambda: T.ones(3) + T.ones(3, device="meta"), lambda: x.cpu(),
        lambda: nn.utils.skip_init(lambda: 3), lambda: T.ones(2, device="cuda"), lambda: T.device("gpu"),
        lambda: T.ones(1, device="cpu:1").device,
    ):  # fmt: skip
        try:
            say(wrong())
        except (NotImplementedError, RuntimeError, ValueError, TypeError, AssertionError) as error:
            say(type(error).__name__, str(error).split("\n")[0][:200])
    T.set_default_dtype(T.float64)
    say(
        T.ones(1).dtype,
        T.tensor([1.5]).dtype,
        nn.Linear(1, 1).weight.dtype,
        T.arange(3.0).dtype,
        T.complex(T.ones(1), T.ones(1)).dtype,
    )
    T.set_default_dtype(T.float32)
    T.set_default_device("meta")
    say(
        T.zeros(2).device,
        T.get_default_device(),
        T.arange(3).device,
        nn.Linear(1, 1).weight.device,
        T.tensor([1]).device,
    )
    T.set_default_device(None)
    lazy = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
    say(lazy, lazy[0].weight, lazy[4].has_uninitialized_params())
    try:
        say(lazy[4].weight.shape)
    except RuntimeError as error:
        say(error)
    lazy(T.ones(2, 1, 5, 5))
    say(lazy, lazy[4].weight.shape, type(lazy[0]).__name__, {k: list(v.shape) for k, v in lazy.state_dict().items()})
    say(
        T.ones(2).to("cpu").device == T.device("cpu"),
        T.device("cuda:1"),
        T.device("cuda", 1).index,
        T.device(type="cpu"),
        repr(T.device("meta")),
    )
    say(
        T.cuda.is_available(),
        T.cuda.device_count(),
        T.backends.cudnn.is_available(),
        T.version.cuda,
        T.get_num_threads() > 0,
    )
    say(
        T.can_cast(T.float32, T.int32),
        T.promote_types(T.int8, T.float16),
        T.result_type(T.ones(1, dtype=T.int32), 1.5),
        T.is_tensor(x),
    )
    say(
        T.finfo(T.bfloat16),
        T.iinfo(T.int8),
        T.finfo(T.float32).tiny,
        T.float32.is_floating_point,
        T.int8.itemsize,
        T.bool.to_real(),
    )


@program
def pruned_and_parametrized(T, say):
    """Masks over weights, weights of a norm, orthogonal ones, and their state."""
    nn = T.nn
    prune, P = importlib.import_module(f"{T.__name__}.nn.utils.prune"), nn.utils.parametrizations
    T.manual_seed(0)
    net = nn.Sequential(OrderedDict(conv=nn.Conv1d(3, 4, 2), act=nn.PReLU(), fc=nn.Linear(4, 3)))
    prune.random_unstructured(net.conv, name="weight", amount=0.3)
    prune.l1_unstructured(net.conv, name="bias", amount=2)
    prune.ln_structured(net.fc, name="weight", amount=0.5, n=2, dim=0)
    say(
        list(net.state_dict()),
        list(dict(net.conv.named_buffers())),
        [type(hook).__name__ for hook in net.conv._forward_pre_hooks.values()],
    )
    say(net.fc.weight, net.conv.bias_mask)
    prune.random_unstructured(net.conv, "weight", 0.5)
    say(type(list(net.conv._forward_pre_hooks.values())[0]).__name__, prune.is_pruned(net))
    prune.remove(net.conv, "weight")
    say(
        sorted(dict(net.conv.named_parameters())),
        100.0 * float(T.sum(net.conv.weight == 0)) / net.conv.weight.nelement(),
    )
    parameters = ((net.conv, "weight"), (net.fc, "weight"))
    prune.global_unstructured(parameters, pruning_method=prune.L1Unstructured, amount=0.2)

    class Alternate(prune.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t, default_mask):
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    Alternate.apply(net.fc, "bias")
    say(net.fc.bias_mask, net.fc.bias)
    weighted = P.weight_norm(nn.Linear(3, 2), name="weight", dim=0)
    spectral = P.spectral_norm(nn.Linear(3, 2), n_power_iterations=2)
    orthogonal = P.orthogonal(nn.Linear(3, 3), orthogonal_map="cayley")
    for each in (weighted, spectral, orthogonal):
        say(each, list(each.state_dict()), each.weight.shape)
    say(T.dist(orthogonal.weight.T @ orthogonal.weight, T.eye(3)) < 1e-5, spectral.weight, spectral.eval().weight)
    old = nn.utils.spectral_norm(nn.Conv2d(2, 3, 1))
    older = nn.utils.weight_norm(nn.Linear(2, 2), name="weight")
    say(old, list(old.state_dict()), older, list(older.state_dict()), older(T.ones(1, 2)))
    nn.utils.remove_weight_norm(older)
    say(list(older.state_dict()), nn.utils.remove_spectral_norm(old))

    class Symmetric(nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

        def right_inverse(self, a):
            return a.triu()

    layer = nn.Linear(3, 3)
    nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    say(layer, nn.utils.parametrize.is_parametrized(layer), T.allclose(layer.weight, layer.weight.T))
    layer.weight = T.arange(9.0).view(3, 3)
    with nn.utils.parametrize.cached():
        say(layer.weight is layer.weight, layer.weight, layer.parametrizations.weight.original)
    nn.utils.parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    say(layer, layer.weight)
    for wrong in (
        lambda: prune.l1_unstructured(net.fc, "weight", 1.5),
        lambda: prune.remove(nn.Linear(2, 2), "weight"),
        lambda: nn.utils.parametrize.register_parametrization(layer, "nothing", Symmetric()),
        lambda: P.orthogonal(nn.Linear(2, 2), orthogonal_map="qr"),
        lambda: nn.utils.remove_weight_norm(nn.Linear(2, 2)),
    ):
        try:
            wrong()
        except (ValueError, RuntimeError) as error:
            say(type(error).__name__, error)
