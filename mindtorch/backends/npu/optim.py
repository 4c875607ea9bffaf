"""Steps of optimizers on the NPU by hand: one launch for each parameter."""

from mindtorch.backends.npu.array import NpuArray
from mindtorch.backends.npu.fallback import kernel_for
from mindtorch.backends.npu.launch import aclnn
from mindtorch.backends.npu.steps import FLOATS, in_one_dim

_adamw = aclnn("aclnnApplyAdamWV2", "TTTTTTfffffbb")

_adamw_on_cpu = kernel_for("_adamw_step_")


def adamw_step(
    input: NpuArray,
    exp_avg: NpuArray,
    exp_avg_sq: NpuArray,
    max_exp_avg_sq: NpuArray | None,
    gradient: NpuArray,
    step: NpuArray,
    lr: float,
    beta1: float,
    beta2: float,
    weight_decay: float,
    eps: float,
) -> NpuArray:
    kept = [exp_avg, exp_avg_sq] if max_exp_avg_sq is None else [exp_avg, exp_avg_sq, max_exp_avg_sq]
    fits = all([each.shape == input.shape and each.dtype == input.dtype for each in (*kept, gradient)])
    if not fits or input.dtype not in FLOATS or not input.size:
        return _adamw_on_cpu(
            input, exp_avg, exp_avg_sq, max_exp_avg_sq, gradient, step, lr, beta1, beta2, weight_decay, eps
        )
    shown = [each if each.ndim else in_one_dim(each) for each in (input, exp_avg, exp_avg_sq, gradient)]
    largest = max_exp_avg_sq if max_exp_avg_sq is None or max_exp_avg_sq.ndim else in_one_dim(max_exp_avg_sq)
    counted = in_one_dim(step) if step.size == 1 else step
    _adamw(*shown[:3], largest, shown[3], counted, lr, beta1, beta2, weight_decay, eps, largest is not None, False)
    return input
