"""Whether another module is new enough."""

from typing import Any

from mindtorch._support.warnings import warn


def check_module_version_greater_or_equal(
    module: Any, req_version_tuple: tuple, error_if_malformed: bool = True
) -> bool:
    """Whether the version of a module is the given one or a later one."""
    numbers = module.__version__.split(".")
    try:
        found = tuple(type(field)(numbers[place]) for place, field in enumerate(req_version_tuple))
    except (ValueError, IndexError) as error:
        message = (
            f"'{module.__name__}' module version string is malformed '{module.__version__}' and cannot be compared "
            f"with tuple {req_version_tuple}"
        )
        if error_if_malformed:
            raise RuntimeError(message) from error
        warn(message + ", but continuing assuming that requirement is met")
        return True
    return found >= req_version_tuple


def check_dill(pickle_module: Any) -> None:
    """dill can pickle by our classes since version 0.3.1."""
    if getattr(pickle_module, "__name__", None) != "dill":
        return
    if not check_module_version_greater_or_equal(pickle_module, (0, 3, 1), False):
        raise ValueError(
            f"'torch' supports dill >= 0.3.1, but you have dill {pickle_module.__version__}. Please upgrade dill or "
            "switch to 'pickle'"
        )
