"""Optimizers and schedules of the learning rate."""

from mindtorch.optim import lr_scheduler
from mindtorch.optim.adagrad import Adagrad
from mindtorch.optim.adam import Adam, AdamW
from mindtorch.optim.optimizer import Optimizer
from mindtorch.optim.rmsprop import RMSprop
from mindtorch.optim.sgd import SGD

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]
