"""The processes that `python -m mindtorch.distributed.run` starts."""

from mindtorch.distributed.elastic.multiprocessing import errors as errors
from mindtorch.distributed.elastic.multiprocessing.agent import SignalException as SignalException
