"""Sixty edits as pull requests make them, and what the diff is to say of each."""

from dataclasses import dataclass

NN, OPS, FORMULAS = "mindtorch/nn/functional.py", "ops.yaml", "derivatives.yaml"


@dataclass(frozen=True)
class PullRequest:
    """``entry``: of a YAML file, the entry that is edited, by how it begins; else the first place is edited.

    ``about`` is what the finding of ``rule`` is about, ``code`` the exit status, and ``names`` words in its message.
    """

    file: str
    before: str
    after: str
    about: str
    rule: str
    code: int
    names: tuple[str, ...] = ()
    entry: str = ""

    def __str__(self):
        return f"{self.rule} {self.about}"


def op(name, before, after, rule, code, *names):
    """An edit of an entry of ops.yaml."""
    about = name.partition("(")[0]
    return PullRequest(OPS, before, after, about, rule, code, names, f"- func: {name}")


def formula(name, before, after, rule, code, *names):
    about = name.partition("(")[0]
    return PullRequest(FORMULAS, before, after, about, rule, code, names, f"- name: {name}")


def by_hand(file, before, after, about, rule, code, *names):
    return PullRequest(file, before, after, about, rule, code, names)


PULL_REQUESTS = (
    # What no schema shows: these gave "no changes".
    by_hand(
        "mindtorch/_core/promotion.py",
        "    return float_of(common_dtype(*operands))",
        "    return DOUBLE",
        "mindtorch._core.promotion",
        "C002",
        0,
        "`int_to_float`",
        "`exp`",
    ),
    by_hand(
        "mindtorch/dispatch/modes/autocast.py",
        "        return self.enabled.get(device_type, False)",
        "        raise RuntimeError(device_type)",
        "mindtorch.dispatch.modes.autocast",
        "C003",
        0,
        "ops reach it",
    ),
    by_hand(
        "mindtorch/autograd/_engine/engine.py",
        "    if isinstance(",
        "    raise RuntimeError('later')\n    if isinstance(",
        "mindtorch.autograd._engine.engine",
        "C005",
        0,
        "the autograd engine",
    ),
    by_hand(
        NN, "    input: Tensor,\n    weight", "    x: Tensor,\n    weight", "torch.nn.functional.embedding", "F003", 1
    ),
    by_hand("codegen/templates/ops.py.jinja", "out", "result", "codegen", "C007", 0, "every op"),
    op("lgamma(", "samples: unary_positive", "samples: none", "Q001", 0, "unary_positive"),
    formula("erf(", "self: 2 /", "self: -2 /", "D012", 0),
    # Signatures of what is written by hand.
    by_hand("mindtorch/optim/adam.py", "lr: Any = 1e-3", "lr: Any = 1e-2", "torch.optim.Adam", "F009", 1, "0.01"),
    by_hand(
        "mindtorch/nn/dropouts.py",
        "input: Tensor, p: float = 0.5, training: bool = True, inplace",
        "input: Tensor, training: bool = True, p: float = 0.5, inplace",
        "torch.nn.functional.dropout",
        "F005",
        1,
    ),
    by_hand(
        "mindtorch/nn/activations.py",
        'alpha: float = 1.0, inplace: bool = False) -> Tensor:\n    """input where it is positive, alpha * (exp(input',
        'alpha: float = 1.0) -> Tensor:\n    """input where it is positive, alpha * (exp(input',
        "torch.nn.functional.elu",
        "F004",
        1,
        "`inplace`",
    ),
    by_hand(
        "mindtorch/nn/grids.py",
        "size: Sequence[int], align_corners: bool | None = None) -> Tensor",
        "size: Sequence[int], *, align_corners: bool | None = None) -> Tensor",
        "torch.nn.functional.affine_grid",
        "F012",
        1,
    ),
    by_hand(
        "mindtorch/nn/distances.py",
        "x1: Tensor, x2: Tensor, dim: int = 1, eps",
        "x1: Tensor, x2: Tensor, kind: str, dim: int = 1, eps",
        "torch.nn.functional.cosine_similarity",
        "F006",
        1,
        "`kind`",
    ),
    by_hand(
        "mindtorch/_functorch/vmap.py",
        '    randomness: str = "error",\n    *,',
        '    random: str = "error",\n    *,',
        "torch.func.vmap",
        "F003",
        1,
        "`randomness`",
    ),
    by_hand(
        "mindtorch/_functorch/reverse.py",
        'argnums: Argnums = 0, has_aux: bool = False) -> Callable[P, Any]:\n    """A function that computes',
        "argnums: Argnums = 0, *, has_aux: bool = False) -> Callable[P, Any]:\n" '    """A function that computes',
        "torch.func.grad",
        "F012",
        1,
    ),
    by_hand(
        "mindtorch/distributed/collectives.py",
        "def all_reduce(tensor: Tensor, op: Any = _SUM, group",
        "def all_reduce(tensor: Tensor, chunks: int = 1, op: Any = _SUM, group",
        "torch.distributed.all_reduce",
        "F007",
        1,
    ),
    by_hand(
        "mindtorch/nn/utils/clip_grad.py",
        "    max_norm: float,\n    norm_type: float = 2.0,\n    error",
        "    max_norm: float,\n    norm_type: float,\n    error",
        "torch.nn.utils.clip_grad_norm_",
        "F010",
        1,
    ),
    by_hand(
        "mindtorch/_functions/searching.py",
        "dim: int | None = None\n",
        "axis: int | None = None\n",
        "torch.unique",
        "F003",
        1,
        "`dim`",
    ),
    by_hand(
        "mindtorch/_functions/stft.py",
        "    n_fft: int,\n    hop",
        "    n_fft: int = 400,\n    hop",
        "torch.stft",
        "F011",
        2,
    ),
    by_hand(
        "mindtorch/nn/modules/linear.py",
        "out_features: int, bias: bool = True, device: Any = None, dtype: Any = None\n",
        "out_features: int, bias: bool = False, device: Any = None, dtype: Any = None\n",
        "torch.nn.Linear",
        "F009",
        1,
    ),
    by_hand(
        "mindtorch/optim/__init__.py", "from mindtorch.optim.rprop import Rprop\n", "", "torch.optim.Rprop", "F001", 1
    ),
    by_hand(
        "mindtorch/optim/lr_scheduler.py",
        "factor: float = 0.1,",
        "factor: float = 0.2,",
        "torch.optim.lr_scheduler.ReduceLROnPlateau",
        "F009",
        1,
    ),
    by_hand(
        "mindtorch/utils/data/dataloader.py",
        "        shuffle: bool | None = None,",
        "        shuffled: bool | None = None,",
        "torch.utils.data.DataLoader",
        "F003",
        1,
        "`shuffle`",
    ),
    by_hand(
        "mindtorch/_tensor_methods/autograd.py",
        "requires_grad: bool = True) -> Tensor",
        "flag: bool = True) -> Tensor",
        "Tensor.requires_grad_",
        "F003",
        1,
    ),
    by_hand(
        "mindtorch/_tensor_methods/arrays.py",
        "def numpy(self: Any, *, force",
        "def numpy(self: Any, force",
        "Tensor.numpy",
        "F013",
        0,
    ),
    by_hand(
        "mindtorch/nn/activations.py",
        "def gumbel_softmax(logits: Tensor",
        "def gumbel_softmax(inputs: Tensor",
        "torch.nn.functional.gumbel_softmax",
        "F003",
        1,
    ),
    by_hand(NN, "from mindtorch.nn.activations import selu_ as selu_\n", "", "torch.nn.functional.selu_", "F001", 1),
    # Their code, and what is around.
    by_hand(
        "mindtorch/nn/bags.py",
        "    if ",
        "    input = input + 0\n    if ",
        "mindtorch.nn.bags",
        "C001",
        0,
        "`embedding_bag`",
        "`torch.nn.functional.embedding_bag`",
    ),
    by_hand(
        "mindtorch/_functorch/jacobians.py",
        "\n    return",
        "\n    func = func\n    return",
        "mindtorch._functorch.jacobians",
        "C001",
        0,
        "torch.func.",
    ),
    by_hand(
        "mindtorch/dispatch/registry.py",
        "\n    return",
        "\n    0\n    return",
        "mindtorch.dispatch.registry",
        "C006",
        0,
        "every op",
    ),
    by_hand(
        "mindtorch/_core/geometry.py", "\n    return", "\n    0\n    return", "mindtorch._core.geometry", "C006", 0
    ),
    by_hand(
        "mindtorch/backends/batched/joining.py",
        "\n    return",
        "\n    0\n    return",
        "mindtorch.backends.batched.joining",
        "C004",
        0,
        "vmap rules",
    ),
    by_hand(
        "tests/unit/core/test_storage.py", "def test_", "def without_", "tests/unit/core/test_storage.py", "Q002", 0
    ),
    by_hand(
        "tests/ops/test_values.py",
        "\ndef test_",
        "\n@pytest.mark.skip\ndef test_",
        "tests/ops/test_values.py",
        "Q003",
        0,
    ),
    by_hand(
        "mindtorch/nn/distances.py",
        '    """The cosine of the angle between vectors along a dimension."""\n',
        "",
        "torch.nn.functional.cosine_similarity",
        "Q004",
        1,
    ),
    by_hand(
        "mindtorch/nn/linear_losses.py",
        "def linear_cross_entropy(",
        "def linear_cross_entropy (x, ",
        "torch.nn.functional.linear_cross_entropy",
        "F006",
        1,
    ),
    # Schemas and entries.
    op("argmax(", "bool keepdim=False", "bool keepdims=False", "S018", 1, "`argmax.out`"),
    op("leaky_relu(", "negative_slope=0.01", "negative_slope=0.02", "S040", 1, "0.02"),
    op("softplus(", "Scalar beta=1, Scalar threshold=20", "Scalar beta, Scalar threshold", "S041", 1),
    op("elu(", "Scalar input_scale=1)", "Scalar input_scale=1, Scalar more=1)", "S012", 0),
    op("logit(", "float? eps=None", "float eps=0", "S021", 1),
    op("hypot(", "promotion: default", "promotion: int_to_float", "T001", 1, "float32"),
    op("log2(", "promotion: int_to_float", "promotion: complex_to_real_int_to_float", "T001", 1),
    op("atan2(", "dtypes: real", "dtypes: float", "T010", 1, "int64"),
    op("cumsum(", "tags: core", "tags: pointwise", "G001", 1),
    op("tanh(", "variants: function, method", "variants: function", "P022", 1),
    op("sinc(", "variants: function, method", "variants: method", "P020", 1),
    op("addcmul(", "autocast_npu: promote", "autocast_npu: fp32", "B014", 0),
    op("flip(", "  batch: flip\n", "  batch: roll\n", "B013", 0),
    op("square(", "decomposition: pow(self, 2)", "decomposition: mul(self, self)", "B015", 0),
    op("trace(", "autocast: fp32", "autocast: promote", "B014", 0),
    op("exp2(", "dispatch: {CPU: exp2, NPU: exp2}", "dispatch: {CPU: exp, NPU: exp2}", "B003", 0),
    op("expm1(", "  tags: ", "  divergence: a test of it\n  tags: ", "B022", 0),
    # Formulas.
    formula("sin(", "self: grad *", "self: 2 * grad *", "D012", 0),
    formula("cos(", "self: grad * -", "self: grad * ", "D012", 0),
    formula("log1p(", "\n  result: auto_element_wise", "", "D021", 1),
    formula("sqrt(", "self: grad /", "self: grad * self /", "M001", 1),
    formula("atan(", "self: grad /", "self: (grad) /", "D013", 0),
    formula("log10(", "self: grad /", "self: 3 * grad /", "D012", 0),
    # Kernels, composite functions, helpers.
    by_hand(
        "mindtorch/backends/cpu/pointwise/numeric.py",
        "    return compute(_HEAVISIDE, (input, values), out)",
        "    return compute(_HEAVISIDE, (values, input), out)",
        "heaviside",
        "B030",
        0,
    ),
    by_hand(
        "mindtorch/backends/cpu/common/parts.py",
        "    return np.divide(np.sin(angle), angle, out=out)",
        "    return np.divide(np.sin(angle), x, out=out)",
        "mindtorch.backends.cpu.common.parts",
        "C001",
        0,
        "`sinc`",
    ),
)
