"""Functions of `torch.nn.functional` and layers of `torch.nn`, traced in both libraries: the code is the same."""

import inspect

import pytest
import torch

import mindtorch
from tests.parity.fx.harness import generated_code

# Arguments besides the inputs, for functions that need them; the number in front is how many inputs there are.
FUNCTIONS = {
    "adaptive_avg_pool1d": (1, 2), "adaptive_avg_pool2d": (1, 2), "adaptive_avg_pool3d": (1, 2),
    "adaptive_max_pool1d": (1, 2), "adaptive_max_pool2d": (1, 2), "adaptive_max_pool3d": (1, 2),
    "affine_grid": (1, [1, 1, 2, 2]), "alpha_dropout": (1,), "avg_pool1d": (1, 2), "avg_pool2d": (1, 2),
    "avg_pool3d": (1, 2), "batch_norm": (3,), "bilinear": (3,), "binary_cross_entropy": (2,),
    "binary_cross_entropy_with_logits": (2,), "celu": (1,), "channel_shuffle": (1, 2), "conv1d": (2,), "conv2d": (2,),
    "conv3d": (2,), "conv_transpose1d": (2,), "conv_transpose2d": (2,), "conv_transpose3d": (2,),
    "cosine_embedding_loss": (3,), "cosine_similarity": (2,), "cross_entropy": (2,), "ctc_loss": (4,), "dropout": (1,),
    "dropout1d": (1,), "dropout2d": (1,), "dropout3d": (1,), "elu": (1,), "embedding": (2,), "embedding_bag": (3,),
    "feature_alpha_dropout": (1,), "fold": (1, 4, 2), "fractional_max_pool2d": (1, 2, 2),
    "fractional_max_pool3d": (1, 2, 2), "gaussian_nll_loss": (3,), "gelu": (1,), "glu": (1,), "grid_sample": (2,),
    "group_norm": (1, 2), "gumbel_softmax": (1,), "hardshrink": (1,), "hardsigmoid": (1,), "hardswish": (1,),
    "hardtanh": (1,), "hinge_embedding_loss": (2,), "huber_loss": (2,), "instance_norm": (1,), "interpolate": (1, 4),
    "kl_div": (2,), "l1_loss": (2,), "layer_norm": (1, (3,)), "leaky_relu": (1,), "linear": (2,),
    "local_response_norm": (1, 2), "log_softmax": (1, 1), "logsigmoid": (1,), "lp_pool1d": (1, 2, 2),
    "lp_pool2d": (1, 2, 2), "lp_pool3d": (1, 2, 2), "margin_ranking_loss": (3,), "max_pool1d": (1, 2),
    "max_pool2d": (1, 2), "max_pool3d": (1, 2), "max_unpool1d": (2, 2), "max_unpool2d": (2, 2), "max_unpool3d": (2, 2),
    "mish": (1,), "mse_loss": (2,), "multi_margin_loss": (2,), "multilabel_margin_loss": (2,),
    "multilabel_soft_margin_loss": (2,), "nll_loss": (2,), "normalize": (1,), "one_hot": (1,), "pad": (1, (1, 1)),
    "pairwise_distance": (2,), "pdist": (1,), "pixel_shuffle": (1, 2), "pixel_unshuffle": (1, 2),
    "poisson_nll_loss": (2,), "prelu": (2,), "relu": (1,), "relu6": (1,), "relu_": (1,), "rms_norm": (1, (3,)),
    "rrelu": (1,), "scaled_dot_product_attention": (3,), "selu": (1,), "sigmoid": (1,), "silu": (1,),
    "smooth_l1_loss": (2,), "soft_margin_loss": (2,), "softmax": (1, 1), "softmin": (1, 1), "softplus": (1,),
    "softshrink": (1,), "softsign": (1,), "tanh": (1,), "tanhshrink": (1,), "threshold": (1, 0.5, 1.0),
    "triplet_margin_loss": (3,), "triplet_margin_with_distance_loss": (3,), "unfold": (1, 2),
}  # fmt: skip

# Arguments of the classes, and how many inputs `forward` gets.
LAYERS = {
    "Linear": ((2, 3), 1), "Bilinear": ((2, 2, 3), 2), "Identity": ((), 1), "Conv1d": ((1, 2, 3), 1),
    "Conv2d": ((1, 2, 3), 1), "Conv3d": ((1, 2, 3), 1), "ReLU": ((), 1), "ReLU6": ((), 1), "GELU": ((), 1),
    "SELU": ((), 1), "CELU": ((), 1), "ELU": ((), 1), "GLU": ((), 1), "SiLU": ((), 1), "Mish": ((), 1),
    "Sigmoid": ((), 1), "Tanh": ((), 1), "Softmax": ((1,), 1), "LogSoftmax": ((1,), 1), "Softmin": ((1,), 1),
    "Softplus": ((), 1), "Softshrink": ((), 1), "Softsign": ((), 1), "Tanhshrink": ((), 1),
    "Threshold": ((1.0, 2.0), 1),
    "Hardtanh": ((), 1), "Hardswish": ((), 1), "Hardsigmoid": ((), 1), "Hardshrink": ((), 1), "LeakyReLU": ((), 1),
    "LogSigmoid": ((), 1), "PReLU": ((), 1), "RReLU": ((), 1), "Dropout": ((), 1), "Dropout1d": ((), 1),
    "Dropout2d": ((), 1), "Dropout3d": ((), 1), "AlphaDropout": ((), 1), "FeatureAlphaDropout": ((), 1),
    "LayerNorm": ((3,), 1), "RMSNorm": ((3,), 1), "GroupNorm": ((1, 2), 1), "LocalResponseNorm": ((2,), 1),
    "Embedding": ((3, 2), 1), "MaxPool1d": ((2,), 1), "MaxPool2d": ((2,), 1), "MaxPool3d": ((2,), 1),
    "AvgPool1d": ((2,), 1), "AvgPool2d": ((2,), 1), "AvgPool3d": ((2,), 1), "AdaptiveAvgPool1d": ((2,), 1),
    "AdaptiveAvgPool2d": ((2,), 1), "AdaptiveAvgPool3d": ((2,), 1), "AdaptiveMaxPool1d": ((2,), 1),
    "AdaptiveMaxPool2d": ((2,), 1), "AdaptiveMaxPool3d": ((2,), 1), "LPPool1d": ((2, 2), 1), "LPPool2d": ((2, 2), 1),
    "Flatten": ((), 1), "Unflatten": ((1, (1, 2)), 1), "Fold": ((4, 2), 1), "Unfold": ((2,), 1),
    "PixelShuffle": ((2,), 1), "PixelUnshuffle": ((2,), 1), "ChannelShuffle": ((2,), 1), "Upsample": ((4,), 1),
    "UpsamplingNearest2d": ((4,), 1), "ConstantPad1d": ((1, 0.5), 1), "ReflectionPad1d": ((1,), 1),
    "ReplicationPad2d": ((1,), 1), "ZeroPad2d": ((1,), 1), "CircularPad1d": ((1,), 1), "MSELoss": ((), 2),
    "L1Loss": ((), 2), "SmoothL1Loss": ((), 2), "HuberLoss": ((), 2), "CrossEntropyLoss": ((), 2), "NLLLoss": ((), 2),
    "KLDivLoss": ((), 2), "BCELoss": ((), 2), "BCEWithLogitsLoss": ((), 2), "PoissonNLLLoss": ((), 2),
    "HingeEmbeddingLoss": ((), 2), "CosineEmbeddingLoss": ((), 3), "MarginRankingLoss": ((), 3),
    "TripletMarginLoss": ((), 3), "SoftMarginLoss": ((), 2), "MultiLabelSoftMarginLoss": ((), 2),
    "MultiMarginLoss": ((), 2), "MultiLabelMarginLoss": ((), 2), "CTCLoss": ((), 4), "GaussianNLLLoss": ((), 3),
    "CosineSimilarity": ((), 2), "PairwiseDistance": ((), 2),
}  # fmt: skip

# Functions of `torch` and its modules whose names in generated code are special.
OTHERS = {
    "split": ("split", 2), "norm": ("norm",), "stft": ("stft", 4),
    "meshgrid": ("meshgrid",), "unique_consecutive": ("unique_consecutive",), "cdist": ("cdist",),
    "linalg.norm": ("linalg.norm",), "linalg.inv": ("linalg.inv",), "fft.fft": ("fft.fft",),
    "fft.ifftn": ("fft.ifftn",),
    "special.expit": ("special.expit",), "atleast_2d": ("atleast_2d",),
    "block_diag": ("block_diag",), "tensordot": ("tensordot",), "sum": ("sum",),
    "max": ("max",), "clamp": ("clamp",), "where": ("where",), "topk": ("topk", 2), "zeros_like": ("zeros_like",),
    "rand_like": ("rand_like",), "flatten": ("flatten",), "var_mean": ("var_mean",), "conj": ("conj",),
}  # fmt: skip


def _of_function(path, inputs, *arguments):
    names = ", ".join(["x", "y", "z", "w"][:inputs])
    more = "".join([f", {argument!r}" for argument in arguments])
    return f"def f({names}):\n    return torch.{path}({names}{more})\nfound = torch.fx.symbolic_trace(f)"


def _of_layer(name, arguments, inputs):
    names = ", ".join(["x", "y", "z", "w"][:inputs])
    return inspect.cleandoc(f"""
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.{name}{(*arguments,)!r}

            def forward(self, {names}):
                return self.layer({names})

        class T(torch.fx.Tracer):
            def is_leaf_module(self, m, qualname):
                return False

        net = Net()
        found = torch.fx.GraphModule(net, T().trace(net))
        """)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name):
    source = _of_function(f"nn.functional.{name}", *FUNCTIONS[name])
    assert generated_code(source, mindtorch) == generated_code(source, torch)


@pytest.mark.parametrize("name", OTHERS)
def test_function_elsewhere(name):
    path, *arguments = OTHERS[name]
    source = _of_function(path, 1, *arguments)
    assert generated_code(source, mindtorch) == generated_code(source, torch)


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name):
    source = _of_layer(name, *LAYERS[name])
    assert generated_code(source, mindtorch) == generated_code(source, torch)


@pytest.mark.parametrize("name", LAYERS)
def test_layer_as_root(name):
    """The annotations of `forward` are in the code."""
    source = f"found = torch.fx.symbolic_trace(torch.nn.{name}{(*LAYERS[name][0],)!r})"
    found, expected = (generated_code(source, library) for library in (mindtorch, torch))
    assert found == expected
