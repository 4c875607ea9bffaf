"""How tensors are printed, with PyTorch's texts written out."""

import pytest

import mindtorch as torch
from mindtorch._functions.printing import printoptions

TEXTS = [
    (lambda: torch.tensor(3), "tensor(3)"),
    (lambda: torch.tensor(2.5), "tensor(2.5000)"),
    (lambda: torch.tensor([1.0, 2.0]), "tensor([1., 2.])"),
    (lambda: torch.tensor([1.5, -2.0]), "tensor([ 1.5000, -2.0000])"),
    (lambda: torch.tensor([1e-6, 1.0]), "tensor([1.0000e-06, 1.0000e+00])"),
    (lambda: torch.tensor([float("nan"), float("inf"), 1.0]), "tensor([nan, inf, 1.])"),
    (lambda: torch.tensor([True, False]), "tensor([ True, False])"),
    (lambda: torch.tensor([1 + 2j, -3.5j]), "tensor([1.+2.0000j, -0.-3.5000j])"),
    (lambda: torch.zeros(0, 3), "tensor([], size=(0, 3))"),
    (lambda: torch.zeros(0, dtype=torch.int32), "tensor([], dtype=torch.int32)"),
    (lambda: torch.ones(2, dtype=torch.float64), "tensor([1., 1.], dtype=torch.float64)"),
    (lambda: torch.ones(2, requires_grad=True), "tensor([1., 1.], requires_grad=True)"),
    (lambda: torch.ones(2, requires_grad=True) * 2, "tensor([2., 2.], grad_fn=<MulBackward0>)"),
    (lambda: torch.ones(2, 3, device="meta"), "tensor(..., device='meta', size=(2, 3))"),
    (lambda: torch.tensor([[1, 2], [3, 4]]), "tensor([[1, 2],\n        [3, 4]])"),
    (
        lambda: torch.arange(12).reshape(2, 2, 3),
        "tensor([[[ 0,  1,  2],\n         [ 3,  4,  5]],\n\n        [[ 6,  7,  8],\n         [ 9, 10, 11]]])",
    ),
    (lambda: torch.arange(1001), "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    (
        lambda: torch.sparse_coo_tensor([[0, 1]], [3.0, 4.0], (3,)),
        "tensor(indices=tensor([[0, 1]]),\n       values=tensor([3., 4.]),\n"
        "       size=(3,), nnz=2, layout=torch.sparse_coo)",
    ),
]


@pytest.mark.parametrize(("make", "text"), TEXTS, ids=[text[:40] for _, text in TEXTS])
def test_text(make, text):
    assert repr(make()) == text
    assert str(make()) == text


def test_wide_rows_are_broken():
    assert repr(torch.arange(30)).count("\n") == 1
    assert repr(torch.zeros(40)).splitlines()[1].startswith("        0., ")


def test_a_long_suffix_starts_a_new_line():
    text = repr(torch.full((9,), 1.25, dtype=torch.float16))
    assert text.splitlines()[-1] == "       dtype=torch.float16)"


def test_parameter():
    assert repr(torch.nn.Parameter(torch.ones(1))) == "Parameter containing:\ntensor([1.], requires_grad=True)"


def test_a_subclass_is_printed_under_its_own_name():
    class Marked(torch.Tensor):
        pass

    assert repr(torch.ones(1).as_subclass(Marked)) == "Marked([1.])"


def test_options_for_a_block():
    with printoptions(precision=2, sci_mode=True):
        assert repr(torch.tensor([1.234])) == "tensor([1.23e+00])"
    with printoptions(threshold=4, edgeitems=1):
        assert repr(torch.arange(5)) == "tensor([0,  ..., 4])"
    with printoptions(profile="short"):
        assert repr(torch.tensor([1.234])) == "tensor([1.23])"
    assert repr(torch.tensor([1.234])) == "tensor([1.2340])"
    assert torch.get_printoptions() == {
        "precision": 4,
        "threshold": 1000,
        "edgeitems": 3,
        "linewidth": 80,
        "sci_mode": None,
    }


def test_full_profile_never_summarises():
    with printoptions(profile="full"):
        assert "..." not in repr(torch.arange(1001))
