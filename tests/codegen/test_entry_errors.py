"""Entries with wrong keys or values."""

import pytest

from tests.codegen.project import Case, check_case, write_project

CASES = (
    Case(
        "unknown key",
        """
        - func: abs(Tensor self) -> Tensor
          familly: pointwise
          family: pointwise
          dispatch: {CPU: abs}
        """,
        "ops.yaml:2:3: error[E012] unknown key 'familly'",
        "did you mean 'family'?",
    ),
    Case(
        "unlike any key",
        """
        - func: abs(Tensor self) -> Tensor
          xyzzy: pointwise
          family: pointwise
          dispatch: {CPU: abs}
        """,
        "ops.yaml:2:3: error[E012] unknown key 'xyzzy'",
        "the keys are listed at the head of the file",
    ),
    Case(
        "merge key",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: abs}
          <<: {}
        """,
        "ops.yaml:4:3: error[E012] unknown key '<<'",
        "the keys are listed at the head of the file",
    ),
    Case(
        "duplicate key",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: abs}
          family: view
        """,
        "ops.yaml:4:3: error[E011] duplicate key 'family'",
        "it is already given on line 2",
    ),
    Case(
        "an entry without its dash",
        """
        - func: abs(Tensor self) -> Tensor
          func: exp(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: abs}
        """,
        "ops.yaml:2:3: error[E011] duplicate key 'func'",
        "it is already given on line 1; a new entry starts with '- func:'",
    ),
    Case(
        "no func",
        """
        - family: pointwise
          dispatch: {CPU: abs}
        """,
        "ops.yaml:1:3: error[E013] the entry has no 'func'",
        "add 'func': PyTorch's schema string of the functional form, or of the only form",
    ),
    Case(
        "no family",
        """
        - func: abs(Tensor self) -> Tensor
          dispatch: {CPU: abs}
        """,
        "ops.yaml:1:3: error[E013] the entry has no 'family'",
        "add 'family': the group of ops, which names the files that the op lives in",
    ),
    Case(
        "func without value",
        """
        - func:
          family: pointwise
          dispatch: {CPU: abs}
        """,
        "ops.yaml:1:8: error[E014] 'func' must be a schema string",
        "it is PyTorch's schema string of the functional form, or of the only form",
    ),
    Case(
        "func is a list",
        """
        - func: [abs]
          family: pointwise
          dispatch: {CPU: abs}
        """,
        "ops.yaml:1:9: error[E014] 'func' must be a schema string",
        "it is PyTorch's schema string of the functional form, or of the only form",
    ),
    Case(
        "unknown family",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwize
          dispatch: {CPU: f}
        """,
        "ops.yaml:2:11: error[E015] unknown value 'pointwize' of 'family'",
        "did you mean 'pointwise'?",
    ),
    Case(
        "family is a list",
        """
        - func: abs(Tensor self) -> Tensor
          family: [pointwise]
          dispatch: {CPU: f}
        """,
        "ops.yaml:2:11: error[E014] 'family' must be one word",
        "it is the group of ops, which names the files that the op lives in",
    ),
    Case(
        "unknown variant",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          variants: function, methods
        """,
        "ops.yaml:4:23: error[E015] unknown value 'methods' of 'variants'",
        "did you mean 'method'?",
    ),
    Case(
        "variant given twice",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          variants: function, function
        """,
        "ops.yaml:4:23: error[E016] 'function' is given twice in 'variants'",
        "remove one",
    ),
    Case(
        "variants is a list",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          variants: [function, method]
        """,
        "ops.yaml:4:13: error[E014] 'variants' must be words separated by commas",
        "write variants: a, b",
    ),
    Case(
        "empty word",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          variants: function,
        """,
        "ops.yaml:4:13: error[E014] 'variants' must be words separated by commas",
        "it is function, method, or both (default: function)",
    ),
    Case(
        "unknown autogen",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          autogen: in_place
        """,
        "ops.yaml:4:12: error[E015] unknown value 'in_place' of 'autogen'",
        "did you mean 'inplace'?",
    ),
    Case(
        "unknown python_module",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          python_module: nnn
        """,
        "ops.yaml:4:18: error[E015] unknown value 'nnn' of 'python_module'",
        "did you mean 'nn'?",
    ),
    Case(
        "python is not hidden",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          python: visible
        """,
        "ops.yaml:4:11: error[E015] unknown value 'visible' of 'python'",
        "it is one of: hidden, absent",
    ),
    Case(
        "promotion is a sentence",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          promotion: like the input
        """,
        "ops.yaml:4:14: error[E014] 'promotion' must be one word",
        "it is the rule that gives the result's dtype",
    ),
    Case(
        "shape is a number",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          shape: 3
        """,
        "ops.yaml:4:10: error[E014] 'shape' must be one word",
        "it is the rule that gives the result's shape, or none; with promotion it makes the meta kernel",
    ),
    Case(
        "samples is a list",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          samples: [unary]
        """,
        "ops.yaml:4:12: error[E014] 'samples' must be one word",
        "it is the generator of test inputs in tests/samples.py, or none",
    ),
    Case(
        "unknown view",
        """
        - func: t(Tensor(a) self) -> Tensor(a)
          family: pointwise
          dispatch: {CPU: f}
          view: double
        """,
        "ops.yaml:4:9: error[E015] unknown value 'double' of 'view'",
        "it is one of: single, multi, detach",
    ),
    Case(
        "unknown tag",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          tags: core, pointwize
        """,
        "ops.yaml:4:15: error[E015] unknown value 'pointwize' of 'tags'",
        "did you mean 'pointwise'?",
    ),
    Case(
        "unknown dtypes",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          dtypes: floats
        """,
        "ops.yaml:4:11: error[E015] unknown value 'floats' of 'dtypes'",
        "did you mean 'float'?",
    ),
    Case(
        "unknown operator",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          operators: __absolute__
        """,
        "ops.yaml:4:14: error[E015] unknown value '__absolute__' of 'operators'",
        "did you mean '__abs__'?",
    ),
    Case(
        "factory is false",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          factory: false
        """,
        "ops.yaml:4:12: error[E014] 'factory' must be true",
        "leave it out, or write true",
    ),
    Case(
        "dispatch is a word",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: abs
        """,
        "ops.yaml:3:13: error[E014] 'dispatch' must be a mapping of backends to function names, {CPU: add}",
        "write dispatch: {CPU: name}",
    ),
    Case(
        "unknown backend",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {GPU: abs}
        """,
        "ops.yaml:3:14: error[E015] unknown backend 'GPU'",
        "did you mean 'NPU'?",
    ),
    Case(
        "kernel is no name",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: abs-kernel}
        """,
        "ops.yaml:3:19: error[E014] 'dispatch' must be a mapping of backends to function names, {CPU: add}",
        "it is the kernel of each backend",
    ),
    Case(
        "kernel is a keyword",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: lambda}
        """,
        "ops.yaml:3:19: error[E014] 'dispatch' must be a mapping of backends to function names, {CPU: add}",
        "it is the kernel of each backend",
    ),
    Case(
        "empty divergence",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          divergence:
        """,
        "ops.yaml:4:14: error[E014] 'divergence' must be a text",
        "it is why the schema is not PyTorch's",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_wrong_entry(case, tmp_path):
    write_project(tmp_path, ops=case.text, derivatives="[]")
    check_case(case, tmp_path)
