"""Which samples of torch's test suite this run looks at. The seed is the date; the workers of a run have the same."""

import os
from datetime import date

_SEED = "MINDTORCH_SAMPLES_SEED"
os.environ.setdefault(_SEED, f"{date.today():%Y%m%d}")

ALL = os.environ.get("MINDTORCH_SAMPLES") == "all"
SEED = int(os.environ[_SEED])
HEADER = "samples of torch's tests: " + ("all" if ALL else f"{_SEED}={SEED} (all with MINDTORCH_SAMPLES=all)")
