"""Python's pool of processes, which sends tensors once `mindtorch.multiprocessing` is loaded."""

from multiprocessing.pool import Pool as Pool
