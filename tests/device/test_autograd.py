"""Autograd on a device: what does not look at elements is the same for all devices."""

import pytest

import mindtorch as torch


@pytest.fixture
def x(device):
    return torch.arange(1.0, 7.0, dtype=torch.float64).reshape(2, 3).to(device).requires_grad_()


class TestGradients:
    def test_a_fresh_gradient_is_taken_over(self, x):
        seen = []
        x.register_hook(lambda grad: seen.append(grad.untyped_storage()._cdata))
        (x * 3).sum().backward()
        assert x.grad.tolist() == [[3.0] * 3] * 2
        assert seen == [x.grad.untyped_storage()._cdata]

    def test_one_that_others_see_is_copied(self, x, device):
        grad = torch.ones(2, 3, dtype=torch.float64, device=device)
        x.clone().backward(grad)
        assert x.grad.untyped_storage()._cdata != grad.untyped_storage()._cdata

    def test_a_function_with_an_output_that_is_not_used(self, x):
        class Both(torch.autograd.Function):
            @staticmethod
            def forward(ctx, value):
                return value * 2, value * 3

            @staticmethod
            def backward(ctx, one, other):
                assert one.device == other.device
                return one * 2 + other * 3

        Both.apply(x)[0].sum().backward()
        assert x.grad.tolist() == [[2.0] * 3] * 2

    def test_a_changed_saved_tensor(self, x):
        y = x.exp()
        z = y * y
        y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.sum().backward()

    def test_views(self, x):
        y = x * 1
        part = y[0]
        part.mul_(5)
        y.sum().backward()
        assert x.grad.tolist() == [[5.0] * 3, [1.0] * 3]

    def test_gradcheck(self, x, device):
        assert torch.autograd.gradcheck(lambda a: (a.sin() @ a.t()).logsumexp(0), (x,))
        assert torch.autograd.gradgradcheck(lambda a: a.tanh().prod(), (x,))
        with torch.device(device):
            options = {"check_forward_ad": True, "check_batched_grad": True}
            assert torch.autograd.gradcheck(lambda a: a.sin() * a, (x,), **options)
            assert torch.autograd.gradcheck(lambda a: a.sin() * a, (x,), fast_mode=True, check_forward_ad=True)


class TestTransforms:
    def test_levels(self, x):
        x = x.detach()
        jacobian = torch.func.jacrev(lambda a: a.sin().sum(0))(x)
        assert jacobian.device == x.device and torch.allclose(jacobian, torch.func.jacfwd(lambda a: a.sin().sum(0))(x))
        hessian = torch.func.hessian(lambda a: (a**3).sum())(x)
        assert hessian.sum().item() == 6 * 21
        assert torch.vmap(lambda a, b: a * b, in_dims=(0, None))(x, x[0]).tolist() == (x * x[0]).tolist()
        assert torch.vmap(lambda a: torch.ones_like(a[0]), out_dims=0)(x).device == x.device


class TestDevicesMeet:
    def test_a_number_on_the_cpu(self, x):
        assert (torch.tensor(2.0) * x).device == (x * torch.tensor(2.0)).device == x.device

    def test_copies(self, x, device):
        host = torch.zeros(2, 3, dtype=torch.float64)
        assert host.copy_(x.detach()) is host and host.sum() == 21
        assert torch.zeros(2, 3, device=device).copy_(host).device.type == device

    def test_a_module_is_trained(self, device):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).to(device)
        twin = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
        twin.load_state_dict(model.state_dict())
        data = torch.randn(16, 4)
        losses = []
        for each, inputs in ((model, data.to(device)), (twin, data)):
            optimizer = torch.optim.Adam(each.parameters(), lr=0.1)
            for _ in range(5):
                optimizer.zero_grad()
                loss = (each(inputs) ** 2).mean()
                loss.backward()
                optimizer.step()
            losses.append(loss.item())
        assert losses[0] == pytest.approx(losses[1])
