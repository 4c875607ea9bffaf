"""Types that a compiler would read in annotations."""

from typing import Any
from typing import Dict as Dict  # noqa: UP035  (programs import the old names from here)
from typing import List as List  # noqa: UP035
from typing import Optional as Optional
from typing import Tuple as Tuple  # noqa: UP035


class _BroadcastingList:
    """A list of numbers, or one number for all of them."""

    def __getitem__(self, types: Any) -> None:
        """It is never read."""


BroadcastingList1, BroadcastingList2, BroadcastingList3, BroadcastingList4 = [_BroadcastingList() for _ in range(4)]
