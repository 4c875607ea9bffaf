"""`torch.library`: how arguments and results are converted, and what is not taken."""

import numpy as np
import pytest

from tests.parity.support.library_programs import compare, tried

VALUES = {
    "int": lambda T: [
        1,
        True,
        1.5,
        T.tensor(1),
        T.tensor(1.5),
        T.ones(2),
        np.int64(3),
        "a",
        None,
        2**63 - 1,
        2**63,
        -(2**63) - 1,
        np.bool_(True),
        np.float32(1.5),
        np.ones(1),
        np.array(1),
        T.tensor(1j),
    ],
    "SymInt": lambda T: [1, True, 1.5, T.tensor(1), np.int64(3), "a", None],
    "float": lambda T: [1, True, 1.5, T.tensor(1), np.float32(3), "a", 1j, np.array(1.5)],
    "bool": lambda T: [True, 1, T.tensor(1), np.bool_(True), 1.0, None, T.ones(2), np.ones(2), "a"],
    "complex": lambda T: [1, 1.5, 1j, True, "a", T.tensor(1j), np.complex64(1j)],
    "str": lambda T: ["a", 1, None, b"a", "é"],
    "Scalar": lambda T: [1, 1.5, True, 1j, T.tensor(1), "a", np.float32(2), np.float64(2), None],
    "ScalarType": lambda T: [T.float32, 6, float, "a", None, np.int64(6)],
    "Device": lambda T: [T.device("cpu"), "cpu", 3, None, "zzz"],
    "Layout": lambda T: [T.strided, 0, None],
    "MemoryFormat": lambda T: [T.contiguous_format, 0],
    "Tensor": lambda T: [T.ones(1), 1.5, None, [T.ones(1)]],
    "Tensor?": lambda T: [T.ones(1), None, 2],
    "Tensor[]": lambda T: [[T.ones(1)], (T.ones(1),), [], T.ones(2), [1], [None], None, {}],
    "Tensor?[]": lambda T: [[T.ones(1), None], (), [1], T.ones(2, 2), "ab", None],
    "Tensor[]?": lambda T: [[T.ones(1)], None],
    "int[]": lambda T: [
        [1],
        (1, 2),
        T.Size([1]),
        [1.5],
        1,
        [T.tensor(1)],
        None,
        [True],
        {1},
        {1: 2},
        b"a",
        np.ones(2, int),
        range(2),
    ],
    "SymInt[]": lambda T: [[1], (1, 2), T.Size([1]), [1.5], 1, [T.tensor(1)], None],
    "int[2]": lambda T: [[1], 1, [1, 2, 3], True, 2**63],
    "SymInt[2]": lambda T: [[1], 1],
    "float[2]": lambda T: [[1], 1, 1.5],
    "int[]?": lambda T: [[1], 1, None],
    "int?[]": lambda T: [[None, 3]],
    "float[]": lambda T: [[1], (1, 2.5), [True], [T.tensor(1)], ["a"], 1.5],
    "bool[]": lambda T: [[True], [1]],
    "bool[3]": lambda T: [[True], True],
    "Scalar[]": lambda T: [[1, 2.5], ["a"]],
    "str[]": lambda T: [["a"], ("b",), "abc", [1]],
    "int?": lambda T: [None, 3, "a"],
    "float?": lambda T: [None, 3, "a"],
    "Device?": lambda T: [None, "cpu"],
    "ScalarType?": lambda T: [None, T.int8],
}


@pytest.mark.parametrize("kind", VALUES)
def test_values_of_arguments(kind):
    def run(T, namespace):
        seen = []
        library = T.library.Library(namespace, "FRAGMENT")
        library.define(f"foo({kind} a) -> ()")
        library.impl("foo", lambda *args: seen.append(args), "CompositeExplicitAutograd")
        results = [tried(getattr(T.ops, namespace).foo, value) for value in VALUES[kind](T)]
        return results, seen

    compare(run)


CALLS = [
    lambda T, op: op(T.ones(2)),
    lambda T, op: op(T.ones(2), 3, ws=[1, 2], mode="s"),
    lambda T, op: op(x=T.ones(2), n=3),
    lambda T, op: op(T.ones(2), 2, ws=[1.0]),
    lambda T, op: op(T.ones(2), n="a"),
    lambda T, op: op(T.ones(2), ws=["a"]),
    lambda T, op: op(T.ones(2), mode=3),
    lambda T, op: op(T.ones(2), 2, 3),
    lambda T, op: op(),
    lambda T, op: op(n=3),
    lambda T, op: op(T.ones(2), q=3),
    lambda T, op: op(T.ones(2), x=T.ones(2)),
    lambda T, op: op(T.ones(2), [1, 2]),
    lambda T, op: op(None),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_binding(number):
    def run(T, namespace):
        seen = []
        T.library.define(f"{namespace}::foo", "(Tensor x, int n=2, *, float[] ws=[1.], str? mode=None) -> Tensor")

        @T.library.impl(f"{namespace}::foo", "cpu")
        def foo(*args, **kwargs):
            seen.append((args, kwargs))
            return args[0] * 2

        op = getattr(T.ops, namespace).foo
        return tried(CALLS[number], T, op), tried(CALLS[number], T, op.default), seen

    compare(run)


RESULTS = [
    ("Tensor", lambda one: 3), ("Tensor", lambda one: [one]), ("Tensor", lambda one: None),
    ("(Tensor, Tensor)", lambda one: one), ("(Tensor, Tensor)", lambda one: [one, one]),
    ("(Tensor, Tensor)", lambda one: (one, 3)), ("(Tensor, Tensor)", lambda one: None), ("()", lambda one: one),
    ("()", lambda one: ()), ("()", lambda one: None), ("Tensor[]", lambda one: one), ("Tensor[]", lambda one: (one,)),
    ("Tensor[]", lambda one: [3]), ("int", lambda one: "a"), ("int", lambda one: 2.5), ("int", lambda one: True),
    ("float", lambda one: 3), ("bool", lambda one: 1), ("Scalar", lambda one: 2.5), ("int", lambda one: one),
    ("Tensor?", lambda one: None), ("str", lambda one: "a"), ("int[]", lambda one: [1, 2]), ("(Tensor)",
    lambda one: one),
    ("((Tensor))", lambda one: (one,)), ("(Tensor, Tensor[], int)", lambda one: (one, (one, one), 3)),
    ("SymInt[]", lambda one: None), ("str[]", lambda one: 3), ("Tensor?[]", lambda one: 2.5),
    ("int", lambda one: 2**63), ("int", lambda one: np.ones(1)), ("int[]", lambda one: {}),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(RESULTS)))
def test_results_of_kernels(number):
    kind, result = RESULTS[number]

    def run(T, namespace):
        T.library.define(f"{namespace}::foo", f"(Tensor x) -> {kind}")
        T.library.impl(f"{namespace}::foo", "cpu", lambda x: result(T.ones(1)))
        return tried(getattr(T.ops, namespace).foo, T.ones(1))

    compare(run)
