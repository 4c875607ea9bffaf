"""The NPU backend: kernels that call ACLNN, of CANN. Most are generated: `mindtorch._generated.kernels.npu`."""
