"""Layers, functions of layers, losses and optimizers, which have no samples: written once for both libraries."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchmarks.ops.recipes import Numbers


@dataclass(frozen=True)
class Built:
    """What is called with what, and the parameters that have gradients besides."""

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    parameters: list[Any] = field(default_factory=list)


Builder = Callable[[Any, int], Built]
Shape = Callable[[int], tuple[int, ...]]
BUILDERS: dict[str, Builder] = {}
FAMILIES: dict[str, str] = {}


# -------------------- shapes of about so many elements --------------------


def rows(n: int) -> tuple[int, int]:
    """Rows of a width that four divides, nearly as many as they are wide."""
    width = max(4, int(n**0.5) // 4 * 4)
    return max(1, n // width), width


def images(n: int) -> tuple[int, int, int, int]:
    channels, side = max(4, int(n**0.2) // 4 * 4), max(2, int(n**0.3) // 2 * 2)
    return max(1, n // (channels * side * side)), channels, side, side


def lines(n: int) -> tuple[int, int, int]:
    """Images of one dimension."""
    count, channels, height, width = images(n)
    return count, channels, height * width


def volumes(n: int) -> tuple[int, int, int, int, int]:
    count, channels, height, width = images(n)
    return max(1, count // 2), channels, 2, height, width


def sequences(n: int) -> tuple[int, int, int]:
    width, length = max(4, int(n**0.3) // 4 * 4), max(2, int(n**0.3))
    return max(1, n // (width * length)), length, width


def heads(n: int) -> tuple[int, int, int, int]:
    count, length, width = sequences(n)
    return max(1, count // 4), 4, length, width


def line(n: int) -> tuple[int]:
    return (n,)


# -------------------- layers --------------------


def _add(family: str, name: str, builder: Builder) -> None:
    BUILDERS[name], FAMILIES[name] = builder, family


def _given(shape: tuple[int, ...], low: float = -4.0, high: float = 4.0, grad: bool = True) -> Numbers:
    return Numbers(shape, low=low, high=high, grad=grad)


def _indices(below: int, *shape: int) -> Numbers:
    return Numbers(shape, "int64", 0, below - 1)


def layer(name: str, shape: Shape, make: Callable[..., Any], *others: Callable[[tuple[int, ...]], Numbers]) -> None:
    """A module made by `make(nn, *shape)`, called with a tensor of the shape, and others that belong to it."""

    def build(torch: Any, n: int) -> Built:
        size = shape(n)
        module = make(torch.nn, *size)
        return Built(module, (_given(size), *(other(size) for other in others)), list(module.parameters()))

    _add("layers", name, build)


layer("Linear", rows, lambda nn, b, w: nn.Linear(w, w))
layer("Bilinear", rows, lambda nn, b, w: nn.Bilinear(w, w, 4), _given)
layer("LayerNorm", rows, lambda nn, b, w: nn.LayerNorm(w))
layer("RMSNorm", rows, lambda nn, b, w: nn.RMSNorm(w))
layer("BatchNorm1d", lambda n: (2 * rows(n)[0], rows(n)[1]), lambda nn, b, w: nn.BatchNorm1d(w))
layer("Dropout", rows, lambda nn, b, w: nn.Dropout(0.1))
layer("Softmax", rows, lambda nn, b, w: nn.Softmax(-1))
layer("LogSoftmax", rows, lambda nn, b, w: nn.LogSoftmax(-1))
layer("GLU", rows, lambda nn, b, w: nn.GLU())
layer("PReLU", rows, lambda nn, b, w: nn.PReLU())
for _name in (
    "ReLU ReLU6 LeakyReLU ELU SELU CELU GELU SiLU Mish Hardswish Hardsigmoid Hardtanh Softplus Softsign Sigmoid Tanh "
    "LogSigmoid Tanhshrink Hardshrink Softshrink"
).split():
    layer(_name, rows, lambda nn, b, w, name=_name: getattr(nn, name)())
layer(
    "TransformerEncoderLayer",
    sequences,
    lambda nn, b, t, w: nn.TransformerEncoderLayer(w, 4, 4 * w, 0.0, batch_first=True),
)
layer("RNN", sequences, lambda nn, b, t, w: nn.RNN(w, w, batch_first=True))
layer("LSTM", sequences, lambda nn, b, t, w: nn.LSTM(w, w, batch_first=True))
layer("GRU", sequences, lambda nn, b, t, w: nn.GRU(w, w, batch_first=True))
layer("RNNCell", rows, lambda nn, b, w: nn.RNNCell(w, w))
layer("LSTMCell", rows, lambda nn, b, w: nn.LSTMCell(w, w))
layer("GRUCell", rows, lambda nn, b, w: nn.GRUCell(w, w))
layer(
    "MultiheadAttention", sequences, lambda nn, b, t, w: nn.MultiheadAttention(w, 4, batch_first=True), _given, _given
)
layer("Conv1d", lines, lambda nn, b, c, w: nn.Conv1d(c, c, 3, padding=1))
layer("Conv2d", images, lambda nn, b, c, h, w: nn.Conv2d(c, 2 * c, 3, padding=1))
layer("Conv2d_1x1", images, lambda nn, b, c, h, w: nn.Conv2d(c, 2 * c, 1))
layer("Conv2d_depthwise", images, lambda nn, b, c, h, w: nn.Conv2d(c, c, 3, padding=1, groups=c))
layer("Conv2d_stride", images, lambda nn, b, c, h, w: nn.Conv2d(c, 2 * c, 3, 2, 1, bias=False))
layer("Conv3d", volumes, lambda nn, b, c, d, h, w: nn.Conv3d(c, c, 3, padding=1))
layer("ConvTranspose2d", images, lambda nn, b, c, h, w: nn.ConvTranspose2d(c, c, 2, 2))
layer("BatchNorm2d", images, lambda nn, b, c, h, w: nn.BatchNorm2d(c))
layer("BatchNorm2d_eval", images, lambda nn, b, c, h, w: nn.BatchNorm2d(c).eval())
layer("GroupNorm", images, lambda nn, b, c, h, w: nn.GroupNorm(2, c))
layer("InstanceNorm2d", images, lambda nn, b, c, h, w: nn.InstanceNorm2d(c, affine=True))
layer("LocalResponseNorm", images, lambda nn, b, c, h, w: nn.LocalResponseNorm(2))
layer("MaxPool1d", lines, lambda nn, b, c, w: nn.MaxPool1d(2))
layer("MaxPool2d", images, lambda nn, b, c, h, w: nn.MaxPool2d(2))
layer("MaxPool2d_3x3", images, lambda nn, b, c, h, w: nn.MaxPool2d(3, 2, 1))
layer("MaxPool3d", volumes, lambda nn, b, c, d, h, w: nn.MaxPool3d(2))
layer("AvgPool1d", lines, lambda nn, b, c, w: nn.AvgPool1d(2))
layer("AvgPool2d", images, lambda nn, b, c, h, w: nn.AvgPool2d(2))
layer("AvgPool3d", volumes, lambda nn, b, c, d, h, w: nn.AvgPool3d(2))
layer("LPPool2d", images, lambda nn, b, c, h, w: nn.LPPool2d(2, 2))
layer("AdaptiveAvgPool2d", images, lambda nn, b, c, h, w: nn.AdaptiveAvgPool2d(1))
layer("AdaptiveAvgPool2d_2x2", images, lambda nn, b, c, h, w: nn.AdaptiveAvgPool2d(2))
layer("AdaptiveMaxPool2d", images, lambda nn, b, c, h, w: nn.AdaptiveMaxPool2d(2))
layer("Upsample_nearest", images, lambda nn, b, c, h, w: nn.Upsample(scale_factor=2))
layer("Upsample_bilinear", images, lambda nn, b, c, h, w: nn.Upsample(scale_factor=2, mode="bilinear"))
layer("Upsample_bicubic", images, lambda nn, b, c, h, w: nn.Upsample(scale_factor=2, mode="bicubic"))
layer("ZeroPad2d", images, lambda nn, b, c, h, w: nn.ZeroPad2d(1))
layer("ReflectionPad2d", images, lambda nn, b, c, h, w: nn.ReflectionPad2d(1))
layer("ReplicationPad2d", images, lambda nn, b, c, h, w: nn.ReplicationPad2d(1))
layer("CircularPad2d", images, lambda nn, b, c, h, w: nn.CircularPad2d(1))
layer("PixelShuffle", images, lambda nn, b, c, h, w: nn.PixelShuffle(2))
layer("PixelUnshuffle", images, lambda nn, b, c, h, w: nn.PixelUnshuffle(2))
layer("ChannelShuffle", images, lambda nn, b, c, h, w: nn.ChannelShuffle(2))
layer("Unfold", images, lambda nn, b, c, h, w: nn.Unfold(2))
layer("Flatten", images, lambda nn, b, c, h, w: nn.Flatten())
layer("Dropout2d", images, lambda nn, b, c, h, w: nn.Dropout2d(0.1))
layer("CosineSimilarity", rows, lambda nn, b, w: nn.CosineSimilarity(-1), _given)
layer("PairwiseDistance", rows, lambda nn, b, w: nn.PairwiseDistance(), _given)


def _embedding(bag: bool, torch: Any, n: int) -> Built:
    count, width = rows(n)
    module = (torch.nn.EmbeddingBag if bag else torch.nn.Embedding)(max(8, width), width)
    shape = (max(1, count // 4), min(count, 4)) if bag else (count,)
    return Built(module, (_indices(8, *shape),), list(module.parameters()))


_add("layers", "Embedding", partial(_embedding, False))
_add("layers", "EmbeddingBag", partial(_embedding, True))


# -------------------- functions --------------------


def function(family: str, name: str, call: Callable[..., Any], *inputs: Callable[[int], Numbers]) -> None:
    """A function of torch.nn.functional and tensors; `inputs` make these from the number of elements."""
    _add(family, name, lambda torch, n: Built(partial(call, torch.nn.functional), tuple(make(n) for make in inputs)))


def floats(shape: Shape, low: float = -4.0, high: float = 4.0, grad: bool = True) -> Callable[[int], Numbers]:
    return lambda n: _given(shape(n), low, high, grad)


def signs(shape: Shape) -> Callable[[int], Numbers]:
    """Targets, one or minus one in most losses: any number for the time they take."""
    return floats(shape, 1.0, 1.0, False)


def first_of(shape: Shape) -> Shape:
    return lambda n: shape(n)[:1]


function("functions", "normalize", lambda F, x: F.normalize(x), floats(rows))
function("functions", "one_hot", lambda F, x: F.one_hot(x, 4), lambda n: _indices(4, max(1, n // 4)))
function("functions", "pad_constant", lambda F, x: F.pad(x, (1, 1, 1, 1)), floats(images))
function("functions", "interpolate_nearest", lambda F, x: F.interpolate(x, scale_factor=2), floats(images))
function(
    "functions", "interpolate_half", lambda F, x: F.interpolate(x, scale_factor=0.5, mode="bilinear"), floats(images)
)
function("functions", "gumbel_softmax", lambda F, x: F.gumbel_softmax(x), floats(rows))
function("functions", "attention", lambda F, q: F.scaled_dot_product_attention(q, q, q), floats(heads))
function(
    "functions", "attention_causal", lambda F, q: F.scaled_dot_product_attention(q, q, q, is_causal=True), floats(heads)
)
function(
    "functions", "grid_sample", lambda F, x, grid: F.grid_sample(x, grid, align_corners=False),
    floats(images), lambda n: _given((images(n)[0], *images(n)[2:], 2), -1, 1),
)  # fmt: skip

# -------------------- losses --------------------

PAIRS = {
    "mse_loss": (-4.0, 4.0), "l1_loss": (-4.0, 4.0), "smooth_l1_loss": (-4.0, 4.0), "huber_loss": (-4.0, 4.0),
    "binary_cross_entropy": (0.1, 0.9), "binary_cross_entropy_with_logits": (0.1, 0.9), "kl_div": (0.1, 0.9),
    "poisson_nll_loss": (0.1, 0.9), "soft_margin_loss": (-4.0, 4.0), "hinge_embedding_loss": (-4.0, 4.0),
    "multilabel_soft_margin_loss": (0.1, 0.9),
}  # fmt: skip
for _name, (_low, _high) in PAIRS.items():
    function(
        "losses", _name, lambda F, x, y, name=_name: getattr(F, name)(x, y),
        floats(rows, _low, _high), floats(rows, max(_low, 0.1), _high, False),
    )  # fmt: skip
function("losses", "mse_loss_none", lambda F, x, y: F.mse_loss(x, y, reduction="none"), floats(rows), floats(rows))
for _name in ("cross_entropy", "nll_loss", "multi_margin_loss"):
    function(
        "losses", _name, lambda F, x, y, name=_name: getattr(F, name)(x, y),
        floats(rows), lambda n: _indices(rows(n)[1], rows(n)[0]),
    )  # fmt: skip
function(
    "losses", "cross_entropy_smoothed", lambda F, x, y: F.cross_entropy(x, y, label_smoothing=0.1),
    floats(rows), lambda n: _indices(rows(n)[1], rows(n)[0]),
)  # fmt: skip
function(
    "losses", "cross_entropy_images", lambda F, x, y: F.cross_entropy(x, y),
    floats(images), lambda n: _indices(images(n)[1], images(n)[0], *images(n)[2:]),
)  # fmt: skip
function(
    "losses", "cross_entropy_soft", lambda F, x, y: F.cross_entropy(x, y), floats(rows), floats(rows, 0.1, 0.9, False)
)
function(
    "losses",
    "gaussian_nll_loss",
    lambda F, x, y, v: F.gaussian_nll_loss(x, y, v),
    floats(rows),
    floats(rows, grad=False),
    floats(rows, 0.5, 2),
)
function(
    "losses",
    "cosine_embedding_loss",
    lambda F, x, y, s: F.cosine_embedding_loss(x, y, s),
    floats(rows),
    floats(rows),
    signs(first_of(rows)),
)
function(
    "losses",
    "margin_ranking_loss",
    lambda F, x, y, s: F.margin_ranking_loss(x, y, s),
    floats(line),
    floats(line),
    signs(line),
)
function(
    "losses",
    "triplet_margin_loss",
    lambda F, x, y, z: F.triplet_margin_loss(x, y, z),
    floats(rows),
    floats(rows),
    floats(rows),
)


def _ctc(torch: Any, n: int) -> Built:
    """Sequences of 20 steps at most, of which a quarter is the target."""
    count, length, width = sequences(n)
    steps = min(length, 20)
    count = max(1, n // (steps * width))
    given, wanted = torch.full((count,), steps), torch.full((count,), max(1, steps // 4))

    def call(scores: Any, targets: Any) -> Any:
        return torch.nn.functional.ctc_loss(scores.log_softmax(-1), targets + 1, given, wanted)

    return Built(call, (_given((steps, count, width)), _indices(width - 1, count, max(1, steps // 4))))


_add("losses", "ctc_loss", _ctc)


# -------------------- optimizers --------------------


def optimizer(name: str, kind: str, **options: Any) -> None:
    """A step over four parameters, with gradients that stay."""

    def build(torch: Any, n: int) -> Built:
        parameters = [torch.rand(max(1, n // 4)).requires_grad_() for _ in range(4)]
        for parameter in parameters:
            parameter.grad = torch.rand_like(parameter)
        return Built(getattr(torch.optim, kind)(parameters, lr=1e-6, **options).step)

    _add("optimizers", name, build)


optimizer("SGD", "SGD")
optimizer("SGD_momentum", "SGD", momentum=0.9, nesterov=True, weight_decay=1e-4)
for _name in "Adam AdamW Adamax NAdam RAdam RMSprop Adagrad Adadelta Rprop ASGD".split():
    optimizer(_name, _name)
    optimizer(f"{_name}_foreach", _name, foreach=True)
optimizer("Adam_fused", "Adam", fused=True)
optimizer("AdamW_amsgrad", "AdamW", amsgrad=True)


def _clipped(torch: Any, n: int) -> Built:
    parameters = [torch.rand(max(1, n // 4)).requires_grad_() for _ in range(4)]
    for parameter in parameters:
        parameter.grad = torch.rand_like(parameter)
    return Built(partial(torch.nn.utils.clip_grad_norm_, parameters, 1e9))


def _module_step(torch: Any, n: int) -> Built:
    """A whole step of a small network: what all of it together costs."""
    count, width = rows(n)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(width, width), nn.LayerNorm(width), nn.GELU(), nn.Linear(width, 4))
    adam = torch.optim.Adam(model.parameters(), lr=1e-6)

    def step(x: Any, y: Any) -> None:
        adam.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        adam.step()

    return Built(step, (_given((count, width), grad=False), _indices(4, count)))


_add("optimizers", "clip_grad_norm_", _clipped)
_add("optimizers", "training_step", _module_step)
