"""Entries of ops.yaml that break a rule."""

import pytest

from tests.codegen.project import Case, check_case, write_project

CASES = (
    Case(
        "two outputs of one name",
        """
        - func: f(Tensor self) -> (Tensor values, Tensor values)
          family: pointwise
          dispatch: {CPU: f}
        """,
        "ops.yaml:1:9: error[E023] f has two outputs that are called 'values'",
        "rename one of the two",
    ),
    Case(
        "an input that is called like the output",
        """
        - func: f(Tensor self, int out) -> Tensor
          family: pointwise
          autogen: out
          dispatch: {CPU: f}
        """,
        "ops.yaml:1:28: error[E028] 'out' is what an output of f.out is called",
        "give the input another name, or remove the out= variant",
    ),
    Case(
        "op twice",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: abs}

        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: abs}
        """,
        "ops.yaml:5:9: error[E030] a second op 'abs'",
        "it is already listed on line 1",
    ),
    Case(
        "variant is listed again",
        """
        - func: relu(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          autogen: inplace
        - func: relu_(Tensor(a!) self) -> Tensor(a!)
          family: pointwise
          dispatch: {CPU: f}
        """,
        "ops.yaml:5:9: error[E030] a second op 'relu_'",
        "it is already listed on line 4",
    ),
    Case(
        "dispatch and composite",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: abs}
          composite: abs
        """,
        "ops.yaml:4:3: error[E031] abs has both 'dispatch' and 'composite'",
        "an op made of other ops has no kernels: keep one of the two",
    ),
    Case(
        "the keys of a kernel beside composite",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          shape: broadcast
          dispatch: {CPU: abs}
          composite: abs
        """,
        "ops.yaml:5:3: error[E031] abs has both 'dispatch' and 'composite'",
        "an op made of other ops has no kernels: keep one of the two",
    ),
    Case(
        "two out= variants",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          autogen: out, copied_out
          dispatch: {CPU: abs}
        """,
        "ops.yaml:3:17: error[E037] abs has two out= variants: 'out' and 'copied_out'",
        "remove 'copied_out': the kernel writes to out",
    ),
    Case(
        "an NPU call without an NPU kernel",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: abs}
          aclnn: aclnnAbs(self, out)
        """,
        "ops.yaml:4:3: error[E040] 'aclnn' is the call behind an NPU kernel, and abs has none",
        "add the kernel to dispatch, NPU: ..., or remove 'aclnn'",
    ),
    Case(
        "a call of a view",
        """
        - func: permute(Tensor(a) self, int[] dims) -> Tensor(a)
          family: view
          view: single
          dispatch: {CPU: permute, NPU: permute}
          aclnn: aclnnPermute(self, dims, out)
        """,
        "ops.yaml:5:3: error[E040] permute is a view, which computes nothing",
        "remove 'aclnn': its kernel makes no call",
    ),
    Case(
        "a hidden write to a number",
        """
        - func: norm(Tensor self, Tensor? mean, float eps) -> Tensor
          family: nn
          dispatch: {CPU: norm}
          writes: mean, eps
        """,
        "ops.yaml:4:17: error[E049] 'eps' is nothing that a kernel of norm can change",
        "tensor arguments: self, mean",
    ),
    Case(
        "a write that the schema shows",
        """
        - func: norm(Tensor self, Tensor(a!) mean) -> Tensor
          family: nn
          dispatch: {CPU: norm}
          writes: mean
        """,
        "ops.yaml:4:11: error[E049] the schema of norm says that 'mean' is written",
        "remove 'mean'",
    ),
    Case(
        "a backend in small letters",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {cpu: abs}
        """,
        "ops.yaml:3:14: error[E015] unknown backend 'cpu'",
        "did you mean 'CPU'?",
    ),
    Case(
        "neither dispatch nor composite",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
        """,
        "ops.yaml:1:3: error[E031] abs has no 'dispatch', 'composite' or 'decomposition'",
        "name its kernels (dispatch), or write it in other ops: as an expression (decomposition) or a function "
        "(composite)",
    ),
    Case(
        "view without alias",
        """
        - func: t(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          view: single
        """,
        "ops.yaml:4:9: error[E032] t is a view but returns no alias",
        "write 'Tensor(a) self' and '-> Tensor(a)'",
    ),
    Case(
        "single view of a list",
        """
        - func: unbind(Tensor(a -> *) self) -> Tensor(a)[]
          family: pointwise
          dispatch: {CPU: f}
          view: single
        """,
        "ops.yaml:4:9: error[E032] unbind returns Tensor[]: not 'single'",
        "multi: a list of views; single and detach: one view",
    ),
    Case(
        "multi view of one tensor",
        """
        - func: t(Tensor(a) self) -> Tensor(a)
          family: pointwise
          dispatch: {CPU: f}
          view: multi
        """,
        "ops.yaml:4:9: error[E032] t returns Tensor: not 'multi'",
        "multi: a list of views; single and detach: one view",
    ),
    Case(
        "alias without view",
        """
        - func: t(Tensor(a) self) -> Tensor(a)
          family: pointwise
          dispatch: {CPU: f}
        """,
        "ops.yaml:1:9: error[E033] t returns an alias but has no 'view'",
        "add 'view: single' (or multi, detach)",
    ),
    Case(
        "numbers names no argument",
        """
        - func: mul.Tensor(Tensor self, Tensor other) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          numbers: othr
        """,
        "ops.yaml:4:12: error[E034] 'othr' is no tensor argument of mul.Tensor",
        "did you mean 'other'?",
    ),
    Case(
        "numbers names an int",
        """
        - func: scale(Tensor self, int factor) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          numbers: factor
        """,
        "ops.yaml:4:12: error[E034] 'factor' is no tensor argument of scale",
        "tensor arguments: self",
    ),
    Case(
        "a Python name of nothing",
        """
        - func: fill_(Tensor(a!) self, Tensor src) -> Tensor(a!)
          family: pointwise
          dispatch: {CPU: f}
          python_names: {sorce: other}
        """,
        "ops.yaml:4:18: error[E042] 'sorce' is no argument of fill_",
        "did you mean 'src'?",
    ),
    Case(
        "a Python name that is taken",
        """
        - func: fill_(Tensor(a!) self, Tensor src, Tensor other) -> Tensor(a!)
          family: pointwise
          dispatch: {CPU: f}
          python_names: {src: other}
        """,
        "ops.yaml:4:23: error[E042] fill_ has another argument 'other'",
        "names of arguments differ",
    ),
    Case(
        "operator bound twice",
        """
        - func: add(Tensor self, Tensor other) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          operators: __add__, __radd__
        - func: plus(Tensor self, Tensor other) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          operators: __add__
        """,
        "ops.yaml:8:14: error[E035] '__add__' is already bound to add",
        "a Python operator calls one op",
    ),
    Case(
        "in-place operator without variant",
        """
        - func: add(Tensor self, Tensor other) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          operators: __add__, __iadd__
        """,
        "ops.yaml:4:23: error[E035] '__iadd__' needs an in-place variant, and add has none",
        "add 'autogen: inplace'",
    ),
    Case(
        "inplace derived and given",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          autogen: out, inplace
          inplace: abs_(Tensor(a!) self) -> Tensor(a!)
        """,
        "ops.yaml:4:17: error[E037] 'inplace' is both derived and given",
        "remove it from autogen, or remove the key 'inplace'",
    ),
    Case(
        "inplace without self",
        """
        - func: linear(Tensor input) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          autogen: inplace
        """,
        "ops.yaml:4:12: error[E025] no in-place variant can be derived from linear",
        "an in-place op writes to a tensor named 'self'",
    ),
    Case(
        "results in arguments only",
        """
        - func: abs.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
          family: pointwise
          dispatch: {CPU: f}
        """,
        "ops.yaml:1:9: error[E027] abs.out writes its results to arguments, and no schema of the entry returns them",
        "'func' is the schema without out arguments; this one goes under 'out', if 'autogen: out' gives another",
    ),
    Case(
        "inplace of another op",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          inplace: neg_(Tensor(a!) self) -> Tensor(a!)
        """,
        "ops.yaml:4:12: error[E027] 'neg' is another op than 'abs'",
        "list it as an entry of its own",
    ),
    Case(
        "inplace is functional",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          inplace: abs.other(Tensor self) -> Tensor
        """,
        "ops.yaml:4:12: error[E027] the schema under 'inplace' is not that of an inplace variant but functional",
        "it needs a name that ends in '_'",
    ),
    Case(
        "out is in-place",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          out: abs_(Tensor(a!) self) -> Tensor(a!)
        """,
        "ops.yaml:4:8: error[E027] the schema under 'out' is not that of an out variant but inplace",
        "it needs '*, Tensor(a!) out'",
    ),
    Case(
        "out takes other inputs",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          out: abs.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)
        """,
        "ops.yaml:4:8: error[E027] abs.out does not take the same inputs as abs",
        "the functional schema is abs(Tensor self) -> Tensor",
    ),
    Case(
        "out has another name for an argument",
        """
        - func: sum.dim_IntList(Tensor self, int[1]? axis) -> Tensor
          family: reduction
          dispatch: {CPU: f}
          out: sum.IntList_out(Tensor self, int[1]? dim, *, Tensor(a!) out) -> Tensor(a!)
        """,
        "ops.yaml:4:45: error[E027] sum.IntList_out has an argument 'dim' that sum.dim_IntList does not have",
        "use the names of the functional schema, sum.dim_IntList(Tensor self, int[1]? axis) -> Tensor",
    ),
    Case(
        "inplace has another name for an argument",
        """
        - func: clip(Tensor self, Scalar low) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          inplace: clip_(Tensor(a!) self, Scalar min) -> Tensor(a!)
        """,
        "ops.yaml:4:42: error[E027] clip_ has an argument 'min' that clip does not have",
        "use the names of the functional schema, clip(Tensor self, Scalar low) -> Tensor",
    ),
    Case(
        "method without self",
        """
        - func: linear(Tensor input) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          variants: function, method
        """,
        "ops.yaml:4:13: error[E039] linear cannot be a method: it has no tensor 'self'",
        "a method is called on the tensor argument 'self'",
    ),
    Case(
        "method of a number",
        """
        - func: scale(int self, Tensor other) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          variants: method
        """,
        "ops.yaml:4:13: error[E039] scale cannot be a method: it has no tensor 'self'",
        "a method is called on the tensor argument 'self'",
    ),
    Case(
        "factory without dtype",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: f}
          factory: true
        """,
        "ops.yaml:4:3: error[E040] abs is no factory: it has no 'dtype' argument",
        "remove 'factory'",
    ),
    Case(
        "composite with shape",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          composite: abs
          shape: same
        """,
        "ops.yaml:4:3: error[E040] 'shape' is about a kernel, and abs is composite",
        "remove 'shape'",
    ),
    Case(
        "composite view",
        """
        - func: t(Tensor(a) self) -> Tensor(a)
          family: pointwise
          composite: t
          view: single
        """,
        "ops.yaml:4:3: error[E040] 'view' is about a kernel, and t is composite",
        "remove 'view'",
    ),
    Case(
        "composite with aclnn",
        """
        - func: abs(Tensor self) -> Tensor
          family: pointwise
          composite: abs
          aclnn: aclnnAbs(self, out)
        """,
        "ops.yaml:4:3: error[E040] 'aclnn' is about a kernel, and abs is composite",
        "remove 'aclnn'",
    ),
    Case(
        "overloads in two families",
        """
        - func: sum(Tensor self) -> Tensor
          family: reduction
          dispatch: {CPU: sum}
        - func: sum.dim(Tensor self, int dim) -> Tensor
          family: pointwise
          dispatch: {CPU: sum_dim}
        """,
        "ops.yaml:5:11: error[E041] sum.dim is in another family than sum",
        "overloads stay together: write reduction",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_broken_rule(case, tmp_path):
    write_project(tmp_path, ops=case.text, derivatives="[]")
    check_case(case, tmp_path)
