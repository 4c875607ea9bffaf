"""The fixtures of these tests, which those that compare with torch have, too."""

from tests.npu.fixtures import client, device, toolkit, value  # noqa: F401
