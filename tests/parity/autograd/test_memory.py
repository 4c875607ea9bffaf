"""What the graphs of whole models keep alive is what torch's keep: the same tensors, in as much memory."""

import pytest
import torch

import mindtorch
from tests.parity.support.programs import sample


class Kept:
    """Everything that is packed in a block."""

    def __init__(self, T):
        self.T = T
        self.tensors = []

    def pack(self, tensor):
        self.tensors.append(tensor)
        return tensor

    def __enter__(self):
        self.hooks = self.T.autograd.graph.saved_tensors_hooks(self.pack, lambda tensor: tensor)
        self.hooks.__enter__()
        return self

    def __exit__(self, *exception):
        self.hooks.__exit__(*exception)

    def bytes(self):
        """The bytes of the storages, each counted once."""
        storages = {each.untyped_storage().data_ptr(): each.untyped_storage().nbytes() for each in self.tensors}
        return sum(storages.values())

    def facts(self):
        return sorted((str(each.dtype).rpartition(".")[2], tuple(each.shape)) for each in self.tensors)


# -------------------- models: functions of the library that give a module and its inputs --------------------


def mlp(T):
    nn = T.nn
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 4)), [inputs(T, 5, 8)]


def cnn(T):
    nn = T.nn
    layers = [nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 6, 3, padding=1)]
    return nn.Sequential(*layers, nn.BatchNorm2d(6), nn.ReLU(), nn.Flatten(), nn.Linear(54, 3)), [inputs(T, 2, 3, 8, 8)]


def resnet_block(T):
    nn = T.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = (nn.Conv2d(4, 4, 3, padding=1, bias=False) for _ in range(2))
            self.norm, self.other_norm = nn.BatchNorm2d(4), nn.BatchNorm2d(4)
            self.relu = nn.ReLU(inplace=True)

        def forward(self, x):
            y = self.relu(self.norm(self.first(x)))
            return self.relu(self.other_norm(self.second(y)) + x)

    return Block(), [inputs(T, 2, 4, 6, 6)]


def attention(T, x, heads, causal):
    """Attention in elementary ops, x being queries, keys and values at once."""
    batch, length, width = x.shape
    query = x.view(batch, length, heads, width // heads).transpose(1, 2)
    scores = query @ query.transpose(-2, -1) / (width // heads) ** 0.5
    if causal:
        scores = scores.masked_fill(T.ones(length, length).tril() == 0, float("-inf"))
    return (scores.softmax(-1) @ query).transpose(1, 2).reshape(batch, length, width)


def transformer_layer(T):
    nn = T.nn

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.into, self.out = nn.Linear(8, 8), nn.Linear(8, 8)
            self.norm, self.other_norm = nn.LayerNorm(8), nn.LayerNorm(8)
            self.wide, self.narrow = nn.Linear(8, 16), nn.Linear(16, 8)

        def forward(self, x):
            x = self.norm(x + self.out(attention(T, self.into(x), 2, causal=False)))
            return self.other_norm(x + self.narrow(T.nn.functional.relu(self.wide(x))))

    return Layer(), [inputs(T, 2, 5, 8)]


def rnn_loop(T):
    nn = T.nn

    class Loop(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.out = nn.Linear(10, 6), nn.Linear(6, 2)

        def forward(self, x):
            state = T.zeros(3, 6)
            for step in x.unbind(1):
                state = T.tanh(self.cell(T.cat([step, state], 1)))
            return self.out(state)

    return Loop(), [inputs(T, 3, 5, 4)]


def gpt_block(T):
    nn = T.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.places = nn.Embedding(11, 8), nn.Embedding(6, 8)
            self.norm, self.other_norm = nn.LayerNorm(8), nn.LayerNorm(8)
            self.into, self.out = nn.Linear(8, 8), nn.Linear(8, 8)
            self.mlp = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 8))
            self.head = nn.Linear(8, 11, bias=False)

        def forward(self, ids):
            x = self.tokens(ids) + self.places(T.arange(ids.shape[1]))
            x = x + self.out(attention(T, self.into(self.norm(x)), 2, causal=True))
            x = x + self.mlp(self.other_norm(x))
            logits = self.head(x)
            return T.nn.functional.cross_entropy(logits.view(-1, 11), ids.view(-1))

    return Block(), [T.tensor([[1, 2, 3, 4, 5, 6], [3, 3, 10, 0, 1, 2]])]


def autoencoder(T):
    nn = T.nn
    model = nn.Sequential(nn.Linear(12, 6), nn.SiLU(), nn.Linear(6, 2), nn.Linear(2, 6), nn.ELU(), nn.Linear(6, 12))

    class Reconstruction(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, x):
            return T.nn.functional.mse_loss(T.sigmoid(self.model(x)), x)

    return Reconstruction(), [inputs(T, 4, 12)]


def mlp_with_dropout(T):
    nn = T.nn
    layers = [nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU(), nn.Dropout(0.3), nn.Linear(16, 3), nn.LogSoftmax(-1)]
    return nn.Sequential(*layers), [inputs(T, 5, 8)]


def bag_of_words(T):
    nn = T.nn

    class Bag(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(20, 6, padding_idx=0)
            self.out = nn.Linear(6, 3)

        def forward(self, ids):
            present = (ids != 0).float()
            mean = (self.words(ids) * present[..., None]).sum(1) / present.sum(1, keepdim=True)
            return T.nn.functional.nll_loss(self.out(mean).log_softmax(-1), T.tensor([0, 2]))

    return Bag(), [T.tensor([[1, 5, 7, 0], [2, 19, 0, 0]])]


def u_net(T):
    nn = T.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.down, self.middle = nn.Conv2d(2, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
            self.up, self.out = nn.ConvTranspose2d(4, 4, 2, stride=2), nn.Conv2d(8, 1, 1)

        def forward(self, x):
            outer = T.relu(self.down(x))
            inner = T.relu(self.middle(T.nn.functional.avg_pool2d(outer, 2)))
            return self.out(T.cat([outer, self.up(inner)], 1)).sigmoid()

    return Net(), [inputs(T, 2, 2, 8, 8)]


MODELS = [
    *(mlp, cnn, resnet_block, transformer_layer, rnn_loop, gpt_block, autoencoder, mlp_with_dropout, bag_of_words),
    u_net,
]


def inputs(T, *shape):
    return sample(T, *shape, requires_grad=False)


def kept_by(T, make):
    T.manual_seed(0)
    model, args = make(T)
    with Kept(T) as kept:
        model(*args).sum().backward()
    return kept


@pytest.mark.parametrize("make", MODELS, ids=[make.__name__ for make in MODELS])
def test_the_same_tensors_are_kept(make):
    own, expected = kept_by(mindtorch, make), kept_by(torch, make)
    assert own.facts() == expected.facts()
    assert own.bytes() == expected.bytes()
