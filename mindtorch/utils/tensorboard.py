"""There is no writer of TensorBoard's files here; a program that wants one is told what to do."""

raise ImportError(
    "mindtorch writes no TensorBoard files: leave SummaryWriter out, or import it from the package tensorboardX, whose "
    "add_scalar and add_histogram take numbers and NumPy arrays (loss.item(), weight.detach().numpy())"
)
