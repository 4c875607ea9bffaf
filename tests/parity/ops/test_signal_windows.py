"""The windows of `torch.signal.windows`: values, dtypes, errors."""

import pytest

from tests.parity.support.programs import assert_same

NAMES = (
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann",
    "kaiser", "nuttall",
)  # fmt: skip

OPTIONS = {
    "general_cosine": [{"a": [0.5, 0.3, 0.2]}, {"a": []}, {"a": 3}],
    "general_hamming": [{"alpha": 0.6}],
    "exponential": [{"tau": 2.0}, {"tau": -1}, {"center": 1.5}, {"center": 1.5, "sym": False}],
    "gaussian": [{"std": 2.5}, {"std": 0}],
    "kaiser": [{"beta": 3.0}, {"beta": -1.0}],
}
COMMON = [{}, {"sym": False}, {"dtype": "float64"}, {"dtype": "int64"}, {"requires_grad": True}]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("M", [0, 1, 2, 7, 16, -1])
def test_window(name, M):
    def run(T):
        results = []
        for options in [*COMMON, *OPTIONS.get(name, [])]:
            options = dict(options)
            if name == "general_cosine":
                options.setdefault("a", [0.4, 0.6])
            if "dtype" in options:
                options["dtype"] = getattr(T, options["dtype"])
            try:
                results.append(getattr(T.signal.windows, name)(M, **options))
            except (TypeError, ValueError) as error:
                results.append(f"{type(error).__name__}: {error}")
        return results

    assert_same(run)
