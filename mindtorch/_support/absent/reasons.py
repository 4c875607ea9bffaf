"""Why a part of PyTorch is not here, and what there is instead, by the beginnings of names: the longest counts."""

_QUANTIZED = (
    "there are no quantized tensors; fake_quantize_per_tensor_affine and fake_quantize_per_channel_affine round as "
    "their arithmetic does"
)
_GRAPHS = "TorchScript is not compiled: torch.jit.script gives the function itself, and mindtorch.program records calls"
_COMPILER = "there is no compiler below torch.compile, which runs the program as it is"
_DEVICES = "there is no such device here"
_FSDP = "modules are sharded by torch.distributed.fsdp.fully_shard"
_NESTED = "there are no nested tensors; pad the sequences, with torch.nn.utils.rnn.pad_sequence"
_SCALED = "there are no products of scaled 8-bit floats; convert the operands to float32 and use torch.mm"

REASONS = {
    "torch._cslt": _DEVICES,
    "torch._dynamo": _COMPILER,
    "torch._functorch": "graphs are not partitioned; torch.func has the transforms",
    "torch._higher_order_ops": _COMPILER,
    "torch._inductor": _COMPILER,
    "torch._nested": _NESTED,
    "torch._scaled": _SCALED,
    "torch._sparse_semi_structured": "there are no tensors of 2:4 sparsity",
    "torch.ao": _QUANTIZED,
    "torch.ao.ns": "models are not compared layer by layer; register_forward_hook shows what a layer returns",
    "torch.ao.pruning": "torch.nn.utils.prune prunes parameters",
    "torch.backends": "there is no such library below the operators",
    "torch.backends.quantized": _QUANTIZED,
    "torch.classes": "no C++ library is loaded",
    "torch.cuda": "it is not compiled with CUDA",
    "torch.dequantize": _QUANTIZED,
    "torch.distributed._composable": _FSDP,
    "torch.distributed._symmetric_memory": "processes do not write to each other's memory; send and recv send tensors",
    "torch.distributed._tools": "memory and time are measured with torch.profiler",
    "torch.distributed.autograd": "there is no RPC; torch.distributed has process groups and collectives",
    "torch.distributed.elastic": "a run that has failed is not started again; torch.distributed.run starts processes",
    "torch.distributed.fsdp": _FSDP,
    "torch.distributed.launcher": "torch.distributed.run starts processes",
    "torch.distributed.pipelining": "there are no pipelines; send and recv of torch.distributed pass activations on",
    "torch.distributed.rpc": "there is no RPC; torch.distributed has process groups and collectives",
    "torch.distributed.tensor.experimental": "DTensor, distribute_tensor and parallelize_module are here",
    "torch.fbgemm": _QUANTIZED,
    "torch.int_repr": _QUANTIZED,
    "torch.jit": _GRAPHS,
    "torch.mps": _DEVICES,
    "torch.mtia": _DEVICES,
    "torch.nested": _NESTED,
    "torch.nn.intrinsic": _QUANTIZED,
    "torch.nn.qat": _QUANTIZED,
    "torch.nn.quantizable": _QUANTIZED,
    "torch.nn.quantized": _QUANTIZED,
    "torch.onnx": "models are not exported to ONNX; mindtorch.program records and saves the calls of operators",
    "torch.package": "torch.save keeps a model, and the program that defines it goes with it as files",
    "torch.q_": _QUANTIZED,
    "torch.quantization": _QUANTIZED,
    "torch.quantize": _QUANTIZED,
    "torch.quantized": _QUANTIZED,
    "torch.sparse.semi_structured": "there are no tensors of 2:4 sparsity",
    "torch.utils.bundled_inputs": _GRAPHS,
    "torch.utils.cpp_extension": (
        "C++ is not compiled; mindtorch.library makes an operator of a Python function, and mindtorch-codegen a package"
    ),
    "torch.utils.data.datapipes": "a Dataset or an IterableDataset does the same, for torch.utils.data.DataLoader",
    "torch.utils.hipify": "C++ is not compiled",
    "torch.utils.jit": _GRAPHS,
    "torch.utils.mkldnn": "modules compute as they are",
    "torch.utils.mobile_optimizer": _GRAPHS,
    "torch.xpu": _DEVICES,
}

# Modules that PyTorch imports with the package that they lie in, so that programs do not import them themselves.
IMPORTED = (
    "torch.ao", "torch.backends", "torch.classes", "torch.cuda", "torch.distributed", "torch.functional", "torch.jit",
    "torch.mtia", "torch.nested", "torch.nn.intrinsic", "torch.nn.qat", "torch.nn.quantizable", "torch.nn.quantized",
    "torch.package", "torch.quantization", "torch.utils.data", "torch.utils.deterministic", "torch.xpu", "torch.mps",
)  # fmt: skip

# What is being built has no stand-ins.
BUILT = ("torch._decomp", "torch._export", "torch._subclasses", "torch.export", "torch.fx")

# Decorators, and functions that give one, of a compiler that is not there: they leave functions as they are.
DECORATORS = frozenset((
    "torch._disable_dynamo", "torch._dynamo.decorators.disallow_in_graph", "torch._dynamo.decorators.nonstrict_trace",
    "torch._inductor.decomposition.register_decomposition",
    "torch._inductor.lowering.register_lowering",
    "torch._jit_internal._copy_to_script_wrapper", "torch._library.triton.triton_op",
    "torch.distributed.rpc.api._require_initialized",
    "torch.distributed.tensor.experimental._register_sharding.register_sharding",
    "torch.optim.optimizer._disable_dynamo_if_unsupported",
))  # fmt: skip
