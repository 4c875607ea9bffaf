"""`mindtorch.library` where it meets what only mindtorch has: backends by array class, traces, generated ops."""

import gc
import re
import weakref
from inspect import unwrap
from pathlib import Path

import numpy as np
import pytest

import mindtorch as torch
from mindtorch._core.tensor import wrap
from mindtorch.dispatch import register_backend
from mindtorch.dispatch.modes.trace import show_dispatch_trace
from mindtorch.dispatch.registry import find_op, kernel_table
from mindtorch.library import Library, custom_op, define, impl, opcheck, register_kernel
from mindtorch.library.checking import OpCheckError


class DeviceArray(np.ndarray):
    """The memory of a device that is the CPU's."""


@pytest.fixture(scope="module", autouse=True)
def device():
    register_backend("LIBTEST", DeviceArray, "libtest")
    DeviceArray.device = torch.device("libtest")


def on_device(values):
    return wrap(np.array(values, np.float32).view(DeviceArray))


@pytest.fixture
def library():
    with torch.library._scoped_library("unit", "FRAGMENT") as library:
        yield library


class TestBackends:
    def test_the_class_of_the_arrays_chooses_the_kernel(self, library):
        library.define("where(Tensor x, Tensor[] more) -> str")
        library.impl("where", lambda x, more: "cpu", "CPU")
        impl("unit::where", "libtest", lambda x, more: "device", lib=library)
        where = torch.ops.unit.where
        assert where(torch.ones(1), []) == "cpu" and where(on_device([1]), []) == "device"
        assert where(torch.ones(1), [on_device([1])]) == "device"

    def test_a_missing_kernel_names_the_backend(self, library):
        library.define("nowhere(Tensor x) -> Tensor")
        library.impl("nowhere", lambda x: x, "CPU")
        message = "'unit::nowhere' with arguments from the 'LIBTEST' backend.* these backends: \\[CPU\\]"
        with pytest.raises(NotImplementedError, match=message):
            torch.ops.unit.nowhere(on_device([1]))

    def test_a_kernel_that_comes_later_is_found(self, library):
        library.define("late(Tensor x) -> int")
        with pytest.raises(NotImplementedError):
            torch.ops.unit.late(torch.ones(1))
        library.impl("late", lambda x: 1, "CPU")
        assert torch.ops.unit.late(torch.ones(1)) == 1

    def test_the_newest_kernel_is_used_until_its_library_goes(self, library):
        library.define("newest(Tensor x) -> int")
        library.impl("newest", lambda x: 1, "CPU")
        second = Library("unit", "IMPL", "CPU")
        second.impl("newest", lambda x: 2)
        assert torch.ops.unit.newest(torch.ones(1)) == 2
        del second
        gc.collect()
        assert torch.ops.unit.newest(torch.ones(1)) == 1

    def test_autograd_of_one_backend(self, library):
        library.define("own(Tensor x) -> str")
        library.impl("own", lambda x: "kernel", "CompositeExplicitAutograd")
        library.impl("own", lambda x: "autograd", "AutogradLIBTEST")
        assert torch.ops.unit.own(on_device([1])) == "autograd" and torch.ops.unit.own(torch.ones(1)) == "kernel"

    def test_gradients_on_a_device(self):
        @custom_op("unit_device::double", mutates_args=(), device_types="libtest")
        def double(x: torch.Tensor) -> torch.Tensor:
            return wrap(np.add(x._mt_array, x._mt_array))

        double.register_autograd(lambda ctx, grad: wrap(np.add(grad._mt_array, grad._mt_array)))
        x = on_device([1, 2]).requires_grad_()
        y = double(x)
        (grad,) = torch.autograd.grad(y, x, on_device([1, 1]))
        assert (
            type(y._mt_array) is DeviceArray
            and type(grad._mt_array) is DeviceArray
            and grad._mt_array.tolist() == [2, 2]
        )


class TestDefinitions:
    def test_another_definition_of_the_same_name(self):
        def write(x: torch.Tensor) -> None: ...
        def read(x: torch.Tensor) -> int:
            return 1

        x = torch.ones(1)
        custom_op("unit_again::op", write, mutates_args={"x"})(x)
        assert x._version == 1
        assert custom_op("unit_again::op", read, mutates_args=())(x) == 1 and x._version == 1

    def test_a_failed_definition_leaves_nothing(self):
        def keyword(*, x: torch.Tensor) -> torch.Tensor: ...

        with pytest.raises(NotImplementedError, match="kwarg-only"):
            custom_op("unit_failed::op", keyword, mutates_args=())
        assert not hasattr(torch.ops.unit_failed, "op")

    def test_a_library_goes_with_its_last_reference(self):
        library = Library("unit_gone", "DEF")
        library.define("op(Tensor x) -> Tensor")
        assert hasattr(torch.ops.unit_gone, "op")
        del library
        gc.collect()
        assert not hasattr(torch.ops.unit_gone, "op")
        Library("unit_gone", "DEF")


class TestGeneratedOps:
    def test_a_kernel_of_tensors_for_an_op_of_arrays(self, library):
        with torch.library._scoped_library("aten", "IMPL") as aten:
            aten.impl("exp", lambda x: wrap(np.add(x._mt_array, 100)), "LIBTEST")
            assert torch.exp(on_device([1]))._mt_array.tolist() == [101]
            assert torch.exp(torch.zeros(1)).item() == 1
        with pytest.raises(NotImplementedError, match="'LIBTEST' backend"):
            torch.exp(on_device([1]))

    def test_the_old_kernel_comes_back(self):
        before = unwrap(kernel_table("atan2")[np.ndarray])
        with torch.library._scoped_library("aten", "IMPL") as aten:
            aten.impl("atan2", lambda a, b: a - b, "CPU")
            out = torch.empty(1)
            torch.atan2(torch.ones(1) * 3, torch.ones(1), out=out)
            assert out.item() == 2 and torch.ones(1).atan2_(torch.ones(1)).item() == 0
        assert unwrap(kernel_table("atan2")[np.ndarray]) is before

    @pytest.mark.parametrize("key", ["Autograd", "CompositeImplicitAutograd", "AutogradCPU"])
    def test_only_kernels_can_be_replaced(self, key):
        with torch.library._scoped_library("aten", "IMPL") as aten:
            with pytest.raises(
                NotImplementedError, match=f"exp is generated from ops.yaml.*not what it does for {key}"
            ):
                aten.impl("exp", lambda x: x, key)

    def test_a_new_overload_of_a_generated_op(self):
        with torch.library._scoped_library("aten", "FRAGMENT") as aten:
            aten.define("exp.unit(Tensor self, int times) -> Tensor")
            aten.impl("exp.unit", lambda x, times: x.exp() * times, "CPU")
            assert torch.ops.aten.exp.unit(torch.zeros(1), 3).item() == 3
            assert torch.ops.aten.exp(torch.zeros(1)).item() == 1 and "unit" in torch.ops.aten.exp.overloads()
        assert "unit" not in torch.ops.aten.exp.overloads() and find_op("aten::exp.unit") is None

    def test_checks(self):
        assert set(opcheck(torch.ops.aten.mul.Tensor, (torch.ones(2), torch.ones(2))).values()) == {"SUCCESS"}


class TestKeys:
    @pytest.mark.parametrize("key", ["ADInplaceOrView", "FuncTorchBatched", "BackendSelect"])
    def test_layers_that_do_not_exist(self, library, key):
        library.define("keyed(Tensor x) -> Tensor")
        with pytest.raises(NotImplementedError, match=f"no layer for the dispatch key {key}"):
            library.impl("keyed", lambda x: x, key)

    def test_key_sets(self, library):
        with pytest.raises(NotImplementedError, match="no dispatch key sets"):
            library.impl("keyed", lambda keys, x: x, "CPU", with_keyset=True)

    def test_backends_that_are_not_here_can_have_kernels(self, library):
        library.define("waiting(Tensor x) -> int")
        for key in ("CUDA", "XLA", "NPU", "PrivateUse1", "npu", "cuda"):
            impl("unit::waiting", key, lambda x: 1, lib=library)
        with pytest.raises(NotImplementedError, match="only available for these backends: \\[CUDA, XLA, NPU\\]"):
            torch.ops.unit.waiting(torch.ones(1))


class TestSeenFromOutside:
    def test_the_trace_has_the_namespace(self, library, capsys):
        library.define("traced(Tensor x) -> Tensor")
        library.impl("traced", lambda x: x.exp(), "CPU")
        x = torch.ones(1)
        with show_dispatch_trace():
            torch.ops.unit.traced(x)
        assert capsys.readouterr().err.splitlines() == [
            "[call] op=[unit::traced], key=[AutogradCPU]",
            " [call] op=[aten::exp], key=[AutogradCPU]",
            "  [redispatch] op=[aten::exp], key=[CPU]",
        ]

    def test_namespaces_are_listed(self, library):
        library.define("listed(Tensor x) -> Tensor")
        assert "unit" in dir(torch.ops) and "aten" in dir(torch.ops) and dir(torch.ops.unit) == ["listed"]

    def test_a_namespace_may_have_the_name_of_a_function(self):
        define("zeros::exp", "(Tensor x) -> int")
        register_kernel("zeros::exp", "cpu", lambda x: 7)
        assert torch.ops.zeros.exp(torch.ones(1)) == 7 and torch.zeros(1).item() == 0

    @pytest.mark.filterwarnings("ignore:Anomaly Detection has been enabled")
    def test_anomaly_mode_notes_where_the_node_was_made(self):
        @custom_op("unit_anomaly::failing", mutates_args=())
        def failing(x: torch.Tensor) -> torch.Tensor:
            return x * 1

        with torch.autograd.detect_anomaly(check_nan=False), pytest.warns(UserWarning, match="Error detected in"):
            y = failing(torch.ones(1, requires_grad=True))
            with pytest.raises(RuntimeError, match="no autograd formula was registered"):
                y.backward()


class TestChecks:
    def test_results_that_change(self):
        numbers = iter(range(10))

        @custom_op("unit_checks::counter", mutates_args=())
        def counter(x: torch.Tensor) -> torch.Tensor:
            return x * 0 + next(numbers)

        counter.register_fake(lambda x: torch.empty_like(x))
        with pytest.raises(OpCheckError, match="Outputs of the operator are different in two runs"):
            opcheck(counter, (torch.ones(1),), test_utils="test_aot_dispatch_static")

    def test_a_derivative_that_needs_data(self):
        @custom_op("unit_checks::untraceable", mutates_args=())
        def untraceable(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        untraceable.register_fake(lambda x: torch.empty_like(x))
        untraceable.register_autograd(lambda ctx, grad: torch.from_numpy(grad.numpy() * 2))
        x = torch.ones(1, requires_grad=True)
        results = opcheck(untraceable, (x,), raise_exception=False)
        failed = [name for name, result in results.items() if result != "SUCCESS"]
        assert failed == ["test_aot_dispatch_dynamic"]

    def test_results_that_share_memory(self, library):
        library.define("twins(Tensor x) -> (Tensor, Tensor)")

        def twins(x):
            y = x * 1
            return y, y[:1]

        library.impl("twins", twins, "CompositeExplicitAutograd")
        with pytest.raises(OpCheckError, match="Outputs 0 and 1 alias unexpectedly"):
            opcheck(torch.ops.unit.twins, (torch.ones(2),), test_utils="test_schema")

    def test_one_overload_at_a_time(self, library):
        library.define("several(Tensor x) -> Tensor")
        library.define("several.more(Tensor x, int n) -> Tensor")
        with pytest.raises(RuntimeError, match="pass an OpOverload, for example unit.several.default"):
            opcheck(torch.ops.unit.several, (torch.ones(1),))


def test_the_page(capsys):
    """The programs of docs/library.md run one after the other, and print what their comments say."""
    page = (Path(__file__).resolve().parents[3] / "docs" / "library.md").read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    program = "\n".join(blocks)
    exec(compile(program, "docs/library.md", "exec"), {})
    expected = re.findall(r"^ *print\(.*\)  # (.*)$", program, re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == expected and len(expected) > 8


class TestStraightCalls:
    """Calls that take the short way give the same as those that do not."""

    @pytest.fixture
    def seen(self, library):
        seen = []
        library.define("plain(Tensor x, int n=2, Tensor? y=None, *, float f=1.0, str mode='a') -> Tensor")
        library.impl("plain", lambda *args, **kwargs: seen.append((args[1:], kwargs)) or args[0] * 1, "CPU")
        return seen

    def test_kernels_get_no_defaults(self, seen):
        plain, x = torch.ops.unit.plain, torch.ones(1)
        for _ in range(2):
            plain(x)
            plain(x, 2)
            plain(x, 3)
            plain(x, 2, None)
            plain(x, f=1.0, mode="b")
            plain(x, 3, f=2.0, mode="a")
        calls = [((), {}), ((), {}), ((3,), {}), ((), {}), ((), {"mode": "b"}), ((3,), {"f": 2.0})]
        assert seen == calls * 2

    def test_what_does_not_fit_is_an_error_each_time(self, seen):
        plain, x = torch.ops.unit.plain, torch.ones(1)
        for _ in range(2):
            for args, kwargs in [
                ((x, 2**63), {}),
                ((x, "a"), {}),
                ((x,), {"mode": 3}),
                ((x,), {"q": 1}),
                ((), {}),
                ((x,) * 4, {}),
            ]:
                with pytest.raises(RuntimeError):
                    plain(*args, **kwargs)
        assert seen == []

    def test_a_kernel_that_comes_later_is_used(self, seen, library):
        plain, x = torch.ops.unit.plain, torch.ones(1)
        plain(x)
        library.impl("plain", lambda x, *args, **kwargs: x + 10, "CPU")
        assert plain(x).item() == 11
        library.impl("plain", lambda x, *args, **kwargs: x + 20, "Autograd")
        assert plain(x).item() == 21

    def test_tensors_that_require_grad_meet_the_autograd_kernel(self, seen):
        torch.library.register_autograd("unit::plain", lambda ctx, grad: (grad * 7, None, None))
        plain, x = torch.ops.unit.plain, torch.ones(1)
        assert not plain(x).requires_grad
        assert torch.autograd.grad(plain(x.clone().requires_grad_()), x.requires_grad_(), allow_unused=True) == (None,)
        (grad,) = torch.autograd.grad(plain(x), x)
        assert grad.item() == 7

    def test_classes_of_users_are_not_kept(self, seen):
        class Marked(torch.Tensor):
            pass

        torch.ops.unit.plain(torch.ones(1).as_subclass(Marked))
        alive = weakref.ref(Marked)
        del Marked
        gc.collect()
        assert alive() is None


def test_handles_of_an_op_that_is_defined_again():
    """In PyTorch they point to memory that was freed: what they give depends on what came there since."""
    found = []
    packet = overload = None
    for factor in (2, 3):
        with torch.library._scoped_library("unit_again", "FRAGMENT") as library:
            library.define("foo(Tensor x) -> Tensor")
            library.impl("foo", lambda x, factor=factor: x * factor, "CPU")
            packet = packet or torch.ops.unit_again.foo
            overload = overload or packet.default
            found += [packet(torch.ones(1)).item(), overload(torch.ones(1)).item()]
    assert found == [2, 2, 3, 3]
