"""The errors of process groups."""


class DistError(RuntimeError):
    """An error of `torch.distributed`; the base of all others."""


class DistBackendError(DistError):
    """An engine has failed: a process is dead or late, or the group was aborted."""


class DistNetworkError(DistError):
    """Another process could not be reached."""


class DistStoreError(DistError):
    """A store has failed, or did not have a key in time."""


class QueueEmptyError(DistStoreError):
    """A queue of a store has no value."""
