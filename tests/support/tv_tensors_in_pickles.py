"""`python tv_tensors_in_pickles.py write|read FOLDER with|without`: what pickles of tv_tensors are in another process.

`read` prints what it found, as JSON.
"""

from __future__ import annotations

import json
import pickle
import sys
from functools import partial
from pathlib import Path
from typing import Any


def objects() -> dict[str, Any]:
    import torch

    from fastaug import tv_tensors as tv

    boxes = tv.BoundingBoxes([[1.0, 2, 3, 4, 5]], format="xywhr", canvas_size=(6, 7), clamping_mode="hard")
    points = tv.KeyPoints(torch.arange(12).view(3, 2, 2), canvas_size=(8, 9))
    return {
        "base": torch.arange(3).as_subclass(tv.TVTensor),
        "image": tv.Image(torch.rand(3, 4, 5, generator=torch.Generator().manual_seed(1)), requires_grad=True),
        "video": tv.Video(torch.zeros(2, 3, 4, 5, dtype=torch.uint8)),
        "mask": tv.Mask(torch.eye(3, dtype=torch.bool)),
        "boxes": boxes,
        "points": points,
        "formats": list(tv.BoundingBoxFormat),
        "classes": [tv.TVTensor, tv.Image, tv.Video, tv.Mask, tv.BoundingBoxes, tv.KeyPoints, tv.BoundingBoxFormat],
        "functions": [tv.is_rotated_bounding_format, partial(tv.set_return_type, "Tensor")],
    }


def described(value: Any) -> Any:
    import torch

    if isinstance(value, (list, tuple)):
        return [described(part) for part in value]
    if isinstance(value, partial):
        return ["partial", described(value.func), value.args]
    if isinstance(value, torch.Tensor):
        attributes = sorted((name, str(one)) for name, one in vars(value).items())
        plain = value.detach().as_subclass(torch.Tensor)
        return [type(value).__name__, str(value.dtype), plain.tolist(), value.requires_grad, attributes]
    return getattr(value, "__name__", str(value))


def main(task: str, folder: Path, torchvision: str) -> None:
    if torchvision == "without":
        import support.without_torchvision  # noqa: F401
    # Pickles of torchvision's name no module of fastaug's, so it has to be there before they are read.
    import fastaug  # noqa: F401

    files = {f"{protocol}.pickle": protocol for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)}
    if task == "write":
        import torch

        for name, protocol in files.items():
            (folder / name).write_bytes(pickle.dumps(objects(), protocol))
        torch.save(objects(), folder / "saved.pt")
        return
    import_before = "torchvision" in sys.modules
    found = {name: pickle.loads((folder / name).read_bytes()) for name in files}
    import torch

    # Nobody is led to believe that torchvision is there.
    assert torchvision == "with" or "torchvision" not in sys.modules
    found["saved.pt"] = torch.load(folder / "saved.pt", weights_only=False)
    from fastaug import tv_tensors

    for loaded in found.values():
        for one in loaded["classes"]:
            assert one is getattr(tv_tensors, one.__name__)
        for one in ("image", "video", "mask", "boxes", "points", "base"):
            assert type(loaded[one]) is getattr(tv_tensors, type(loaded[one]).__name__)
        for one in loaded["functions"]:
            function = getattr(one, "func", one)
            assert function is getattr(tv_tensors, function.__name__)
    refused = False
    try:
        torch.load(folder / "saved.pt", weights_only=True)
    except pickle.UnpicklingError:
        refused = True
    what = {name: {key: described(value) for key, value in loaded.items()} for name, loaded in found.items()}
    module = tv_tensors.Image.__module__
    print(json.dumps({"found": what, "module": module, "import_before": import_before, "refused": refused}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
