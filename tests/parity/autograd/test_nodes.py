"""Which nodes a graph has, what they keep and how they show it: as in PyTorch, for the whole op table."""

import warnings

import pytest
import torch

import mindtorch
from tests.harness import (
    arguments_of,
    describe,
    dtypes_of,
    function_of,
    inplace_samples,
    outcome,
    samples_of,
    tensors_in,
    variant,
)
from tests.parity.support.peer import torch_ops
from tests.parity.support.programs import assert_same, sample


def graph(node, depth):
    """The names of a node and of those behind it, and which of their outputs they are."""
    if node is None or not depth:
        return node and node.name()
    return node.name(), [(graph(each, depth - 1), number) for each, number in node.next_functions]


class Packed:
    """The dtypes and shapes of what a block keeps for its gradients."""

    def __init__(self, T):
        self.facts = []
        self.hooks = T.autograd.graph.saved_tensors_hooks(self.pack, lambda tensor: tensor)

    def pack(self, tensor):
        self.facts.append((str(tensor.dtype).rpartition(".")[2], tuple(tensor.shape)))
        return tensor

    def __enter__(self):
        self.hooks.__enter__()
        return self.facts

    def __exit__(self, *exception):
        self.hooks.__exit__(*exception)


def shown(node):
    """The names under which a node shows what it keeps."""
    return [name for name in dir(node) if name.startswith("_saved")]


# -------------------- functions that programs call --------------------

FUNCTIONS = {
    "celu": lambda T, x: T.nn.functional.celu(x, 1.5),
    "celu in place": lambda T, x: T.nn.functional.celu_(x * 1),
    "elu": lambda T, x: T.nn.functional.elu(x),
    "elu in place": lambda T, x: T.nn.functional.elu_(x * 1),
    "exp2": lambda T, x: x.exp2(),
    "fmax": lambda T, x: T.fmax(x, x),
    "glu": lambda T, x: T.nn.functional.glu(x),
    "hardshrink": lambda T, x: T.nn.functional.hardshrink(x),
    "hardswish": lambda T, x: T.nn.functional.hardswish(x),
    "hypot": lambda T, x: T.hypot(x, x),
    "lerp": lambda T, x: T.lerp(x, x, 0.3),
    "logsigmoid": lambda T, x: T.nn.functional.logsigmoid(x),
    "max": lambda T, x: x.max(),
    "max of a dim": lambda T, x: x.max(0).values,
    "mean": lambda T, x: x.mean(),
    "median": lambda T, x: x.median(),
    "nansum": lambda T, x: x.nansum(0),
    "normal": lambda T, x: T.normal(x, 1.0),
    "normal of two": lambda T, x: T.normal(x, x.abs()),
    "pairwise_distance": lambda T, x: T.nn.functional.pairwise_distance(x, x.flip(0)),
    "prelu": lambda T, x: T.nn.functional.prelu(x, T.tensor([0.25])),
    "relu": lambda T, x: x.relu(),
    "rrelu": lambda T, x: T.nn.functional.rrelu(x),
    "selu": lambda T, x: T.nn.functional.selu(x),
    "softplus": lambda T, x: T.nn.functional.softplus(x),
    "softshrink": lambda T, x: T.nn.functional.softshrink(x),
    "sort": lambda T, x: x.sort(0).values,
    "squeeze": lambda T, x: x[None].squeeze(),
    "squeeze of dims": lambda T, x: x[None, :, None].squeeze((0, 2)),
    "sum of what is broadcast": lambda T, x: (T.ones(3, 2, 4) + x).exp(),
    "topk": lambda T, x: x.topk(2).values,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    def run(T):
        x = sample(T, 2, 4)
        with Packed(T) as packed:
            y = FUNCTIONS[name](T, x)
        (grad,) = T.autograd.grad(y, x, T.ones_like(y).requires_grad_(), create_graph=True)
        return graph(y.grad_fn, 3), sorted(packed), shown(y.grad_fn), grad.grad_fn and grad.grad_fn.name()

    assert_same(run)


ATTENTION = {
    "nothing masked": {},
    "causal": {"is_causal": True},
    "a boolean mask": {"attn_mask": lambda T: T.ones(3, 3) > 0},
    "a mask that is added": {"attn_mask": lambda T: T.zeros(3, 3)},
    "all of a row masked": {"attn_mask": lambda T: T.arange(3) < T.arange(3)[:, None]},
    "dropout": {"dropout_p": 0.5},
}


@pytest.mark.parametrize("name", ATTENTION)
def test_attention_keeps_no_masks(name):
    def run(T):
        x = sample(T, 2, 3, 4)
        options = {key: value(T) if callable(value) else value for key, value in ATTENTION[name].items()}
        T.manual_seed(0)
        with Packed(T) as packed:
            y = T.nn.functional.scaled_dot_product_attention(x, x, x, **options)
        (y * y).sum().backward()
        return y, x.grad, sorted(packed)

    assert_same(run)


def test_cosine_similarity_keeps_what_torch_keeps():
    def run(T):
        x, y = sample(T, 3, 4), sample(T, 3, 4, seed=1)
        with Packed(T) as packed:
            similarity = T.nn.functional.cosine_similarity(x, y)
        similarity.sum().backward()
        return similarity, x.grad, graph(similarity.grad_fn, 4), sorted(packed)

    assert_same(run)


# -------------------- the op table --------------------

OPS = [op for op in torch_ops() if "float64" in dtypes_of(op)]
FORMS = [form for op in OPS for form in (op, variant(op, "inplace")) if form]
FEW = 3  # samples of each op: more of them have the same nodes

# Ops whose graph is another one in torch, and why.
MADE_OTHERWISE = {
    "torch's node says that nothing is implemented; ours have gradients": """
        silu_backward native_channel_shuffle _embedding_bag_backward histogram.bins_tensor
        histogram.bin_ct _histogramdd_from_bin_tensors
    """,
    "torch has a node of the op's name, which says that nothing is implemented": """
        embedding_renorm_
    """,
    "torch has a formula of its own for the in-place form, or none": """
        conj_physical_ as_strided_ index_fill_.int_Scalar
        index_copy_ addr_ rrelu_ renorm_ mvlgamma_
    """,
    "torch refuses the arguments": """
        view_as_complex_copy _embedding_bag_forward_only
    """,
    "torch keeps more: a result or the factors of a matrix, for a formula that can do without": """
        _linalg_det linalg_det det _linalg_slogdet linalg_slogdet slogdet logdet _linalg_solve_ex
        linalg_solve_ex linalg_solve linalg_tensorsolve triangular_solve cholesky_solve
        linalg_householder_product orgqr ormqr complex _fft_r2c fft_fft fft_rfft fft_rfft2 fft_rfftn
        linalg_matrix_rank linalg_matrix_rank.atol_rtol_float
    """,
    "one of the two is made of other ops": """
        quantile quantile.scalar nanquantile nanquantile.scalar cov corrcoef gradient.scalarint dstack
        combinations matmul inner linalg_vecdot linalg_matmul linalg_matrix_norm nuclear_norm nuclear_norm.dim
        frobenius_norm.dim linalg_cond.p_str vander native_batch_norm_backward
        native_layer_norm_backward scaled_dot_product_attention conv_tbc bilinear lstm.input lstm.data gru.input
        gru.data rnn_tanh.input rnn_tanh.data rnn_relu.input rnn_relu.data lstm_cell rnn_tanh_cell rnn_relu_cell
        fft_ifft fft_hfft fft_ihfft fft_fft2 fft_ifft2 fft_irfft2 fft_hfft2 fft_hfftn fft_ihfft2 fft_ihfftn stft
        stft.center
    """,
}
_NAMES = {name for names in MADE_OTHERWISE.values() for name in names.split()}


def observed(T, form, call):
    """The graph of a call, and what it keeps; None if it fails."""
    args, kwargs = arguments_of(T, list(call.args), True), arguments_of(T, call.kwargs, True)
    if form.kind == "inplace" and isinstance(args[0], T.Tensor):
        args[0] = args[0].clone() if args[0].requires_grad else args[0]
    with warnings.catch_warnings(), Packed(T) as packed:
        warnings.simplefilter("ignore")
        found = outcome(function_of(T, form), args, kwargs)
    if found.error is not None:
        return None
    return [graph(tensor.grad_fn, 2) for tensor in tensors_in(T, found.result)], sorted(packed)


def differences(form):
    samples = inplace_samples(form, "float64") if form.derived_from else samples_of(form, "float64")
    for call, _ in zip(samples, range(FEW), strict=False):
        ours, theirs = observed(mindtorch, form, call), observed(torch, form, call)
        if ours != theirs:
            yield f"{form.name}({describe(call)})\n  mindtorch: {ours}\n  torch:     {theirs}"


@pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])
def test_op_table(form):
    found = list(differences(form))
    if form.name in _NAMES:
        assert found, f"{form.name} has the graph that torch has: it need not be in MADE_OTHERWISE"
    else:
        assert not found, "\n".join(found)
