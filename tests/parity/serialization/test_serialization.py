"""PyTorch and mindtorch read each other's files."""

from collections import OrderedDict

import numpy as np
import pytest
import torch

import mindtorch

VALUES = {
    "float32": lambda library: library.arange(6.0).reshape(2, 3).t(),
    "bfloat16": lambda library: library.ones(3, dtype=library.bfloat16),
    "bool": lambda library: library.tensor([True, False]),
    "complex64": lambda library: library.tensor([1 + 2j]),
    "part": lambda library: library.arange(10)[3:7:2],
    "empty": lambda library: library.zeros(0, 3),
    "parameter": lambda library: library.nn.Parameter(library.ones(2)),
    "requires grad": lambda library: library.ones(2, requires_grad=True),
    "sparse": lambda library: library.sparse_coo_tensor([[0, 2]], [1.0, 2.0], (3,)),
    "mixed": lambda library: OrderedDict(
        step=3, shape=library.ones(2, 3).shape, dtype=library.float16, device=library.device("cpu"), names={"a"}
    ),
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize(("writer", "reader"), [(torch, mindtorch), (mindtorch, torch)], ids=["read", "write"])
@pytest.mark.filterwarnings("ignore:Sparse invariant checks")
def test_round_trip(name, writer, reader, tmp_path):
    writer.save(VALUES[name](writer), tmp_path / "file.pt")
    assert repr(reader.load(tmp_path / "file.pt")) == repr(VALUES[name](reader))


@pytest.mark.parametrize(("writer", "reader"), [(torch, mindtorch), (mindtorch, torch)], ids=["read", "write"])
def test_shared_storage(writer, reader, tmp_path):
    base = writer.arange(4.0)
    writer.save([base, base[1:]], tmp_path / "file.pt")
    whole, part = reader.load(tmp_path / "file.pt")
    whole[1] = 7
    assert np.array_equal(part.numpy(), [7, 2, 3])


@pytest.mark.parametrize(("writer", "reader"), [(torch, mindtorch), (mindtorch, torch)], ids=["read", "write"])
def test_state_of_a_module_and_its_optimizer(writer, reader, tmp_path):
    def make(library):
        model = library.nn.Sequential(library.nn.Linear(2, 3), library.nn.Linear(3, 1))
        return model, library.optim.Adam(model.parameters(), lr=0.1)

    model, optimizer = make(writer)
    model(writer.ones(1, 2)).sum().backward()
    optimizer.step()
    writer.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, tmp_path / "file.pt")
    again, again_optimizer = make(reader)
    state = reader.load(tmp_path / "file.pt")
    again.load_state_dict(state["model"])
    again_optimizer.load_state_dict(state["optimizer"])
    assert again(reader.ones(1, 2)).item() == pytest.approx(model(writer.ones(1, 2)).item(), rel=1e-6, abs=1e-6)
