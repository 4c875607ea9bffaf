"""Versions, views, saved tensors, hooks, the layout of gradients: the rules of autograd, on a device."""

import pytest

import mindtorch as torch
from tests.device.conftest import DEVICE
from tests.device.npu.contracts import MODULES, collected

pytestmark = pytest.mark.filterwarnings("ignore:CAUTION")

for _name in MODULES:
    _tests = collected(_name)
    assert not globals().keys() & _tests.keys(), "two fixtures of one name"
    globals().update(_tests)


# What the library or the test has on the CPU only, each with its reason.
ON_THE_CPU = {
    "test_accumulate_gradients_of_a_tensor_used_often": "one of the gradients is sparse",
    "test_checkpoint_threads_do_not_share_a_run": "the default device is a thread's own",
}


@pytest.fixture(autouse=True)
def known(request):
    reason = ON_THE_CPU.get(request.node.originalname)
    if reason:
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.fixture(autouse=True)
def default_device():
    with torch.device(DEVICE):
        yield
