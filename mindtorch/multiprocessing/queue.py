"""Queues whose messages are tensors, as Python's own are once `mindtorch.multiprocessing` is loaded."""

from multiprocessing.queues import Queue as Queue
from multiprocessing.queues import SimpleQueue as SimpleQueue
