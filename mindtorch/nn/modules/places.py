"""Layers that programs import from modules where torch has them, which import the modules where they are here."""

from types import ModuleType

from mindtorch.nn.modules import (
    activation,
    attention,
    batchnorm,
    conv,
    distance,
    fractional,
    instancenorm,
    lazy_layers,
    linear,
    loss,
    margins,
    pooling,
    sync_batchnorm,
)


def _add(place: ModuleType, source: ModuleType, names: str) -> None:
    for name in names.split():
        setattr(place, name, getattr(source, name))


_add(activation, attention, "MultiheadAttention")
_add(batchnorm, sync_batchnorm, "SyncBatchNorm")
_add(batchnorm, lazy_layers, "LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d")
_add(conv, lazy_layers, "LazyConv1d LazyConv2d LazyConv3d")
_add(conv, lazy_layers, "LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d")
_add(linear, lazy_layers, "LazyLinear")
_add(loss, distance, "CosineEmbeddingLoss HuberLoss MarginRankingLoss TripletMarginLoss")
_add(loss, margins, "GaussianNLLLoss HingeEmbeddingLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss")
_add(loss, margins, "PoissonNLLLoss SoftMarginLoss TripletMarginWithDistanceLoss")
_add(instancenorm, lazy_layers, "LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d")
_add(pooling, fractional, "FractionalMaxPool2d FractionalMaxPool3d")
