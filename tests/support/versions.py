"""What older versions of torch do not have."""

from __future__ import annotations

import torch

#: The dtype, where there is one.
UINT16 = [torch.uint16] if hasattr(torch, "uint16") else []
