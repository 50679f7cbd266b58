"""The switch: programs that use torchvision's transforms get fastaug's speed as they stand.

`switch` has the public functions. It imports neither torch nor torchvision; `late` waits for their import. Then `calls`
replaces methods of torchvision's classes. They ask `twins` for the compiled transform to call instead.
"""

from __future__ import annotations
