"""What TensorIteratorConfig builds: the order of its checks, the dtypes, and the outputs that it makes."""

import numpy as np
import pytest

import mindtorch
from mindtorch.iterator import BLOCK, TensorIteratorConfig

FLOAT, DOUBLE, INT, BOOL = (np.dtype(name) for name in ("float32", "float64", "int32", "bool"))
SHARED = "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single"
EXPANDED = "unsupported operation: more than one element of the written-to tensor refers to a single memory location"


def ones(*shape, dtype=FLOAT):
    return np.ones(shape, dtype)


def config(out, *inputs):
    result = TensorIteratorConfig().add_output(out)
    for each in inputs:
        result.add_input(each)
    return result


def binary(out, *inputs):
    """The config of arithmetic ops."""
    promoted = config(out, *inputs).promote_inputs_to_common_dtype(True).cast_common_dtype_to_outputs(True)
    return promoted.enforce_safe_casting_to_output(True)


# -------------------- errors, and which of several comes first --------------------


def overlapping():
    memory = ones(5)
    return memory[1:], memory[:-1]


OVERLAP = overlapping()


@pytest.mark.parametrize(
    ("built", "text"),
    [
        (binary(np.broadcast_to(ones(3), (2, 3)), ones(2, 3), ones(4, 5)), EXPANDED),
        (binary(OVERLAP[0], OVERLAP[1], ones(7)), SHARED),
        (binary(None, ones(2, 3), ones(4)), r"The size of tensor a \(3\) must match the size of tensor b \(4\) at"),
        (config(None, ones(2), ones(2, dtype=DOUBLE)), "Found dtype Double but expected Float"),
        (config(ones(3, dtype=INT), ones(2)), "Found dtype Int but expected Float"),
        (binary(ones(3, dtype=INT), ones(2)), "result type Float can't be cast to the desired output type Int"),
        (
            binary(ones(2), ones(2)).resize_outputs(False).add_input(ones(4, 2)),
            r"output with shape \[2\] doesn't match the broadcast shape \[4, 2\]",
        ),
    ],
)
def test_errors(built, text):
    with pytest.raises(RuntimeError, match=text):
        built.build()


def test_an_output_that_is_an_input_is_not_resized():
    x = ones(2)
    with pytest.raises(RuntimeError, match=r"output with shape \[2\] doesn't match the broadcast shape \[3, 2\]"):
        config(x, x, ones(3, 2)).build()


def test_overlap_is_not_looked_for_when_that_is_switched_off():
    out, source = overlapping()
    assert config(out, source).set_check_mem_overlap(False).build().shape == (4,)


@pytest.mark.parametrize(
    ("misuse", "text"),
    [
        (
            lambda: config(None, ones(2)).add_output(),
            r"outputs come before inputs: call add_output\(\) for all of them",
        ),
        (lambda: config(None).declare_static_dtype(INT), r"needs check_all_same_dtype\(False\) before it"),
        (lambda: config(None).declare_static_shape((2,)), r"needs resize_outputs\(False\) before it"),
        (
            lambda: config(None).resize_outputs(False).declare_static_shape((2,), squash_dims=(1,)),
            r"squash_dim 1 must be in \[0, 1\)",
        ),
        (
            lambda: config(None).promote_integer_inputs_to_float(True),
            r"needs promote_inputs_to_common_dtype\(\) before it",
        ),
        (
            lambda: config(None, ones(2), ones(2, dtype=INT)).check_all_same_dtype(False).build(),
            "the dtype of an output is not known",
        ),
    ],
)
def test_misuse(misuse, text):
    with pytest.raises(ValueError, match=text):
        misuse()


# -------------------- devices --------------------


def test_devices():
    meta = mindtorch.empty(2, device="meta")._mt_array
    with pytest.raises(RuntimeError, match="Tensor on device meta is not on the expected device cpu!"):
        config(None, ones(2), meta).build()
    with pytest.raises(RuntimeError, match="Tensor on device cpu is not on the expected device meta!"):
        config(None, meta, ones()).build()
    assert config(None, meta, ones()).allow_cpu_scalars(True).build().output().device == meta.device
    assert config(None, ones(), meta).check_all_same_device(False).build().output().device == meta.device


# -------------------- dtypes --------------------


@pytest.mark.parametrize(
    ("inputs", "common"),
    [
        ([ones(2, dtype=INT), ones(2)], FLOAT),
        ([ones(2), ones(dtype=DOUBLE)], FLOAT),
        ([ones(2, dtype=INT), 1.5], FLOAT),
        ([ones(2, dtype=BOOL), 2], np.dtype(np.int64)),
        ([ones(2), 1j], np.dtype(np.complex64)),
    ],
)
def test_promotion(inputs, common):
    iterator = binary(None, *inputs).build()
    assert iterator.common_dtype == iterator.output().dtype == common
    seen = []
    iterator.run(lambda *views: seen.extend(view.dtype for view in views))
    assert seen == [common] * 3


def test_integers_become_floats():
    assert binary(None, ones(2, dtype=INT)).promote_integer_inputs_to_float(True).build().common_dtype == FLOAT
    assert binary(None, ones(2, dtype=DOUBLE)).promote_integer_inputs_to_float(True).build().common_dtype == DOUBLE


def test_numbers_keep_what_the_default_dtype_would_lose():
    third = []
    binary(None, ones(2, dtype=DOUBLE), 1 / 3).build().run(lambda *views: third.extend(views[2].tolist()))
    assert third == [1 / 3] * 2


def test_a_declared_dtype():
    compared = config(None, ones(2), ones(2, dtype=DOUBLE)).promote_inputs_to_common_dtype(True)
    iterator = compared.declare_static_dtype(BOOL).build()
    assert (iterator.output().dtype, iterator.common_dtype) == (BOOL, DOUBLE)


def test_outputs_of_another_dtype():
    out = np.zeros((2, 3), DOUBLE).T
    iterator = binary(out, ones(3, 2), 2).build()
    seen = []

    def add(target, *operands):
        seen.append(target.dtype)
        np.add(*operands, out=target)

    iterator.run(add)
    assert seen == [FLOAT] and iterator.output() is out and (out == 3).all()


@pytest.mark.parametrize("walk", ["run", "for_each"])
def test_operands_are_converted_part_by_part(walk):
    """Copies of another dtype are as large as the part that the loop is called with, so `run` keeps these small."""
    source, out = np.arange(100_000).reshape(200, 500)[:, ::2].T, np.zeros((250, 200), DOUBLE)
    iterator = binary(out, source, np.full((250, 1), 2, np.int8), 0.5).build()
    sizes = []

    def add(target, *operands):
        sizes.append(target.size)
        assert {each.dtype for each in (target, *operands)} == {FLOAT}
        np.add(operands[0] * operands[1], operands[2], out=target)

    getattr(iterator, walk)(add)
    assert np.array_equal(out, source * 2 + 0.5)
    assert sum(sizes) == source.size and (walk == "for_each" or max(sizes) <= BLOCK)


def test_a_resized_output_of_another_dtype():
    iterator = binary(np.zeros(0, DOUBLE), ones(2, 3).T, 2).build()
    iterator.run(lambda target, *operands: np.add(*operands, out=target))
    result = iterator.output()
    assert (result.shape, result.strides, result.dtype) == ((3, 2), (8, 24), DOUBLE)
    assert (result == 3).all()


# -------------------- outputs --------------------


def test_two_outputs_have_the_same_layout():
    source = ones(2, 3, 4).transpose(2, 0, 1)[:, :, ::2]
    built = TensorIteratorConfig().add_output().add_output().add_input(source).build()
    assert built.output(0).strides == built.output(1).strides == (4, 32, 16)
    assert not np.shares_memory(built.output(0), built.output(1))


def test_a_given_output_decides_before_the_inputs():
    given, source = ones(3, 2).T, ones(2, 3)
    assert config(given, source).build().perm == [0, 1]
    assert config(None, source, given).build().output().strides == (12, 4)


def test_a_resized_output_warns_unless_it_is_empty():
    with pytest.warns(UserWarning, match=r"resized since it had shape \[5\], which does not match .* shape \[2, 3\]"):
        iterator = config(ones(5), ones(2, 3)).build()
    assert iterator.output().shape == (2, 3)
    assert config(ones(0), ones(2, 3)).build().output().shape == (2, 3)


def test_a_declared_shape():
    x = ones(2, 3)
    built = config(x, x).resize_outputs(False).declare_static_shape((2, 3), squash_dims=(1,)).build()
    assert (built.shape, built.strides(0)) == ((2,), (12,))


def test_a_config_can_build_twice():
    twice = binary(None, ones(2, dtype=INT), 1.5)
    first, second = twice.build(), twice.build()
    assert first.output() is not second.output()
    assert first.output().dtype == second.output().dtype == FLOAT


# -------------------- the fast set-up --------------------


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 3, 1), (3, 0, 2, 1)])
def test_alike_operands_are_one_dimension(order):
    places = np.argsort(order)
    alike = [np.ones([(2, 3, 4, 5)[dim] for dim in order], FLOAT).transpose(places) for _ in range(2)]
    iterator = config(None, *alike).build()
    assert (iterator.perm, iterator.shape, iterator.strides(1)) == (None, (120,), (4,))
    assert iterator.output().strides == alike[0].strides


@pytest.mark.parametrize("other", [ones(2, 3, 4, 10)[..., ::2], ones(5), ones(5, 4, 3, 2).T])
def test_other_operands_are_looked_at(other):
    assert config(None, ones(2, 3, 4, 5), other).build().perm is not None
