"""Which samples this run looks at, where there are many. The seed is the date; the workers of a run have the same."""

import os
import random
from datetime import date

_SEED = "MINDTORCH_SAMPLES_SEED"
os.environ.setdefault(_SEED, f"{date.today():%Y%m%d}")

ALL = os.environ.get("MINDTORCH_SAMPLES") == "all"
SEED = int(os.environ[_SEED])
HEADER = "samples of the day: " + ("all" if ALL else f"{_SEED}={SEED} (all with MINDTORCH_SAMPLES=all)")


def some(cases, share):
    """One of so many cases, others each day; at least one of them if there are any."""
    cases = list(cases)
    return cases if ALL or not cases else sorted(random.Random(SEED).sample(cases, max(1, len(cases) // share)))
