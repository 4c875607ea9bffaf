"""The folder of the package `torch_npu`, which programs have after `mindtorch.npu.as_torch_npu()`."""
