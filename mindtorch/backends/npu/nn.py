"""The layers that the NPU has kernels written by hand for."""

from mindtorch.backends.npu.bags import embedding_bag as embedding_bag
from mindtorch.backends.npu.bags import embedding_bag_backward as embedding_bag_backward
from mindtorch.backends.npu.bags import embedding_bag_dense_backward as embedding_bag_dense_backward
from mindtorch.backends.npu.bags import embedding_bag_forward_only as embedding_bag_forward_only
from mindtorch.backends.npu.bags import (
    embedding_bag_per_sample_weights_backward as embedding_bag_per_sample_weights_backward,
)
from mindtorch.backends.npu.cells import gru_cell as gru_cell
from mindtorch.backends.npu.cells import gru_cell_backward as gru_cell_backward
from mindtorch.backends.npu.cells import lstm_cell as lstm_cell
from mindtorch.backends.npu.cells import lstm_cell_backward as lstm_cell_backward
from mindtorch.backends.npu.dropout import native_dropout as native_dropout
from mindtorch.backends.npu.normalization import native_batch_norm as native_batch_norm
from mindtorch.backends.npu.normalization import native_batch_norm_backward as native_batch_norm_backward
from mindtorch.backends.npu.padding import reflection_pad1d as reflection_pad1d
from mindtorch.backends.npu.padding import reflection_pad1d_backward as reflection_pad1d_backward
from mindtorch.backends.npu.padding import reflection_pad2d as reflection_pad2d
from mindtorch.backends.npu.padding import reflection_pad2d_backward as reflection_pad2d_backward
from mindtorch.backends.npu.padding import reflection_pad3d as reflection_pad3d
from mindtorch.backends.npu.padding import reflection_pad3d_backward as reflection_pad3d_backward
from mindtorch.backends.npu.padding import replication_pad1d as replication_pad1d
from mindtorch.backends.npu.padding import replication_pad1d_backward as replication_pad1d_backward
from mindtorch.backends.npu.padding import replication_pad2d as replication_pad2d
from mindtorch.backends.npu.padding import replication_pad2d_backward as replication_pad2d_backward
from mindtorch.backends.npu.padding import replication_pad3d as replication_pad3d
from mindtorch.backends.npu.padding import replication_pad3d_backward as replication_pad3d_backward
from mindtorch.backends.npu.pooling import adaptive_max_pool3d as adaptive_max_pool3d
from mindtorch.backends.npu.pooling import adaptive_max_pool3d_backward as adaptive_max_pool3d_backward
from mindtorch.backends.npu.pooling import max_pool2d_with_indices as max_pool2d_with_indices
from mindtorch.backends.npu.pooling import max_pool2d_with_indices_backward as max_pool2d_with_indices_backward
from mindtorch.backends.npu.pooling import max_pool3d_with_indices as max_pool3d_with_indices
from mindtorch.backends.npu.pooling import max_pool3d_with_indices_backward as max_pool3d_with_indices_backward
from mindtorch.backends.npu.stepping import adamw_step as adamw_step
