"""Modules, and functions of `nn.functional`."""

import copy
import math
from collections import OrderedDict

import mindtorch as torch
import mindtorch.nn as nn
import mindtorch.nn.functional as F
from mindtorch import Tensor
from mindtorch.func import functional_call

x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
device = torch.device("cpu")


class Perceptron(nn.Module):
    scale: Tensor

    def __init__(self, inputs: int, hidden: int = 4, outputs: int = 2) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.second = nn.Linear(hidden, outputs, bias=False)
        self.dropout = nn.Dropout(0.1)
        self.norm = nn.LayerNorm(hidden)
        self.layers = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(2)])
        self.heads = nn.ModuleDict({"left": nn.Linear(hidden, 1), "right": nn.Linear(hidden, 1)})
        self.offset = nn.Parameter(torch.zeros(outputs))
        self.frozen = nn.Parameter(torch.zeros(outputs), requires_grad=False)
        self.weights = nn.ParameterList([nn.Parameter(torch.ones(1))])
        self.register_buffer("scale", torch.ones(1))
        self.register_parameter("missing", None)

    def forward(self, input: Tensor) -> Tensor:
        hidden = F.relu(self.first(input))
        for layer in self.layers:
            hidden = hidden + torch.tanh(layer(hidden))
        for i, layer in enumerate(self.layers):
            hidden = layer(hidden) * i
        for name, head in self.heads.items():
            hidden = hidden + head(hidden) * len(name)
        left = self.heads["left"](hidden)
        hidden = self.dropout(self.norm(hidden)) + left + self.layers[0](hidden)
        return self.second(hidden) * self.scale + self.offset


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)

    def forward(self, x: Tensor, mask: Tensor | None = None, *, causal: bool = False) -> tuple[Tensor, Tensor]:
        B, T, C = x.size()
        q, k, v = self.project(x).split(C, dim=2)
        q = q.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        k = k.view(B, T, self.heads, C // self.heads).transpose(1, 2)
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        if mask is not None:
            scores = scores.masked_fill(mask[:, None, :T, :T] == 0, float("-inf"))
        out, weights = self.attention(x, x, x)
        return out, F.softmax(scores, dim=-1)


model = Perceptron(3)
facts_of_modules = (
    model(x),
    model.first,
    model.first.weight,
    model.first.weight.shape,
    model.first.bias,
    model.first.in_features,
    model.offset,
    model.offset.data,
    model.offset.grad,
    model.scale,
    model.layers,
    model.layers[0],
    model.layers[:1],
    model.layers[-1],
    len(model.layers),
    model.heads,
    model.heads["left"],
    model.heads.keys(),
    model.heads.values(),
    "left" in model.heads,
    model.training,
    model.train(),
    model.train(False),
    model.eval(),
    model.to("cpu"),
    model.to(torch.float32),
    model.to(device),
    model.to(device="cpu", dtype=torch.float32),
    model.cpu(),
    model.double(),
    model.float(),
    model.requires_grad_(True),
    model.parameters(),
    list(model.parameters()),
    model.named_parameters(),
    dict(model.named_parameters()),
    list(model.buffers()),
    dict(model.named_buffers()),
    list(model.children()),
    list(model.named_children()),
    list(model.modules()),
    list(model.named_modules()),
    model.state_dict(),
    model.state_dict().keys(),
    model.load_state_dict(model.state_dict()),
    model.load_state_dict(model.state_dict(), strict=False).missing_keys,
    model.apply(lambda module: None),
    model.get_parameter("offset"),
    model.get_submodule("first"),
    model.get_buffer("scale"),
    model.register_forward_hook(lambda module, inputs, output: None),
    model.register_forward_pre_hook(lambda module, inputs: None),
    model.register_full_backward_hook(lambda module, grad_input, grad_output: None),
    model.extra_repr(),
    model.share_memory(),
    sum(p.numel() for p in model.parameters()),
    sum(p.numel() for p in model.parameters() if p.requires_grad),
    next(model.parameters()).device,
    copy.deepcopy(model),
    functional_call(model, dict(model.named_parameters()), (x,)),
    str(model),
    nn.Parameter(torch.zeros(1)),
    nn.Parameter(torch.zeros(1)) * 2,
)
model.zero_grad()
model.zero_grad(set_to_none=True)
model.register_buffer("extra", torch.zeros(1), persistent=False)
model.add_module("another", nn.Linear(1, 1))
for name, parameter in model.named_parameters():
    if "weight" in name and parameter.dim() > 1:
        nn.init.xavier_uniform_(parameter)
    parameter.requires_grad = False
for module in model.modules():
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, mean=0.0, std=0.02)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
for parameter in model.parameters():
    parameter.data.mul_(0.5)
row_of_layers = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
named_layers = nn.Sequential(OrderedDict([("a", nn.Linear(3, 4)), ("b", nn.ReLU())]))
containers = (
    row_of_layers,
    row_of_layers(x),
    row_of_layers[0],
    row_of_layers[-1],
    len(row_of_layers),
    row_of_layers.append(nn.ReLU()),
    [layer for layer in row_of_layers],
    named_layers(x),
    nn.ModuleList(),
    nn.ModuleList([nn.ReLU()]).append(nn.ReLU()),
    nn.ModuleList([nn.ReLU()]) + nn.ModuleList([nn.ReLU()]),
    nn.ModuleDict().items(),
    nn.ParameterList([nn.Parameter(x)])[0],
    nn.ParameterDict({"a": nn.Parameter(x)})["a"],
    nn.ParameterDict({"a": nn.Parameter(x)}).items(),
)
image = torch.randn(1, 3, 8, 8)
tokens = torch.randint(0, 10, (2, 5))
sequence = torch.randn(2, 5, 4)
layers = (
    nn.Conv2d(3, 6, 3),
    nn.Conv2d(3, 6, kernel_size=(3, 3), stride=1, padding="same"),
    nn.Conv2d(3, 6, 3, padding=1)(image),
    nn.Conv1d(3, 6, 3).weight,
    nn.ConvTranspose2d(3, 6, 3)(image),
    nn.MaxPool2d(2)(image),
    nn.AvgPool2d(2, stride=2)(image),
    nn.AdaptiveAvgPool2d(1)(image),
    nn.AdaptiveAvgPool2d((1, 1))(image),
    nn.BatchNorm2d(3)(image),
    nn.BatchNorm2d(3).running_mean,
    nn.GroupNorm(1, 3)(image),
    nn.LayerNorm(4)(sequence),
    nn.LayerNorm([5, 4])(sequence),
    nn.Embedding(10, 4)(tokens),
    nn.Embedding(10, 4, padding_idx=0).weight,
    nn.Embedding.from_pretrained(torch.zeros(10, 4)),
    nn.LSTM(4, 8, num_layers=2, batch_first=True),
    nn.LSTM(4, 8, batch_first=True)(sequence),
    nn.GRU(4, 8)(sequence),
    nn.LSTMCell(4, 8)(sequence[0]),
    nn.MultiheadAttention(4, 2),
    nn.TransformerEncoderLayer(4, 2, batch_first=True)(sequence),
    nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), num_layers=1),
    nn.Transformer(d_model=4, nhead=2),
    nn.Flatten()(image),
    nn.Identity()(x),
    nn.ReLU(inplace=True)(x.clone()),
    nn.GELU()(x),
    nn.Tanh()(x),
    nn.Softmax(dim=-1)(x),
    nn.LeakyReLU(0.1)(x),
    nn.Upsample(scale_factor=2)(image),
    nn.PixelShuffle(1)(image),
    nn.CrossEntropyLoss()(x, torch.tensor([0, 1])),
    nn.CrossEntropyLoss(weight=torch.ones(3), label_smoothing=0.1),
    nn.MSELoss(reduction="sum")(x, x),
    nn.BCEWithLogitsLoss()(x, x),
    nn.L1Loss()(x, x),
    nn.NLLLoss()(x, torch.tensor([0, 1])),
    nn.KLDivLoss(reduction="batchmean"),
    nn.utils.clip_grad_norm_(model.parameters(), 1.0),
    nn.utils.clip_grad_value_(model.parameters(), 0.5),
    nn.utils.parameters_to_vector(model.parameters()),
    nn.utils.rnn.pad_sequence([x[0], x[1]], batch_first=True),
    nn.utils.rnn.pack_padded_sequence(sequence, torch.tensor([5, 4]), batch_first=True),
    nn.init.kaiming_normal_(torch.empty(2, 3)),
    nn.init.constant_(torch.empty(2), 0.0),
)
output, (hidden_state, cell_state) = nn.LSTM(4, 8, batch_first=True)(sequence)
functional = (
    F.linear(x, torch.zeros(2, 3)),
    F.relu(x),
    F.relu(x, inplace=False),
    F.gelu(x),
    F.gelu(x, approximate="tanh"),
    F.silu(x),
    F.elu(x),
    F.leaky_relu(x, 0.1),
    F.softplus(x),
    F.sigmoid(x),
    F.tanh(x),
    F.softmax(x, dim=1),
    F.log_softmax(x, dim=-1),
    F.dropout(x, 0.5),
    F.dropout(x, p=0.1, training=False),
    F.cross_entropy(x, torch.tensor([0, 1])),
    F.cross_entropy(x, torch.tensor([0, 1]), reduction="none"),
    F.cross_entropy(x.view(-1, x.size(-1)), torch.tensor([0, 1]).view(-1), ignore_index=-1),
    F.nll_loss(F.log_softmax(x, 1), torch.tensor([0, 1])),
    F.mse_loss(x, x),
    F.l1_loss(x, x),
    F.smooth_l1_loss(x, x),
    F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(x)),
    F.binary_cross_entropy_with_logits(x, x),
    F.kl_div(x, x, reduction="batchmean"),
    F.one_hot(torch.tensor([0, 1]), num_classes=3),
    F.one_hot(torch.tensor([0, 1])).float(),
    F.pad(x, (1, 1)),
    F.pad(x, [1, 1], "constant", 0.0),
    F.normalize(x, dim=1),
    F.cosine_similarity(x, x, dim=1),
    F.conv2d(image, torch.randn(6, 3, 3, 3)),
    F.conv2d(image, torch.randn(6, 3, 3, 3), stride=1, padding=1),
    F.conv2d(image, torch.randn(6, 3, 3, 3), padding="same"),
    F.conv1d(sequence, torch.randn(2, 5, 1)),
    F.max_pool2d(image, 2),
    F.max_pool2d(image, (2, 2)),
    F.avg_pool2d(image, kernel_size=2),
    F.adaptive_avg_pool2d(image, 1),
    F.adaptive_avg_pool2d(image, (1, 1)),
    F.interpolate(image, scale_factor=2, mode="nearest"),
    F.interpolate(image, size=(4, 4), mode="bilinear", align_corners=False),
    F.batch_norm(image, None, None, training=True),
    F.layer_norm(sequence, (4,)),
    F.layer_norm(x, x.shape[1:]),
    F.group_norm(image, 1),
    F.embedding(tokens, torch.randn(10, 4)),
    F.scaled_dot_product_attention(sequence, sequence, sequence),
    F.scaled_dot_product_attention(sequence, sequence, sequence, is_causal=True),
    F.unfold(image, 2),
    F.grid_sample(image, torch.zeros(1, 2, 2, 2), align_corners=False),
    F.pixel_shuffle(image, 1),
    F.logsigmoid(x),
    F.hardtanh(x),
    F.glu(torch.zeros(2, 4)),
    F.gumbel_softmax(x, tau=1.0, hard=True),
    F.triplet_margin_loss(x, x, x),
    F.pairwise_distance(x, x),
)
