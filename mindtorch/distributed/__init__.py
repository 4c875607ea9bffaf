"""`torch.distributed`: several processes that work on one program.

The processes are started together, by `python -m mindtorch.distributed.run`, and exchange tensors by MPI. A process
that is alone can make a group of itself without MPI.
"""

from mindtorch.distributed import device_mesh as device_mesh
from mindtorch.distributed import distributed_c10d as distributed_c10d
from mindtorch.distributed.backends import Backend as Backend
from mindtorch.distributed.backends import is_backend_available as is_backend_available
from mindtorch.distributed.backends import is_gloo_available as is_gloo_available
from mindtorch.distributed.backends import is_hccl_available as is_hccl_available
from mindtorch.distributed.backends import is_mpi_available as is_mpi_available
from mindtorch.distributed.backends import is_nccl_available as is_nccl_available
from mindtorch.distributed.backends import is_ucc_available as is_ucc_available
from mindtorch.distributed.backends import is_xccl_available as is_xccl_available
from mindtorch.distributed.coalescing import _coalescing_manager as _coalescing_manager
from mindtorch.distributed.collectives import _all_gather_base as _all_gather_base
from mindtorch.distributed.collectives import _reduce_oop as _reduce_oop
from mindtorch.distributed.collectives import _reduce_scatter_base as _reduce_scatter_base
from mindtorch.distributed.collectives import all_gather as all_gather
from mindtorch.distributed.collectives import all_gather_coalesced as all_gather_coalesced
from mindtorch.distributed.collectives import all_gather_into_tensor as all_gather_into_tensor
from mindtorch.distributed.collectives import all_gather_single as all_gather_single
from mindtorch.distributed.collectives import all_reduce as all_reduce
from mindtorch.distributed.collectives import all_reduce_coalesced as all_reduce_coalesced
from mindtorch.distributed.collectives import all_to_all as all_to_all
from mindtorch.distributed.collectives import all_to_all_single as all_to_all_single
from mindtorch.distributed.collectives import barrier as barrier
from mindtorch.distributed.collectives import broadcast as broadcast
from mindtorch.distributed.collectives import gather as gather
from mindtorch.distributed.collectives import reduce as reduce
from mindtorch.distributed.collectives import reduce_scatter as reduce_scatter
from mindtorch.distributed.collectives import reduce_scatter_single as reduce_scatter_single
from mindtorch.distributed.collectives import reduce_scatter_tensor as reduce_scatter_tensor
from mindtorch.distributed.collectives import scatter as scatter
from mindtorch.distributed.debugging import DebugLevel as DebugLevel
from mindtorch.distributed.debugging import get_debug_level as get_debug_level
from mindtorch.distributed.debugging import set_debug_level as set_debug_level
from mindtorch.distributed.debugging import set_debug_level_from_env as set_debug_level_from_env
from mindtorch.distributed.device_mesh import DeviceMesh as DeviceMesh
from mindtorch.distributed.device_mesh import init_device_mesh as init_device_mesh
from mindtorch.distributed.ending import abort_process_group as _abort_process_group  # noqa: F401
from mindtorch.distributed.ending import destroy_process_group as destroy_process_group
from mindtorch.distributed.errors import DistBackendError as DistBackendError
from mindtorch.distributed.errors import DistError as DistError
from mindtorch.distributed.errors import DistNetworkError as DistNetworkError
from mindtorch.distributed.errors import DistStoreError as DistStoreError
from mindtorch.distributed.errors import QueueEmptyError as QueueEmptyError
from mindtorch.distributed.flight_recorder import dump_trace as _dump_fr_trace  # noqa: F401
from mindtorch.distributed.flight_recorder import dump_trace as _dump_nccl_trace  # noqa: F401
from mindtorch.distributed.flight_recorder import dump_trace_json as _dump_fr_trace_json  # noqa: F401
from mindtorch.distributed.flight_recorder import dump_trace_json as _dump_nccl_trace_json  # noqa: F401
from mindtorch.distributed.groups import new_group as new_group
from mindtorch.distributed.groups import new_subgroups as new_subgroups
from mindtorch.distributed.groups import new_subgroups_by_enumeration as new_subgroups_by_enumeration
from mindtorch.distributed.groups import shrink_group as shrink_group
from mindtorch.distributed.groups import split_group as split_group
from mindtorch.distributed.messages import P2POp as P2POp
from mindtorch.distributed.messages import batch_isend_irecv as batch_isend_irecv
from mindtorch.distributed.messages import irecv as irecv
from mindtorch.distributed.messages import isend as isend
from mindtorch.distributed.messages import recv as recv
from mindtorch.distributed.messages import send as send
from mindtorch.distributed.monitored import monitored_barrier as monitored_barrier
from mindtorch.distributed.objects import all_gather_object as all_gather_object
from mindtorch.distributed.objects import broadcast_object_list as broadcast_object_list
from mindtorch.distributed.objects import gather_object as gather_object
from mindtorch.distributed.objects import recv_object_list as recv_object_list
from mindtorch.distributed.objects import scatter_object_list as scatter_object_list
from mindtorch.distributed.objects import send_object_list as send_object_list
from mindtorch.distributed.process_group import ProcessGroup as ProcessGroup
from mindtorch.distributed.reduce_op import ReduceOp as ReduceOp
from mindtorch.distributed.reduce_op import premultiplied_sum as _make_nccl_premul_sum  # noqa: F401
from mindtorch.distributed.reduce_op import reduce_op as reduce_op
from mindtorch.distributed.reduce_op import supports_complex as supports_complex
from mindtorch.distributed.starting import init_process_group as init_process_group
from mindtorch.distributed.stores import FileStore as FileStore
from mindtorch.distributed.stores import HashStore as HashStore
from mindtorch.distributed.stores import PrefixStore as PrefixStore
from mindtorch.distributed.stores import Store as Store
from mindtorch.distributed.tcp_store import TCPStore as TCPStore
from mindtorch.distributed.work import Work as Work
from mindtorch.distributed.world import GroupMember as GroupMember
from mindtorch.distributed.world import default_pg_timeout as default_pg_timeout
from mindtorch.distributed.world import get_backend as get_backend
from mindtorch.distributed.world import get_backend_config as get_backend_config
from mindtorch.distributed.world import get_default_backend_for_device as get_default_backend_for_device
from mindtorch.distributed.world import get_global_rank as get_global_rank
from mindtorch.distributed.world import get_group_rank as get_group_rank
from mindtorch.distributed.world import get_node_local_rank as get_node_local_rank
from mindtorch.distributed.world import get_pg_count as get_pg_count
from mindtorch.distributed.world import get_process_group_ranks as get_process_group_ranks
from mindtorch.distributed.world import get_rank as get_rank
from mindtorch.distributed.world import get_world_size as get_world_size
from mindtorch.distributed.world import group as group
from mindtorch.distributed.world import is_available as is_available
from mindtorch.distributed.world import is_initialized as is_initialized
from mindtorch.distributed.world import is_torchelastic_launched as is_torchelastic_launched
from mindtorch.nn.parallel.buckets import GradBucket as GradBucket
