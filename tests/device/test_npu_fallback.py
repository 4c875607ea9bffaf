"""The CPU's kernel on the NPU: its warning, its refusal, its random numbers."""

import warnings

import pytest

import mindtorch as torch
from mindtorch.backends.npu import fallback
from tests.device.conftest import IS_NPU

pytestmark = pytest.mark.skipif(not IS_NPU, reason="about the NPU")

CAUTION = (
    "CAUTION: The operator 'aten::special_airy_ai' is not currently supported on the NPU backend and will fall back to "
    "run on the CPU. This may have performance implications. (function npu_cpu_fallback)"
)


@pytest.fixture
def x():
    fallback.used.discard("special_airy_ai")
    return torch.full((64,), 2.0, device="npu")


def test_a_warning_once_for_each_op(x):
    with pytest.warns(UserWarning) as found:
        torch.special.airy_ai(x)
    assert [str(each.message) for each in found] == [CAUTION]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.special.airy_ai(x)


@pytest.mark.parametrize("is_known", [False, True])
def test_where_it_is_not_wanted(x, is_known, monkeypatch):
    """An error in the place of the warning, also of an op that has run so before."""
    if is_known:
        fallback.used.add("special_airy_ai")
    monkeypatch.setenv("TORCH_NPU_FALLBACK_CPU_DISABLE", "1")
    with warnings.catch_warnings(), pytest.raises(RuntimeError) as refused:
        warnings.simplefilter("error")
        torch.special.airy_ai(x)
    assert str(refused.value) == (
        "The operator 'aten::special_airy_ai' would execute its main computation on CPU through dispatcher backend "
        "fallback because no kernel is registered for the NPU PrivateUse1 backend, but CPU fallback is disabled by "
        "TORCH_NPU_FALLBACK_CPU_DISABLE=1."
    )


RANDOM = {
    "poisson": lambda x, g: torch.poisson(x, generator=g),
    "binomial": lambda x, g: torch.binomial(x, x / 4, generator=g),
    "_standard_gamma": lambda x, g: torch._standard_gamma(x, generator=g),
}


@pytest.mark.filterwarnings("ignore:CAUTION")
@pytest.mark.parametrize("name", RANDOM)
class TestRandomNumbers:
    def test_a_generator_of_the_device(self, name, x):
        """Its seed decides; each call takes other numbers; the default generators are left alone."""
        function = RANDOM[name]
        before = torch.get_rng_state(), torch.npu.get_rng_state()
        runs = []
        for seed in (7, 7, 8):
            generator = torch.Generator("npu").manual_seed(seed)
            runs.append([function(x.clone(), generator).tolist() for _ in range(2)])
        (first, second), again, other = runs
        assert again == [first, second] and first != second and first not in other
        assert torch.get_rng_state().equal(before[0]) and torch.npu.get_rng_state().equal(before[1])

    def test_the_generator_of_the_device_by_default(self, name, x):
        function = RANDOM[name]
        state = torch.get_rng_state()
        torch.npu.manual_seed(3)
        first = function(x.clone(), None).tolist()
        assert function(x.clone(), None).tolist() != first
        torch.npu.manual_seed(3)
        assert function(x.clone(), None).tolist() == first
        assert torch.get_rng_state().equal(state)

    def test_one_of_the_cpu_is_refused(self, name, x):
        with pytest.raises(RuntimeError, match="^Expected a 'npu' device type for generator but found 'cpu'$"):
            RANDOM[name](x, torch.Generator())


def test_the_cpu_refuses_one_of_the_device():
    for function in (torch.Tensor.uniform_, torch.Tensor.exponential_, torch.Tensor.geometric_):
        args = (0.5,) if function is torch.Tensor.geometric_ else ()
        with pytest.raises(RuntimeError, match="^Expected a 'cpu' device type for generator but found 'npu'$"):
            function(torch.ones(3), *args, generator=torch.Generator("npu"))
