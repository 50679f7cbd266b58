"""Kernels for CUDA devices: compiled when a pipeline first needs them, kept on disk, and launched by the driver."""
