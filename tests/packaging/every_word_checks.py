"""What every key and word of the manuals does, in the package of every_word/: it is generated, imported, run and
differentiated.

test_every_word.py has them run by every_word/tests/, in a process of its own, since a package's ops stay registered.
"""

import re
import warnings
from importlib import import_module

import mindtorch as torch
from codegen.keys import AUTOCAST_NPU, DTYPES, INPLACE_OPERATORS, OPERATORS, TAGS, UNARY_OPERATORS
from mindtorch._core import state
from mindtorch.autograd import forward_ad
from mindtorch.dispatch.modes import autocast
from mindtorch.dispatch.registry import find_op

CHECKS = {}


def shows(*words):
    """What a check is about, as test_every_word.py calls the words."""

    def note(function):
        CHECKS[function.__name__] = function, words
        return function

    return note


def matrix():
    return torch.tensor([[0.5, 1.0], [1.5, 2.0]])


def check_gradients(function, *inputs):
    """Backward, twice, and forward derivatives, against differences of values."""
    inputs = [each.detach().double().requires_grad_() for each in inputs]
    assert torch.autograd.gradcheck(function, inputs, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, inputs)


def gradient(result, *inputs):
    return torch.autograd.grad(result.sum(), inputs, allow_unused=True)


def raises(kind, text, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except kind as error:
        assert re.search(text, str(error)), error
    else:
        raise AssertionError(f"{function} raises nothing")


# -------------------- formulas --------------------


@shows(
    "<argument>", "<argument>_p", "<argument>_t", "ops", "helpers", "auto_linear", "name", "func", "family", "dispatch"
)
def check_expressions(ops):
    check_gradients(lambda x, y: ops.product(x, y, alpha=3), matrix(), matrix() + 1)
    check_gradients(ops.halves, matrix())


@shows("auto_element_wise", "result", "grad")
def check_result(ops):
    check_gradients(ops.power, matrix())


@shows("result0", "result<i>", "grads[i]")
def check_one_result_by_number(ops):
    check_gradients(ops.by_index, matrix())
    check_gradients(ops.by_all, matrix())
    check_gradients(ops.numbered, matrix())


@shows("<output>", "grad_<output>")
def check_named_results(ops):
    check_gradients(ops.named_one, matrix())
    check_gradients(ops.named, matrix())
    x = matrix().requires_grad_()
    assert gradient(ops.named(x).whole, x)[0].tolist() == [[2, 2], [2, 2]]  # the other gradient is None
    assert torch.allclose(gradient(ops.named(x).part, x)[0], x.exp())
    x_dual = ops.numbered(x)[1]
    assert torch.allclose(gradient(x_dual, x)[0], x.exp())


@shows("output_differentiability")
def check_output_differentiability(ops):
    x, y = matrix().requires_grad_(), matrix().requires_grad_()
    whole, index, part = ops.mixed(x, y)
    assert whole.requires_grad and part.requires_grad and not index.requires_grad
    assert [each.tolist() for each in gradient(whole, x, y)] == [[[2, 2], [2, 2]], [[1, 1], [1, 1]]]
    of_x, of_y = gradient(ops.mixed(x, y).part, x, y)
    assert torch.allclose(of_x, x.exp()) and of_y.tolist() == [[0, 0], [0, 0]]
    with forward_ad.dual_level():
        dual = ops.mixed(forward_ad.make_dual(matrix(), torch.ones(2, 2)), matrix())
        whole, index, part = (forward_ad.unpack_dual(each).tangent for each in dual)
    assert whole.tolist() == [[2, 2], [2, 2]] and index is None and torch.allclose(part, matrix().exp())


@shows("<a>, <b>", "needs_input_grad.<argument>")
def check_several_gradients_of_one_formula(ops):
    check_gradients(ops.pair, matrix(), matrix() + 1)
    x, y = matrix(), matrix().requires_grad_()
    assert torch.equal(gradient(ops.pair(x, y), y)[0], x)


@shows(".shape", ".dtype", ".ndim", ".numel()")
def check_facts(ops):
    for other in (None, torch.ones(2)):
        x = matrix().requires_grad_()
        result = ops.facts(x, other)
        assert not hasattr(result.grad_fn, "_mt_saved")
        assert gradient(result, x)[0].tolist() == [[1, 1], [1, 1]]
    x, y = matrix().requires_grad_(), torch.ones(3).double().requires_grad_()
    of_x, of_y = gradient(ops.listed([x, y]), x, y)
    assert (of_x.shape, of_y.shape, of_y.dtype) == (x.shape, y.shape, torch.float64)
    with forward_ad.dual_level():
        duals = [forward_ad.make_dual(matrix(), matrix()), torch.ones(3)]
        assert forward_ad.unpack_dual(ops.listed(duals)).tangent.item() == 5


@shows("when", "node", "complex", "complex: refused")
def check_when(ops):
    x = matrix().requires_grad_()
    assert type(ops.silent(x).grad_fn).__name__ == "QuietBackward"
    assert not ops.silent(x, False).requires_grad
    raises(RuntimeError, "silent does not support automatic diff", ops.silent, torch.ones(2).cfloat().requires_grad_())


@shows("non_differentiable", "constant", "refused", "not_implemented")
def check_words_of_gradients(ops):
    parts = [matrix() for _ in range(5)]
    parts[0].requires_grad_()
    parts[1].requires_grad_()
    result = ops.weighted(*parts)
    of_self, of_weight = gradient(result, *parts[:2])
    assert torch.equal(of_self, parts[1]) and of_weight is None
    bias = [*parts[:2], matrix().requires_grad_(), *parts[3:]]
    text = "The function 'weighted' is not differentiable with respect to argument 'bias'"
    raises(RuntimeError, text, ops.weighted, *bias)
    with torch.no_grad():
        ops.weighted(*bias)
    for place, name in ((3, "scale"), (4, "shift")):
        others = [each.detach() for each in parts]
        others[place].requires_grad_()
        raises(RuntimeError, f"derivative for .*{name}", ops.weighted(*others).sum().backward)
    for op in (ops.no_tangent, ops.refused_tangent):
        check_backward_only(op)


def check_backward_only(op):
    x = matrix().requires_grad_()
    assert gradient(op(x), x)[0].tolist() == [[0.5, 0.5], [0.5, 0.5]]
    with forward_ad.dual_level():
        raises(NotImplementedError, "forward AD", op, forward_ad.make_dual(matrix(), matrix()))


@shows()
def check_lists_of_results(ops):
    x, y = matrix().requires_grad_(), torch.ones(3).requires_grad_()
    check_gradients(lambda x, y: ops.doubles([x, y]), x, y)
    of_x, of_y = gradient(ops.doubles([x, y])[1], x, y)
    assert (of_x is None or not of_x.any()) and of_y.tolist() == [2, 2, 2]
    assert [each.shape for each in ops.doubles([matrix().to("meta")])] == [(2, 2)]


# -------------------- kernels --------------------


@shows("view", "view: single", "view: multi", "view: detach", "shape")
def check_views(ops):
    x = matrix().requires_grad_()
    base = x * 1
    first = ops.front(base, 1)
    first.mul_(3)
    assert base.tolist() == [[1.5, 3], [1.5, 2]] and first._base is base
    assert gradient(base, x)[0].tolist() == [[3, 3], [1, 1]]
    check_gradients(lambda x: ops.front(x, 1), matrix())
    check_gradients(lambda x: ops.pieces(x, 1), matrix())
    of_last = gradient(ops.pieces(x, 1)[1], x)[0]
    assert of_last.tolist() == [[0, 0], [1, 1]]
    raises(RuntimeError, "returns multiple views", ops.pieces(x * 1, 1)[0].mul_, 2)
    twin = ops.apart(x * 1)
    assert not twin.requires_grad and not twin._is_view()
    version = twin._version
    source = matrix()
    ops.apart(source).add_(1)
    assert source._version == version + 1 and source[0, 0].item() == 1.5


@shows("factory")
def check_factories(ops):
    made = ops.steps(3, dtype=torch.float64, requires_grad=True)
    assert made.tolist() == [0, 1, 2] and made.dtype is torch.float64 and made.requires_grad
    (made * 2).sum().backward()
    assert made.grad.tolist() == [2, 2, 2]


@shows("batch")
def check_batch(ops):
    x = torch.arange(6.0).reshape(3, 2)
    assert torch.func.vmap(ops.shuffled)(x).tolist() == x.flip(1).tolist()
    assert (
        torch.func.vmap(torch.func.grad(lambda x: (ops.shuffled(x) * x).sum()))(x).tolist() == (2 * x.flip(1)).tolist()
    )


@shows("promotion", "dispatch: CPU", "dispatch: Meta", "dispatch: NPU", "aclnn")
def check_backends(ops):
    on_meta = ops.product(torch.ones(2, 1, device="meta"), torch.ones(3, dtype=torch.float64, device="meta"))
    assert (on_meta.shape, on_meta.dtype, on_meta.device.type) == ((2, 3), torch.float64, "meta")
    assert ops.power(torch.ones(2, dtype=torch.int64, device="meta")).dtype is torch.float32
    assert ops.named(torch.ones(3, device="meta")).part.shape == (3,)
    stub = import_module("everyword._generated.stubs.npu.formulas").product
    assert "ACLNN: aclnnProduct(self, other, alpha, out)" in stub.__doc__
    kernels = import_module("everyword._generated.npu_kernels").MODULES
    assert kernels == {"everyword._generated.kernels.npu.formulas": {"everyword::counted": "counted"}}
    raises(NotImplementedError, "everyword::product has no NPU kernel", stub, None, None, None)


@shows("writes")
def check_hidden_writes(ops):
    calls = torch.zeros(1)
    assert ops.counted(torch.tensor([-2.0]), calls).tolist() == [2.0] and calls.tolist() == [1.0]
    assert ops.counted.op.writes == (1,)


@shows("other_devices")
def check_other_devices(ops):
    assert ops.counted.op.other_devices == (1,)


@shows("shares_memory")
def check_shared_memory(ops):
    x = matrix()
    handed = ops.handed(x)
    x.zero_()
    assert handed.tolist() == x.tolist() and not handed._is_view() and ops.handed.op.shares_memory


@shows("copies")
def check_copies_in_inference_mode(ops):
    with torch.inference_mode():
        x = torch.ones(2, requires_grad=True)
    assert ops.halves(x).requires_grad and not ops.power(x).requires_grad


@shows("dispatch: SparseCPU", "dispatch: SparseCsrCPU")
def check_sparse_backends(ops):
    x = torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # CSR tensors are beta
        compressed = x.to_sparse_csr()
    for sparse in (x.to_sparse(), compressed):
        assert ops.sparse_values(sparse).tolist() == [2, 3]


@shows("composite")
def check_composites(ops):
    check_gradients(lambda x: ops.made_of(x, 3), matrix())
    assert ops.made_of_(matrix(), 4).tolist() == (2 * matrix()).tolist()
    out = torch.empty(0)
    assert ops.made_of(matrix(), 4, out=out) is out and out.tolist() == (2 * matrix()).tolist()
    assert type(ops.one_node(matrix().requires_grad_(), matrix()).grad_fn).__name__ == "OneNodeBackward0"
    check_gradients(ops.one_node, matrix(), matrix() + 1)


@shows("short_cut")
def check_captured_tensors(ops):
    captured, found = matrix(), []

    def f(x):
        found.extend((ops.handed_on(captured, False), ops.passed(captured, False)))
        return x.sum()

    torch.func.grad(f)(matrix())
    assert found[0] is captured is ops.passed(captured, False) and found[1] is not captured


@shows("decomposition")
def check_decompositions(ops):
    """What `product` gives is the product with a number, times that number; an overload is called by its own name."""
    expected = torch.mul(ops.halves(matrix()), 9)
    check_gradients(lambda x: ops.expression_of(x, 3), matrix())
    assert ops.expression_of(matrix(), 3).tolist() == expected.tolist()
    out = torch.empty(0)
    assert ops.expression_of(matrix(), 3, out=out) is out and out.tolist() == expected.tolist()
    assert ops.expression_of_(matrix(), 3).tolist() == expected.tolist()
    powers = ops.expression_of(matrix(), twice=True)
    assert powers.dtype is torch.float64 and powers.tolist() == ops.halves(ops.power(matrix())).tolist()


@shows("autocast_npu", *[f"autocast_npu: {policy}" for policy in AUTOCAST_NPU])
def check_autocast_npu(ops):
    """With the CPU in the place of an NPU."""

    def called(function, *args, **kwargs):
        state.thread.autocast = {"cpu": torch.float16}
        try:
            return autocast.call_autocast("cpu", function.op.autocast["npu"], function, args, kwargs)
        finally:
            state.thread.autocast = None

    short = matrix().half()
    assert called(ops.lowered, matrix()).dtype is torch.float16
    assert called(ops.widened, short).dtype is torch.float32
    assert called(ops.product, short, matrix()).dtype is torch.float32
    assert called(ops.product, short, short).dtype is torch.float16
    measured = find_op(f"{ops.summed.op.namespace}::measured").function
    assert called(ops.summed, short).dtype is called(measured, short).dtype is torch.float32
    assert called(ops.summed, short, dtype=torch.float16).dtype is ops.measured(short).dtype is torch.float16
    assert called(ops.summed, matrix().double()).dtype is torch.float64
    raises(RuntimeError, "unsafe to autocast", called, ops.unsafe, short)


@shows("autocast", "autocast: lower_precision_fp", "autocast: fp32", "autocast: promote")
def check_autocast(ops):
    short = matrix().bfloat16().requires_grad_()
    with torch.autocast("cpu", torch.bfloat16):
        x = matrix().requires_grad_()
        lowered, widened = ops.lowered(x), ops.widened(short)
        mixed = ops.product(short, matrix())
    assert (lowered.dtype, widened.dtype, mixed.dtype) == (torch.bfloat16, torch.float32, torch.float32)
    assert ops.lowered(matrix()).dtype is torch.float32
    assert gradient(mixed, short)[0].dtype is torch.bfloat16


@shows("tags", *(f"tags: {tag}" for tag in TAGS))
def check_tags(ops):
    assert {str(tag).rpartition(".")[2] for tag in torch.ops.everyword.marked.default.tags} >= set(TAGS)


@shows("dtypes", "samples", *(f"dtypes: {word}" for word in DTYPES))
def check_dtypes(ops):
    """The table of ops has them, and `mindtorch.testing.ops` calls the op in each."""
    checks = import_module("mindtorch.testing.ops").checks
    table = import_module("everyword._generated.op_table").OPS
    samples = import_module("samples")
    found = checks(table, samples)
    assert {check.row.dtypes for check in found if ": in_" in check.row.name.replace("::", ": ")} == set(DTYPES)
    for check in found:
        check()


# -------------------- calls --------------------


@shows("numbers", "autogen", "autogen: inplace", "autogen: out", "autogen: copied_out", "inplace", "out")
def check_variants(ops):
    x = matrix()
    assert ops.product(x, 2).tolist() == (2 * x).tolist()
    y = matrix().requires_grad_() * 1
    assert ops.product_(y, 3) is y and type(y.grad_fn).__name__ == "ProductBackward0"
    out = torch.empty(2, 2)
    assert ops.product(x, x, out=out) is out
    raises(RuntimeError, "out=... arguments don't support automatic differentiation", ops.product, y, x, out=out)
    raises(TypeError, "out", ops.halves, x, out=out)
    assert torch.ops.everyword.halves.out(x, out=out) is out and out.tolist() == (x / 2).tolist()
    assert ops.spelled_(x) is x and ops.spelled(x, out=out) is out and out.tolist() == (matrix() + 2).tolist()


@shows("python_names", "python", "python: hidden", "python: absent", "divergence", "doc")
def check_names(ops):
    assert ops.stretch(matrix(), by=2).tolist() == (2 * matrix()).tolist()
    check_gradients(lambda x: ops.stretch(x, by=3), matrix())
    assert ops.either(matrix(), 1).tolist() == [[1, 1], [1.5, 2]]
    assert torch.ops.everyword.either.Scalar(matrix(), 1).tolist() == [[1, 1], [1.5, 2]]
    assert find_op(f"{ops.either.op.namespace}::either.Scalar").absent_in_torch
    assert torch.ops.everyword.neither.Scalar(matrix(), 1).tolist() == [[1, 1], [1.5, 2]]
    assert not find_op(f"{ops.neither.op.namespace}::neither.Scalar").absent_in_torch
    assert ops.stretch.__doc__.startswith("Each element of `input` times `by`.\n")


@shows("deprecated", "since", "removal", "replacement")
def check_deprecated(ops):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x = matrix().requires_grad_()
        assert gradient(ops.stretch(x, times=2), x)[0].tolist() == [[2, 2], [2, 2]]
    assert [each.category for each in caught] == [FutureWarning]
    assert "0.9.0" in str(caught[0].message)


@shows("versions", "version", "upgrade")
def check_versions(ops):
    find = import_module("mindtorch.dispatch.versions")
    assert find.current_version("everyword::stretch") == 2
    program = torch.program.record(lambda x: ops.stretch(x, by=2), matrix())
    assert program(matrix()).tolist() == (2 * matrix()).tolist()
    old = find.call_version("everyword::stretch", 1, kwargs={"input": matrix(), "times": 3})
    assert old.tolist() == (3 * matrix()).tolist()


@shows("variants", "variants: function", "variants: method", "operators", *(f"operators: {each}" for each in OPERATORS))
def check_operators_and_methods(ops):
    """A package cannot add them to Tensor: those of mindtorch are made by the same generator."""
    assert torch.exp(matrix()).tolist() == matrix().exp().tolist()
    for name in OPERATORS:
        dtype = torch.int64 if any(word in name for word in ("and", "or", "xor", "shift", "invert")) else torch.float64
        square = torch.tensor([[3, 1], [2, 5]], dtype=dtype)
        other = (
            torch.tensor([[1, 2], [2, 1]], dtype=dtype)
            if name == "__rmatmul__" or not name.startswith("__r") or "round" in name
            else 2
        )
        others = () if name in UNARY_OPERATORS else (other,)
        result = getattr(square.clone(), name)(*others)
        assert isinstance(result, torch.Tensor), name
        if name in INPLACE_OPERATORS:
            plain = name.replace("__i", "__")
            assert torch.equal(result, getattr(square, plain)(*others)), name


@shows("python_module", *(f"python_module: {name}" for name in ("nn", "linalg", "fft", "special", "sparse")))
def check_modules(ops):
    x = matrix().requires_grad_()
    assert gradient(torch.special.entr(x), x)[0].shape == gradient(torch.linalg.vector_norm(x), x)[0].shape
    assert gradient(torch.fft.fft(x).abs(), x)[0].shape == gradient(torch.nn.functional.gelu(x), x)[0].shape
    assert torch.sparse.sum(matrix().to_sparse()).item() == 5


@shows("scalar")
def check_scalar_expressions(ops):
    """A package has none: mindtorch's ops compute the same with compiled loops and without."""
    x = matrix()
    assert torch.allclose(torch.nn.functional.silu(x), x * torch.sigmoid(x))


# -------------------- arguments that are written --------------------


def written(ops):
    """Calls that write their argument, each with what the argument is called and the base name of the op."""
    x = torch.ones(2)
    return {
        "absorb": (lambda t, x=x: ops.absorb(x, t), "running"),
        "absorb by name": (lambda t, x=x: ops.absorb(x, running=t), "running"),
        "absorb_all": (lambda t, x=x: ops.absorb_all(x, [torch.ones(2), t]), "running"),
        "absorb_all seen": (lambda t, x=x: ops.absorb_all(x, [], t), "seen"),
        "gather": (lambda t, x=x: ops.gather(t, torch.ones(2), x), "total"),
        "gather count": (lambda t, x=x: ops.gather(torch.ones(2), t, x), "count"),
        "any_left": (lambda t, x=x: ops.any_left(t, x), "count"),
        "step": (lambda t, x=x: ops.step(x, t), "moment"),
        "step_": (lambda t, x=x: ops.step_(x.clone(), t), "moment"),
        "step_out": (lambda t, x=x: ops.step(x, t, out=torch.empty(2)), "moment"),
        "drawn": (lambda t, x=x: ops.drawn(x, t), "noise"),
        "drawn_from_ops": (lambda t, x=x: ops.drawn_from_ops(x, t), "noise"),
    }


@shows()
def check_versions_of_what_is_written(ops):
    for name, (call, _) in written(ops).items():
        base = torch.full((4,), 5.0)
        view = base[:2]
        call(view)
        assert (base._version, view._version) == (1, 1) and base[0] != 5 and base[3] == 5, name
        with torch.no_grad():
            leaf = torch.ones(2, requires_grad=True)
            call(leaf)
            assert leaf._version == 1, name


@shows()
def check_stale_saved_tensors(ops):
    for call, _ in written(ops).values():
        target, weight = torch.ones(2), torch.ones(2, requires_grad=True)
        result = (weight * target).sum()
        call(target)
        raises(RuntimeError, "modified by an inplace operation", result.backward)


@shows()
def check_refused_writes(ops):
    for name, (call, argument) in written(ops).items():
        text = f"The function '{re.split('[ ]|_out', name)[0]}' is not differentiable .* argument '{argument}'"
        for make in (
            lambda x: x,
            lambda x: x * 1,
            lambda x: x.view(2),
            lambda x: (x * 1).view(2),
            lambda x: (x * 1)[:2],
        ):
            target = make(torch.ones(2, requires_grad=True))
            raises(RuntimeError, text, call, target)
            assert target.tolist() == [1, 1] and target._version == 0, name
        with torch.inference_mode():
            inference = torch.ones(2)
            call(inference)
            inference.fill_(1)
            ordinary = matrix()
        raises(RuntimeError, "Inplace update to inference tensor outside InferenceMode", call, inference)
        assert inference.tolist() == [1, 1] or name == "drawn_from_ops"  # whose ops write before they find out
        ordinary = torch.ones(2)
        with torch.inference_mode():
            call(ordinary)
        assert ordinary._version == 1, name


@shows()
def check_derivatives_of_ops_that_write(ops):
    x = torch.ones(2, requires_grad=True)
    assert gradient(ops.absorb(x, torch.ones(2)), x)[0].tolist() == [2, 2]
    for op in (ops.drawn, ops.drawn_from_ops):  # formulas see the value after the call, which is what is saved
        noise = torch.ones(2)
        result = op(x, noise)
        assert gradient(result, x)[0].tolist() == [3, 3]
        result = op(x, noise)
        noise.add_(1)
        raises(RuntimeError, "modified by an inplace operation", result.sum().backward)
    y = x * 1
    assert ops.step_(y, torch.ones(2)) is y and type(y.grad_fn).__name__ == "StepBackward0"
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2), torch.ones(2))
        assert forward_ad.unpack_dual(ops.absorb(dual, torch.ones(2))).tangent.tolist() == [2, 2]
        assert forward_ad.unpack_dual(ops.drawn(dual, torch.ones(2))).tangent.tolist() == [3, 3]
        raises(NotImplementedError, "forward AD with absorb", ops.absorb, torch.ones(2), dual)
        raises(NotImplementedError, "forward AD with absorb_all", ops.absorb_all, torch.ones(2), [dual])


@shows()
def check_transforms_of_ops_that_write(ops):
    samples = torch.ones(3, 2)
    for name, call in {
        "absorb": lambda x: ops.absorb(x, torch.ones(2)),
        "absorb_all": lambda x: ops.absorb_all(torch.ones(2), [torch.ones(2), x]),
        "gather": lambda x: ops.gather(torch.ones(2), torch.ones(2), x),
    }.items():
        raises(RuntimeError, f"Batching rule not implemented for everyword::{name}", torch.func.vmap(call), samples)
    running = torch.ones(2)
    captured = torch.func.grad(lambda x: ops.absorb(x, running).sum())
    raises(RuntimeError, "would mutate a captured Tensor", captured, torch.ones(2))
    assert running._version == 0
    own = torch.func.grad(lambda x: ops.absorb(x, torch.ones(2)).sum())
    assert own(torch.ones(2)).tolist() == [2, 2]


@shows()
def check_modes_and_programs_of_ops_that_write(ops):
    seen = []

    class Mode(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **kwargs or {})

    running, count = torch.ones(2), torch.ones(2)
    with Mode():
        ops.absorb(torch.ones(2), running)
        ops.absorb_all(torch.ones(2), [running], count)
        ops.gather(running, count, torch.ones(2))
    assert (running._version, count._version) == (3, 2)
    assert [name for name in seen if "everyword" in name] == [
        f"everyword.{name}.default" for name in ("absorb", "absorb_all", "gather")
    ]
    program = torch.program.record(
        lambda x, t: (ops.absorb(x, t), ops.gather(t, t.clone(), x), t + 0)[::2], torch.ones(2), torch.ones(2)
    )
    target = torch.full((2,), 5.0)
    results = program(torch.ones(2), target)
    assert target.tolist() == [4, 4] and results[1].tolist() == [4, 4] and target._version == 2
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        weight, target = torch.ones(2, requires_grad=True), torch.full((2,), 5.0)
        result = (weight * target).sum()
        ops.gather(target, torch.ones(2), torch.ones(2))
        result.backward()
    assert weight.grad.tolist() == [5, 5]
