"""Models learn on the device what they learn on the CPU, by no more launches than before."""

import json
import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from mindtorch.backends.npu import fallback
from tests.device.npu.models import MODELS, Training

pytestmark = pytest.mark.filterwarnings("ignore:CAUTION")
STEPS = 200 if os.environ.get("MINDTORCH_SAMPLES") == "all" else 12
KEPT = Path(__file__).parent / "launches.json"


@pytest.mark.parametrize("name", MODELS)
def test_losses(simulator, name):
    there, here = Training(name, "npu"), Training(name, "cpu")
    losses = np.array([[each.step(number) for each in (there, here)] for number in range(STEPS)])
    assert np.abs(losses[:50, 0] - losses[:50, 1]).max() < 1e-5 and np.abs(losses[:, 0] - losses[:, 1]).max() < 1e-4
    assert STEPS < 200 or losses[-20:].mean() < losses[:20].mean() / 2
    assert simulator.violations() == []


def calls_of_a_step(device, name):
    """Launches of ops, copies, and the ops that the CPU computes."""
    training = Training(name, "npu")
    training.step(0)
    training.step(1)
    before = set(fallback.used)
    fallback.used.clear()
    with device.log() as log:
        training.step(2)
    on_cpu = sorted(fallback.used)
    fallback.used.update(before)
    ops = Counter(each.name for each in log if each.name.startswith("aclnn"))
    copies = Counter(each.name for each in log if each.name.startswith("aclrtMem"))
    return {"total": sum(ops.values()) + sum(copies.values()), "on the CPU": on_cpu, "ops": ops, "copies": copies}


@pytest.mark.parametrize("name", MODELS)
def test_launches(simulator, name):
    """No more than are kept in the file. MINDTORCH_UPDATE_GOLDEN=1 writes it anew, where there are fewer by now."""
    found = calls_of_a_step(simulator, name)
    sys.stdout.write(f"a step of {name}: {found['total']} launches and copies; {json.dumps(found)}\n")
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if os.environ.get("MINDTORCH_UPDATE_GOLDEN") == "1":
        kept[name] = found
        KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
    assert found["total"] <= kept[name]["total"], f"{found} instead of {kept[name]}"
    assert set(found["on the CPU"]) <= set(kept[name]["on the CPU"])
