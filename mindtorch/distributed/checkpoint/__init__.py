"""`torch.distributed.checkpoint`: checkpoints that several processes save, and any number of them loads."""

from mindtorch.distributed.checkpoint import default_planner as default_planner
from mindtorch.distributed.checkpoint import format_utils as format_utils
from mindtorch.distributed.checkpoint import state_dict as state_dict
from mindtorch.distributed.checkpoint.agreement import CheckpointException as CheckpointException
from mindtorch.distributed.checkpoint.filesystem import FileSystemReader as FileSystemReader
from mindtorch.distributed.checkpoint.filesystem import FileSystemWriter as FileSystemWriter
from mindtorch.distributed.checkpoint.metadata import BytesStorageMetadata as BytesStorageMetadata
from mindtorch.distributed.checkpoint.metadata import ChunkStorageMetadata as ChunkStorageMetadata
from mindtorch.distributed.checkpoint.metadata import Metadata as Metadata
from mindtorch.distributed.checkpoint.metadata import TensorStorageMetadata as TensorStorageMetadata
from mindtorch.distributed.checkpoint.planner import DefaultLoadPlanner as DefaultLoadPlanner
from mindtorch.distributed.checkpoint.planner import DefaultSavePlanner as DefaultSavePlanner
from mindtorch.distributed.checkpoint.planner import LoadItemType as LoadItemType
from mindtorch.distributed.checkpoint.planner import LoadPlan as LoadPlan
from mindtorch.distributed.checkpoint.planner import LoadPlanner as LoadPlanner
from mindtorch.distributed.checkpoint.planner import ReadItem as ReadItem
from mindtorch.distributed.checkpoint.planner import SavePlan as SavePlan
from mindtorch.distributed.checkpoint.planner import SavePlanner as SavePlanner
from mindtorch.distributed.checkpoint.planner import WriteItem as WriteItem
from mindtorch.distributed.checkpoint.saving import async_save as async_save
from mindtorch.distributed.checkpoint.saving import load as load
from mindtorch.distributed.checkpoint.saving import save as save
from mindtorch.distributed.checkpoint.stateful import Stateful as Stateful
from mindtorch.distributed.checkpoint.storage import StorageReader as StorageReader
from mindtorch.distributed.checkpoint.storage import StorageWriter as StorageWriter
from mindtorch.distributed.checkpoint.storage import WriteResult as WriteResult
