"""Layers, losses and their functions do what PyTorch's do: initial values, results, gradients, printing, errors."""

import numpy as np
import pytest
import torch

import mindtorch
from tests.parity.support.inputs import normal

LIBRARIES = (mindtorch, torch)


def array(tensor):
    return tensor.detach().to((torch if isinstance(tensor, torch.Tensor) else mindtorch).float64).numpy()


def assert_same(ours, theirs, tolerance=2e-5):
    """Equal structures of tensors and plain values; tensors agree within a tolerance and in dtype and strides."""
    if isinstance(theirs, torch.Tensor):
        assert str(ours.dtype) == str(theirs.dtype)
        assert tuple(ours.shape) == tuple(theirs.shape)
        np.testing.assert_allclose(array(ours), array(theirs), rtol=tolerance, atol=tolerance)
    elif isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key in theirs:
            assert_same(ours[key], theirs[key], tolerance)
    elif isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs):
            assert_same(one, other, tolerance)
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=tolerance, nan_ok=True)
    else:
        assert ours == theirs


def run_both(recipe, *arguments):
    """The results of a recipe in both libraries, each from the same seed."""
    results = []
    for library in LIBRARIES:
        library.manual_seed(0)
        results.append(recipe(library, *arguments))
    return results


def outcome(recipe, library):
    try:
        recipe(library)
    except (AttributeError, IndexError, KeyError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        return type(error).__name__, str(error)
    return "no error"


# -------------------- layers --------------------

LAYERS = {
    "Linear": (lambda nn: nn.Linear(4, 3), (5, 4)),
    "Linear without bias": (lambda nn: nn.Linear(4, 3, bias=False), (2, 5, 4)),
    "Conv1d": (lambda nn: nn.Conv1d(4, 6, 3, stride=2, padding=1, groups=2), (2, 4, 9)),
    "Conv2d": (lambda nn: nn.Conv2d(3, 5, 3, padding=1, dilation=(1, 2)), (2, 3, 7, 8)),
    "Conv2d same": (lambda nn: nn.Conv2d(2, 4, (2, 3), padding="same"), (2, 2, 6, 5)),
    "Conv2d reflect": (lambda nn: nn.Conv2d(2, 4, 3, padding=(1, 2), padding_mode="reflect"), (2, 2, 6, 5)),
    "Conv2d circular": (lambda nn: nn.Conv2d(2, 4, 3, padding=2, padding_mode="circular"), (2, 2, 6, 5)),
    "Conv2d depthwise": (lambda nn: nn.Conv2d(4, 4, 3, groups=4), (2, 4, 6, 5)),
    "Conv2d of one image": (lambda nn: nn.Conv2d(2, 3, 3), (2, 6, 5)),
    "Conv3d": (lambda nn: nn.Conv3d(2, 3, (1, 2, 3), stride=(1, 2, 1)), (2, 2, 4, 5, 6)),
    "ConvTranspose2d": (lambda nn: nn.ConvTranspose2d(4, 6, 3, 2, 1, output_padding=1, groups=2), (2, 4, 3, 4)),
    "BatchNorm1d": (lambda nn: nn.BatchNorm1d(4), (6, 4)),
    "BatchNorm1d of sequences": (lambda nn: nn.BatchNorm1d(4, momentum=None), (6, 4, 3)),
    "BatchNorm2d": (lambda nn: nn.BatchNorm2d(3, affine=False), (4, 3, 5, 2)),
    "BatchNorm2d without statistics": (lambda nn: nn.BatchNorm2d(3, track_running_stats=False), (4, 3, 5, 2)),
    "BatchNorm2d eval": (lambda nn: nn.BatchNorm2d(3).eval(), (4, 3, 5, 2)),
    "LayerNorm": (lambda nn: nn.LayerNorm([3, 4]), (2, 5, 3, 4)),
    "LayerNorm without bias": (lambda nn: nn.LayerNorm(4, bias=False), (2, 4)),
    "Dropout": (lambda nn: nn.Dropout(0.3), (50,)),
    "Dropout eval": (lambda nn: nn.Dropout(0.3).eval(), (50,)),
    "ReLU": (lambda nn: nn.ReLU(), (3, 4)),
    "GELU": (lambda nn: nn.GELU(), (3, 4)),
    "GELU tanh": (lambda nn: nn.GELU("tanh"), (3, 4)),
    "SiLU": (lambda nn: nn.SiLU(), (3, 4)),
    "ELU": (lambda nn: nn.ELU(0.5), (3, 4)),
    "Mish": (lambda nn: nn.Mish(), (3, 4)),
    "ReLU6": (lambda nn: nn.ReLU6(), (3, 4)),
    "Hardtanh": (lambda nn: nn.Hardtanh(-0.5, 0.5), (3, 4)),
    "Softplus": (lambda nn: nn.Softplus(2), (3, 4)),
    "LogSigmoid": (lambda nn: nn.LogSigmoid(), (3, 4)),
    "Sigmoid": (lambda nn: nn.Sigmoid(), (3, 4)),
    "Tanh": (lambda nn: nn.Tanh(), (3, 4)),
    "Softmax": (lambda nn: nn.Softmax(1), (3, 4)),
    "LogSoftmax": (lambda nn: nn.LogSoftmax(-1), (3, 4)),
    "LeakyReLU": (lambda nn: nn.LeakyReLU(0.2), (3, 4)),
    "MaxPool2d": (lambda nn: nn.MaxPool2d(3, 2, 1, ceil_mode=True), (2, 3, 7, 8)),
    "AvgPool2d": (lambda nn: nn.AvgPool2d(3, 2, 1, count_include_pad=False), (2, 3, 7, 8)),
    "AdaptiveAvgPool2d": (lambda nn: nn.AdaptiveAvgPool2d((3, None)), (2, 3, 7, 8)),
    "AdaptiveAvgPool2d to one": (lambda nn: nn.AdaptiveAvgPool2d(1), (2, 3, 7, 8)),
    "Flatten": (lambda nn: nn.Flatten(), (2, 3, 4)),
    "Unflatten": (lambda nn: nn.Unflatten(1, (2, 3)), (2, 6)),
    "Identity": (lambda nn: nn.Identity(), (2, 6)),
    "Sequential": (lambda nn: nn.Sequential(nn.Linear(4, 5), nn.ReLU(True), nn.Linear(5, 2)), (3, 4)),
}


def use_layer(library, build, shape):
    """A layer's text, first state, output, gradients and last state."""
    layer = build(library.nn)
    before = {name: value.clone() for name, value in layer.state_dict().items()}
    images = normal(library, *shape).requires_grad_()
    output = layer(images)
    output.backward(library.rand(output.shape))
    grads = {name: parameter.grad for name, parameter in layer.named_parameters()}
    return repr(layer), before, output, output.stride(), images.grad, grads, dict(layer.state_dict())


@pytest.mark.filterwarnings("ignore:Using padding:UserWarning")
@pytest.mark.parametrize("name", LAYERS)
def test_layer(name):
    build, shape = LAYERS[name]
    assert_same(*run_both(use_layer, build, shape))


def use_embedding(library, **options):
    layer = library.nn.Embedding(10, 4, **options)
    before = layer.weight.detach().clone()
    rows = library.tensor([[1, 2, 2], [0, 9, 1]])
    output = layer(rows)
    output.backward(library.rand(output.shape))
    return repr(layer), before, output, layer.weight.grad, layer.weight


@pytest.mark.parametrize(
    "options", [{}, {"padding_idx": -10}, {"scale_grad_by_freq": True}, {"max_norm": 1.0}], ids=str
)
def test_embedding(options):
    assert_same(*run_both(lambda library: use_embedding(library, **options)))


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", ["Linear", "Conv2d", "BatchNorm2d", "LayerNorm", "MaxPool2d", "GELU"])
def test_layer_in_another_dtype(name, dtype):
    build, shape = LAYERS[name]

    def use(library):
        layer = build(library.nn).to(getattr(library, dtype))
        with library.no_grad():
            for parameter in layer.parameters():
                parameter.copy_(normal(library, *parameter.shape))
        images = normal(library, *shape).to(getattr(library, dtype)).requires_grad_()
        output = layer(images)
        output.sum().backward()
        return output, images.grad

    assert_same(*run_both(use), tolerance={"float64": 1e-10, "float16": 2e-2, "bfloat16": 0.1}[dtype])


def test_printing_of_containers():
    def build(library):
        nn = library.nn
        layers = [nn.Linear(1, 1), nn.Linear(1, 1), nn.Sequential(nn.Linear(2, 1), nn.Tanh()), nn.Tanh()]
        named = nn.ModuleDict({"a": nn.ModuleList(layers), "b": nn.ModuleList(), "c": nn.Sequential()})
        return repr(nn.Sequential(named, nn.ReLU(True))), repr(nn.Parameter(library.ones(2)))

    assert_same(*run_both(build))


# -------------------- functions --------------------

FUNCTIONS = {
    "normalize": lambda L, F: F.normalize(normal(L, 3, 4), dim=0),
    "normalize p=1": lambda L, F: F.normalize(normal(L, 3, 4), p=1.0),
    "cosine_similarity": lambda L, F: F.cosine_similarity(normal(L, 3, 4), normal(L, 3, 4)),
    "pairwise_distance": lambda L, F: F.pairwise_distance(normal(L, 3, 4), normal(L, 3, 4)),
    "one_hot": lambda L, F: F.one_hot(L.tensor([[1, 0], [3, 2]])),
    "softmax with dtype": lambda L, F: F.softmax(normal(L, 3, 4), 1, dtype=L.float64),
    "softmin": lambda L, F: F.softmin(normal(L, 3, 4), 0),
    "pad": lambda L, F: F.pad(normal(L, 2, 3, 4), (1, 2, -1, 1), value=2.0),
    "pad reflect": lambda L, F: F.pad(normal(L, 2, 3, 4), (2, 1), mode="reflect"),
    "pad replicate": lambda L, F: F.pad(normal(L, 1, 2, 3, 4), (2, 5, 1, 0), mode="replicate"),
    "pad circular": lambda L, F: F.pad(normal(L, 1, 2, 3, 4), (2, 4, 1, 0), mode="circular"),
    "max_pool2d": lambda L, F: F.max_pool2d(normal(L, 1, 2, 5, 4), 2, return_indices=True),
    "hardtanh": lambda L, F: F.hardtanh(normal(L, 3, 4)),
    "attention": lambda L, F: F.scaled_dot_product_attention(*normal(L, 3, 2, 2, 4, 8)),
    "attention causal": lambda L, F: F.scaled_dot_product_attention(*normal(L, 3, 2, 2, 4, 8), is_causal=True),
    "attention masked": lambda L, F: F.scaled_dot_product_attention(
        *normal(L, 3, 2, 2, 4, 8), attn_mask=L.tensor([[True] * 4] * 2 + [[False] * 4] + [[True, False] * 2])
    ),
    "attention float mask": lambda L, F: F.scaled_dot_product_attention(
        *normal(L, 3, 2, 2, 4, 8), attn_mask=normal(L, 4, 4), scale=0.7
    ),
    "attention grouped": lambda L, F: F.scaled_dot_product_attention(
        normal(L, 1, 4, 3, 8), normal(L, 1, 2, 5, 8), normal(L, 1, 2, 5, 8), enable_gqa=True
    ),
    "dropout in place": lambda L, F: F.dropout(L.ones(40), 0.4, inplace=True),
    "dropout of everything": lambda L, F: F.dropout(L.ones(4), 1.0),
    "native_dropout": lambda L, F: L.native_dropout(L.ones(40), 0.4, True),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name):
    assert_same(*run_both(lambda library: FUNCTIONS[name](library, library.nn.functional)))


# -------------------- losses --------------------


def classes(library):
    return normal(library, 4, 5).requires_grad_(), library.tensor([1, 0, 4, 2])


def pixels(library):
    return normal(library, 2, 5, 3, 2).requires_grad_(), library.randint(0, 5, (2, 3, 2))


def sequences(library):
    return normal(library, 2, 5, 3).requires_grad_(), library.randint(0, 5, (2, 3))


def probabilities(library):
    return normal(library, 4, 5).requires_grad_(), library.rand(4, 5).softmax(1)


def shares(library):
    return library.rand(4, 5).requires_grad_(), library.rand(4, 5)


WEIGHTS = [0.5, 1.0, 2.0, 0.1, 1.5]

LOSSES = {
    "cross_entropy": ("cross_entropy", classes, {}),
    "cross_entropy weighted": ("cross_entropy", classes, {"weight": WEIGHTS}),
    "cross_entropy ignoring": ("cross_entropy", classes, {"ignore_index": 4}),
    "cross_entropy smoothed": ("cross_entropy", classes, {"label_smoothing": 0.2, "ignore_index": 0}),
    "cross_entropy smoothed, weighted": ("cross_entropy", classes, {"label_smoothing": 0.2, "weight": WEIGHTS}),
    "cross_entropy of pixels": ("cross_entropy", pixels, {"weight": WEIGHTS, "ignore_index": 1}),
    "cross_entropy of sequences": ("cross_entropy", sequences, {"label_smoothing": 0.1}),
    "cross_entropy of probabilities": ("cross_entropy", probabilities, {}),
    "cross_entropy of smoothed probabilities": (
        "cross_entropy",
        probabilities,
        {"label_smoothing": 0.2, "weight": WEIGHTS},
    ),
    "nll_loss": ("nll_loss", classes, {"weight": WEIGHTS}),
    "mse_loss": ("mse_loss", shares, {}),
    "l1_loss": ("l1_loss", shares, {}),
    "smooth_l1_loss": ("smooth_l1_loss", shares, {"beta": 0.4}),
    "smooth_l1_loss beta 0": ("smooth_l1_loss", shares, {"beta": 0.0}),
    "binary_cross_entropy": ("binary_cross_entropy", shares, {"weight": WEIGHTS}),
    "binary_cross_entropy_with_logits": (
        "binary_cross_entropy_with_logits",
        shares,
        {"weight": WEIGHTS, "pos_weight": WEIGHTS},
    ),
    "kl_div of logarithms": ("kl_div", shares, {"log_target": True}),
    "kl_div": ("kl_div", shares, {}),
}


@pytest.mark.filterwarnings("ignore:reduction:UserWarning")
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("name", LOSSES)
def test_loss(name, reduction):
    function, make, options = LOSSES[name]

    def use(library):
        given, target = make(library)
        own = {key: library.tensor(value) if isinstance(value, list) else value for key, value in options.items()}
        loss = getattr(library.nn.functional, function)(given, target, reduction=reduction, **own)
        loss.backward(library.rand(loss.shape))
        return loss, given.grad

    assert_same(*run_both(use))


def test_losses_as_layers():
    def use(library):
        nn, (scores, labels), (shares_, targets) = library.nn, classes(library), shares(library)
        layers = [nn.CrossEntropyLoss(label_smoothing=0.1), nn.NLLLoss(), nn.MSELoss(), nn.L1Loss(reduction="sum")]
        layers += [nn.SmoothL1Loss(beta=0.5), nn.BCELoss(), nn.BCEWithLogitsLoss(), nn.KLDivLoss(reduction="batchmean")]
        pairs = [(scores, labels)] * 2 + [(shares_, targets)] * 6
        return [(repr(layer), layer(*pair)) for layer, pair in zip(layers, pairs)]

    assert_same(*run_both(use))


# -------------------- errors --------------------

ERRORS = {
    "channels": lambda L: L.nn.functional.conv2d(L.ones(1, 3, 8, 8), L.ones(4, 5, 3, 3)),
    "kernel too large": lambda L: L.nn.functional.conv2d(L.ones(1, 3, 2, 2), L.ones(4, 3, 3, 3)),
    "convolution dims": lambda L: L.nn.functional.conv2d(L.ones(2, 2), L.ones(4, 3, 3, 3)),
    "convolution bias": lambda L: L.nn.functional.conv2d(L.ones(1, 3, 8, 8), L.ones(4, 3, 3, 3), L.ones(3)),
    "groups": lambda L: L.nn.functional.conv2d(L.ones(1, 4, 8, 8), L.ones(4, 2, 3, 3), groups=3),
    "negative padding": lambda L: L.nn.functional.conv2d(L.ones(1, 3, 8, 8), L.ones(4, 3, 3, 3), padding=-1),
    "no stride": lambda L: L.nn.functional.conv2d(L.ones(1, 3, 8, 8), L.ones(4, 3, 3, 3), stride=0),
    "convolution dtype": lambda L: L.nn.functional.conv2d(L.ones(1, 3, 8, 8).double(), L.ones(4, 3, 3, 3)),
    "same with stride": lambda L: L.nn.functional.conv2d(
        L.ones(1, 3, 8, 8), L.ones(4, 3, 3, 3), stride=2, padding="same"
    ),
    "transposed channels": lambda L: L.nn.functional.conv_transpose2d(L.ones(1, 3, 8, 8), L.ones(4, 5, 3, 3)),
    "output padding": lambda L: L.nn.functional.conv_transpose2d(
        L.ones(1, 3, 8, 8), L.ones(3, 5, 3, 3), output_padding=2
    ),
    "pool padding": lambda L: L.nn.functional.max_pool2d(L.ones(1, 1, 8, 8), 2, padding=2),
    "pool too small": lambda L: L.nn.functional.max_pool2d(L.ones(1, 1, 2, 2), 3),
    "adaptive dims": lambda L: L.nn.functional.adaptive_avg_pool2d(L.ones(8, 8), 2),
    "batch norm weight": lambda L: L.nn.functional.batch_norm(L.ones(2, 3), L.zeros(3), L.ones(3), L.ones(4)),
    "batch norm without statistics": lambda L: L.nn.functional.batch_norm(L.ones(2, 3), None, None),
    "batch norm of one value": lambda L: L.nn.functional.batch_norm(L.ones(1, 3), None, None, training=True),
    "layer norm shape": lambda L: L.nn.functional.layer_norm(L.ones(2, 3), [4]),
    "layer norm weight": lambda L: L.nn.functional.layer_norm(L.ones(2, 3), [3], L.ones(4)),
    "layer norm of integers": lambda L: L.nn.functional.layer_norm(L.ones(2, 3).long(), [3]),
    "embedding index": lambda L: L.nn.functional.embedding(L.tensor([5]), L.ones(3, 2)),
    "embedding dtype": lambda L: L.nn.functional.embedding(L.tensor([1.0]), L.ones(3, 2)),
    "dropout": lambda L: L.nn.functional.dropout(L.ones(3), 1.5),
    "pad odd": lambda L: L.nn.functional.pad(L.ones(3), (1,)),
    "pad reflect": lambda L: L.nn.functional.pad(L.ones(1, 3), (3, 1), mode="reflect"),
    "pad mode": lambda L: L.nn.functional.pad(L.ones(3), (1, 1), mode="foo"),
    "batch size": lambda L: L.nn.functional.cross_entropy(L.ones(3, 4), L.zeros(2).long()),
    "target": lambda L: L.nn.functional.nll_loss(L.ones(2, 4), L.tensor([1, 5])),
    "negative target": lambda L: L.nn.functional.nll_loss(L.ones(2, 4), L.tensor([1, -5])),
    "target dtype": lambda L: L.nn.functional.nll_loss(L.ones(2, 4), L.tensor([1.0, 2.0])),
    "nll weight": lambda L: L.nn.functional.nll_loss(L.ones(2, 4), L.tensor([1, 2]), L.ones(3)),
    "target size": lambda L: L.nn.functional.nll_loss(L.ones(2, 4, 3), L.zeros(2, 4).long()),
    "target probabilities": lambda L: L.nn.functional.cross_entropy(L.ones(3, 4), L.ones(3, 4).long()),
    "label smoothing": lambda L: L.nn.functional.cross_entropy(L.ones(3, 4), L.zeros(3).long(), label_smoothing=1.5),
    "bce range": lambda L: L.nn.functional.binary_cross_entropy(L.tensor([2.0]), L.tensor([1.0])),
    "bce size": lambda L: L.nn.functional.binary_cross_entropy(L.ones(3), L.ones(2)),
    "bce with logits size": lambda L: L.nn.functional.binary_cross_entropy_with_logits(L.ones(3), L.ones(2)),
    "mse of integers": lambda L: L.nn.functional.mse_loss(L.ones(3).long(), L.ones(3).long()),
    "reduction": lambda L: L.nn.functional.mse_loss(L.ones(3), L.ones(3), reduction="foo"),
    "beta": lambda L: L.nn.functional.smooth_l1_loss(L.ones(3), L.ones(3), beta=-1.0),
    "attention mask and causal": lambda L: L.nn.functional.scaled_dot_product_attention(
        *L.ones(3, 2, 2), L.ones(2, 2), is_causal=True
    ),
    "in_channels": lambda L: L.nn.Conv2d(3, 4, 3, groups=2),
    "out_channels": lambda L: L.nn.Conv2d(4, 3, 3, groups=2),
    "layer same with stride": lambda L: L.nn.Conv2d(3, 4, 3, padding="same", stride=2),
    "batch norm dims": lambda L: L.nn.BatchNorm2d(3)(L.ones(1, 3, 3)),
    "layer dropout": lambda L: L.nn.Dropout(2),
    "xavier of a vector": lambda L: L.nn.init.xavier_uniform_(L.ones(3)),
    "gain": lambda L: L.nn.init.calculate_gain("foo"),
    "fan mode": lambda L: L.nn.init.kaiming_uniform_(L.ones(3, 3), mode="foo"),
    "module called with too much": lambda L: L.nn.Module(3),
    "module without forward": lambda L: L.nn.Module()(3),
    "not a module": lambda L: L.nn.Sequential(3),
    "index": lambda L: L.nn.Sequential(L.nn.ReLU())[1],
    "missing attribute": lambda L: L.nn.Linear(1, 1).foo,
    "tensor as parameter": lambda L: setattr(L.nn.Linear(1, 1), "weight", L.ones(1)),
    "integer as child": lambda L: setattr(L.nn.Sequential(L.nn.ReLU()), "0", 3),
    "buffer name": lambda L: L.nn.Module().register_buffer("a.b", None),
    "buffer value": lambda L: L.nn.Module().register_buffer("a", 3),
    "parameter value": lambda L: L.nn.Module().register_parameter("a", L.ones(1)),
    "module name": lambda L: L.nn.Module().add_module("a.b", L.nn.ReLU()),
    "existing name": lambda L: L.nn.Module().add_module("forward", L.nn.ReLU()),
    "submodule": lambda L: L.nn.Linear(1, 1).get_submodule("a"),
    "get_parameter": lambda L: L.nn.Linear(1, 1).get_parameter("a"),
    "get_buffer": lambda L: L.nn.Linear(1, 1).get_buffer("weight"),
    "train": lambda L: L.nn.Linear(1, 1).train(3),
    "to integers": lambda L: L.nn.Linear(1, 1).to(L.int32),
    "state of another shape": lambda L: L.nn.Linear(2, 3).load_state_dict({"weight": L.ones(3, 3), "z": L.ones(1)}),
    "no state at all": lambda L: L.nn.Linear(2, 3).load_state_dict(3),
    "value in the state": lambda L: L.nn.Linear(2, 3).load_state_dict({"weight": 3, "bias": L.ones(3)}),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name):
    ours, theirs = (outcome(ERRORS[name], library) for library in LIBRARIES)
    assert theirs != "no error"
    assert ours == tuple(text.replace("torch.Tensor", "mindtorch.Tensor") for text in theirs) or ours == theirs


# -------------------- initial values --------------------

INITS = {
    "uniform_": lambda init, t: init.uniform_(t(3, 4), -1, 2),
    "normal_": lambda init, t: init.normal_(t(3, 40), 1, 2),
    "constant_": lambda init, t: init.constant_(t(3, 4), 3),
    "eye_": lambda init, t: init.eye_(t(3, 4)),
    "xavier_uniform_": lambda init, t: init.xavier_uniform_(t(3, 4, 2), gain=2),
    "xavier_normal_": lambda init, t: init.xavier_normal_(t(3, 4, 2)),
    "kaiming_uniform_": lambda init, t: init.kaiming_uniform_(t(3, 4), mode="fan_out", nonlinearity="relu"),
    "kaiming_normal_": lambda init, t: init.kaiming_normal_(t(3, 4), a=0.1),
    "trunc_normal_": lambda init, t: init.trunc_normal_(t(30, 4), std=2.0),
    "trunc_normal_ between close limits": lambda init, t: init.trunc_normal_(t(30, 4), 0.5, 2.0, 0.1, 0.9),
}


@pytest.mark.parametrize("name", INITS)
def test_init(name):
    assert_same(*run_both(lambda library: INITS[name](library.nn.init, library.empty)), tolerance=2e-6)


@pytest.mark.parametrize("name", "linear conv2d sigmoid tanh relu leaky_relu selu".split())
def test_gain(name):
    assert_same(*run_both(lambda library: library.nn.init.calculate_gain(name)))


# -------------------- gradients as a whole --------------------


@pytest.mark.parametrize("norm", [1.0, 2.0, float("inf")])
def test_clipping_the_norm(norm):
    def use(library):
        layer = library.nn.Linear(3, 4)
        layer(normal(library, 5, 3)).square().sum().backward()
        total = library.nn.utils.clip_grad_norm_(layer.parameters(), 1.5, norm)
        library.nn.utils.clip_grad_value_(layer.bias, 0.1)
        return total, layer.weight.grad, layer.bias.grad

    assert_same(*run_both(use))


def test_parameters_as_a_vector():
    def use(library):
        layer = library.nn.Linear(3, 4)
        vector = library.nn.utils.parameters_to_vector(layer.parameters())
        library.nn.utils.vector_to_parameters(vector * 2, layer.parameters())
        return vector, dict(layer.state_dict())

    assert_same(*run_both(use))


# -------------------- data --------------------


@pytest.mark.parametrize("options", [{"shuffle": True}, {"drop_last": True}, {"batch_size": None}], ids=str)
def test_loader(options):
    def use(library):
        data = library.utils.data
        dataset = data.TensorDataset(library.arange(10), library.arange(10.0))
        loader = data.DataLoader(dataset, **{"batch_size": 3, **options})
        return len(loader), [list(batch) for _ in range(2) for batch in loader], library.rand(2)

    assert_same(*run_both(use))


def test_samplers():
    def use(library):
        data = library.utils.data
        generator = library.Generator().manual_seed(3)
        parts = data.random_split(range(11), [0.5, 0.3, 0.2], generator=generator)
        samplers = [
            data.RandomSampler(range(7), generator=generator),
            data.RandomSampler(range(7), num_samples=17, generator=generator),
            data.RandomSampler(range(7), replacement=True, num_samples=40, generator=generator),
            data.SubsetRandomSampler([5, 3, 1], generator=generator),
            data.BatchSampler(range(7), 3, drop_last=False),
        ]
        return [list(part.indices) for part in parts], [list(sampler) for sampler in samplers]

    assert_same(*run_both(use))


def test_collating():
    def use(library):
        batch = [{"a": 1, "b": (2.5, np.ones(2)), "c": "x"}, {"a": 2, "b": (3.5, np.zeros(2)), "c": "y"}]
        return library.utils.data.default_collate(batch)

    assert_same(*run_both(use))


# -------------------- hooks --------------------


def hook_log(library):
    """The order in which hooks run, and what backward hooks see and change."""
    log = []
    layer = library.nn.Linear(2, 3)
    layer.register_forward_pre_hook(lambda module, args: log.append(("pre", len(args))))
    layer.register_forward_pre_hook(lambda module, args: (args[0] * 2,), prepend=True)
    layer.register_forward_pre_hook(
        lambda module, args, kwargs: log.append(("pre with kwargs", sorted(kwargs))), with_kwargs=True
    )
    layer.register_forward_hook(lambda module, args, output: log.append(("forward", args[0], output)))
    layer.register_forward_hook(lambda module, args, output: output + 1)
    layer.register_full_backward_pre_hook(lambda module, grads: log.append(("backward pre", grads)))
    layer.register_full_backward_pre_hook(lambda module, grads: (grads[0] * 3,))
    layer.register_full_backward_hook(lambda module, inputs, outputs: log.append(("backward", inputs, outputs)))
    layer.register_full_backward_hook(lambda module, inputs, outputs: (inputs[0] * 10,))
    removed = layer.register_forward_hook(lambda module, args, output: log.append("never"))
    removed.remove()
    x = library.ones(4, 2).requires_grad_()
    layer(x).sum().backward()
    return log, x.grad, layer.weight.grad


def test_hooks():
    assert_same(*run_both(hook_log))


@pytest.mark.filterwarnings("ignore:Full backward hook is firing:UserWarning")
def test_backward_hook_without_gradients_for_inputs():
    def use(library):
        seen = []
        layer = library.nn.Linear(2, 3)
        layer.register_full_backward_hook(lambda module, inputs, outputs: seen.append((inputs, outputs)))
        layer(library.ones(1, 2)).sum().backward()
        return seen

    assert_same(*run_both(use))
