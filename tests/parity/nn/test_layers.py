"""Resizing, pooling, recurrent and attention layers do what those of PyTorch do: first values, results, gradients."""

import pytest

from tests.parity.nn.test_nn import LIBRARIES, assert_same, outcome, run_both, use_layer
from tests.parity.support.inputs import normal

LAYERS = {
    "ConvTranspose1d": (lambda nn: nn.ConvTranspose1d(4, 6, 3, 2, 1, output_padding=1, groups=2), (2, 4, 5)),
    "ConvTranspose3d": (lambda nn: nn.ConvTranspose3d(2, 3, (1, 2, 3), stride=(1, 2, 1)), (1, 2, 2, 3, 2)),
    "MaxPool1d": (lambda nn: nn.MaxPool1d(3, 2, 1, ceil_mode=True), (2, 3, 8)),
    "MaxPool3d": (lambda nn: nn.MaxPool3d(2, 1, 1), (2, 3, 4, 3, 4)),
    "AvgPool1d": (lambda nn: nn.AvgPool1d(3, 2, 1, count_include_pad=False), (2, 3, 7)),
    "AvgPool3d": (lambda nn: nn.AvgPool3d(2, divisor_override=3), (2, 3, 4, 4, 5)),
    "AdaptiveAvgPool1d": (lambda nn: nn.AdaptiveAvgPool1d(3), (2, 3, 7)),
    "AdaptiveAvgPool3d": (lambda nn: nn.AdaptiveAvgPool3d((3, None, 1)), (2, 3, 4, 5, 6)),
    "AdaptiveMaxPool1d": (lambda nn: nn.AdaptiveMaxPool1d(3), (2, 3, 7)),
    "AdaptiveMaxPool2d": (lambda nn: nn.AdaptiveMaxPool2d((3, None)), (2, 3, 7, 5)),
    "AdaptiveMaxPool3d": (lambda nn: nn.AdaptiveMaxPool3d(2), (2, 3, 4, 5, 4)),
    "FractionalMaxPool2d": (lambda nn: nn.FractionalMaxPool2d((2, 3), 3), (2, 3, 7, 6)),
    "FractionalMaxPool2d of a ratio": (lambda nn: nn.FractionalMaxPool2d(2, output_ratio=(0.5, 0.7)), (3, 7, 6)),
    "FractionalMaxPool3d": (lambda nn: nn.FractionalMaxPool3d(2, output_ratio=0.6), (2, 3, 5, 6, 5)),
    "LPPool1d": (lambda nn: nn.LPPool1d(2, 3), (2, 3, 7)),
    "LPPool2d": (lambda nn: nn.LPPool2d(2, (2, 3), stride=1), (2, 3, 7, 6)),
    "LPPool3d": (lambda nn: nn.LPPool3d(2, 2), (2, 3, 4, 4, 4)),
    "Unfold": (lambda nn: nn.Unfold((2, 3), dilation=2, padding=1), (2, 3, 6, 7)),
    "Fold": (lambda nn: nn.Fold((5, 6), 2), (2, 8, 20)),
    "Upsample": (lambda nn: nn.Upsample(scale_factor=(2, 1.5), mode="bilinear"), (2, 3, 4, 5)),
    "UpsamplingNearest2d": (lambda nn: nn.UpsamplingNearest2d(scale_factor=2), (2, 3, 4, 5)),
    "UpsamplingBilinear2d": (lambda nn: nn.UpsamplingBilinear2d((3, 9)), (2, 3, 4, 5)),
    "PixelShuffle": (lambda nn: nn.PixelShuffle(2), (2, 8, 3, 2)),
    "PixelUnshuffle": (lambda nn: nn.PixelUnshuffle(2), (2, 2, 4, 6)),
    "ChannelShuffle": (lambda nn: nn.ChannelShuffle(3), (2, 6, 4, 5)),
    "InstanceNorm1d": (lambda nn: nn.InstanceNorm1d(3, affine=True), (2, 3, 5)),
    "InstanceNorm2d": (lambda nn: nn.InstanceNorm2d(3, track_running_stats=True), (2, 3, 5, 4)),
    "InstanceNorm2d eval": (lambda nn: nn.InstanceNorm2d(3, track_running_stats=True).eval(), (2, 3, 5, 4)),
    "InstanceNorm3d of one volume": (lambda nn: nn.InstanceNorm3d(3), (3, 2, 3, 4)),
    "LocalResponseNorm": (lambda nn: nn.LocalResponseNorm(3, 0.1), (2, 5, 4, 3)),
    "Dropout3d": (lambda nn: nn.Dropout3d(0.4), (3, 4, 2, 3, 2)),
    "AlphaDropout": (lambda nn: nn.AlphaDropout(0.4), (3, 7)),
    "FeatureAlphaDropout": (lambda nn: nn.FeatureAlphaDropout(0.4), (3, 4, 5)),
    "RReLU": (lambda nn: nn.RReLU(), (6, 7)),
    "RReLU eval": (lambda nn: nn.RReLU(0.1, 0.3).eval(), (6, 7)),
    "Softmax2d": (lambda nn: nn.Softmax2d(), (2, 3, 4, 5)),
    "TransformerEncoderLayer": (lambda nn: nn.TransformerEncoderLayer(8, 2, 16, 0.2), (5, 2, 8)),
    "TransformerEncoder": (
        lambda nn: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu", batch_first=True), 2),
        (3, 5, 8),
    ),
    "TransformerEncoder of one sequence": (
        lambda nn: nn.TransformerEncoder(
            nn.TransformerEncoderLayer(8, 2, 16, 0.0, norm_first=True), 1, nn.LayerNorm(8)
        ),
        (5, 8),
    ),
}


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")
@pytest.mark.filterwarnings("ignore:lp_pool:UserWarning")
@pytest.mark.parametrize("name", LAYERS)
def test_layer(name):
    build, shape = LAYERS[name]
    assert_same(*run_both(use_layer, build, shape))


# -------------------- recurrent layers --------------------

RECURRENT = {
    "RNN": lambda nn: nn.RNN(3, 4),
    "RNN relu": lambda nn: nn.RNN(3, 4, 2, nonlinearity="relu", bidirectional=True),
    "LSTM": lambda nn: nn.LSTM(3, 4, 2, dropout=0.3),
    "LSTM in both directions": lambda nn: nn.LSTM(3, 4, 2, bidirectional=True, bias=False),
    "LSTM with projections": lambda nn: nn.LSTM(3, 4, 2, proj_size=2, bidirectional=True),
    "GRU": lambda nn: nn.GRU(3, 4, 2, bidirectional=True),
}


def flat(value):
    """The tensors of nested tuples."""
    return [each for part in value for each in flat(part)] if isinstance(value, (tuple, list)) else [value]


def trained(library, layer, *inputs):
    output, state = layer(*inputs)
    output = output[0] if isinstance(output, tuple) else output
    tensors = [output, *flat(state)]
    sum((tensor * tensor.detach().cos()).sum() for tensor in tensors).backward()
    grads = {name: parameter.grad for name, parameter in layer.named_parameters()}
    return repr(layer), [tensor.detach() for tensor in tensors], grads


@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN:UserWarning")
@pytest.mark.parametrize("name", RECURRENT)
@pytest.mark.parametrize("form", ["batch", "batch first", "one sequence", "with a state", "packed", "packed unsorted"])
def test_recurrent(name, form):
    def use(library):
        rnn = library.nn.utils.rnn
        layer = RECURRENT[name](library.nn)
        layer.batch_first = form == "batch first"
        sequences = normal(library, 5, 2, 3)
        if form == "one sequence":
            sequences = sequences[:, 0]
        if form == "with a state":
            state = tuple(normal(library, *each.shape) for each in flat(layer(sequences)[1]))
            return trained(library, layer, sequences, state if len(state) == 2 else state[0])
        if form.startswith("packed"):
            lengths = [5, 3] if form == "packed" else [2, 5]
            sequences = rnn.pack_padded_sequence(sequences, lengths, enforce_sorted=form == "packed")
        return trained(library, layer, sequences)

    assert_same(*run_both(use))


CELLS = {
    "RNNCell": lambda nn: nn.RNNCell(3, 4),
    "RNNCell relu": lambda nn: nn.RNNCell(3, 4, bias=False, nonlinearity="relu"),
    "LSTMCell": lambda nn: nn.LSTMCell(3, 4),
    "GRUCell": lambda nn: nn.GRUCell(3, 4),
}


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("shape", [(2, 3), (3,)])
def test_cell(name, shape):
    def use(library):
        cell = CELLS[name](library.nn)
        first = cell(normal(library, *shape))
        second = cell(normal(library, *shape), first)
        sum(each.sum() for each in flat(second)).backward()
        return repr(cell), flat(second), {name: parameter.grad for name, parameter in cell.named_parameters()}

    assert_same(*run_both(use))


def test_packing():
    def use(library):
        rnn = library.nn.utils.rnn
        sequences = [normal(library, length, 2) for length in (2, 4, 1)]
        packed = rnn.pack_sequence(sequences, enforce_sorted=False)
        padded = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1.0, total_length=5)
        return list(packed), list(padded), rnn.unpack_sequence(packed), list(packed.double())

    assert_same(*run_both(use))


RNN_ERRORS = {
    "lengths in the wrong order": lambda L: L.nn.utils.rnn.pack_padded_sequence(L.ones(3, 2), [1, 3]),
    "length 0": lambda L: L.nn.utils.rnn.pack_padded_sequence(L.ones(3, 2), [1, 0]),
    "too many lengths": lambda L: L.nn.utils.rnn.pack_padded_sequence(L.ones(3, 2), [1, 1, 1]),
    "dropout": lambda L: L.nn.LSTM(2, 3, dropout=2),
    "sizes": lambda L: L.nn.GRU(0, 3),
    "type of bias": lambda L: L.nn.LSTM(2, 3, bias=3),
    "projection of a GRU": lambda L: L.nn.GRU(2, 3, proj_size=1),
    "large projection": lambda L: L.nn.LSTM(2, 3, proj_size=3),
    "nonlinearity": lambda L: L.nn.RNN(2, 3, nonlinearity="sin"),
    "size of the input": lambda L: L.nn.LSTM(2, 3)(L.ones(4, 1, 5)),
    "dimensions of the input": lambda L: L.nn.LSTM(2, 3)(L.ones(2)),
    "dtype of the input": lambda L: L.nn.LSTM(2, 3)(L.ones(4, 1, 2, dtype=L.float64)),
    "size of the state": lambda L: L.nn.GRU(2, 3)(L.ones(4, 1, 2), L.ones(1, 2, 3)),
    "size of a state": lambda L: L.nn.LSTM(2, 3)(L.ones(4, 1, 2), (L.ones(1, 1, 3), L.ones(1, 1, 2))),
    "dimensions of the state": lambda L: L.nn.GRU(2, 3)(L.ones(4, 1, 2), L.ones(1, 3)),
    "dimensions of states": lambda L: L.nn.LSTM(2, 3)(L.ones(4, 2), (L.ones(1, 1, 3), L.ones(1, 3))),
    "input of a cell": lambda L: L.nn.GRUCell(2, 3)(L.ones(4, 5)),
    "state of a cell": lambda L: L.nn.RNNCell(2, 3)(L.ones(4, 2), L.ones(4, 5)),
}


@pytest.mark.parametrize("name", RNN_ERRORS)
def test_recurrent_error(name):
    ours, theirs = (outcome(RNN_ERRORS[name], library) for library in LIBRARIES)
    assert str(ours).replace("mindtorch.", "torch.") == str(theirs)


# -------------------- attention --------------------

ATTENTION = {
    "plain": ({}, {}),
    "without weights": ({}, {"need_weights": False}),
    "weights of each head": ({"batch_first": True}, {"average_attn_weights": False}),
    "own sizes": ({"kdim": 4, "vdim": 6, "bias": False}, {}),
    "extra keys": ({"add_bias_kv": True, "add_zero_attn": True}, {}),
    "dropout": ({"dropout": 0.3}, {"need_weights": False}),
}


@pytest.mark.parametrize("mask", [None, "bool", "float", "padding", "both"])
@pytest.mark.parametrize("name", ATTENTION)
def test_attention(name, mask):
    options, arguments = ATTENTION[name]

    def use(library):
        layer = library.nn.MultiheadAttention(8, 2, **options)
        query, key = normal(library, 3, 3, 8), normal(library, 3, 3, options.get("kdim", 8))
        value = normal(library, 3, 3, options.get("vdim", 8))
        masks = {}
        if mask in ("bool", "both"):
            masks["attn_mask"] = library.tensor([[False, True, False], [False] * 3, [True, False, False]])
        if mask == "float":
            masks["attn_mask"] = normal(library, 3, 3)
        if mask in ("padding", "both"):
            masks["key_padding_mask"] = library.tensor([[False, False, True], [False] * 3, [False, True, False]])
        output, weights = layer(query, key, value, **masks, **arguments)
        output.backward(library.rand(output.shape))
        state = {name: value.clone() for name, value in layer.state_dict().items()}
        grads = {name: parameter.grad for name, parameter in layer.named_parameters()}
        return repr(layer), state, output, output.stride(), weights if weights is None else weights.detach(), grads

    assert_same(*run_both(use))


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")
@pytest.mark.parametrize("options", [{}, {"batch_first": True, "norm_first": True, "bias": False}], ids=str)
def test_transformer(options):
    def use(library):
        model = library.nn.Transformer(8, 2, 1, 2, 16, 0.1, **options)
        source, target = normal(library, 4, 4, 8), normal(library, 4, 4, 8)
        mask = model.generate_square_subsequent_mask(4)
        output = model(source, target, tgt_mask=mask)
        output.square().sum().backward()
        grads = {name: parameter.grad for name, parameter in model.named_parameters()}
        return repr(model), dict(model.state_dict()), output, mask, grads

    assert_same(*run_both(use), tolerance=1e-4)


# -------------------- losses --------------------

LOSSES = {
    "HingeEmbeddingLoss": (
        lambda nn, **k: nn.HingeEmbeddingLoss(0.5, **k),
        lambda L: (normal(L, 4, 3), signs(L, 4, 3)),
    ),
    "SoftMarginLoss": (lambda nn, **k: nn.SoftMarginLoss(**k), lambda L: (normal(L, 4, 3), signs(L, 4, 3))),
    "MultiLabelSoftMarginLoss": (
        lambda nn, **k: nn.MultiLabelSoftMarginLoss(**k),
        lambda L: (normal(L, 4, 3), (signs(L, 4, 3) + 1) / 2),
    ),
    "MultiMarginLoss": (
        lambda nn, **k: nn.MultiMarginLoss(2, 0.7, **k),
        lambda L: (normal(L, 4, 3), L.tensor([0, 2, 1, 2])),
    ),
    "MultiMarginLoss of one": (lambda nn, **k: nn.MultiMarginLoss(**k), lambda L: (normal(L, 3), L.tensor(1))),
    "MultiLabelMarginLoss": (
        lambda nn, **k: nn.MultiLabelMarginLoss(**k),
        lambda L: (normal(L, 2, 4), L.tensor([[1, 3, -1, 0], [-1, 0, 1, 2]])),
    ),
    "PoissonNLLLoss": (
        lambda nn, **k: nn.PoissonNLLLoss(full=True, **k),
        lambda L: (normal(L, 4, 3), L.tensor([[0.0, 1.0, 5.0]] * 4)),
    ),
    "PoissonNLLLoss of rates": (
        lambda nn, **k: nn.PoissonNLLLoss(log_input=False, **k),
        lambda L: (L.rand(4, 3), L.tensor([[0.0, 1.0, 5.0]] * 4)),
    ),
    "GaussianNLLLoss": (
        lambda nn, **k: nn.GaussianNLLLoss(full=True, **k),
        lambda L: (normal(L, 4, 3), normal(L, 4, 3), L.rand(4)),
    ),
    "TripletMarginWithDistanceLoss": (
        lambda nn, **k: nn.TripletMarginWithDistanceLoss(swap=True, **k),
        lambda L: (normal(L, 4, 3), normal(L, 4, 3), normal(L, 4, 3)),
    ),
}


def signs(library, *shape):
    return normal(library, *shape).sign()


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", LOSSES)
def test_loss(name, reduction):
    build, make = LOSSES[name]

    def use(library):
        layer = build(library.nn, reduction=reduction)
        score, *rest = make(library)
        score.requires_grad_()
        loss = layer(score, *rest)
        loss.sum().backward()
        return repr(layer), loss, score.grad

    assert_same(*run_both(use))


def test_adaptive_softmax():
    def use(library):
        layer = library.nn.AdaptiveLogSoftmaxWithLoss(8, 10, [3, 6], div_value=2.0)
        inputs = normal(library, 6, 8).requires_grad_()
        result = layer(inputs, library.tensor([0, 3, 9, 6, 2, 5]))
        result.loss.backward()
        grads = {name: parameter.grad for name, parameter in layer.named_parameters()}
        return repr(layer), list(result), inputs.grad, grads, layer.log_prob(inputs), layer.predict(inputs)

    assert_same(*run_both(use))


def test_bilinear():
    def use(library):
        layer = library.nn.Bilinear(3, 2, 4)
        one, other = normal(library, 5, 3).requires_grad_(), normal(library, 5, 2).requires_grad_()
        output = layer(one, other)
        output.square().sum().backward()
        return repr(layer), dict(layer.state_dict()), output, one.grad, other.grad, layer.weight.grad

    assert_same(*run_both(use))


@pytest.mark.parametrize("dims", [1, 2, 3])
def test_unpooling(dims):
    def use(library):
        nn = library.nn
        images = normal(library, 2, 3, *(4, 6, 4)[:dims])
        values, places = getattr(nn, f"MaxPool{dims}d")(2, return_indices=True)(images)
        layer = getattr(nn, f"MaxUnpool{dims}d")(2)
        return repr(layer), layer(values, places), layer(values, places, output_size=images.shape)

    assert_same(*run_both(use))


def test_parameter_dict():
    def use(library):
        values = library.nn.ParameterDict({"a": library.ones(2), "b": 3})
        values["c"] = library.nn.Parameter(library.zeros(2, 3))
        values |= {"d": library.ones(1)}
        texts = [repr(values), list(values), len(values), "b" in values, sorted(values.state_dict())]
        taken = values.pop("a"), values.popitem()[0], values.get("x", 5), values.setdefault("y", library.ones(1))
        names = [name for name, _ in values.named_parameters()]
        return texts, list(taken), names, list((values | {"z": 1}).keys()), [name for name, _ in values.items()]

    assert_same(*run_both(use))
