"""Ops over lists of tensors do what the op of the same name does tensor by tensor."""

import pytest

import mindtorch as torch

A = [[1.0, 4.0], [9.0]]
B = [[2.0, 3.0], [5.0]]


def tensors(rows=A, **options):
    return [torch.tensor(row, **options) for row in rows]


def values(results):
    return [result.tolist() for result in results]


CASES = {
    "add": ((2,), [[3.0, 6.0], [11.0]]),
    "sub": ((2,), [[-1.0, 2.0], [7.0]]),
    "mul": ((2,), [[2.0, 8.0], [18.0]]),
    "div": ((2,), [[0.5, 2.0], [4.5]]),
    "sqrt": ((), [[1.0, 2.0], [3.0]]),
    "neg": ((), [[-1.0, -4.0], [-9.0]]),
}


@pytest.mark.parametrize("name", CASES)
def test_out_of_place_and_in_place(name):
    arguments, expected = CASES[name]
    before = tensors()
    results = getattr(torch, f"_foreach_{name}")(before, *arguments)
    assert isinstance(results, tuple)
    assert values(results) == expected
    assert values(before) == A
    assert getattr(torch, f"_foreach_{name}_")(before, *arguments) is before
    assert values(before) == expected


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("add", {}, [[3.0, 7.0], [14.0]]),
        ("add", {"alpha": 2}, [[5.0, 10.0], [19.0]]),
        ("sub", {"alpha": 2}, [[-3.0, -2.0], [-1.0]]),
        ("mul", {}, [[2.0, 12.0], [45.0]]),
        ("div", {}, [[0.5, 4 / 3], [1.8]]),
    ],
)
def test_two_lists(name, options, expected):
    first, second = tensors(dtype=torch.float64), tensors(B, dtype=torch.float64)
    assert values(getattr(torch, f"_foreach_{name}")(first, second, **options)) == expected
    getattr(torch, f"_foreach_{name}_")(first, second, **options)
    assert values(first) == expected


def test_three_lists():
    assert values(torch._foreach_addcmul(tensors(), tensors(B), tensors(B), value=2)) == [[9.0, 22.0], [59.0]]
    assert values(torch._foreach_addcdiv(tensors(), tensors(B), tensors(B), 2)) == [[3.0, 6.0], [11.0]]


def test_norm_and_zero():
    assert values(torch._foreach_norm(tensors([[3.0, 4.0], [2.0]]))) == [5.0, 2.0]
    assert values(torch._foreach_norm(tensors([[3.0, 4.0]]), 1)) == [7.0]
    cleared = tensors()
    torch._foreach_zero_(cleared)
    assert values(cleared) == [[0.0, 0.0], [0.0]]


def test_gradients():
    first = tensors(requires_grad=True)
    sum(result.sum() for result in torch._foreach_mul(first, tensors(B))).backward()
    assert values([tensor.grad for tensor in first]) == B


def test_lists_of_different_lengths():
    with pytest.raises(RuntimeError, match="Tensor lists must have the same number of tensors, got 2 and 1"):
        torch._foreach_add(tensors(), tensors([[1.0]]))
    with pytest.raises(RuntimeError, match="Tensor list must have at least one tensor"):
        torch._foreach_sqrt([])


def test_leaves_that_require_grad_are_not_written():
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        torch._foreach_add_(tensors(requires_grad=True), 1)
