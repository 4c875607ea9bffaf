"""Where programs find `Embedding` and `EmbeddingBag` in torch."""

from mindtorch.nn.modules.embedding import Embedding, EmbeddingBag

__all__ = ["Embedding", "EmbeddingBag"]
