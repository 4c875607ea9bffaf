"""Going through data in batches."""

from mindtorch.utils.data import _utils as _utils
from mindtorch.utils.data import dataloader as dataloader
from mindtorch.utils.data import dataset as dataset
from mindtorch.utils.data import distributed as distributed
from mindtorch.utils.data import sampler as sampler
from mindtorch.utils.data._utils.collate import default_collate, default_convert
from mindtorch.utils.data._utils.worker import get_worker_info
from mindtorch.utils.data.dataloader import DataLoader
from mindtorch.utils.data.datapipes._decorator import functional_datapipe
from mindtorch.utils.data.datapipes.datapipe import DFIterDataPipe, IterDataPipe, MapDataPipe
from mindtorch.utils.data.dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from mindtorch.utils.data.distributed import DistributedSampler
from mindtorch.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DFIterDataPipe",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterDataPipe",
    "IterableDataset",
    "MapDataPipe",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "functional_datapipe",
    "get_worker_info",
    "random_split",
]
