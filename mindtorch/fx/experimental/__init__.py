"""Parts of `torch.fx` whose interfaces may change."""
