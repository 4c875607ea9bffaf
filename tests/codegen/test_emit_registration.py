# ruff: noqa: E501 (schemas are as long as PyTorch writes them)
"""What generated/registry, the stubs, the methods and the type stubs say about ops."""

import ast

import pytest

from tests.codegen.emitted import definition, emit_project, expected


def test_rows_and_kernels(tmp_path):
    ops = """
        - func: mul.Tensor(Tensor self, Tensor other) -> Tensor
          family: pointwise
          variants: function, method
          autogen: inplace, out
          numbers: other
          operators: __mul__, __imul__
          dispatch: {CPU: mul}

        - func: square(Tensor self) -> Tensor
          family: pointwise
          autogen: inplace, out
          composite: square
          autocast: fp32
    """
    derivatives = """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad * other
          other: grad * self
          result: self_t * other_p + other_t * self_p
    """
    composite_source = """
        def square(input):
            return input * input
    """
    cpu_source = """
        def mul(input, other, out=None):
            return input
    """
    files = emit_project(
        tmp_path,
        ops,
        derivatives,
        mindtorch__composite__pointwise=composite_source,
        mindtorch__backends__cpu__pointwise=cpu_source,
    )
    assert definition(files, "generated/registry/pointwise.py", "OPS") == expected("""
        OPS = (
            (SCHEMAS["mul.Tensor"], functions.mul, {"jvp": forward_ad.mul, "differentiable": True, "takes_numbers": True}),
            (
                SCHEMAS["mul_.Tensor"],
                functions.mul_,
                {"jvp": forward_ad.mul, "differentiable": True, "kernels": "mul.Tensor", "takes_numbers": True},
            ),
            (SCHEMAS["mul.out"], functions.mul_out, {"kernels": "mul.Tensor", "takes_numbers": True}),
            (SCHEMAS["square"], functions.square, {"composite": True, "autocast": {"cpu": "fp32"}}),
            (SCHEMAS["square_"], functions.square_, {"composite": True}),
            (SCHEMAS["square.out"], functions.square_out, {"composite": True}),
        )
        """)
    assert definition(files, "generated/registry/pointwise.py", "KERNELS") == expected("""
        KERNELS = {
            "CPU": {
                "mul.Tensor": cpu_kernels.mul,
            },
        }
        """)
    assert definition(files, "generated/schemas.py", "SCHEMAS") == expected("""
        SCHEMAS = {
            # pointwise
            "mul.Tensor": "mul.Tensor(Tensor self, Tensor other) -> Tensor",
            "mul_.Tensor": "mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
            "mul.out": "mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
            "square": "square(Tensor self) -> Tensor",
            "square_": "square_(Tensor(a!) self) -> Tensor(a!)",
            "square.out": "square.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
        }
        """)


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ("Tensor self, Tensor other, *, Scalar alpha=1", 'rules.broadcast("default", operands=2)'),
        ("Tensor self, Scalar other, Scalar alpha=1", 'rules.broadcast("default", operands=2)'),
        ("Tensor self, Tensor other, Scalar beta=1", 'rules.broadcast("default")'),
        ("Tensor self, Tensor one, Tensor two, *, Scalar value=1", 'rules.broadcast("default")'),
        ("Tensor self, Scalar? min=None, Scalar? max=None", 'rules.broadcast("default")'),
        ("Tensor self, *, str? mode", 'rules.broadcast("default")'),
    ],
)
def test_a_factor_is_no_operand(arguments, rule, tmp_path):
    ops = f"""
        - func: f({arguments}) -> Tensor
          family: pointwise
          promotion: default
          shape: broadcast
          dispatch: {{CPU: f}}
    """
    assert f'"f": {rule},' in emit_project(tmp_path, ops)["generated/registry/pointwise.py"]


def test_a_long_stub_is_folded(tmp_path):
    names = [f"a_rather_long_name_{number}" for number in range(6)]
    schema = f"f(Tensor self, {', '.join(f'Scalar {name}=1' for name in names)}) -> Tensor"
    ops = f"""
        - func: {schema}
          family: pointwise
          dispatch: {{CPU: f, NPU: f}}
          aclnn: aclnnAddcmul(self, self, self, {names[0]}, out); {' '.join(names)}
    """
    files = emit_project(tmp_path, ops)
    text = definition(files, "generated/stubs/npu/pointwise.py", "f")
    assert max(map(len, text.splitlines())) <= 120
    docstring = ast.get_docstring(ast.parse(text).body[0], clean=False)
    function = "aclnnAddcmul(aclTensor *self, aclTensor *tensor1, aclTensor *tensor2, aclScalar *value, aclTensor *out)"
    assert " ".join(docstring.split()) == (
        f"{schema} ACLNN: aclnnAddcmul(self, self, self, {names[0]}, out) {function} "
        f"aclnn('aclnnAddcmul', 'TTTST') {' '.join(names).capitalize()}."
    )
    (call,) = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    assert [argument.value for argument in call.args][2] == f"f(input, {', '.join(names)})"


def test_stub_of_a_missing_kernel(tmp_path):
    ops = """
        - func: eq.Tensor(Tensor self, Tensor other) -> Tensor
          family: pointwise
          variants: function, method
          operators: __eq__
          dispatch: {CPU: eq, NPU: eq}
          aclnn: aclnnEqTensor(self, other, out)

        - func: eq.Scalar(Tensor self, Scalar other) -> Tensor
          family: pointwise
          variants: function, method
          dispatch: {CPU: eq, NPU: eq}
          aclnn: aclnnEqScalar(self, other, out); integers only
    """
    files = emit_project(tmp_path, ops)
    assert definition(files, "generated/stubs/cpu/pointwise.py", "eq") == expected('''
        def eq(input, other):
            """eq.Tensor(Tensor self, Tensor other) -> Tensor
            eq.Scalar(Tensor self, Scalar other) -> Tensor
            """
            raise missing_kernel("eq.Tensor", "CPU", "eq(input, other)", "mindtorch/backends/cpu/pointwise.py")
        ''')
    assert definition(files, "generated/stubs/npu/pointwise.py", "eq") == expected('''
        def eq(input, other):
            """eq.Tensor(Tensor self, Tensor other) -> Tensor
            eq.Scalar(Tensor self, Scalar other) -> Tensor

            ACLNN for eq.Tensor: aclnnEqTensor(self, other, out)
                aclnnEqTensor(aclTensor *self, aclTensor *other, aclTensor *out)
                aclnn('aclnnEqTensor', 'TTT')
                Only the kernel knows the shape of its result.
            ACLNN for eq.Scalar: aclnnEqScalar(self, other, out)
                aclnnEqScalar(aclTensor *self, aclScalar *other, aclTensor *out)
                aclnn('aclnnEqScalar', 'TST')
                Integers only.
            """
            raise missing_kernel("eq.Tensor", "NPU", "eq(input, other)", "mindtorch/backends/npu/pointwise.py")
        ''')
    assert definition(files, "generated/npu_kernels.py", "MODULES") == "MODULES = {}\n"


def test_methods_and_operators(tmp_path):
    ops = """
        - func: mul.Tensor(Tensor self, Tensor other) -> Tensor
          family: pointwise
          variants: function, method
          autogen: inplace, out
          numbers: other
          operators: __mul__, __imul__
          dispatch: {CPU: mul}

        - func: eq.Tensor(Tensor self, Tensor other) -> Tensor
          family: pointwise
          variants: function, method
          operators: __eq__
          dispatch: {CPU: eq}

        - func: eq.Scalar(Tensor self, Scalar other) -> Tensor
          family: pointwise
          variants: function, method
          dispatch: {CPU: eq}

        - func: where.self(Tensor condition, Tensor self, Tensor other) -> Tensor
          family: pointwise
          variants: function, method
          dispatch: {CPU: where}
    """
    files = emit_project(tmp_path, ops)
    assert definition(files, "generated/methods/pointwise.py", "PointwiseMethods") == expected('''
        class PointwiseMethods:
            """Methods and operators of the pointwise ops."""

            mul = as_method(pointwise_ops.mul)
            __mul__ = as_operator(pointwise_ops.mul)
            mul_ = as_method(pointwise_ops.mul_)
            __imul__ = as_operator(pointwise_ops.mul_)
            eq = as_method(pointwise_ops.eq)
            __eq__ = as_operator(pointwise_ops.eq)

            def where(self, condition, other):
                return pointwise_ops.where(condition, self, other)
        ''')


def test_names_of_arguments_in_python(tmp_path):
    """The schema keeps PyTorch's; the function has those of PyTorch's Python, and the registry knows both."""
    ops = """
        - func: copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)
          family: pointwise
          variants: method
          python_names: {src: other}
          dispatch: {CPU: copy}
    """
    files = emit_project(tmp_path, ops)
    registry, functions = (files[f"generated/{kind}/pointwise.py"] for kind in ("registry", "ops"))
    assert '(SCHEMAS["copy_"], functions.copy_, {"python_names": {"src": "other"}, "writes": (0,)})' in registry
    assert "def copy_(input, other, non_blocking=False):" in functions and "src=" not in functions
