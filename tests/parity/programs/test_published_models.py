"""What published models and training libraries do beside calling layers: the idioms, in small programs.

Each program does what some library from PyPI does when it is imported, or while its models run.
"""

import importlib
import pickle
import tempfile
from collections import OrderedDict

import numpy as np
import pytest

from tests.parity.support.library_programs import tried
from tests.parity.support.printed import printing_programs

program, test_same_text = printing_programs()

# Modules and names that libraries import although they may never use them. By module, without the leading `torch.`
IMPORTED = {
    "_C": "DispatchKey DispatchKeySet _TensorMeta _get_accelerator _get_default_device _nn",
    "_custom_ops": "get_ctx",
    "_dynamo": "OptimizedModule allow_in_graph assume_constant_result mark_static_address",
    "_dynamo._trace_wrapped_higher_order_op": "TransformGetItemToIndex",
    "_dynamo.eval_frame": "OptimizedModule",
    "_dynamo.utils": "is_compile_supported",
    "_higher_order_ops.associative_scan": "associative_scan",
    "_tensor": "Tensor",
    "_tensor_str": "PRINT_OPTS _add_suffixes _str_intern _tensor_str printoptions",
    "_utils": "_element_size _flatten_dense_tensors",
    "ao.quantization": "DeQuantStub QuantStub fuse_modules prepare_qat",
    "autograd.profiler": "emit_nvtx profile",
    "backends.cpu": "get_cpu_capability",
    "cuda": "OutOfMemoryError default_generators graph",
    "distributed": "DeviceMesh GroupMember ProcessGroup ReduceOp Store Work default_pg_timeout group init_device_mesh",
    "distributed.device_mesh": "DeviceMesh init_device_mesh",
    "distributed.optim": "ZeroRedundancyOptimizer",
    "distributed.rpc": "init_rpc is_available rpc_async",
    "fx": "Graph GraphModule Interpreter Node Proxy Tracer Transformer symbolic_trace wrap",
    "hub": "HASH_REGEX _get_torch_home tqdm",
    "jit": "ScriptModule _overload _overload_method _script_if_tracing _unwrap_optional interface isinstance",
    "jit.annotations": "BroadcastingList1 BroadcastingList2 List",
    "nn.attention.flex_attention": "AuxRequest BlockMask and_masks create_block_mask flex_attention or_masks",
    "nn.quantized": "FloatFunctional",
    "onnx": "register_custom_op_symbolic symbolic_helper symbolic_opset11",
    "onnx.symbolic_helper": "parse_args",
    "profiler": "kineto_available",
    "utils._pytree": "LeafSpec _dict_flatten _dict_flatten_with_keys _dict_unflatten _get_node_type "
    "_register_pytree_node",
    "utils.data.dataloader": "_BaseDataLoaderIter _DatasetKind _MultiProcessingDataLoaderIter "
    "_SingleProcessDataLoaderIter",
    "utils.model_zoo": "load_url tqdm",
}
AT_THE_TOP = """
    Event OutOfMemoryError PyTorchFileReader ScriptModule Stream SymBool SymFloat SymInt _assert _assert_async _check
    _check_is_size _check_tensor_all _check_value _convert_indices_from_coo_to_csr _segment_reduce _shape_as_tensor
    legacy_contiguous_format
"""
INNER_MODULES = ("onnx.symbolic_helper", "onnx.symbolic_opset11")


def inner(T, name):
    return importlib.import_module(f"{T.__name__}.{name}")


@pytest.mark.parametrize("module", IMPORTED)
def test_imported(module):
    for root in ("mindtorch", "torch"):
        for each in INNER_MODULES:
            importlib.import_module(f"{root}.{each}")
        found = importlib.import_module(f"{root}.{module}")
        assert [name for name in IMPORTED[module].split() if not hasattr(found, name)] == []


def test_at_the_top():
    for root in ("mindtorch", "torch"):
        found = importlib.import_module(root)
        assert [name for name in AT_THE_TOP.split() if not hasattr(found, name)] == []


# -------------------- outputs, loaders, files --------------------


@program
def outputs_as_trees(T, say):
    """A class of outputs, registered as a dictionary with other keys, as transformers and diffusers do."""
    pytree = inner(T, "utils._pytree")

    class Output(OrderedDict):
        pass

    pytree.register_pytree_node(
        Output,
        pytree._dict_flatten,
        lambda values, keys: Output(**pytree._dict_unflatten(values, keys)),
        flatten_with_keys_fn=pytree._dict_flatten_with_keys,
    )
    output = Output(loss=T.ones(()), logits=T.zeros(2))
    leaves, spec = pytree.tree_flatten({"out": output, "n": [1, 2]})
    say(leaves, type(spec.unflatten(leaves)["out"]) is Output)
    say(pytree.tree_map(lambda leaf: leaf * 2, output)["logits"])
    say([pytree.keystr(path) for path, _ in pytree.tree_flatten_with_path([output])[0]])
    say(pytree._dict_flatten({"a": 1}), pytree._dict_flatten_with_keys({"a": 1}), pytree._dict_unflatten([3], ["b"]))


@program
def trees_by_hand(T, say):
    """A library that takes trees apart with a rule of its own for what a leaf is, and makes their structure itself."""
    pytree = inner(T, "utils._pytree")

    def flatten(tree):
        kind = pytree._get_node_type(tree)
        if kind not in pytree.SUPPORTED_NODES:
            return [tree], pytree.LeafSpec()
        children, context = pytree.SUPPORTED_NODES[kind].flatten_fn(tree)
        flat = [flatten(child) for child in children]
        return [leaf for leaves, _ in flat for leaf in leaves], pytree.TreeSpec(
            kind, context, [spec for _, spec in flat]
        )

    leaves, spec = flatten({"a": (1, [2, 3]), "b": 4})
    say(leaves, pytree.tree_unflatten([leaf * 10 for leaf in leaves], spec), spec.num_leaves)
    say(isinstance(pytree.tree_structure(1), pytree.TreeSpec), pytree.LeafSpec() == pytree.tree_structure(1))


@program
def ways_through_a_loader(T, say):
    """What trainers ask the iterator of a loader."""
    data, loading = T.utils.data, inner(T, "utils.data.dataloader")

    class Numbers(data.IterableDataset):
        def __iter__(self):
            return iter(range(3))

    loader = data.DataLoader(list(range(5)), batch_size=2)
    way = iter(loader)
    say(isinstance(way, loading._BaseDataLoaderIter), isinstance(way, loading._MultiProcessingDataLoaderIter))
    say(len(way), next(way), way._num_yielded, iter(way) is way, len(way), loader._iterator)
    say(tried(pickle.dumps, way))
    say(loader._index_sampler is loader.batch_sampler, loader._auto_collation, loader._dataset_kind)
    stream = data.DataLoader(Numbers(), batch_size=None)
    say(stream._dataset_kind == loading._DatasetKind.Iterable, stream._auto_collation, list(stream._get_iterator()))


@program
def records_of_an_archive(T, say):
    """A file of `save` read record by record, as by what loads weights one at a time."""
    with tempfile.TemporaryDirectory() as folder:
        T.save({"w": T.arange(3.0)}, f"{folder}/weights.pt")
        reader = T.PyTorchFileReader(f"{folder}/weights.pt")
    say(reader.has_record("data.pkl"), reader.has_record("nothing"), reader.get_record("data/0"))
    storage = reader.get_storage_from_record("data/0", 3, T.float32).untyped_storage()
    say(storage.nbytes(), storage.untyped() is storage)
    say(tried(reader.get_storage_from_record, "data/0", 2, T.float32))
    say(tried(T.PyTorchFileReader, "/nowhere/at/all"))


# -------------------- what is asked before and while a model runs --------------------


@program
def conditions(T, say):
    """`_check` and its kin, which models use in the place of `assert`."""
    say(T._check(True), T._check_is_size(3), T._assert(1, "not shown"))
    for call in (
        lambda: T._check(False),
        lambda: T._check(False, lambda: f"expected {3}"),
        lambda: T._check(1),
        lambda: T._check(False, "no function"),
        lambda: T._check(T.tensor(True)),
        lambda: T._check_value(False, lambda: "v"),
        lambda: T._check_index(False),
        lambda: T._check_type(False),
        lambda: T._check_not_implemented(False, lambda: 4),
        lambda: T._check_with(KeyError, False, lambda: "k"),
        lambda: T._check_is_size(-1),
        lambda: T._check_is_size(5, max=4),
        lambda: T._check_tensor_all(T.tensor([True, False])),
        lambda: T._check_tensor_all(T.tensor([1, 0])),
        lambda: T._check_tensor_all(True),
        lambda: T._assert(T.tensor(False), "empty"),
        lambda: T._assert_async(T.tensor(0)),
        lambda: T._assert_async(T.tensor(0), "zero"),
    ):
        say(tried(call))


@program
def streams_of_the_cpu(T, say):
    """Code for any device makes streams and events; the CPU has one stream."""
    stream, event = T.Stream(), T.Event(enable_timing=True)
    say(stream, event, stream == T.Stream("cpu"), stream == 3, stream.query(), event.query(), stream.device)
    with stream:
        say(stream.synchronize(), event.wait(stream))
    for call in (
        stream.record_event,
        lambda: stream.wait_stream(stream),
        event.record,
        lambda: event.elapsed_time(event),
        lambda: T.Event().elapsed_time(event),
        lambda: T.Stream("cuda"),
        lambda: T.cuda.graph(None),
    ):
        say(tried(call))
    say(issubclass(T.OutOfMemoryError, RuntimeError), T.cuda.OutOfMemoryError is T.OutOfMemoryError)


@program
def arguments_of_to(T, say):
    """Modules of other libraries that keep track of their device read the arguments of `to` as Module does."""
    parse = T._C._nn._parse_to
    say(parse(), parse("cpu"), parse(T.float64), parse(T.ones(2).half()), parse("meta", T.bfloat16, True))
    say(parse(device="cpu", dtype=T.float16, non_blocking=True, memory_format=T.channels_last))
    say(tried(parse, 3), type(T.Tensor) is T._C._TensorMeta, T._C._get_accelerator(), T._C._get_default_device())
    say(T._utils._element_size(T.bfloat16), T._shape_as_tensor(T.ones(2, 3)))
    keys = T._C.DispatchKeySet(T._C.DispatchKey.CPU) | T._C.DispatchKeySet(T._C.DispatchKey.Meta)
    say(keys, keys.has(T._C.DispatchKey.Meta), T.ops.loaded_libraries)


@program
def libraries_of_operators(T, say):
    """Without its compiled part a library goes on: it catches the error."""
    try:
        T.ops.load_library("no_such_library.so")
    except OSError as error:
        say(str(error).split(":")[0])


@program
def texts_of_subclasses(T, say):
    """A tensor class that prints itself with the pieces of `repr`."""
    text = inner(T, "_tensor_str")
    numbers = T.arange(30.0).reshape(3, 10)
    say(text._tensor_str(numbers, 6))
    say(text._add_suffixes("Index([0, 1", ["dim_size=3", "is_sorted=True"], 6, False))
    say(text._add_suffixes("Index([0, 1", ["dim_size=3"], 6, True))
    with text.printoptions(precision=2):
        say(text._str_intern(T.tensor([1.23456])), text._str_intern(T.ones(2), tensor_contents="..."))
    say(text.PRINT_OPTS.precision)


@program
def parts_of_quantized_models(T, say):
    """The float form of a model that could be quantized."""
    quantization = inner(T, "ao.quantization")
    nn = T.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.quant, self.dequant = quantization.QuantStub(), quantization.DeQuantStub()
            self.sums = nn.quantized.FloatFunctional()

        def forward(self, x):
            x = self.sums.add_relu(self.quant(x), x - 2)
            return self.dequant(self.sums.cat([self.sums.mul(x, x), self.sums.add_scalar(x, 3.0)], 0))

    block = Block()
    say(block, block(T.tensor([-1.0, 0.5, 2.0])), list(block.state_dict()))
    say(tried(block.sums, T.ones(2)), block.sums.matmul(T.ones(1, 2), T.ones(2, 1)))


# -------------------- attention, scans, lists of tensors --------------------


def _heads(T, seed=0, length=9):
    generator = np.random.RandomState(seed)
    return [T.tensor(generator.randn(2, 4, length, 8).tolist()) for _ in range(3)]


@program
def flexible_attention(T, say):
    """Scores changed by a function, blocks left out by another."""
    flex = inner(T, "nn.attention.flex_attention")
    query, key, value = _heads(T)

    def causal(b, h, q, kv):
        return q >= kv

    def in_window(b, h, q, kv):
        return q - kv < 3

    slopes = T.tensor([0.5, 0.25, 0.125, 0.0625])
    say(flex.flex_attention(query, key, value).sum(), flex.flex_attention(query, key, value, scale=0.1).sum(-1))
    say(flex.flex_attention(query, key, value, lambda score, b, h, q, kv: score + slopes[h] * (kv - q)).sum(-1))
    for mask in (
        causal,
        flex.and_masks(causal, in_window),
        flex.or_masks(causal, in_window),
        lambda b, h, q, kv: q > 2,
    ):
        blocks = flex.create_block_mask(mask, None, None, 9, 9, device="cpu", BLOCK_SIZE=4)
        say(flex.flex_attention(query, key, value, block_mask=blocks).sum(-1), blocks.sparsity(), blocks.shape)
        say(blocks.kv_num_blocks, blocks.kv_indices, blocks.full_kv_num_blocks, blocks.full_kv_indices)
        say(blocks.q_num_blocks, blocks.q_indices, blocks.full_q_num_blocks, blocks.to_dense(), blocks.numel())
    result, lse = flex.flex_attention(query, key[:, :2], value[:, :2], enable_gqa=True, return_lse=True)
    say(result.sum(-1), lse)
    say(flex.flex_attention(query, key, value, return_aux=flex.AuxRequest(lse=True))[1].lse)


@program
def masks_of_documents(T, say):
    """A mask that reads a table of documents, in batches and as a dense tensor."""
    flex = inner(T, "nn.attention.flex_attention")
    document = T.tensor([[0, 0, 0, 1, 1, 2], [0, 1, 1, 1, 1, 1]])

    def same_document(b, h, q, kv):
        return (document[b, q] == document[b, kv]) & (q >= kv)

    say(flex.create_mask(same_document, 2, None, 6, 6, device="cpu").int())
    blocks = flex.create_block_mask(same_document, 2, None, 6, 6, device="cpu", BLOCK_SIZE=2)
    say(repr(blocks), blocks[0:1].kv_num_blocks, blocks[0:1].shape)
    query, key, value = _heads(T, 1, 6)
    say(flex.flex_attention(query, key, value, block_mask=blocks).sum(-1))


@program
def wrong_flexible_attention(T, say):
    flex = inner(T, "nn.attention.flex_attention")
    query, key, value = _heads(T)
    small = flex.create_block_mask(flex.noop_mask, 1, 1, 4, 4, device="cpu")
    large = flex.create_block_mask(flex.noop_mask, 1, 1, 300, 300, device="cpu")
    for call in (
        lambda: flex.flex_attention(query[0], key, value),
        lambda: flex.flex_attention(query, key[:, :2], value[:, :2]),
        lambda: flex.flex_attention(query, key[:, :3], value[:, :3], enable_gqa=True),
        lambda: flex.flex_attention(query, key, value, block_mask=small),
        lambda: flex.flex_attention(query, key, value, block_mask=large),
        lambda: flex.and_masks(3),
    ):
        say(tried(call))


@program
def scans(T, say):
    """The recurrence of state space models as an associative scan."""
    scan = inner(T, "_higher_order_ops.associative_scan").associative_scan
    for length in (1, 2, 3, 4, 7):
        values = T.arange(1.0, 2 * length + 1).reshape(2, length) / 4
        say(scan(lambda a, b: a + b, values, 1, combine_mode="generic"))
        say(scan(lambda a, b: a * b, values, 1, reverse=True, combine_mode="generic"))

    def combine(left, right):
        return left[0] * right[0], right[0] * left[1] + right[1]

    decay = T.linspace(0.1, 0.9, 12).reshape(3, 4)
    say(scan(combine, (decay, T.ones(3, 4)), 0, combine_mode="generic"))
    for wrong in ((3, decay, 0), (combine, decay, 0.5)):
        say(tried(scan, *wrong, combine_mode="generic"))
    say(tried(scan, combine, decay, 0), tried(scan, combine, decay, 0, combine_mode="none"))


UNARY = """
    abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round
    rsqrt sigmoid sign sin sinh sqrt tan tanh trunc
""".split()


def _lists(T):
    return [T.tensor([1.0, -2.0]), T.ones(3) * 2], [T.tensor([3.0, 0.5]), T.full((3,), 0.25)]


def _both(T, say, name, *args, **kwargs):
    """An op over lists, and its in-place variant, which gives back the list."""
    first, _ = _lists(T)
    say(name, tried(getattr(T, f"_foreach_{name}"), first, *args, **kwargs))
    say(tried(lambda: getattr(T, f"_foreach_{name}_")(first, *args, **kwargs) is first), first)


@program
def lists_of_tensors(T, say):
    """Optimizers of other libraries compute over lists."""
    for name in UNARY:
        second = _lists(T)[1]
        say(name, getattr(T, f"_foreach_{name}")(second), getattr(T, f"_foreach_{name}_")(second) is second, second)
    for name in "add sub mul div clamp_max clamp_min maximum minimum pow".split():
        _, second = _lists(T)
        for other in (2, 2.5, second, [1.0, 2], [3, 2], [1.0], T.tensor(2.0), T.tensor([2.0]), second[:1]):
            _both(T, say, name, other)
    _both(T, say, "add", T.tensor(2.0), alpha=3)
    _both(T, say, "sub", _lists(T)[1], alpha=2)


@program
def lists_of_several_tensors(T, say):
    first, second = _lists(T)
    for name in ("addcmul", "addcdiv"):
        for value in ((), (2,), ([1.0, 2.0],), (T.tensor([1.0, 2.0]),), ([1.0],), (T.tensor(1.0),), (T.tensor([1.0]),)):
            _both(T, say, name, second, second, *value)
    for weight in (0.5, [0.5, 0.2], second, [0.5], second[:1]):
        _both(T, say, "lerp", second, weight)
    say(T._foreach_max(first), T._foreach_powsum(first), T._foreach_pow(2.0, second), T._foreach_clone(first))
    say(T._foreach_norm(first, 1), T._foreach_norm(first, dtype=T.float64), T._foreach_mm([T.eye(2)], [T.ones(2, 3)]))
    say(T._foreach_copy_(first, second) is first, first, tried(T._foreach_copy_, first, second[:1]))
    say(tried(T._foreach_max, [T.ones(0)]), tried(T._foreach_mul, [], 2.0))
    leaves = [tensor.requires_grad_() for tensor in _lists(T)[0]]
    sum(part.sum() for part in T._foreach_mul(T._foreach_lerp(leaves, second, 0.25), [2.0, 3.0])).backward()
    say([leaf.grad for leaf in leaves])


@program
def rows_of_a_graph(T, say):
    """The edges of a graph, sorted by node, as row pointers and back."""
    to_csr, to_coo = T._convert_indices_from_coo_to_csr, T._convert_indices_from_csr_to_coo
    rows, columns = T.tensor([0, 0, 2]), T.tensor([1, 3, 1])
    for short in (False, True):
        pointers = to_csr(rows, 4, out_int32=short)
        say(
            pointers,
            pointers.dtype,
            to_coo(pointers, columns, out_int32=short),
            to_coo(pointers, columns, transpose=True),
        )
    say(to_csr(rows[:0], 3), to_csr(rows.int(), 3), to_csr(rows, 4, out=T.empty(5, dtype=T.int64)))
    say(tried(to_csr, T.tensor([0.0]), 4), tried(to_csr, T.tensor([[0]]), 4))
    say(T._segment_reduce(T.arange(4.0), "max", offsets=T.tensor([0, 1, 4])))
