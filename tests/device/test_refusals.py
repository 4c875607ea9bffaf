"""What the CPU refuses because of dtypes, numbers or memory is refused on a device and on meta, in the same words."""

import pytest

import mindtorch as torch
from tests.daily import some
from tests.device.conftest import DEVICE
from tests.device.sweep import moved
from tests.harness import (
    ADVICE,
    TensorSpec,
    arguments_of,
    dtypes_of,
    error_difference,
    function_of,
    inplace_samples,
    model,
    outcome,
    sampled_ops,
)
from tests.unusual import all_calls, not_refused, on_meta, outcome_on, with_other_dims

pytestmark = [
    pytest.mark.filterwarnings(*[f"ignore:{text}" for text in ADVICE], "ignore:CAUTION", "ignore:An output with"),
    pytest.mark.filterwarnings("ignore:where received"),
    pytest.mark.skipif(DEVICE != "npu", reason="about the NPU's kernels"),
]
OPS = sampled_ops()
# Calls that are refused in another way, or not at all.
KNOWN = {
    **dict.fromkeys(
        [(f"{name}.data", "meta") for name in ("gru", "lstm", "rnn_relu", "rnn_tanh")], "lengths are in tensors"
    ),
    ("istft", "meta"): "looks at the numbers of its window",
    ("masked_fill.Tensor", "meta"): "the value is in a tensor",
    ("fake_quantize_per_tensor_affine.tensor_qparams", "meta"): "scale and zero point are in tensors",
    ("_ctc_loss", "meta"): "lengths are in tensors",
    ("ctc_loss.Tensor", "meta"): "lengths are in tensors",
    ("copysign.Scalar", "npu"): "the first of two errors",
    ("arange", "npu"): "the first of two errors",
    ("rsub.Tensor", "npu"): "made of other ops on the CPU, which refuse more numbers",
    ("rsub.Scalar", "npu"): "made of other ops on the CPU, which refuse more numbers",
    **dict.fromkeys(
        [
            (name, "meta")
            for name in ("_fft_c2c", "_fft_c2r", "_histogramdd_from_bin_tensors", "linalg_ldl_solve", "take")
        ],
        "not judged: no dtypes are found with which the call is right",
    ),
    **dict.fromkeys(
        [
            (name, "npu")
            for name in (
                *(
                    "_embedding_bag_backward",
                    "arange.start_step",
                    "binary_cross_entropy_with_logits",
                    "full",
                    "new_full",
                ),
                *("hardtanh_backward", "index_add", "masked_select", "nonzero", "slice_scatter"),
            )
        ],
        "the rule is asked without `out`, or with other arguments than the kernel's",
    ),
    ("_embedding_bag_per_sample_weights_backward", "npu"): "offsets in bytes, of which the device has no use",
}


@pytest.mark.parametrize("number", some(range(len(OPS)), 24), ids=lambda number: OPS[number].name)
def test_dtypes_and_numbers(number):
    op, found = OPS[number], []
    for call in all_calls(op):
        expected = outcome_on("cpu", call, lambda value, device: value)
        for device, move in ((DEVICE, moved), ("meta", on_meta)):
            if (op.name, device) in KNOWN or device == "meta" and "=" in call[0]:
                continue  # a tensor without data takes any number
            text = not_refused(outcome_on(device, call, move), expected)
            found += [f"{device}: {call[1].name} {call[0]}: {text}"] if text else []
    assert found == []


# Ops of which meta tensors say something else first.
OF_DATA = ("narrow.Tensor", "tensor_split.tensor_indices_or_sections", "roll")
WITH_DIMS = [op for op in OPS if any(each.name.startswith("dim") for each in op.schema.inputs)]


@pytest.mark.parametrize("number", some(range(len(WITH_DIMS)), 24), ids=lambda number: WITH_DIMS[number].name)
@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
def test_dimensions_that_are_not_there(number):
    op, found = WITH_DIMS[number], []
    for call in with_other_dims(op):
        expected = outcome_on("cpu", call, lambda value, device: value)
        for device, move in ((DEVICE, moved), *([("meta", on_meta)] if op.name not in OF_DATA else [])):
            text = not_refused(outcome_on(device, call, move), expected)
            found += [f"{device}: {call[1].name} {call[0]}: {text}"] if text else []
    assert found == []


@pytest.mark.parametrize("dim", [1, -2, 7])
@pytest.mark.parametrize("name", ["flip", "cumsum", "cumprod", "cummax", "logcumsumexp", "softmax", "sort", "roll"])
def test_dimensions_of_a_tensor_without_any(name, dim):
    for device in (DEVICE, "meta"):
        for shape in ((2, 2, 2), ()):  # what is right for the first one is not remembered for the second
            x = torch.ones(shape, device=device)
            args = (1, dim) if name == "roll" else (dim,)
            if shape and dim < 3:
                getattr(x, name)(*args)
                continue
            with pytest.raises(IndexError, match=rf"got {dim}\)?$|as {dim} but tensor has no dimensions"):
                getattr(x, name)(*args)


@pytest.mark.parametrize("dim", [0, 7])
def test_joining_tensors_without_dimensions(dim):
    for device in (DEVICE, "meta"):
        with pytest.raises(
            RuntimeError, match="^Sizes of tensors must match except in dimension 0. Expected size 2 but"
        ):
            torch.cat([torch.ones(0, 2, device=device), torch.ones(4, 0, device=device)])
        with pytest.raises(RuntimeError, match=r"zero-dimensional tensor \(at position 1\) cannot be concatenated"):
            torch.cat([torch.ones(2, device=device), torch.ones((), device=device)], dim)


# -------------------- memory that stands for several elements --------------------


def _with_expanded_self(form, device):
    """The arguments of an in-place call, on the device; the first one lies in the memory of one row. None: not such."""
    op = model().ops[form.derived_from] if form.derived_from else form
    dtype = next((each for each in ("float32", "int64") if each in dtypes_of(op)), dtypes_of(op)[0])
    sample = next(iter(inplace_samples(form, dtype)), None)
    if sample is None or not sample.args or not isinstance(sample.args[0], TensorSpec):
        return None
    args, kwargs = moved(arguments_of(torch, [list(sample.args), dict(sample.kwargs)]), device)
    own = args[0] if args[0].ndim else args[0].reshape(1)
    args[0] = own[:1].clone().expand(3 if own.shape[0] == 1 else own.shape[0], *own.shape[1:])
    return args, kwargs


FORMS = [
    op
    for op in model().ops.values()
    if op.schema.inplace and op.derived_from and op.name != "detach_" and model().ops[op.derived_from].samples
]


@pytest.mark.parametrize("number", some(range(len(FORMS)), 12), ids=lambda number: FORMS[number].name)
def test_expanded_memory(number):
    form = FORMS[number]
    given = _with_expanded_self(form, "cpu")
    if given is None:
        pytest.skip("has no such samples")
    expected = outcome(function_of(torch, form), *given)
    found = outcome(function_of(torch, form), *_with_expanded_self(form, DEVICE))
    if expected.error or found.error:
        assert error_difference(found.error, expected.error) is None


@pytest.mark.parametrize(
    "name", ["uniform_", "normal_", "random_", "exponential_", "cauchy_", "log_normal_", "bernoulli_"]
)
def test_random_numbers_in_expanded_memory(name):
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        getattr(torch.zeros(1, device=DEVICE).expand(3), name)()


@pytest.mark.parametrize("name", ["heaviside", "add", "fmax", "copysign", "maximum", "hypot", "atan2", "eq"])
def test_expanded_outs_of_numbers(name):
    """Whether an op minds is asked of the CPU, also where the result has no dimensions."""
    texts = []
    for device in ("cpu", DEVICE):
        x = torch.ones((), dtype=torch.float64, device=device)
        out = torch.ones(1, dtype=torch.bool if name == "eq" else torch.float64, device=device).expand(2)
        found = outcome(getattr(torch, name), [x, x], {"out": out})
        texts.append(str(found.error))
    assert texts[0] == texts[1]


# Ops that read anywhere, and so do not write to what they read: in place, and with `out=`.
READS_ANYWHERE = {
    "scatter_": lambda x, i: x.scatter_(0, i, x),
    "scatter_add_": lambda x, i: x.scatter_add_(0, i, x.detach()),
    "scatter_reduce_": lambda x, i: x.scatter_reduce_(0, i, x[:], "sum"),
    "index_add_": lambda x, i: x.index_add_(0, i, x.view(3)),
    "index_copy_": lambda x, i: x.index_copy_(0, i, x),
    "index_put_": lambda x, i: x.index_put_((i,), x),
    "a part": lambda x, i: x.index_add_(0, i[:2], x[1:]),
    "gather": lambda x, i: torch.gather(x, 0, i, out=x),
    "index_select": lambda x, i: torch.index_select(x, 0, i, out=x),
    "cat": lambda x, i: torch.cat([x[:1], x[1:]], out=x),
    "indices": lambda x, i: i.scatter_(0, i, 1),
}


@pytest.mark.parametrize("name", READS_ANYWHERE)
def test_memory_that_is_read_and_written(name):
    x, i = torch.tensor([1.0, 2.0, 3.0], device=DEVICE), torch.tensor([1, 2, 0], device=DEVICE)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor refer to a"):
        READS_ANYWHERE[name](x, i)
    assert x.tolist() == [1, 2, 3] and i.tolist() == [1, 2, 0]


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "logcumsumexp"])
def test_memory_that_may_be_written_again(name):
    x = torch.tensor([1.0, 2.0, 3.0], device=DEVICE)
    expected = getattr(torch, name)(x, 0)
    assert getattr(torch, name)(x, 0, out=x).equal(expected)


# -------------------- results --------------------


def test_outs_of_several_results():
    outs = torch.empty(2, device=DEVICE), torch.empty(2, dtype=torch.int64, device=DEVICE)
    torch.topk(torch.arange(6.0, device=DEVICE), 2, out=outs)
    assert outs[0].tolist() == [5, 4] and outs[1].tolist() == [5, 4]


@pytest.mark.parametrize("k", [0, 1])
def test_topk_of_a_single_number(k):
    values, indices = torch.tensor(3.0, device=DEVICE).topk(k)
    assert (values.item(), indices.item()) == (3, 0)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_histogram_without_bounds(number):
    texts = []
    for device in ("cpu", DEVICE):
        with pytest.raises(RuntimeError, match="is not finite") as error:
            torch.tensor([1.0, number, 2.0], device=device).histc(3)
        texts.append(str(error.value))
    assert texts[0] == texts[1]


# What the CPU has no kernel for: no device computes it, or gives complex numbers an order.
WITHOUT_KERNELS = {
    "complex64": ("relu", "sign", "erf", "amin", "max", "median", "round", "frac", "signbit", "sort", "argmax"),
    "bool": ("abs", "floor", "frac", "median"),
    "int32": ("frac", "erfinv_"),
}


@pytest.mark.parametrize("dtype", WITHOUT_KERNELS)
def test_dtypes_without_kernels(dtype):
    for name in WITHOUT_KERNELS[dtype]:
        texts = []
        for device in ("cpu", DEVICE):
            with pytest.raises(RuntimeError) as error:
                getattr(torch.ones(3, dtype=getattr(torch, dtype), device=device), name)()
            texts.append((type(error.value), str(error.value)))
        assert texts[0] == texts[1]


@pytest.mark.parametrize("name", ["mm", "dot", "mv", "cummax"])
def test_calls_without_elements_are_not_remembered_for_others(name):
    """The CPU takes dtypes that it has no kernel for, where there is nothing to compute."""
    texts = []
    for device in ("cpu", DEVICE):
        found = []
        for size in (0, 3):
            x = torch.ones((size, size), dtype=torch.complex64 if name == "cummax" else torch.bool, device=device)
            calls = {"mm": (x, x), "dot": (x.flatten(), x.flatten()), "mv": (x, x.diagonal()), "cummax": (x, 0)}
            found.append(str(outcome(getattr(torch, name), list(calls[name]), {}).error))
        texts.append(found)
    assert texts[0] == texts[1] and "not implemented" in texts[1][1]


def test_calls_of_wrong_shapes_are_not_remembered_for_others():
    """Where nothing makes a call right, nothing is known of its dtypes."""
    for device in (DEVICE, "meta"):
        x, wrong = torch.ones(3, 3, device=device), torch.ones(2, 3, dtype=torch.float64, device=device)
        with pytest.raises(RuntimeError):
            torch.mm(x, wrong)
        with pytest.raises(RuntimeError, match="same dtype"):
            torch.mm(x, torch.ones(3, 3, dtype=torch.float64, device=device))


@pytest.mark.parametrize("shape", [(2,), (3,)])
def test_shapes_are_spoken_of_before_kernels(shape):
    x = torch.ones(3, dtype=torch.complex64, device=DEVICE)
    text = "size of tensor a" if shape == (2,) else '"lt_cpu" not implemented'
    with pytest.raises(RuntimeError, match=text):
        torch.lt(x, torch.ones(shape, device=DEVICE))


DIVISIONS = {
    "//": lambda x: x // 0,
    "//=": lambda x: x.__ifloordiv__(0),
    "%": lambda x: x % 0,
    "fmod": lambda x: x.fmod(0),
    "fmod_": lambda x: x.fmod_(0),
    "out": lambda x: torch.floor_divide(x, 0, out=torch.empty_like(x)),
    "floor": lambda x: torch.div(x, 0, rounding_mode="floor"),
    "trunc": lambda x: x.div_(0, rounding_mode="trunc"),
}


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8])
@pytest.mark.parametrize("name", DIVISIONS)
def test_integers_divided_by_the_number_zero(name, dtype):
    with pytest.raises(RuntimeError, match="^ZeroDivisionError$"):
        DIVISIONS[name](torch.tensor([0, 3], dtype=dtype, device=DEVICE))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8])
@pytest.mark.parametrize("numbers", [[-1], [3, -4, 2], [-128, 127]])
def test_counting_negative_numbers(dtype, numbers):
    with pytest.raises(RuntimeError, match="^bincount only supports 1-d non-negative integral inputs.$"):
        torch.tensor(numbers, dtype=dtype, device=DEVICE).bincount()
    torch.ones(2, device=DEVICE).sum().item()  # nothing of it is left on the stream


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("name", ["sign", "sgn", "sign_", "sgn_"])
def test_the_sign_of_what_is_no_number(name, dtype):
    x = torch.tensor([float("nan"), -0.0, 2.0, -float("inf")], dtype=dtype, device=DEVICE)
    assert getattr(x, name)().tolist() == [0, 0, 1, -1]


def test_a_number_of_more_than_64_bits():
    with pytest.raises(OverflowError, match="int too big to convert"):
        torch.zeros(2, device=DEVICE).fill_(2**70)


def test_sparse_tensors_are_refused():
    with pytest.raises(NotImplementedError, match="sparse tensors are on the CPU only"):
        torch.eye(2, device=DEVICE).to_sparse()


def test_from_dlpack():
    with pytest.raises(ValueError, match="Unknown device type npu for Dlpack"):
        torch.from_dlpack(torch.ones(2, device=DEVICE))


# -------------------- devices that are not there --------------------

OF_A_DEVICE = [
    *("memory_stats", "memory_stats_as_nested_dict", "memory_allocated", "max_memory_allocated", "memory_reserved"),
    *("max_memory_reserved", "memory_summary", "reset_peak_memory_stats", "reset_accumulated_memory_stats"),
    *("mem_get_info", "get_per_process_memory_fraction", "synchronize", "get_device_name", "Stream"),
    *("current_stream", "default_stream", "get_device_properties", "get_rng_state"),
]


@pytest.mark.parametrize("number", [99, -1, "npu:99"])
@pytest.mark.parametrize("name", OF_A_DEVICE)
def test_devices_that_are_not_there(name, number):
    with pytest.raises((RuntimeError, AssertionError), match="Invalid device|Device index must not be negative"):
        getattr(torch.npu, name)(number)
