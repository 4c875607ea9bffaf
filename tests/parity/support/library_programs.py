"""What the tests of `mindtorch.library` share: programs that define ops, compared in both libraries."""

import re
from itertools import count

import numpy as np

from tests.parity.support.programs import assert_same
from tests.parity.support.programs import programs as checked_programs

# What must differ: the list of torch's many backends, and where things are implemented.
_DIFFERENCES = [
    (r"is only available for these backends.*", "..."),
    (r"Available functions are.*", "..."),
    (r"The valid types are.*", "..."),
    (r"\(with implementation in [^)]*\)", "(...)"),
    (r"!seen_default_arg.*report a bug to PyTorch\. ", ""),
    (r"\bmindtorch\.(?=Tensor|dtype|device)", "torch."),
]
_number = count()


def neutral(text):
    for pattern, replacement in _DIFFERENCES:
        text = re.sub(pattern, replacement, text, flags=re.DOTALL)
    return text


def tried(function, *args, **kwargs):
    """What a call returns, or its error as text."""
    try:
        result = function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001  (whatever torch raises is compared)
        return neutral(f"{type(error).__name__}: {error}")
    return neutral(result) if isinstance(result, str) else result


def fresh(name="n"):
    """A namespace that no other test uses; torch keeps what is defined once. The same one for both libraries."""
    return f"{name}{next(_number)}"


def compare(program, *args):
    namespace = fresh()
    assert_same(lambda T: program(T, namespace, *args))


def programs():
    """A decorator for the programs of a module, which get a namespace, and the test that compares each of them."""
    return checked_programs(compare)


# -------------------- an op to try things with --------------------


def make_sin(T, namespace, **options):
    @T.library.custom_op(f"{namespace}::sin", mutates_args=(), **options)
    def sin(x: T.Tensor) -> T.Tensor:
        return T.from_numpy(np.sin(x.detach().numpy()))

    return sin


def with_formula(sin):
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0].cos()

    sin.register_autograd(backward, setup_context=setup_context)
    sin.register_fake(lambda x: x.new_empty(x.shape))
    return sin


def leaf(T):
    return T.linspace(0, 1, 3).requires_grad_()
