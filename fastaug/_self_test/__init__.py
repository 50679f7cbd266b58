"""The self-test of a machine: every op and container against torchvision and Pillow."""
