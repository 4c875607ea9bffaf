"""Pickles name modules: those of earlier releases load, and new ones have the names that programs use."""

import pickle
import pickletools
from pathlib import Path

import pytest

import mindtorch
from mindtorch._support.old_modules import MOVED

# What was pickled with protocol 0 when the modules were where these texts say.
OLD = {
    "a size": (b"cmindtorch.size\nSize\n((I2\nI3\nttR.", lambda: mindtorch.Size([2, 3])),
    "a dtype": (b"cmindtorch.dtype\nfloat32\n.", lambda: mindtorch.float32),
    "a device": (b"cmindtorch.device\ndevice\n(Vcpu\ntR.", lambda: mindtorch.device("cpu")),
    "a layout": (b"cmindtorch.layout\nsparse_coo\n.", lambda: mindtorch.sparse_coo),
    "a memory format": (b"cmindtorch.memory_format\nchannels_last\n.", lambda: mindtorch.channels_last),
    "the class of tensors": (b"cmindtorch.tensor\nTensor\n.", lambda: mindtorch.Tensor),
    "a class of storages": (b"cmindtorch.storage\nUntypedStorage\n.", lambda: mindtorch.UntypedStorage),
    "a tag": (b"cmindtorch.dispatch.tags\nTag\n.", lambda: mindtorch.Tag),
    "a function": (b"cmindtorch.contraction\neinsum\n.", lambda: mindtorch.einsum),
    "a function that loads when it is used": (b"cmindtorch.symbolic\nsym_max\n.", lambda: mindtorch.sym_max),
    "a transform": (b"cmindtorch.func.vmap\nvmap\n.", lambda: mindtorch.func.vmap),
}


@pytest.mark.parametrize("name", OLD)
def test_old_pickles(name):
    pickled, wanted = OLD[name]
    assert pickle.loads(pickled) == wanted()


OLD_TENSOR = b"""\
(cmindtorch.methods.rebuilding
rebuild_tensor_v2
p0
(cmindtorch.typed_storage
typed_view
p1
(cmindtorch.storage
storage_from_bytes
p2
(c_codecs
encode
p3
(V\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\xf8?\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\x04@
p4
Vlatin1
p5
tp6
Rp7
tp8
Rp9
cmindtorch.dtype
float64
p10
tp11
Rp12
I0
(I1
I2
tp13
(I2
I1
tp14
I00
ccollections
OrderedDict
p15
(tRp16
tp17
Rp18
cmindtorch.nn.parameter
rebuild_parameter
p19
(g0
(g1
(g2
(g3
(V\\u0000\\u0000@@
p20
g5
tp21
Rp22
tp23
Rp24
cmindtorch.dtype
float32
p25
tp26
Rp27
I0
(I1
tp28
(I1
tp29
I00
g15
(tRp30
tp31
Rp32
I01
g15
(tRp33
tp34
Rp35
tp36
."""


def test_an_old_pickle_of_a_tensor():
    tensor, parameter = pickle.loads(OLD_TENSOR)
    assert tensor.tolist() == [[1.5, 2.5]] and tensor.dtype is mindtorch.float64
    assert isinstance(parameter, mindtorch.nn.Parameter) and parameter.tolist() == [3.0]


@pytest.mark.parametrize("old", MOVED)
def test_every_old_module_stands_for_one_of_today(old):
    file = pickle.loads(f"cmindtorch.{old}\n__file__\n.".encode())
    assert Path(file).as_posix().endswith(MOVED[old].replace(".", "/") + ".py")


PUBLIC = {
    "mindtorch Size": lambda: mindtorch.Size([1]),
    "mindtorch float32": lambda: mindtorch.float32,
    "mindtorch device": lambda: mindtorch.device("cpu"),
    "mindtorch strided": lambda: mindtorch.strided,
    "mindtorch preserve_format": lambda: mindtorch.preserve_format,
    "mindtorch finfo": lambda: mindtorch.finfo,
    "mindtorch Generator": mindtorch.Generator,
    "mindtorch Tensor": lambda: mindtorch.Tensor,
    "mindtorch Tag": lambda: mindtorch.Tag,
    "mindtorch SymInt": lambda: mindtorch.SymInt,
    "mindtorch OutOfMemoryError": lambda: mindtorch.OutOfMemoryError,
    "mindtorch.storage UntypedStorage": lambda: mindtorch.UntypedStorage,
    "mindtorch.storage TypedStorage": lambda: mindtorch.storage.TypedStorage,
}


@pytest.mark.parametrize("name", PUBLIC)
def test_new_pickles_have_public_names(name):
    pickled = pickle.dumps(PUBLIC[name](), protocol=0)
    assert name in [argument for op, argument, _ in pickletools.genops(pickled) if op.name == "GLOBAL"]
    pickle.loads(pickled)
