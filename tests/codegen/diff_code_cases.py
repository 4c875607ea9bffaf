"""Changes of hand-written code: helpers of formulas, kernels, composite functions, shape rules."""

from tests.codegen.diff_project import DiffCase

_FORMULAS = "mindtorch/autograd/formulas.py"
_HELPERS = "def multiply(grad, *factors):\n    return _scaled(grad)\n\n\ndef _scaled(grad):\n    return grad * {}\n"
_ONLY_CAT = ("tensors: multiply(grad, dim)", "tensors: joined(grad, dim)")
_JOINED = "def multiply(grad, *factors): ...\n\n\ndef joined(grad, dim):\n    return grad{}\n"

CODE_CASES = (
    DiffCase(
        "D050",
        "_scaled()",
        "`_scaled` has changed, which formulas of 3 ops use: `max.dim`, `cat`, `select.int`",
        source=(_FORMULAS, _HELPERS.format(2), _HELPERS.format(3)),
    ),
    DiffCase(
        "D050",
        "cat",
        "`joined` has changed, which a formula uses",
        old_edits=(_ONLY_CAT,),
        edits=(_ONLY_CAT,),
        source=(_FORMULAS, _JOINED.format(""), _JOINED.format(" * dim")),
        note="of one op",
    ),
    DiffCase(
        "B030",
        "mul.Tensor",
        "the CPU kernel `mul` has changed",
        edits=(("def mul(input, other, out=None): ...", "def mul(input, other, out=None): return out"),),
    ),
    DiffCase(
        "B031",
        "square",
        "the composite function `square` has changed",
        source=(
            "mindtorch/composite/pointwise.py",
            "def square(input):\n    return input * input\n",
            "def square(input):\n    return input**2\n",
        ),
    ),
    DiffCase(
        "H004",
        "mul.Tensor",
        "the shape rule `broadcast` has changed",
        source=(
            "mindtorch/backends/meta/rules.py",
            "def broadcast(promotion):\n    return promotion\n",
            "def broadcast(promotion):\n    return None\n",
        ),
    ),
)
