"""Names of `torch_npu.npu` for what is unavailable: calling them raises."""

from collections.abc import Callable
from typing import Any


def _absent(name: str, reason: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"torch.npu.{name} is not available: {reason}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = f"Refused: {reason}."
    return refuse


_NO_DUMPS = "CANN's dumps of operators are not used"
_NO_GRAPHS = "there are no graphs of launches"
_NO_LIMITS = "limits of cores are not used"
_NO_OBFUSCATION = "models are not obfuscated"
_NO_OWN_ALLOCATOR = "memory comes from this library's allocator only"
_NO_OWN_LEVEL = "torch.use_deterministic_algorithms is what there is"
_NO_RECOVERY = "devices that have failed are not recovered: restart the process"
_NO_HOST_FIGURES = "pinned memory is not counted"
_NO_OVERFLOW_FLAG = "overflow is seen in the numbers, which are infinite or not a number"

init_dump = _absent("init_dump", _NO_DUMPS)
set_dump = _absent("set_dump", _NO_DUMPS)
finalize_dump = _absent("finalize_dump", _NO_DUMPS)
set_option = _absent("set_option", "options of CANN's compiler have no effect on ready-made kernels")
set_aoe = _absent("set_aoe", "ops are not tuned")
set_sync_debug_mode = _absent("set_sync_debug_mode", "what waits for the device is not noted")
get_sync_debug_mode = _absent("get_sync_debug_mode", "what waits for the device is not noted")
caching_allocator_alloc = _absent("caching_allocator_alloc", "memory is that of tensors and storages")
caching_allocator_delete = _absent("caching_allocator_delete", "memory is that of tensors and storages")
MemPool = _absent("MemPool", _NO_OWN_ALLOCATOR)
use_mem_pool = _absent("use_mem_pool", _NO_OWN_ALLOCATOR)
NPUPluggableAllocator = _absent("NPUPluggableAllocator", _NO_OWN_ALLOCATOR)
change_current_allocator = _absent("change_current_allocator", _NO_OWN_ALLOCATOR)
get_npu_overflow_flag = _absent("get_npu_overflow_flag", _NO_OVERFLOW_FLAG)
clear_npu_overflow_flag = _absent("clear_npu_overflow_flag", _NO_OVERFLOW_FLAG)
stress_detect = _absent("stress_detect", "the hardware is not tested")
current_blas_handle = _absent("current_blas_handle", "there are no handles of a BLAS library")
stop_device = _absent("stop_device", _NO_RECOVERY)
restart_device = _absent("restart_device", _NO_RECOVERY)
check_uce_in_memory = _absent("check_uce_in_memory", _NO_RECOVERY)
enable_deterministic_with_backward = _absent("enable_deterministic_with_backward", _NO_OWN_LEVEL)
disable_deterministic_with_backward = _absent("disable_deterministic_with_backward", _NO_OWN_LEVEL)
set_deterministic_level = _absent("set_deterministic_level", _NO_OWN_LEVEL)
SyncLaunchStream = _absent("SyncLaunchStream", "ASCEND_LAUNCH_BLOCKING=1 has all streams wait")
ExternalEvent = _absent("ExternalEvent", _NO_GRAPHS)
graph_task_group_begin = _absent("graph_task_group_begin", _NO_GRAPHS)
graph_task_group_end = _absent("graph_task_group_end", _NO_GRAPHS)
graph_task_update_begin = _absent("graph_task_update_begin", _NO_GRAPHS)
graph_task_update_end = _absent("graph_task_update_end", _NO_GRAPHS)
super_kernel_scope_begin = _absent("super_kernel_scope_begin", _NO_GRAPHS)
super_kernel_scope_end = _absent("super_kernel_scope_end", _NO_GRAPHS)
NpuGraphOpHandler = _absent("NpuGraphOpHandler", _NO_GRAPHS)
register_npu_graph_handler = _absent("register_npu_graph_handler", _NO_GRAPHS)
set_device_limit = _absent("set_device_limit", _NO_LIMITS)
get_device_limit = _absent("get_device_limit", _NO_LIMITS)
set_stream_limit = _absent("set_stream_limit", _NO_LIMITS)
reset_stream_limit = _absent("reset_stream_limit", _NO_LIMITS)
get_stream_limit = _absent("get_stream_limit", _NO_LIMITS)
obfuscation_initialize = _absent("obfuscation_initialize", _NO_OBFUSCATION)
obfuscation_finalize = _absent("obfuscation_finalize", _NO_OBFUSCATION)
obfuscation_calculate = _absent("obfuscation_calculate", _NO_OBFUSCATION)
set_op_timeout_ms = _absent("set_op_timeout_ms", "the runtime's own limit holds")
host_memory_stats = _absent("host_memory_stats", _NO_HOST_FIGURES)
host_memory_stats_as_nested_dict = _absent("host_memory_stats_as_nested_dict", _NO_HOST_FIGURES)
reset_accumulated_host_memory_stats = _absent("reset_accumulated_host_memory_stats", _NO_HOST_FIGURES)
reset_peak_host_memory_stats = _absent("reset_peak_host_memory_stats", _NO_HOST_FIGURES)
use_compatible_impl = _absent("use_compatible_impl", "kernels are those of ACLNN")
npurt = _absent("npurt", "the runtime is called by ctypes")
get_soc_version = _absent("get_soc_version", "torch.npu.get_device_name tells the chip")
ipc_collect = _absent("ipc_collect", "memory is not shared with other processes")
