"""What PyTorch has for smaller models: here only the parts that models contain before they are quantized."""

from mindtorch.ao import quantization as quantization
