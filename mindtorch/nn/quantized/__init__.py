"""Modules of quantized models; here those that such models contain before they are quantized."""

from mindtorch.nn.quantized.functional_modules import FloatFunctional as FloatFunctional
