"""Memory of a device: storages, copies, files."""

import copy
import io
import pickle

import pytest

import mindtorch as torch


@pytest.fixture
def x(device):
    return torch.arange(12.0).to(device).reshape(3, 4)


def share(*tensors):
    return len({each.untyped_storage()._cdata for each in tensors}) == 1


class TestStorages:
    def test_contents(self, x):
        storage = x.untyped_storage()
        other = storage.clone()
        assert (
            other.device == x.device
            and other.tolist() == storage.tolist()
            and not share(x, torch.empty(0).set_(other.cpu()))
        )
        other.fill_(0)
        assert set(other.tolist()) == {0} and x.sum() == 66
        storage.copy_(other)
        assert x.tolist() == [[0.0] * 4] * 3
        storage[3] = 64
        assert storage[3] == 64 and x[0, 0] == 2.0

    def test_a_storage_of_the_cpu_is_copied_over(self, x):
        host = torch.ones(12).untyped_storage()
        x.untyped_storage().copy_(host)
        assert x.sum() == 12
        host.copy_(x.mul_(2).untyped_storage())
        assert torch.empty(0).set_(host).tolist() == [2.0] * 12

    def test_views_follow_a_storage_that_is_resized(self, x):
        row = x[1]
        x.untyped_storage().resize_(400)
        x.mul_(2)
        assert row.tolist() == [8.0, 10.0, 12.0, 14.0]

    def test_resized_tensors_keep_their_elements(self, x):
        row = x[0]
        assert x.resize_(2, 2).tolist() == [[0.0, 1.0], [2.0, 3.0]]
        x.resize_(5, 5)
        assert x.flatten()[:12].tolist() == list(range(12)) and share(x, row)

    def test_set(self, x, device):
        view = torch.empty(0, device=device).set_(x.untyped_storage(), 1, (2, 2), (4, 1))
        view.zero_()
        assert x.tolist() == [[0, 0, 0, 3], [4, 0, 0, 7], [8, 9, 10, 11]]

    def test_out_is_resized(self, x, device):
        out = torch.empty(0, device=device)
        assert torch.add(x, 1, out=out) is out and out.sum() == 78


class TestCopies:
    @pytest.mark.parametrize("copied", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
    def test_views_of_one_storage_stay_so(self, x, copied):
        whole, part = copied((x, x[1:, ::2]))
        assert share(whole, part) and whole.device == x.device
        whole.zero_()
        assert part.tolist() == [[0.0, 0.0], [0.0, 0.0]] and x.sum() == 66

    def test_files(self, x, device):
        file = io.BytesIO()
        torch.save({"whole": x, "part": x[1]}, file)
        for place, kind in ((None, device), ("cpu", "cpu"), ({f"{device}:0": "cpu"}, "cpu"), ("meta", "meta")):
            file.seek(0)
            loaded = torch.load(file, map_location=place)
            assert loaded["part"].device.type == kind and share(*loaded.values())
            if kind != "meta":
                assert loaded["part"].tolist() == [4.0, 5.0, 6.0, 7.0]

    def test_from_the_cpu(self, device):
        file = io.BytesIO()
        torch.save(torch.arange(4.0)[1:], file)
        file.seek(0)
        loaded = torch.load(file, map_location=device)
        assert loaded.device.type == device and loaded.tolist() == [1.0, 2.0, 3.0]

    def test_numbers(self, x, device):
        assert x[1, 2].item() == 6.0 and int(x[1, 2]) == 6 and f"{x[1, 2]:.1f}" == "6.0" and bool(x[1, 2])
        assert torch.arange(5)[torch.tensor(2, device=device).item()] == 2 and 6.0 in x

    def test_numpy_is_refused(self, x, device):
        with pytest.raises(TypeError, match=f"can't convert {device}:0 device type tensor to numpy. Use Tensor.cpu()"):
            x.numpy()
