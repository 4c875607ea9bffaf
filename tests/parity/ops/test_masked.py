"""`masked`: reductions and normalizations with a mask, and tensors that have one, as PyTorch computes them."""

import warnings

import numpy as np
import pytest
import torch

import mindtorch
from tests.parity.support.programs import assert_same, programs

pytestmark = [
    pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors"),
    pytest.mark.filterwarnings("ignore:It is not recommended to create a MaskedTensor"),
]

REDUCTIONS = ["sum", "prod", "amax", "amin", "argmax", "argmin", "mean", "median", "logsumexp", "norm", "var", "std"]
NORMALIZATIONS = ["softmax", "log_softmax", "softmin", "cumsum", "cumprod"]
DIMS = [{}, {"dim": 0}, {"dim": -1, "keepdim": True}, {"dim": (0, 1)}, {"dim": (0, 0)}, {"dim": 3}]
MASKS = {
    "none": lambda T: None,
    "some": lambda T: T.tensor([[True, False, True], [False, False, False], [True, True, True]]),
    "row": lambda T: T.tensor([True, False, True]),
    "numbers": lambda T: T.tensor([[1, 0, 2], [0, 3, 0], [0, 0, 0]]),
    "too many dimensions": lambda T: T.ones(2, 3, 3, dtype=T.bool),
}


def _data(T, dtype="float32"):
    numbers = np.random.RandomState(0).randn(3, 3) * 3
    return T.tensor(numbers.tolist(), dtype=T.float64).to(getattr(T, dtype))


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8", "bool", "complex64"])
@pytest.mark.parametrize("options", DIMS, ids=str)
def test_reductions(name, mask, dtype, options):
    assert_same(lambda T: getattr(T.masked, name)(_data(T, dtype), mask=MASKS[mask](T), **options))


@pytest.mark.parametrize("name", NORMALIZATIONS)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("options", [{"dim": 0}, {"dim": -1}, {"dim": 1, "dtype": "float64"}, {"dim": 2}], ids=str)
def test_normalizations(name, mask, dtype, options):
    def program(T):
        chosen = {key: getattr(T, value) if key == "dtype" else value for key, value in options.items()}
        return getattr(T.masked, name)(_data(T, dtype), mask=MASKS[mask](T), **chosen)

    assert_same(program)


@pytest.mark.parametrize(
    "name", ["sum", "prod", "amax", "mean", "logsumexp", "norm", "var", "std", "softmax", "cumsum"]
)
@pytest.mark.parametrize("mask", ["none", "some", "row"])
def test_gradients(name, mask):
    def program(T):
        x = _data(T, "float64").requires_grad_()
        y = getattr(T.masked, name)(x, dim=1, mask=MASKS[mask](T))
        y.sum().backward()
        return y, x.grad

    assert_same(program)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("ord", [0, 1, 2, 3.0, float("inf"), -float("inf")])
def test_norms(mask, ord):
    assert_same(
        lambda T: [
            T.masked.norm(_data(T), ord, 0, mask=MASKS[mask](T)),
            T.masked.normalize(_data(T), ord, 1, mask=MASKS[mask](T)),
        ]
    )


program, test_program = programs()


@program
def corrections(T):
    x, mask = _data(T), MASKS["some"](T)
    return [
        T.masked.var(x, 0, False, mask=mask),
        T.masked.var(x, 1, True, mask=mask),
        T.masked.std(x, correction=2, mask=mask),
        T.masked.std(x, 0, correction=0, keepdim=True, mask=mask),
    ]


@program
def two_tensors(T):
    x, mask = _data(T), MASKS["some"](T)
    return [T.masked.logaddexp(x, x + 1, input_mask=mask), T.masked.logaddexp(x, x, other_mask=~mask)]


@program
def no_two_corrections(T):
    return T.masked.var(_data(T), 0, True, correction=1)


# -------------------- tensors with a mask --------------------


def _masked(T, dtype="float32", **options):
    return T.masked.masked_tensor(_data(T, dtype), MASKS["some"](T), **options)


def _parts(masked):
    return masked.get_data(), masked.get_mask(), masked.requires_grad


@program
def texts(T):
    small = T.masked.masked_tensor(T.tensor([1, 22, 333]), T.tensor([True, False, True]))
    number = T.masked.masked_tensor(T.tensor(2.5), T.tensor(True))
    missing = T.masked.masked_tensor(T.tensor(2.5), T.tensor(False))
    return [repr(each) for each in (_masked(T), small, number, missing, _masked(T).sum(0))]


@program
def facts(T):
    masked = _masked(T)
    return [
        *_parts(masked), masked.shape, masked.dtype, masked.dim(), masked.numel(), masked.is_sparse,
        masked.is_sparse_coo(), masked.to_tensor(7.0), T.masked.is_masked_tensor(masked),
        T.masked.is_masked_tensor(masked.get_data()), isinstance(masked, T.masked.MaskedTensor),
    ]  # fmt: skip


@program
def one_operand(T):
    masked = _masked(T)
    return [_parts(each) for each in (masked.sin(), -masked, masked.abs().sqrt(), T.exp(masked), masked.clamp(0, 1))]


@program
def two_operands(T):
    masked = _masked(T)
    results = masked + masked, masked * 2, masked - T.ones(3, 3), masked / masked, masked < 0, masked == masked
    return [_parts(each) for each in results]


@program
def in_place(T):
    masked = _masked(T)
    masked.add_(1).mul_(2)
    return _parts(masked)


@program
def views_and_copies(T):
    with warnings.catch_warnings():  # of which there are more in torch, for its own copies
        warnings.simplefilter("ignore")
        return _views_and_copies(T)


def _views_and_copies(T):
    masked = _masked(T)
    results = [masked[0], masked.t(), masked.reshape(9), masked.unsqueeze(0), masked[:, 1:], masked.transpose(0, 1)]
    results += [masked.clone(), masked.double(), T.cat([masked, masked]), masked.contiguous(), masked.detach()]
    return [_parts(each) for each in results]


@program
def reductions(T):
    masked = _masked(T)
    results = [masked.sum(), masked.sum(0), masked.mean(1, keepdim=True), masked.amax(0), masked.amin(1)]
    results += [masked.prod(dim=0), T.sum(masked, 1), masked.var(0), masked.std(1), masked.argmax(1), masked.norm()]
    return [_parts(each) for each in results]


@program
def softmax(T):
    return _parts(_masked(T).softmax(1))


@program
def gradients(T):
    masked = _masked(T, "float64", requires_grad=True)
    (masked * masked).sum().backward()
    return _parts(masked.grad)


@program
def gradients_of_the_data(T):
    data = _data(T, "float64").requires_grad_()
    T.masked.as_masked_tensor(data, MASKS["some"](T)).sin().sum().backward()
    return type(data.grad).__name__, data.grad.get_data(), data.grad.get_mask()


@program
def different_masks(T):
    return _masked(T) + T.masked.masked_tensor(_data(T), ~MASKS["some"](T))


@pytest.mark.parametrize(
    "arguments",
    [
        lambda T: (1, 2),
        lambda T: (T.ones(2), 1),
        lambda T: (T.ones(2), T.ones(2)),
        lambda T: (T.ones(2), T.ones(3, dtype=T.bool)),
        lambda T: (T.ones(2), T.ones(2, 2, dtype=T.bool)),
        lambda T: (T.ones(2, dtype=T.complex64), T.ones(2, dtype=T.bool)),
        lambda T: (T.ones(2, 2).to_sparse(), T.ones(2, 2, dtype=T.bool)),
    ],
)
def test_refused(arguments):
    def program(T):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return T.masked.masked_tensor(*arguments(T))

    assert_same(program)


def test_unknown_operation():
    for T in (mindtorch, torch):
        with pytest.warns(UserWarning, match="lgamma_backward|cumsum is not implemented in __torch_dispatch__"):
            with pytest.raises(TypeError):
                _masked(T).cumsum(0)
