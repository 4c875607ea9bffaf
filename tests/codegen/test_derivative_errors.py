"""Entries of derivatives.yaml that break a rule."""

import pytest

from tests.codegen.project import DERIVATIVES, OPS, Case, check_case, diagnostics, write_project

CASES = (
    Case(
        "unknown op",
        """
        - name: mull.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          other: grad
        """,
        "derivatives.yaml:1:9: error[E050] no op 'mull.Tensor' in ops.yaml",
        "did you mean 'mul.Tensor'? if the op is gone, remove this entry, too",
    ),
    Case(
        "unknown op without its overload",
        """
        - name: mull(Tensor self, Tensor other) -> Tensor
          self: grad
          other: grad
        """,
        "derivatives.yaml:1:9: error[E050] no op 'mull' in ops.yaml",
        "did you mean 'mul.Tensor'? if the op is gone, remove this entry, too",
    ),
    Case(
        "op without any like it",
        """
        - name: zebra(Tensor self) -> Tensor
          self: grad
        """,
        "derivatives.yaml:1:9: error[E050] no op 'zebra' in ops.yaml",
        "if the op is gone, remove this entry, too",
    ),
    Case(
        "number as a gradient",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: 0
          other: grad
        """,
        "derivatives.yaml:2:9: error[E071] '0' is no tensor",
        "write non_differentiable, or zeros_like(grad) for zeros",
    ),
    Case(
        "None as a tangent",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          other: grad
          result: None
        """,
        "derivatives.yaml:4:11: error[E071] 'None' is no tensor",
        "leave it out",
    ),
    Case(
        "another schema",
        """
        - name: mul.Tensor(Tensor self, Tensor othr) -> Tensor
          self: grad
          other: grad
        """,
        "derivatives.yaml:1:9: error[E051] the schema of 'mul.Tensor' is not the one in ops.yaml",
        "write mul.Tensor(Tensor self, Tensor other) -> Tensor",
    ),
    Case(
        "no name",
        """
        - self: grad
        """,
        "derivatives.yaml:1:3: error[E013] the entry has no 'name'",
        "add 'name': the schema string of the op in ops.yaml",
    ),
    Case(
        "second entry",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          other: grad
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          other: grad
        """,
        "derivatives.yaml:4:9: error[E052] a second derivative of mul.Tensor",
        "it is already listed on line 1",
    ),
    Case(
        "unknown argument",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          othr: grad
          other: grad
        """,
        "derivatives.yaml:3:3: error[E053] 'othr' is no argument or output of mul.Tensor, and no key",
        "did you mean 'other'?",
    ),
    Case(
        "misspelt key",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          other: grad
          output_differentiable: [True]
        """,
        "derivatives.yaml:4:3: error[E053] 'output_differentiable' is no argument or output of mul.Tensor, and no key",
        "did you mean 'output_differentiability'?",
    ),
    Case(
        "two outputs in one key",
        """
        - name: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
          self: grad
          output_differentiability: [True, False]
          values, self: self_t
        """,
        "derivatives.yaml:4:3: error[E053] 'values' is no argument or output of max.dim, and no key",
        "every output has a key of its own",
    ),
    Case(
        "misspelt argument",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          othr: grad
        """,
        "derivatives.yaml:3:3: error[E053] 'othr' is no argument or output of mul.Tensor, and no key",
        "did you mean 'other'?",
    ),
    Case(
        "Python name of an argument",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          input: grad
          other: grad
        """,
        "derivatives.yaml:2:3: error[E053] 'input' is no argument or output of mul.Tensor, and no key",
        "in formulas the argument is called 'self'",
    ),
    Case(
        "misspelt name",
        """
        - nmae: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          other: grad
        """,
        "derivatives.yaml:1:3: error[E012] unknown key 'nmae'",
        "did you mean 'name'?",
    ),
    Case(
        "misspelt output",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          other: grad
          reslt: self_t
        """,
        "derivatives.yaml:4:3: error[E053] 'reslt' is no argument or output of mul.Tensor, and no key",
        "did you mean 'result'?",
    ),
    Case(
        "gradient of a number",
        """
        - name: scale(Tensor self, Tensor? weight, int factor, *, bool fast=False) -> Tensor
          self: grad
          weight: grad
          factor: grad
        """,
        "derivatives.yaml:4:3: error[E057] 'factor' is no tensor but int: it has no gradient",
        "remove the formula",
    ),
    Case(
        "no formula for an argument",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
        """,
        "derivatives.yaml:1:9: error[E054] no formula for 'other' of mul.Tensor",
        "add 'other:' with a formula, non_differentiable or not_implemented",
    ),
    Case(
        "no formula at all",
        """
        - name: cat(Tensor[] tensors, int dim=0) -> Tensor
        """,
        "derivatives.yaml:1:9: error[E054] no formula for 'tensors' of cat",
        "add 'tensors:' with a formula, non_differentiable or not_implemented",
    ),
    Case(
        "formula twice",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self, other: (grad, grad)
          other: grad
        """,
        "derivatives.yaml:3:3: error[E055] a second formula for 'other'",
        "every argument and output has one formula",
    ),
    Case(
        "argument twice in a key",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self, self: (grad, grad)
          other: grad
        """,
        "derivatives.yaml:2:3: error[E055] a second formula for 'self'",
        "every argument and output has one formula",
    ),
    Case(
        "formula is a list",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: [grad]
          other: grad
        """,
        "derivatives.yaml:2:9: error[E014] the formula of 'self' must be a Python expression",
        "put it in quotes if it starts with a sign or bracket",
    ),
    Case(
        "formula is empty",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self:
          other: grad
        """,
        "derivatives.yaml:2:8: error[E014] the formula of 'self' must be a Python expression",
        "write a formula, or non_differentiable or not_implemented, which say that there is none",
    ),
    Case(
        "too few differentiable outputs",
        """
        - name: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
          self: grad
          output_differentiability: [True]
        """,
        "derivatives.yaml:3:29: error[E056] 'output_differentiability' has 1 values for 2 outputs",
        "one True or False for each output",
    ),
    Case(
        "output_differentiability is a word",
        """
        - name: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
          self: grad
          output_differentiability: True
        """,
        "derivatives.yaml:3:29: error[E014] 'output_differentiability' must be a list of True and False",
        "it is which outputs have a gradient (default: all)",
    ),
    Case(
        "output_differentiability has a number",
        """
        - name: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
          self: grad
          output_differentiability: [True, 0]
        """,
        "derivatives.yaml:3:36: error[E014] 'output_differentiability' must be a list of True and False",
        "it is which outputs have a gradient (default: all)",
    ),
    Case(
        "tangent of a composite op",
        """
        - name: square(Tensor self) -> Tensor
          self: grad
          result: self_t
        """,
        "derivatives.yaml:3:11: error[E058] square is composite: its tangent comes from the ops that it is made of",
        "remove the forward formula, or give the op kernels (dispatch)",
    ),
    Case(
        "derivative of an out op",
        """
        - name: mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
          self: grad
          other: grad
        """,
        "derivatives.yaml:1:9: error[E058] mul.out is an out= op: it cannot be differentiated",
        "write the derivative of the functional op",
    ),
    Case(
        "tuple of another length",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self, other: (grad, grad, grad)
        """,
        "derivatives.yaml:2:16: error[E067] 3 gradients for 'self, other'",
        "give one for each, in the order of the key",
    ),
    Case(
        "tuple for one tensor",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: (grad, grad)
          other: grad
        """,
        "derivatives.yaml:2:9: error[E067] 2 gradients for 'self'",
        "give one for each, in the order of the key",
    ),
    Case(
        "element-wise with two inputs",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          other: grad
          result: auto_element_wise
        """,
        "derivatives.yaml:4:11: error[E068] auto_element_wise needs exactly one argument with a formula",
        "write the formula out with <argument>_t and <argument>_p, or not_implemented",
    ),
    Case(
        "element-wise before the formula is written",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: not_implemented
          other: non_differentiable
          result: auto_element_wise
        """,
        "derivatives.yaml:4:11: error[E068] auto_element_wise needs exactly one argument with a formula",
        "write the formula of 'self' (line 2) first, which is not_implemented: this one is derived from it",
    ),
    Case(
        "element-wise with two inputs before the formulas are written",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self, other: not_implemented
          result: auto_element_wise
        """,
        "derivatives.yaml:3:11: error[E068] auto_element_wise needs exactly one argument with a formula",
        "write the formula out with <argument>_t and <argument>_p, or not_implemented",
    ),
    Case(
        "linear before the formulas are written",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: not_implemented
          other: not_implemented
          result: auto_linear
        """,
        "derivatives.yaml:4:11: error[E068] auto_linear needs an argument with a formula",
        "write the formula of 'self' (line 2) and 'other' (line 3) first, which is not_implemented: "
        "this one is derived from it",
    ),
    Case(
        "linear without formula",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: non_differentiable
          other: non_differentiable
          result: auto_linear
        """,
        "derivatives.yaml:4:11: error[E068] auto_linear needs an argument with a formula",
        "remove it, or write a formula for an argument",
    ),
    Case(
        "forward formula of indices",
        """
        - name: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
          self: grad
          indices: self_t
          output_differentiability: [True, False]
        """,
        "derivatives.yaml:3:12: error[E070] the output 'indices' has no gradient, so it has no forward formula",
        "remove it, or change output_differentiability",
    ),
    Case(
        "node is no class name",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          other: grad
          node: mulBackward
        """,
        "derivatives.yaml:4:9: error[E059] 'mulBackward' is no class name",
        "it starts with a capital letter",
    ),
    Case(
        "node is used twice",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          other: grad
          node: CatBackward0
        - name: cat(Tensor[] tensors, int dim=0) -> Tensor
          tensors: "[grad]"
        """,
        "derivatives.yaml:5:9: error[E059] the node 'CatBackward0' already belongs to mul.Tensor",
        "name another class with 'node'",
    ),
    Case(
        "backward keyword in forward",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          other: grad
          result: non_differentiable
        """,
        "derivatives.yaml:4:11: error[E065] 'non_differentiable' is no forward formula",
        "a forward formula is an expression or one of: auto_element_wise, auto_linear, not_implemented, refused",
    ),
    Case(
        "forward keyword in backward",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: auto_linear
          other: grad
        """,
        "derivatives.yaml:2:9: error[E065] 'auto_linear' is no backward formula",
        "a backward formula is an expression or one of: constant, non_differentiable, not_implemented, refused",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_broken_rule(case, tmp_path):
    write_project(tmp_path, derivatives=case.text)
    check_case(case, tmp_path)


@pytest.mark.parametrize(
    ("formula", "shape", "error"),
    [
        ("", "broadcast", "derivatives.yaml:2:8: error[E014] the formula of 'self' must be a Python expression"),
        ("grad", "reduce", "derivatives.yaml:3:11: error[E068] auto_element_wise is for ops that compute each element "
         "by itself: the shape rule is 'reduce'"),
        ("grad", "broadcast", ""),
    ],
)  # fmt: skip
def test_auto_element_wise(formula, shape, error, tmp_path):
    """A formula that is missing is reported once; what an element depends on is what the shape rule says."""
    op = "total(Tensor self) -> Tensor"
    entry = f"- func: {op}\n  family: reduction\n  promotion: first\n  shape: {shape}\n  dispatch: {{CPU: f}}\n"
    write_project(tmp_path, entry, f"- name: {op}\n  self: {formula}\n  result: auto_element_wise\n")
    assert [str(found).splitlines()[0] for found in diagnostics(tmp_path)] == [error] * bool(error)


@pytest.mark.parametrize(
    ("argument", "hints"),
    [
        (
            "other",
            [
                "write mul.Tensor(Tensor self, Tensor values) -> Tensor",
                "the argument is called 'values' now",
                "the argument is called 'values' now",
            ],
        ),
        ("self", ["write mul.Tensor(Tensor values, Tensor other) -> Tensor", "the argument is called 'values' now"]),
    ],
)
def test_a_renamed_argument_is_recognised(tmp_path, argument, hints):
    ops = OPS.replace(
        "mul.Tensor(Tensor self, Tensor other)", "mul.Tensor(Tensor self, Tensor other)".replace(argument, "values")
    )
    write_project(tmp_path, ops.replace("  variants: function, method\n  autogen: inplace, out\n", ""), DERIVATIVES)
    assert [found.hint for found in diagnostics(tmp_path) if "values" in found.hint][: len(hints)] == hints
