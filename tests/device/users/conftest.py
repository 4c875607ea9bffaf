"""What programs for NPUs see: the tests here need the simulated NPU (`make test-npu`)."""

from tests.device.conftest import IS_NPU

collect_ignore_glob = [] if IS_NPU else ["test_*.py"]
