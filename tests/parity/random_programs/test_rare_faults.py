"""What programs of rarer parts have found (cells, sparse tensors, stored gradients): for each kind of fault, short
programs whose last line is compared."""

from tests.parity.random_programs.found import compared

BEFORE = {
    "states of cells": "def tried(f):\n    try: return f()[0].shape\n"
    "    except (RuntimeError, TypeError, ValueError) as e: return type(e).__name__, str(e)",
    "stacks of sparse tensors": "d = T.ones(2, 3); s = d.to_sparse()\ndef tried(f):\n    try: return f().to_dense()\n"
    "    except RuntimeError as e: return str(e)",
    "gradients of sparse tensors": "d = T.ones(2); s = d.to_sparse()",
}
KINDS = {
    "states of cells": [
        f"tried(lambda: T.nn.LSTMCell(3, 2)(T.ones({sizes}), {state}))"
        for sizes in ("1, 3", "3")
        for state in ("T.ones(2)", "T.ones(2, 2)", "T.ones(2, 1, 2)", "(T.ones(1, 2),) * 2", "(T.ones(2),) * 2", "None")
    ],
    "stacks of sparse tensors": [
        f"tried(lambda: T.stack({tensors}))"
        for tensors in ("[s, d]", "[s, s]", "[s, d[0]]", "[s, s.transpose(0, 1)]", "[s, s, d], 1", "[s, s * 2], -1")
    ],
    "gradients of sparse tensors": [f"s.grad = {grad}" for grad in ("d", "s", "d.double()", "T.ones(3)")]
    + ["s.grad = s; s.grad.is_sparse", "d.grad = s; d.grad.is_sparse"],
}

test_program = compared(KINDS, BEFORE)
