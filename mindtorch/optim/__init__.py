"""Optimizers and schedules of the learning rate."""

from mindtorch.optim import lr_scheduler, swa_utils
from mindtorch.optim.adadelta import Adadelta
from mindtorch.optim.adafactor import Adafactor
from mindtorch.optim.adagrad import Adagrad
from mindtorch.optim.adam import Adam, AdamW
from mindtorch.optim.adamax import Adamax
from mindtorch.optim.asgd import ASGD
from mindtorch.optim.lbfgs import LBFGS
from mindtorch.optim.muon import Muon
from mindtorch.optim.nadam import NAdam
from mindtorch.optim.optimizer import Optimizer
from mindtorch.optim.radam import RAdam
from mindtorch.optim.rmsprop import RMSprop
from mindtorch.optim.rprop import Rprop
from mindtorch.optim.sgd import SGD
from mindtorch.optim.sparse_adam import SparseAdam

__all__ = [
    "ASGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "LBFGS",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
]
