"""`allow_mutation_on_saved_tensors`: gradients are those of the values at the time of the forward call."""

import pytest

import mindtorch as torch
from mindtorch.autograd.graph import allow_mutation_on_saved_tensors

WRITES = {
    "whole": lambda y: y.mul_(3),
    "a part": lambda y: y[1].mul_(3),
    "the other part": lambda y: y[0].zero_(),
    "an element": lambda y: y.view(-1)[5:].fill_(9),
    "by index": lambda y: y.__setitem__((1, 2), 7.0),
    "out": lambda y: torch.mul(torch.ones(2, 3), 4.0, out=y),
    "copy": lambda y: y.copy_(torch.zeros(2, 3)),
    "detached": lambda y: y.detach().add_(1),
    "several": lambda y: torch._foreach_mul_([y], 2.0),
    "twice": lambda y: y.mul_(2).add_(1),
}
READS = {
    "square": lambda y: y * y,
    "sin": lambda y: y.sin(),
    "rows": lambda y: y[0] * y[1],
    "transposed": lambda y: (y.t() @ y).exp(),
}


def start():
    return torch.arange(6.0).reshape(2, 3).div(5).requires_grad_()


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("write", WRITES)
def test_gradients(write, read):
    expected, x = start(), start()
    READS[read](expected.clone()).sum().backward()
    with allow_mutation_on_saved_tensors():
        y = x.clone()
        result = READS[read](y)
        with torch.no_grad():
            WRITES[write](y)
        result.sum().backward()
    assert torch.equal(x.grad, expected.grad)


def test_only_what_is_written_is_copied():
    x = start()
    with allow_mutation_on_saved_tensors() as saved:
        y, z = x.clone(), x.clone()
        results = [y.sin(), z.sin(), y * y]
        y.mul_(2)
        assert len(saved.cloned) == 1 and len(saved.original) == 1
        del results
        assert not saved.cloned and not saved.original


def test_the_block_leaves_nothing():
    with pytest.raises(ValueError, match="stop"), allow_mutation_on_saved_tensors():
        raise ValueError("stop")
    with allow_mutation_on_saved_tensors():
        pass
    y = start().clone()
    result = y.sin().sum()
    with torch.no_grad():
        y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.backward()
