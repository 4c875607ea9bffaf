"""What programs import from inner modules of torch, and how they extend what is there."""

import collections
import importlib
import types

import numpy as np
import pytest

from tests.parity.support.printed import printing_programs

program, test_same_text = printing_programs()

# By module, without the leading `torch.`
IMPORTED = {
    "_utils": "_flatten_dense_tensors _unflatten_dense_tensors",
    "autograd.function": "Function FunctionCtx InplaceFunction once_differentiable",
    "compiler": "allow_in_graph assume_constant_result cudagraph_mark_step_begin disable is_exporting set_stance",
    "cuda.amp": "GradScaler autocast custom_bwd custom_fwd",
    "distributions.kl": "_KL_REGISTRY kl_divergence register_kl",
    "distributions.utils": "_standard_normal _sum_rightmost broadcast_all clamp_probs lazy_property probs_to_logits",
    "nn.init": "_calculate_correct_fan _calculate_fan_in_and_fan_out trunc_normal_",
    "nn.modules.activation": "GELU MultiheadAttention",
    "nn.modules.batchnorm": "LazyBatchNorm2d SyncBatchNorm _BatchNorm _NormBase",
    "nn.modules.channelshuffle": "ChannelShuffle",
    "nn.modules.container": "ModuleDict ModuleList ParameterDict ParameterList Sequential",
    "nn.modules.conv": "LazyConv1d LazyConvTranspose3d _ConvNd",
    "nn.modules.fold": "Fold Unfold",
    "nn.modules.instancenorm": "_InstanceNorm",
    "nn.modules.linear": "Identity LazyLinear Linear",
    "nn.modules.loss": "CosineEmbeddingLoss GaussianNLLLoss HuberLoss TripletMarginLoss _Loss _WeightedLoss",
    "nn.modules.module": "_IncompatibleKeys _addindent register_module_forward_hook",
    "nn.modules.pixelshuffle": "PixelShuffle PixelUnshuffle",
    "nn.modules.sparse": "Embedding EmbeddingBag",
    "nn.modules.transformer": "TransformerEncoderLayer _get_activation_fn _get_clones",
    "nn.modules.utils": "_ntuple _pair _reverse_repeat_tuple _triple consume_prefix_in_state_dict_if_present",
    "optim.lr_scheduler": "LRScheduler ReduceLROnPlateau _LRScheduler",
    "optim.optimizer": "Optimizer ParamsT register_optimizer_step_post_hook required",
    "serialization": "add_safe_globals clear_safe_globals get_safe_globals safe_globals",
    "types": "Device FileLike Number _TensorOrTensors _bool _device _dtype _float _int _layout _size",
    "utils.checkpoint": "CheckpointFunction checkpoint get_device_states set_device_states",
    "utils.data._utils.collate": "collate collate_tensor_fn default_collate default_collate_fn_map default_convert",
    "utils.data.dataloader": "DataLoader default_collate get_worker_info",
}


@pytest.mark.parametrize("module", IMPORTED)
def test_imported(module):
    own, expected = (importlib.import_module(f"{root}.{module}") for root in ("mindtorch", "torch"))
    names = IMPORTED[module].split()
    assert [name for name in names if not hasattr(expected, name)] == []
    assert [name for name in names if not hasattr(own, name)] == []


@program
def inner_helpers(T, say):
    """Helpers that layers and optimizers of other libraries are written with."""

    def inner(name):
        return importlib.import_module(f"{T.__name__}.{name}")

    utils, module, transformer = inner("_utils"), inner("nn.modules.module"), inner("nn.modules.transformer")
    flat = utils._flatten_dense_tensors([T.ones(2), T.zeros(1, 2)])
    say(flat, utils._unflatten_dense_tensors(flat, [T.ones(2), T.zeros(1, 2)]), module._addindent("a\nb\nc", 4))
    say(
        module._IncompatibleKeys([], ["a"]),
        transformer._get_clones(T.nn.ReLU(), 2),
        transformer._get_activation_fn("relu").__name__,
    )
    say(
        inner("nn.init")._calculate_correct_fan(T.ones(2, 3), "fan_in"),
        inner("distributions.utils")._sum_rightmost(T.ones(2, 3), 1),
    )
    say(repr(inner("optim.optimizer").required), inner("utils.checkpoint").get_device_states(T.ones(1)))
    with T.random.fork_rng(device_type="cuda"), T.serialization.safe_globals([collections.deque]):
        say(collections.deque in T.serialization.get_safe_globals())
    for bad in (
        lambda: transformer._get_activation_fn("tanh"),
        lambda: inner("nn.init")._calculate_correct_fan(T.ones(2, 3), "fan"),
    ):
        try:
            say(bad())
        except (RuntimeError, ValueError) as error:
            say(type(error).__name__, error)

    class Mixed:
        def __init__(self, width=1):
            self.width = width

    class Layer(T.nn.Module, Mixed):
        call_super_init = True

    class Plain(T.nn.Module):
        pass

    say(Layer(width=3).width, Layer.dump_patches)
    for bad in (lambda: Plain(1), lambda: Plain(width=3), lambda: Layer(depth=3)):
        try:
            say(bad())
        except TypeError as error:
            say(error)


@program
def collating(T, say):
    """Items of all types made into batches, and functions for types of one's own."""
    module = importlib.import_module(f"{T.__name__}.utils.data._utils.collate")

    class Point:
        def __init__(self, x):
            self.x = x

    class Pair(dict):
        def __init__(self, a, b):
            super().__init__(a=a, b=b)

    Row = collections.namedtuple("Row", "a b")
    items = [
        {"a": 1, "b": 2.0}, collections.OrderedDict(a=1), collections.defaultdict(int, a=1), Pair(1, 2),
        types.MappingProxyType({"a": 1}),
        Row(1, "x"), (1, 2), [1, 2], collections.UserList([1, 2]), collections.deque([1, 2]),
        collections.Counter("ab"), range(2), True, "a", b"a", 1j,
        np.float32(1), np.bool_(True), np.str_("a"), np.ones(2), np.array(["a"]), np.array([None]), np.array("a"),
        None, {1, 2}, [], {}, (),
        T.ones(2), T.eye(2).to_sparse(), [(1, "x"), {"k": T.ones(1)}], slice(1),
    ]  # fmt: skip
    for item in items:
        for make, given in ((T.utils.data.default_collate, [item, item]), (T.utils.data.default_convert, item)):
            try:
                say(type(make(given)).__name__, make(given))
            except (TypeError, RuntimeError) as error:
                say(type(error).__name__, error)

    def points(batch, *, collate_fn_map=None):
        return [point.x for point in batch]

    say(
        module.collate(
            [(Point(1), T.ones(1)), (Point(2), T.ones(1))],
            collate_fn_map={Point: points, T.Tensor: module.collate_tensor_fn},
        )
    )
    module.default_collate_fn_map.update({Point: points})
    try:
        say(list(T.utils.data.DataLoader([Point(1), Point(2), Point(3)], batch_size=2)))
    finally:
        del module.default_collate_fn_map[Point]


@program
def containers(T, say):
    """Rows of modules, lists and dictionaries of parameters, used as Python's own."""
    nn = T.nn
    row = nn.Sequential(nn.Tanh(), nn.ReLU())
    grown = nn.Sequential(nn.Tanh())
    grown += row
    grown *= 2
    say(grown, row * 2, 2 * row, row + row)
    values = nn.ParameterList([T.ones(1), 3])
    values.append("x")
    values += [T.zeros(2, 2)]
    say(values, values[1:], values[-1], list(values.state_dict()), nn.ParameterList(values[:1]), 3 in values)
    say(
        nn.Sequential(values, nn.ParameterList([nn.ParameterList([T.ones(2)])])),
        len(values),
        values[1],
        nn.ParameterList(),
    )
    named = nn.ParameterDict({"b": T.ones(1), "a": 5})
    named.update({"c": T.zeros(2, 2)})
    say(
        named,
        named | nn.ParameterDict({"e": T.ones(1)}),
        sorted({"q": 1} | named),
        named.popitem()[0],
        named.get("z", "none"),
    )
    say(
        list(nn.ParameterDict([("k", T.ones(1)), ("j", 2)])),
        list(nn.ParameterDict({"z": 1, "a": 2})),
        3 in named,
        named.setdefault("d"),
    )
    for bad in (
        lambda: row * 0, lambda: row * 1.5, lambda: 1.5 * row, lambda: row + 3, lambda: row.__iadd__([nn.ReLU()]),
        lambda: row.extend(3), lambda: row.append(3),
        lambda: row.insert(9, nn.ReLU()), lambda: row.insert(0, 3), lambda: row.pop(9),
        lambda: nn.Sequential({"a": nn.ReLU()}), lambda: nn.ModuleList(3),
        lambda: nn.ModuleList().insert(0, nn.ReLU()), lambda: nn.ModuleDict(3), lambda: nn.ModuleDict([3]),
        lambda: nn.ModuleDict([[1, 2, 3]]), lambda: values[9],
        lambda: values["a"], lambda: values.extend(3), lambda: values(1), lambda: values.__setitem__(0, 5),
        lambda: values.__setitem__(9, 5), lambda: values + [3],
        lambda: values.pop(0), lambda: nn.ParameterList([T.ones(2).int()]), lambda: named["zz"],
        lambda: named.pop("zz"), lambda: named(1), lambda: named.update(3),
        lambda: named.update([[1, 2, 3]]), lambda: named.update([3]), lambda: named.update({3: 4}),
        lambda: named.update({"x.y": T.ones(1)}),
    ):  # fmt: skip
        try:
            say(bad())
        except (TypeError, ValueError, IndexError, KeyError, AttributeError, RuntimeError, AssertionError) as error:
            say(type(error).__name__, error)
