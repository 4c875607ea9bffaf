# ruff: noqa: E501 (schemas are as long as PyTorch writes them)
"""The functions that choose among overloads."""

import pytest

import mindtorch
from tests.codegen.emitted import definition, emit_project, expected
from tests.codegen.running import Running


def test_what_is_given_decides(tmp_path):
    ops = """
        - func: sum(Tensor self, *, ScalarType? dtype=None) -> Tensor
          family: reduction
          dispatch: {CPU: sum}

        - func: sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor
          family: reduction
          autogen: out
          dispatch: {CPU: sum_dim}
    """
    files = emit_project(tmp_path, ops)
    assert definition(files, "generated/ops/reduction.py", "sum") == expected('''
        def sum(input=..., dim=..., keepdim=..., *, dtype=None, out=None, axis=None, keepdims=None):
            """sum(input, *, dtype=None)
            sum(input, dim, keepdim=False, *, dtype=None, out=None)
            """
            if axis is not None:
                dim = axis
            if keepdims is not None:
                keepdim = keepdims
            if dim is not ...:
                return sum_dim_IntList(input, dim, False if keepdim is ... else keepdim, dtype=dtype, out=out)
            if keepdim is ... and out is None:
                return sum_default(input, dtype=dtype)
            return raise_no_overload(sum, (sum_default, sum_dim_IntList), locals())
        ''')


def test_types_decide_and_operators_may_fail(tmp_path):
    ops = """
        - func: eq.Tensor(Tensor self, Tensor other) -> Tensor
          family: pointwise
          variants: function, method
          operators: __eq__
          dispatch: {CPU: eq}

        - func: eq.Scalar(Tensor self, Scalar other) -> Tensor
          family: pointwise
          variants: function, method
          dispatch: {CPU: eq}
    """
    files = emit_project(tmp_path, ops)
    assert definition(files, "generated/ops/pointwise.py", "eq") == expected('''
        def eq(input=..., other=...):
            """eq(input, other)"""
            if isinstance(other, Tensor):
                return eq_Tensor(input, other)
            if as_operand(other) is not None:
                return eq_Scalar(input, other)
            return raise_no_overload(eq, (eq_Tensor, eq_Scalar), locals())
        ''')


def test_one_position_with_two_names(tmp_path):
    ops = """
        - func: max(Tensor self) -> Tensor
          family: reduction
          variants: function, method
          dispatch: {CPU: max}

        - func: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
          family: reduction
          variants: function, method
          autogen: out
          dispatch: {CPU: max_dim}

        - func: max.other(Tensor self, Tensor other) -> Tensor
          family: reduction
          variants: function, method
          dispatch: {CPU: max_other}
    """
    files = emit_project(tmp_path, ops)
    assert definition(files, "generated/ops/reduction.py", "max") == expected('''
        def max(input=..., _dim=..., keepdim=..., *, dim=..., other=..., out=None, axis=None, keepdims=None):
            """max(input, other)
            max(input)
            max(input, dim, keepdim=False, *, out=None)
            """
            if axis is not None:
                dim = axis
            if keepdims is not None:
                keepdim = keepdims
            if _dim is not ...:
                if dim is not ... or other is not ...:
                    return raise_unmatched(max, (max_other, max_default, max_dim), (input, _dim, keepdim, other), {"out": out})
                if isinstance(_dim, Tensor) and keepdim is ...:
                    other = _dim
                else:
                    dim = _dim
            if other is not ... and dim is ... and keepdim is ... and out is None:
                return max_other(input, other)
            if dim is not ... and other is ...:
                return max_dim(input, dim, False if keepdim is ... else keepdim, out=out)
            if dim is ... and keepdim is ... and other is ... and out is None:
                return max_default(input)
            return raise_unmatched(max, (max_other, max_default, max_dim), (input, dim, keepdim, other), {"out": out})
        ''')


def test_like_range(tmp_path):
    ops = """
        - func: arange(Scalar end) -> Tensor
          family: factory
          dispatch: {CPU: arange}

        - func: arange.start(Scalar start, Scalar end) -> Tensor
          family: factory
          dispatch: {CPU: arange_start}
    """
    files = emit_project(tmp_path, ops)
    assert definition(files, "generated/ops/factory.py", "arange") == expected('''
        def arange(start=..., end=...):
            """arange(end)
            arange(start, end)
            """
            if start is ... or end is ...:
                given = [value for value in (start, end) if value is not ...]
                if len(given) < 1:
                    return raise_no_overload(arange, (arange_default, arange_start), locals())
                return arange_default(*given)
            return arange_start(start, end)
        ''')


def test_like_range_with_a_step(tmp_path):
    """The overload between the shortest and the longest is not needed; each is given what it takes."""
    ops = """
        - func: arange(Scalar end) -> Tensor
          family: factory
          dispatch: {CPU: arange}

        - func: arange.start(Scalar start, Scalar end) -> Tensor
          family: factory
          dispatch: {CPU: arange_start}

        - func: arange.start_step(Scalar start, Scalar end, Scalar step=1) -> Tensor
          family: factory
          out: arange.start_out(Scalar start, Scalar end, Scalar step=1, *, Tensor(a!) out) -> Tensor(a!)
          dispatch: {CPU: arange_step}
    """
    files = emit_project(tmp_path, ops)
    text = definition(files, "generated/ops/factory.py", "arange")
    assert "def arange(start=..., end=..., step=1, *, out=None):" in text
    assert "    if (start is ... or end is ...) and step == 1:" in text
    assert "        return arange_default(*given)" in text
    assert "    return arange_start_step(start, end, step, out=out)" in text


def test_the_only_default_of_an_argument(tmp_path):
    ops = """
        - func: bernoulli_.Tensor(Tensor(a!) self, Tensor p) -> Tensor(a!)
          family: random
          variants: method
          dispatch: {CPU: bernoulli_tensor}

        - func: bernoulli_.float(Tensor(a!) self, float p=0.5) -> Tensor(a!)
          family: random
          variants: method
          dispatch: {CPU: bernoulli_float}
    """
    files = emit_project(tmp_path, ops)
    assert "def bernoulli_(input=..., p=0.5):" in definition(files, "generated/ops/random.py", "bernoulli_")


def test_the_only_default_is_none(tmp_path):
    ops = """
        - func: count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor
          family: reduction
          dispatch: {CPU: count}

        - func: count_nonzero(Tensor self, int? dim=None) -> Tensor
          family: reduction
          dispatch: {CPU: count}
    """
    text = definition(emit_project(tmp_path, ops), "generated/ops/reduction.py", "count_nonzero")
    assert text.startswith("def count_nonzero(input=..., dim=None, *, axis=None):")
    assert "if dim is None or is_int(dim):" in text


@pytest.mark.parametrize(
    ("kind", "value", "other"),
    [("bool", True, 1), ("Layout", mindtorch.strided, 1), ("MemoryFormat", mindtorch.contiguous_format, 2)],
)
@pytest.mark.parametrize("name", ["dim", "flag"])
def test_types_without_a_quick_test(tmp_path, monkeypatch, kind, value, other, name):
    ops = f"""
        - func: pick(Tensor self, int dim) -> Tensor
          family: view
          composite: pick_dim

        - func: pick.other(Tensor self, {kind} {name}) -> Tensor
          family: view
          composite: pick_other
    """
    composites = {
        "pick_dim": lambda input, dim: ("dim", dim),
        "pick_other": eval(f"lambda input, {name}: ('other', {name})"),
    }
    pick = Running(tmp_path, ops, monkeypatch, **composites).functions.pick
    tensor = mindtorch.ones(2)
    assert [pick(tensor, other), pick(tensor, value)] == [("dim", other), ("other", value)]
    assert [pick(tensor, dim=other), pick(tensor, **{name: value})] == [("dim", other), ("other", value)]


def test_positions_that_clash(tmp_path):
    ops = """
        - func: var(Tensor self, bool unbiased=True) -> Tensor
          family: reduction
          dispatch: {CPU: var}

        - func: var.dim(Tensor self, int[1]? dim, bool unbiased=True) -> Tensor
          family: reduction
          dispatch: {CPU: var_dim}
    """
    files = emit_project(tmp_path, ops)
    assert definition(files, "generated/ops/reduction.py", "var") == expected('''
        def var(*args, **kwargs):
            """var(input, unbiased=True)
            var(input, dim, unbiased=True)
            """
            if "axis" in kwargs:
                kwargs["dim"] = kwargs.pop("axis")
            overload = overload_for((var_default, var_dim), args, kwargs)
            if overload is not None:
                return overload(*args, **kwargs)
            return raise_unmatched(var, (var_default, var_dim), args, kwargs)
        ''')
