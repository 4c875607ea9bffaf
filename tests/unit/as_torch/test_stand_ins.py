"""What PyTorch has and the library has not: it can be imported, and refuses when it is used."""

import subprocess
import sys
from enum import Enum
from importlib import import_module

import pytest

import mindtorch
from mindtorch._support.absent import making
from mindtorch._support.absent.reasons import BUILT, REASONS


def test_a_module_has_pytorch_s_names():
    from mindtorch.ao.quantization import observer  # noqa: PLC0415 (imported when a test runs, as a stand-in)

    assert "HistogramObserver" in dir(observer) and "no quantized tensors" in observer.__doc__
    with pytest.raises(AttributeError, match="module 'mindtorch.ao.quantization.observer' has no attribute 'nothing'"):
        observer.nothing  # noqa: B018


def test_classes_can_be_named_and_subclassed_but_not_made():
    import mindtorch.package as package  # noqa: PLC0415

    class Mine(package.PackageExporter):
        parts: list[package.PackageExporter[int]]

    assert isinstance(package.PackageExporter, type) and issubclass(package.PackagingError, Exception)
    for cls in (package.PackageExporter, Mine):
        with pytest.raises(
            NotImplementedError, match="does not have torch.package[a-z_.]*.PackageExporter: torch.save keeps"
        ):
            cls("file")


def test_functions_refuse_when_they_are_called():
    from mindtorch.utils.cpp_extension import load  # noqa: PLC0415

    with pytest.raises(NotImplementedError, match="torch.utils.cpp_extension.load: C.. is not compiled; mindtorch.lib"):
        load(name="x", sources=[])
    assert load.__name__ == "load" and making.refusal_of(load).startswith("mindtorch does not have torch.utils")


def test_enums_have_their_members():
    from mindtorch.distributed.fsdp.api import ShardingStrategy  # noqa: PLC0415

    assert issubclass(ShardingStrategy, Enum) and ShardingStrategy.FULL_SHARD.value == 1


def test_decorators_leave_functions_as_they_are():
    from mindtorch._inductor.lowering import register_lowering  # noqa: PLC0415

    assert mindtorch._disable_dynamo(test_enums_have_their_members) is test_enums_have_their_members
    assert register_lowering("op", type_promotion_kind=None)(len) is len


def test_what_is_here_under_another_name_is_that():
    from mindtorch.distributed._composable.fsdp import fully_shard  # noqa: PLC0415
    from mindtorch.distributed._tensor import DTensor, Shard  # noqa: PLC0415

    assert DTensor is mindtorch.distributed.tensor.DTensor and Shard is mindtorch.distributed.tensor.Shard
    assert fully_shard is mindtorch.distributed.fsdp.fully_shard


def test_nothing_of_the_library_is_hidden():
    assert import_module("mindtorch.ops") is mindtorch.ops and mindtorch.ops.__name__ == "torch.ops"
    assert (
        import_module("mindtorch.cuda.amp.grad_scaler").GradScaler
        and mindtorch.ops.aten.add
        and mindtorch.quantize_per_tensor.__name__ == "quantize_per_tensor"
    )
    with pytest.raises(AttributeError, match="module 'mindtorch' has no attribute 'nothing'"):
        mindtorch.nothing  # noqa: B018


def test_what_is_being_built_has_none():
    assert not any(making.stands_for_module(path.replace("torch", "mindtorch", 1)) for path in BUILT)


def test_reasons_are_parts_of_a_sentence():
    assert [path for path, text in REASONS.items() if not path.startswith("torch.") or text[-1] in ".:;"] == []


def test_names_only():
    """Dtypes, a layout and schemes that programs list."""
    names = "qint8 quint8 qint32 quint4x2 int1 uint7 float4_e2m1fn_x2 bits16 jagged per_tensor_affine".split()
    assert [repr(getattr(mindtorch, name)) for name in names] == [f"torch.{name}" for name in names]
    for dtype in (mindtorch.qint8, mindtorch.int4):
        with pytest.raises(TypeError, match=f"mindtorch has no tensors of dtype {dtype}"):
            mindtorch.zeros(2, dtype=dtype)


_MODULES = """
from importlib import import_module
from mindtorch._support.absent.reasons import BUILT
from mindtorch._support.torch_names import torch_table
for row in torch_table():
    if row.packages and not row.name and not row.module.startswith((*BUILT, "torch.ops", "torch.classes.")):
        import_module(row.module)
"""


def test_every_module_that_packages_use_is_found():
    subprocess.run([sys.executable, "-W", "ignore", "-m", "mindtorch", "-c", _MODULES], check=True, timeout=240)


def test_tensorboard_refuses_when_a_writer_is_made(monkeypatch):
    from mindtorch.utils.tensorboard import SummaryWriter  # noqa: PLC0415

    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(ModuleNotFoundError, match="SummaryWriter needs the package tensorboard"):
        SummaryWriter("folder")


def test_data_pipes_are_methods_of_others():
    from mindtorch.utils.data import IterDataPipe, functional_datapipe  # noqa: PLC0415

    @functional_datapipe("doubled_for_a_test")
    class Doubled(IterDataPipe):
        def __init__(self, source):
            self.source = source

        def __iter__(self):
            return (2 * each for each in self.source)

    assert list(Doubled([1, 2]).doubled_for_a_test()) == [4, 8] and repr(Doubled([])).endswith("Doubled")
    with pytest.raises(Exception, match="Unable to add DataPipe function name doubled_for_a_test as it is already"):
        functional_datapipe("doubled_for_a_test")(Doubled)
    with pytest.raises(AttributeError, match="object has no attribute 'nothing'"):
        Doubled([]).nothing  # noqa: B018
