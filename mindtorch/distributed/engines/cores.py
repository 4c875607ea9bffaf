"""How many processes can run at once on this machine."""

import os


def is_crowded(count: int) -> bool:
    """Whether there are more processes than cores, so that those which wait keep others from running."""
    return count > len(os.sched_getaffinity(0))
