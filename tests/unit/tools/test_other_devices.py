"""What the library expects of a device, on one whose memory NumPy cannot reach."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[2] / "device"


def test_a_device_besides_the_cpu():
    """In a process of its own: a second device changes for all tests how kernels are found."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(TESTS)]
    done = subprocess.run(
        command, env=os.environ | {"MINDTORCH_DEVICE": "privateuseone"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
