"""Modules in several processes: there is one here."""

from typing import Any, NoReturn

from mindtorch.distributed.refusals import refuse_without_group
from mindtorch.nn.modules.module import Module


class DistributedDataParallel(Module):
    """Programs ask whether a model is one; none can be made."""

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> NoReturn:
        refuse_without_group()
