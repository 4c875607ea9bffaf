"""Programs from first lessons: tensors as they print, arrays, losses."""

import numpy as np

from tests.parity.support.inputs import ramp
from tests.parity.support.printed import printing_programs

program, test_same_text = printing_programs()


@program
def tensors_as_they_print(T, say):
    """The tensors page of a tutorial, and how all kinds of tensors print, with options set."""
    T.manual_seed(0)
    data = [[1, 2], [3, 4]]
    x_data = T.tensor(data)
    x_ones, x_rand = T.ones_like(x_data), T.rand_like(x_data, dtype=T.float)
    say(f"Ones Tensor: \n {x_ones} \n", f"Random Tensor: \n {x_rand} \n", T.rand((2, 3)), T.from_numpy(np.array(data)))
    tensor = T.rand(3, 4)
    say(
        f"Shape of tensor: {tensor.shape}",
        f"Datatype of tensor: {tensor.dtype}",
        f"Device {tensor.device}",
        tensor.layout,
    )
    say(
        tensor[0],
        tensor[:, 0],
        tensor[..., -1],
        tensor[1:, ::2],
        tensor[[0, 2], [1, 3]],
        tensor[tensor > 0.5],
        tensor[None, 0, :2],
    )
    agg = tensor.sum()
    say(
        agg.item(),
        type(agg.item()).__name__,
        agg,
        tensor.add_(5),
        tensor.t().numpy().dtype,
        np.asarray(tensor[0]).tolist(),
    )
    samples = (
        T.tensor(3.14159), T.tensor([]), T.zeros(0, 3), T.zeros(2, 0), T.tensor([1e-8, 1.0]), T.tensor([1e10, 1.0]),
        T.tensor([123456.0, 0.001]),
        T.tensor([T.nan, T.inf, -T.inf, 1.5]), T.tensor([1, -200, 30]), T.tensor([True, False]),
        T.tensor([1 + 2j, -0.5j]), T.arange(2000), T.rand(60, 60) > 2,
        T.tensor([0.1, 0.25], dtype=T.float16), T.tensor([1e-3, 700.0], dtype=T.bfloat16),
        T.tensor([5], dtype=T.uint8), T.ones(2, 2, 2), T.ones(1, 1, 1, 1),
        T.eye(3).to_sparse(), T.ones(2, requires_grad=True), T.ones(2, requires_grad=True) * 2,
        T.tensor([1.0, 2.0]).expand(2, 2), T.tensor(-0.0), T.tensor([1e38, 1e-38]),
        T.linspace(0, 1, 30), T.full((3, 25), 1234.5678), T.tensor([[1.0, 2.5], [1000.0, 1e-5]]),
        T.ones(2, dtype=T.float64), T.tensor([2**40, -1]), T.tensor([0.0, -0.0]),
        T.ones(2, 3).to_sparse().requires_grad_(), T.nn.Parameter(T.zeros(2)),
        T.nn.Parameter(T.tensor(1.0), requires_grad=False), T.empty(2, device="meta"),
    )  # fmt: skip
    for sample in samples:
        say(sample, repr(sample.shape), repr(sample.dtype))
    for options in (
        dict(precision=2),
        dict(sci_mode=True),
        dict(threshold=5, edgeitems=1),
        dict(linewidth=40),
        dict(profile="full"),
        dict(profile="short"),
    ):
        T.set_printoptions(**options)
        say(
            options,
            ramp(T, -1, 1, 7),
            T.arange(12.0).view(3, 4) * 1000,
            T.tensor([1e-5, 1.0]),
            T.tensor(2.71828),
            T.tensor([1.5 + 1j]),
        )
        T.set_printoptions(profile="default")
    say(
        T.Size([1, 2]), T.device("cpu"), T.strided, T.channels_last, [T.tensor(1)], {"a": T.ones(1)}, (T.tensor([1.5]),)
    )
    say(
        f"{T.tensor(1.23456):.2f}",
        f"{T.tensor(7):03d}",
        f"{T.tensor(0.5):>8}",
        format(T.tensor(2.0), ".3f"),
    )
    for bad in (
        lambda: f"{T.ones(2):.2f}",
        lambda: T.set_printoptions(profile="huge"),
        lambda: float(T.ones(2)),
        lambda: f"{T.ones(1):.1f}",
    ):
        try:
            say(bad())
        except (TypeError, ValueError, RuntimeError) as error:
            say(type(error).__name__, error)


@program
def arrays_and_lists(T, say):
    """Between NumPy, lists and tensors: what shares memory, what is converted, what is refused."""
    a = np.arange(6, dtype=np.float64).reshape(2, 3)
    t = T.from_numpy(a)
    t[0, 0] = -1
    say(
        a[0, 0],
        t.dtype,
        t.numpy() is a,
        np.shares_memory(t.numpy(), a),
        T.tensor(a).dtype,
        T.as_tensor(a, dtype=T.float32).dtype,
    )
    say(
        np.sin(t),
        type(np.sin(t)).__name__,
        np.sum(a * t.numpy()),
        type(t * np.float32(2)).__name__,
        (t + a).dtype,
        np.add(a, t).dtype,
    )
    say(
        type(np.float64(2) * T.ones(2)).__name__,
        T.ones(2) * np.float64(2),
        T.tensor(np.float32(3)),
        T.tensor(np.int16([1])),
    )
    say(
        T.tensor([np.float64(1), 2]),
        T.tensor([np.int8(1), 2]),
        T.tensor([T.tensor(1.5), 2]),
        T.tensor([[T.tensor(1), 2], [3, T.tensor(4)]]),
        T.tensor((1.0, 2)),
    )
    say(
        T.tensor([1, 2.5]).dtype,
        T.tensor([True, 2]).dtype,
        T.tensor([1, 2j]).dtype,
        T.tensor(range(3)),
        T.tensor(np.bool_(True)),
        T.Tensor([1, 2]),
        T.Tensor(2, 3).shape,
    )
    say(
        T.FloatTensor([1]).type(),
        T.LongTensor([[1]]).shape,
        T.tensor([1]).type(T.DoubleTensor).type(),
        T.tensor([1.7]).long(),
        T.BoolTensor([0, 1]),
        T.ones(2).type_as(t),
    )
    say(
        list(T.arange(3)),
        [*map(int, T.arange(3))],
        T.arange(4).view(2, 2).tolist(),
        len(T.ones(3, 2)),
        sum(T.ones(3)),
        max(T.tensor([1, 5, 2])),
        sorted(T.tensor([3, 1])),
    )
    say(
        dict(zip("ab", T.arange(2))),
        T.tensor(3) in [1, 3],
        T.arange(3) == 1,
        bool(T.tensor(0.0)),
        int(T.tensor(3.9)),
        [1, 2, 3][T.tensor(1)],
        range(T.tensor(2)),
    )
    say(
        np.array([T.tensor(1.0), T.tensor(2.0)]).dtype,
        np.array(T.ones(2, dtype=T.bfloat16).float()),
        np.stack([T.ones(2), T.zeros(2)]),
        np.asarray([T.ones(1)] * 2).shape,
    )
    for key in (T.float16, T.int8, T.uint8, T.bool, T.complex64, T.int32):
        say(key, T.ones(2).to(key).numpy().dtype, T.from_numpy(T.ones(2).to(key).numpy()).dtype == key)
    say(
        T.from_numpy(a[:, ::2]).stride(),
        T.from_numpy(a.T).is_contiguous(),
        T.tensor(memoryview(b"ab")),
        T.tensor(bytearray(b"ab"), dtype=T.uint8),
    )
    for bad in (
        lambda: T.from_numpy([1]), lambda: np.ones(3) * T.ones(3), lambda: np.float64(1) + T.ones(3),
        lambda: np.ones(2) @ T.ones(2), lambda: np.ones(3) < T.ones(3), lambda: T.from_numpy(np.array(["a"])),
        lambda: T.from_numpy(a[::-1]), lambda: T.tensor(["a"]), lambda: T.tensor([[1], [2, 3]]),
        lambda: T.tensor(None),
        lambda: T.tensor({"a": 1}), lambda: T.ones(2, requires_grad=True).numpy(),
        lambda: T.ones(2, dtype=T.bfloat16).numpy(), lambda: np.asarray(T.ones(2, requires_grad=True)),
        lambda: T.tensor([1, "a"]),
        lambda: T.tensor([1, None]), lambda: T.tensor(1 << 70), lambda: T.tensor([300], dtype=T.uint8),
        lambda: T.from_numpy(np.array([1], dtype=np.uint16)).dtype,
        lambda: iter(T.tensor(1)), lambda: len(T.tensor(1)), lambda: T.ones(2)[5], lambda: T.ones(2)[1.0],
        lambda: T.ones(2, 2)[0, 0, 0], lambda: T.ones(3)[T.tensor([True, False])],
        lambda: T.ones(3)[T.tensor([5])], lambda: T.ones(3).view(2), lambda: T.ones(2, 3).t().view(6),
        lambda: T.ones(2) + T.ones(3), lambda: T.ones(2, 3) @ T.ones(2, 3), lambda: T.cat([T.ones(2), T.ones(1, 2)]),
        lambda: T.stack([T.ones(2), T.ones(3)]), lambda: T.ones(2).reshape(-1, -1), lambda: T.ones(2).squeeze(3),
        lambda: T.ones(2).expand(3), lambda: T.ones(3, 2).permute(0), lambda: T.zeros(-1),
        lambda: T.ones(2, 2).item(),
        lambda: T.tensor(1).add_(1.5), lambda: T.ones(2, dtype=T.int32).div_(2), lambda: T.ones(2) << 1,
        lambda: T.ones(2) & 1, lambda: ~T.ones(2), lambda: -T.tensor(True), lambda: T.ones(2).sum(dim=3),
        lambda: T.ones(0).max(), lambda: T.ones(2, 3).mm(T.ones(2, 3)),
        lambda: T.arange(0, 5, -1), lambda: T.randint(0, 0, (1,)), lambda: T.eye(-1),
        lambda: T.ones(2).to("float33"), lambda: T.ones(2).split(0), lambda: T.ones(4).chunk(0),
        lambda: T.ones(2).gather(0, T.tensor([2])), lambda: T.einsum("ij,jk", T.ones(2, 2)),
        lambda: T.ones(2).long().mean(), lambda: T.ones(2).scatter_(0, T.tensor([0.0]), 1),
        lambda: T.where(T.ones(2), 1, 0), lambda: T.ones(2).foo, lambda: T.foo, lambda: T.ones(2)(3),
        lambda: T.ones(2).masked_fill(T.ones(2), 0), lambda: T.nn.functional.softmax(T.ones(2, dtype=T.int64), 0),
    ):  # fmt: skip
        try:
            say(bad())
        except (
            TypeError,
            ValueError,
            RuntimeError,
            IndexError,
            OverflowError,
            AttributeError,
            NotImplementedError,
        ) as error:
            say(type(error).__name__, error)


@program
def losses_of_all_kinds(T, say):
    """Every loss with its options, as modules that print, weights, reductions, and their complaints."""
    nn, F = T.nn, T.nn.functional
    T.manual_seed(0)
    x, y = T.randn(4, 3, requires_grad=True), T.tensor([0, 2, 1, -100])
    soft, binary = T.rand(4, 3).softmax(1), T.randint(0, 2, (4, 3)).float()
    signs = T.tensor([1.0, -1.0, 1.0, -1.0])
    made = [
        (nn.CrossEntropyLoss(label_smoothing=0.1, weight=T.tensor([1.0, 2.0, 0.5])), x, y),
        (nn.CrossEntropyLoss(reduction="sum"), x, soft), (nn.NLLLoss(ignore_index=2), x.log_softmax(1), y.clamp(0)),
        (nn.BCEWithLogitsLoss(pos_weight=T.tensor([1.0, 2.0, 3.0])), x, binary),
        (nn.BCELoss(reduction="none"), x.sigmoid(), binary), (nn.MSELoss(), x, soft), (nn.L1Loss(), x, soft),
        (nn.SmoothL1Loss(beta=0.5), x, soft),
        (nn.HuberLoss(delta=0.3), x, soft), (nn.KLDivLoss(reduction="batchmean"), x.log_softmax(1), soft),
        (nn.PoissonNLLLoss(full=True), x, soft), (nn.SoftMarginLoss(), x, binary * 2 - 1),
        (nn.MultiMarginLoss(p=2), x, y.clamp(0)),
        (nn.MultiLabelSoftMarginLoss(), x, binary),
        (nn.MultiLabelMarginLoss(), x, T.tensor([[0, -1, 0], [1, 2, -1], [2, 0, -1], [-1, 0, 1]])),
        (nn.HingeEmbeddingLoss(margin=0.5), x, T.where(binary > 0, 1.0, -1.0)),
    ]  # fmt: skip
    for loss, *args in made:
        value = loss(*args)
        say(loss, value.detach(), T.autograd.grad(value.sum(), x)[0][0])
    a, b, c = (T.randn(4, 5) for _ in range(3))
    labels, counts = T.tensor([[1, 2], [0, 3]]), (T.tensor([6, 5]), T.tensor([2, 1]))
    pairs = [
        (nn.CosineEmbeddingLoss(margin=0.2), a, b, signs), (nn.MarginRankingLoss(0.1), a[:, 0], b[:, 0], signs),
        (nn.TripletMarginLoss(margin=0.5, swap=True), a, b, c), (nn.GaussianNLLLoss(full=True), a, b, c.exp()),
        (nn.TripletMarginWithDistanceLoss(distance_function=nn.PairwiseDistance(), margin=2.0), a, b, c),
        (nn.CTCLoss(blank=4, zero_infinity=True), T.randn(6, 2, 5).log_softmax(-1), labels, *counts),
    ]  # fmt: skip
    for loss, *args in pairs:
        say(loss, loss(*args))
    say(
        nn.CosineSimilarity(dim=1)(a, b),
        nn.PairwiseDistance(p=1, keepdim=True)(a, b),
        F.cosine_similarity(a[:1], b, dim=-1),
        nn.CosineSimilarity(),
        nn.PairwiseDistance(p=3.0),
    )
    z = F.normalize(T.cat([a, b]))
    logits = (z @ z.T / 0.5).fill_diagonal_(-1e9)
    say(
        F.cross_entropy(logits, T.arange(8).roll(4)),
        F.binary_cross_entropy_with_logits(x[:, 0], signs.clamp(0)),
        F.gaussian_nll_loss(a, b, T.full((4, 1), 0.5)),
        F.multilabel_margin_loss(x[0].detach(), T.tensor([1, -1, 0])),
    )
    lam = np.random.RandomState(0).beta(0.4, 0.4)
    perm = T.randperm(4)
    say(
        lam * F.cross_entropy(x, y.clamp(0)) + (1 - lam) * F.cross_entropy(x, y.clamp(0)[perm]),
        F.cross_entropy(x.view(2, 2, 3).permute(0, 2, 1), y.view(2, 2)),
        F.nll_loss(x.log_softmax(1), y, reduction="none"),
    )
    proxies = nn.Parameter(T.randn(3, 3))
    cosine = F.linear(F.normalize(x), F.normalize(proxies))
    arc = T.cos(T.acos(cosine.clamp(-1 + 1e-7, 1 - 1e-7)) + 0.5 * F.one_hot(y.clamp(0), 3))
    say(
        F.cross_entropy(10 * arc, y.clamp(0)),
        T.autograd.grad(arc.sum(), proxies)[0],
        F.kl_div(x.log_softmax(1), soft.log(), log_target=True, reduction="sum"),
        F.l1_loss(a, b, reduction="sum"),
    )
    for bad in (
        lambda: nn.MSELoss(reduction="avg")(x, soft), lambda: F.mse_loss(x, soft[:2]),
        lambda: F.mse_loss(x, T.ones(4, 1)), lambda: F.cross_entropy(x, y.float()),
        lambda: F.cross_entropy(x, T.tensor([0, 1])), lambda: F.binary_cross_entropy(x, binary),
        lambda: F.binary_cross_entropy(x.sigmoid(), binary[:2]),
        lambda: F.binary_cross_entropy_with_logits(x, binary[:, :2]), lambda: F.kl_div(x, soft),
        lambda: F.triplet_margin_loss(a, b, c[:, :2]), lambda: F.cosine_embedding_loss(a, b, signs[:2]),
        lambda: F.ctc_loss(a, y.view(2, 2), (1,), (1,)), lambda: nn.CrossEntropyLoss(label_smoothing=2)(x, y),
        lambda: F.huber_loss(a, b, delta=0), lambda: F.smooth_l1_loss(a, b, beta=-1),
        lambda: F.gaussian_nll_loss(a, b, -c.exp()), lambda: F.multi_margin_loss(x, y.clamp(0), p=3),
        lambda: F.margin_ranking_loss(a, b, signs[None]), lambda: nn.CrossEntropyLoss(weight=T.ones(2))(x, y),
        lambda: nn.NLLLoss(size_average=False).reduction, lambda: F.poisson_nll_loss(x, soft, reduction="x"),
        lambda: nn.TripletMarginLoss(margin=-1),
    ):  # fmt: skip
        try:
            say(bad())
        except (RuntimeError, ValueError, TypeError, IndexError) as error:
            say(type(error).__name__, error)
