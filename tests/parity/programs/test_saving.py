"""What programs load, save, copy and draw at random."""

import collections
import copy
import io
import math
import pickle
import random
import weakref
from collections import OrderedDict, defaultdict

import numpy as np

from tests.parity.support.printed import printing_programs

program, test_same_text = printing_programs()


@program
def loaders(T, say):
    """Datasets, samplers and what collates their items, with generators so that runs can be repeated."""
    data = T.utils.data

    class Words(data.Dataset):
        def __init__(self, texts):
            self.texts = texts

        def __len__(self):
            return len(self.texts)

        def __getitem__(self, index):
            text = self.texts[index]
            return {"ids": T.tensor([ord(c) for c in text]), "label": len(text), "text": text}

    class Stream(data.IterableDataset):
        def __iter__(self):
            info = data.get_worker_info()
            return iter(np.arange(5, dtype=np.float32) if info is None else [])

    def pad(batch):
        ids = T.nn.utils.rnn.pad_sequence([each["ids"] for each in batch], batch_first=True, padding_value=-1)
        return ids, T.as_tensor([each["label"] for each in batch]), [each["text"] for each in batch]

    class ByLength(data.Sampler):
        def __init__(self, source, size):
            self.source, self.size = source, size

        def __iter__(self):
            order = sorted(range(len(self.source)), key=lambda i: len(self.source.texts[i]))
            batches = [order[i : i + self.size] for i in range(0, len(order), self.size)]
            for index in T.randperm(len(batches)).tolist():
                yield batches[index]

        def __len__(self):
            return math.ceil(len(self.source) / self.size)

    T.manual_seed(0)
    words = Words("the quick brown fox jumps over a lazy dog again".split())
    for ids, label, text in data.DataLoader(words, batch_sampler=ByLength(words, 3), collate_fn=pad):
        say(ids, label, text)
    train, valid, rest = data.random_split(words, [0.5, 0.3, 0.2], generator=T.Generator().manual_seed(42))
    say(train.indices, valid.indices, rest.indices, len(train))
    weights = data.WeightedRandomSampler([0.1, 0.9, 0.4], 6, generator=T.Generator().manual_seed(1))
    say(list(weights), list(data.SubsetRandomSampler([3, 5, 7], generator=T.Generator().manual_seed(1))))
    say(list(data.BatchSampler(data.SequentialSampler(range(5)), 2, drop_last=False)))
    pairs = data.TensorDataset(T.arange(6.0).view(3, 2), T.tensor([0, 1, 2]))
    Pair = defaultdict(list)
    for x, y in data.DataLoader(data.ConcatDataset([pairs, pairs]), 4, shuffle=True, generator=T.Generator()):
        Pair[tuple(x.shape)].append(y.tolist())
    say(dict(Pair), [batch for batch in data.DataLoader(Stream(), batch_size=2)])
    stacked = data.StackDataset(a=[1, 2, 3], b=T.ones(3))
    say(next(iter(data.DataLoader(stacked, 3))), data.Subset(pairs, [2, 0])[1])
    mixed = [(1, 2.5, "a", None), (2, 3.5, "b", None)]
    for batch in (
        mixed,
        [{"x": np.ones(2), "y": (T.zeros(1), True)}] * 2,
        [T.ones(2), T.ones(3)],
        [[1], [1, 2]],
        [b"x"],
    ):
        try:
            say(data.default_collate(batch))
        except (TypeError, RuntimeError) as error:
            say(type(error).__name__, error)
    for options in (
        dict(batch_size=0),
        dict(shuffle=True, sampler=[1]),
        dict(timeout=-1),
        dict(batch_size=None, drop_last=True),
    ):
        try:
            data.DataLoader(words, **options)
        except ValueError as error:
            say(error)
    try:
        say(len(Stream()), len(data.DataLoader(Stream(), 2)))
    except TypeError as error:
        say(error)
    say(len(data.DataLoader(words, 4)), len(data.DataLoader(words, 4, drop_last=True)))


@program
def checkpoints(T, say):
    """What is saved and loaded again: by name, in part, by whole modules; what the messages say."""
    nn = T.nn

    class Net(nn.Module):
        def __init__(self, width=4):
            super().__init__()
            self.embed = nn.Embedding(6, width, padding_idx=0)
            self.blocks = nn.ModuleList([nn.Linear(width, width) for _ in range(2)])
            self.heads = nn.ModuleDict(OrderedDict(a=nn.Linear(width, 2), b=nn.Bilinear(width, width, 1)))
            self.scales = nn.ParameterList([nn.Parameter(T.ones(1)), T.zeros(2)])
            self.table = nn.ParameterDict({"w": nn.Parameter(T.ones(width))})
            self.register_buffer("mask", T.tril(T.ones(3, 3)))
            self.register_buffer("cache", T.zeros(3), persistent=False)
            self.register_parameter("none", None)

        def forward(self, x):
            x = self.embed(x)
            for block in self.blocks:
                x = T.tanh(block(x)) * self.scales[0]
            return self.heads["a"](x), self.heads["b"](x, x * self.table["w"])

    T.manual_seed(1)
    net = Net()
    say(net)
    say(list(net.state_dict()))
    say([name for name, _ in net.named_buffers()], [name for name, _ in net.named_children()])
    optimizer = T.optim.AdamW(net.parameters(), lr=1e-2, amsgrad=True)
    first, second = net(T.tensor([[1, 2, 0]]))
    (first.sum() + second.sum()).backward()
    optimizer.step()
    buffer = io.BytesIO()
    T.save(
        {"epoch": 3, "model": net.state_dict(), "optimizer": optimizer.state_dict(), "rng": T.get_rng_state()}, buffer
    )
    buffer.seek(0)
    checkpoint = T.load(buffer, map_location=T.device("cpu"), weights_only=True)
    say(checkpoint["epoch"], type(checkpoint["model"]).__name__, checkpoint["rng"].shape, checkpoint["rng"].dtype)
    say(checkpoint["optimizer"]["param_groups"], checkpoint["optimizer"]["state"][0])
    other = Net()
    say(other.load_state_dict(checkpoint["model"]))
    say(other.load_state_dict({"mask": T.ones(3, 3)}, strict=False))
    changed = {f"module.{key}": value for key, value in checkpoint["model"].items()}
    for state in (changed, {**checkpoint["model"], "embed.weight": T.zeros(7, 4), "mask": T.zeros(2)}, {"mask": 3}):
        try:
            other.load_state_dict(state)
        except RuntimeError as error:
            say(error)
    nn.modules.utils.consume_prefix_in_state_dict_if_present(changed, "module.")
    say(other.load_state_dict(changed), list(changed)[:2])
    say(Net(5).load_state_dict({"none": T.zeros(1)}, strict=False))
    say(checkpoint["model"]._metadata if hasattr(checkpoint["model"], "_metadata") else None)
    fresh = T.optim.AdamW(other.parameters(), lr=1.0)
    fresh.load_state_dict(checkpoint["optimizer"])
    say(fresh)
    try:
        T.optim.SGD(net.blocks.parameters(), 0.1).load_state_dict(checkpoint["optimizer"])
    except ValueError as error:
        say(error)
    twin = copy.deepcopy(net)
    say(all(T.equal(a, b) and a is not b for a, b in zip(twin.parameters(), net.parameters())))
    with T.device("meta"):
        ghost = Net()
    say(ghost.embed.weight, ghost.mask.device, ghost.load_state_dict(net.state_dict(), assign=True), ghost.mask)
    say(ghost.heads["a"].weight is net.heads["a"].weight, type(ghost.embed.weight).__name__, ghost.cache.device)


@program
def copies_and_pickles(T, say):
    """What survives pickle, deepcopy and save: tensors, views, modules, optimizers, dtypes."""
    nn = T.nn
    T.manual_seed(0)
    base = T.arange(6.0)
    pair = {"base": base, "view": base[2:4], "again": base, "t": base.view(2, 3).t()}
    buffer = io.BytesIO()
    T.save(pair, buffer)
    buffer.seek(0)
    loaded = T.load(buffer)
    loaded["base"][2] = 100.0
    say(loaded["view"], loaded["again"][2], loaded["t"].stride(), loaded["t"].is_contiguous())
    twin = copy.deepcopy(pair)
    twin["view"].zero_()
    say(twin["base"], twin["again"] is twin["base"], copy.copy(base).data_ptr() == base.data_ptr())
    p = nn.Parameter(T.ones(2), requires_grad=False)
    p.note = "kept"
    again = pickle.loads(pickle.dumps(p))
    say(again, type(again).__name__, again.requires_grad, getattr(again, "note", None))
    leaf = T.ones(2, requires_grad=True)
    leaf.sum().backward()
    say(copy.deepcopy(leaf).grad, pickle.loads(pickle.dumps(leaf)).grad)
    for value in (T.float16, T.device("cpu", 0), T.Size([2, 3]), T.strided, T.contiguous_format):
        try:
            back = pickle.loads(pickle.dumps(value))
            say(back, type(back).__name__, back == value)
        except (TypeError, pickle.PicklingError) as error:
            say(type(error).__name__)
    try:
        copy.deepcopy(leaf * 2)
    except RuntimeError as error:
        say(error)
    tensors = [
        T.tensor(3),
        T.tensor([True]),
        T.zeros(0, 3),
        T.tensor([1 + 2j]),
        T.ones(2, dtype=T.bfloat16),
        T.tensor([1], dtype=T.uint8),
    ]
    buffer = io.BytesIO()
    T.save(tensors, buffer)
    say(T.load(io.BytesIO(buffer.getvalue()), weights_only=True), buffer.getvalue()[:2])
    net = nn.Sequential(nn.Linear(2, 2), nn.LSTM(2, 2), nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)))
    say(
        copy.deepcopy(net)[2].weight is net[2].weight, copy.deepcopy(net.state_dict()).keys() == net.state_dict().keys()
    )
    plain = pickle.loads(pickle.dumps(net[:2]))
    say(plain, T.equal(plain[0].weight, net[0].weight), plain[0].weight.grad, plain.training)
    buffer = io.BytesIO()
    T.save(net[0], buffer)
    buffer.seek(0)
    try:
        T.load(buffer)
    except pickle.UnpicklingError as error:
        say(type(error).__name__, str(error)[:24])
    buffer.seek(0)
    say(T.load(buffer, weights_only=False))
    optimizer = T.optim.Adam(net.parameters())
    net[0](T.ones(1, 2)).sum().backward()
    optimizer.step()
    clone = copy.deepcopy(optimizer)
    say(clone.param_groups[0]["params"][0] is net[0].weight, clone.state[clone.param_groups[0]["params"][0]]["step"])
    say(pickle.loads(pickle.dumps(optimizer.state_dict()))["state"][0]["exp_avg"])
    schedule = T.optim.lr_scheduler.StepLR(optimizer, 2)
    say(sorted(schedule.state_dict()), schedule.load_state_dict(schedule.state_dict()))
    reference = weakref.ref(base)
    say(reference() is base, hash(base) == id(base), base in [base], isinstance(base, collections.abc.Sequence))
    say(T.is_storage(base.untyped_storage()), len(base.untyped_storage()), base.storage_offset())
    array = np.arange(3)
    shared = T.from_numpy(array)
    array[0] = 7
    copied, cloned = T.tensor(array), T.as_tensor(array)
    shared += 1
    say(
        shared,
        copied,
        cloned,
        T.asarray(array, dtype=T.float32),
        T.frombuffer(b"\x01\x00\x02\x00", dtype=T.int16),
        np.add(shared, 1),
    )
    buffer.seek(0)
    with T.serialization.safe_globals([nn.Linear, collections.deque]):
        say(collections.deque in T.serialization.get_safe_globals())
    say(collections.deque in T.serialization.get_safe_globals())


@program
def evolving_rng(T, say):
    """Seeds, states and forks, and the shuffles and noises that programs draw."""
    T.manual_seed(7)
    random.seed(0)
    state = T.get_rng_state()
    first = T.rand(3)
    T.set_rng_state(state)
    say(T.equal(first, T.rand(3)), T.initial_seed())
    with T.random.fork_rng():
        T.manual_seed(1)
        say(T.randn(2, 2))
    say(T.randn(2, 2), T.randint_like(T.zeros(3, dtype=T.long), 5), T.rand_like(T.zeros(2, dtype=T.float64)))
    g = T.Generator(device="cpu")
    say(g.device, g.initial_seed() == T.Generator().initial_seed(), g.manual_seed(2147483647).initial_seed())
    say(T.multinomial(T.tensor([[0.2, 0.3, 0.5], [0.9, 0.05, 0.05]]), 2, generator=g))
    say(T.bernoulli(T.full((6,), 0.5), generator=g), T.empty(3).exponential_(2.0, generator=g))
    say(T.normal(0.0, T.arange(1.0, 4.0), generator=g), T.normal(2, 3, size=(1, 4), generator=g))
    say(T.poisson(T.tensor([1.0, 5.0, 30.0]), generator=g), T.randperm(7, generator=g, dtype=T.int32))
    say(T.empty(4).log_normal_(generator=g), T.empty(4).cauchy_(generator=g), T.empty(4).geometric_(0.3, generator=g))
    say(T.empty(4, dtype=T.int8).random_(generator=g), T.empty(4).random_(10, generator=g), T.empty(3).uniform_(-1, 1))
    say(T.nn.functional.dropout(T.ones(8), 0.5), T.nn.functional.gumbel_softmax(T.zeros(4), tau=0.5, hard=True))
    say(T.nn.functional.dropout2d(T.ones(1, 4, 2, 2), 0.5), T.nn.functional.alpha_dropout(T.ones(4), 0.3))
    say(T.nn.functional.rrelu(-T.ones(4), training=True), T.nn.init.trunc_normal_(T.empty(2, 2), std=0.02))
    say(T.nn.init.kaiming_normal_(T.empty(2, 3), mode="fan_out", nonlinearity="leaky_relu"))
    say(
        T.nn.init.sparse_(T.empty(3, 4), sparsity=0.3),
        T.nn.init.dirac_(T.empty(2, 2, 3)),
        T.nn.init.eye_(T.empty(2, 3)),
    )
    say(T.nn.init.xavier_uniform_(T.empty(2, 2), gain=T.nn.init.calculate_gain("relu")))
    for wrong in (
        lambda: T.multinomial(T.tensor([0.0, 0.0]), 1),
        lambda: T.multinomial(T.tensor([1.0, 0.0]), 2),
        lambda: T.multinomial(T.tensor([1.0, 2.0]), 3),
        lambda: T.bernoulli(T.tensor([2.0])),
        lambda: T.nn.init.xavier_uniform_(T.empty(3)),
        lambda: T.nn.init.calculate_gain("swish"),
        lambda: T.randint(5, 5, (2,)),
        lambda: T.empty(3).normal_(0, -1),
        lambda: T.nn.functional.dropout(T.ones(2), 1.5),
        lambda: T.empty(2).exponential_(-1),
        lambda: T.randperm(-1),
        lambda: T.manual_seed("zero"),
    ):
        try:
            say(wrong())
        except (RuntimeError, ValueError, TypeError) as error:
            say(type(error).__name__, error)


@program
def older_checkpoints(T, say):
    """State of optimizers that a release of years ago saved: fewer options, counters that are numbers."""
    later = "maximize foreach differentiable capturable fused decoupled_weight_decay amsgrad nesterov centered".split()
    for name in "SGD Adam AdamW Adamax NAdam RAdam RMSprop Rprop Adagrad Adadelta ASGD SparseAdam".split():
        parameter = T.nn.Parameter(T.ones(2))
        make = getattr(T.optim, name)
        saved = make([parameter])
        parameter.grad = T.sparse_coo_tensor([[0]], [1.0], (2,)) if name == "SparseAdam" else T.ones(2)
        saved.step()
        state = saved.state_dict()
        for option in later:
            state["param_groups"][0].pop(option, None)
        for values in state["state"].values():
            values.update({key: float(values[key]) for key in ("step", "eta", "mu", "mu_product") if key in values})
        loaded = make([parameter])
        loaded.load_state_dict(state)
        say(loaded, loaded.state[parameter])
        if name != "SparseAdam":
            loaded.step()
            say(parameter)
