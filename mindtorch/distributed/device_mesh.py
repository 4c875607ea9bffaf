"""The devices of several processes in rows and columns: there is one process here."""

from mindtorch.distributed.refusals import ProcessGroup, refuse_without_group


class DeviceMesh(ProcessGroup):
    """Nothing is one."""


init_device_mesh = refuse_without_group
