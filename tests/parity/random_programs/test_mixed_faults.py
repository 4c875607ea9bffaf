"""What programs that mix transforms with hooks, kept tensors and views by strides have found: for each kind of fault,
short programs whose last line is compared."""

from tests.parity.random_programs.found import compared

# What stands in front of the lines of a kind.
BEFORE = {
    "gradients of views by strides": "x = T.arange(36., dtype=T.float64).view(12, 3).requires_grad_()",
}
KINDS = {
    "gradients of views by strides": [
        f"o = T.vmap(lambda a: {view}.sin(), in_dims={dim})({given}); g = T.autograd.grad((o * o).sum(), x, "
        "create_graph=True)[0]; o, g, T.autograd.grad((g * g).sum(), x)[0]"
        for view in (
            "(a * 1).as_strided((3, 2), (2, 1))",
            "a[1:].mul(2).as_strided((3, 2), (2, 1))",
            "T.as_strided_copy(a, (3, 2), (2, 1))",
            "T.as_strided_copy(a * 1, (3, 2), (2, 1), 1)",
            "(a * 1)[1:].as_strided((2,), (1,), 0)",
        )
        for dim, given in ((0, "x"), (1, "x"), (1, "x * 1"), (-1, "x[2:]"))
    ]
    + [
        f"T.vmap(T.func.grad(lambda a: ({view} ** 2).sum()), in_dims=1)(x)"
        for view in ("(a * 1).as_strided((3, 2), (2, 1))", "T.as_strided_copy(a, (3, 2), (2, 1))")
    ],
}

test_program = compared(KINDS, BEFORE)
