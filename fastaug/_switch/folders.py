"""Folders of images that torchvision's default loader reads, with one transform: decode what that uses."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import torch
from PIL import Image

from fastaug import _own
from fastaug._program.eager import compiling
from fastaug._switch import calls, decoding, twins
from fastaug.io import lazy


def switch(module: ModuleType) -> None:
    default, of_pillow = module.default_loader, module.pil_loader
    functions = default.__globals__

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def __getitem__(self: Any, index: Any) -> Any:
            own = vars(self)
            transform = own.get("transform")
            if (
                compiling()
                or own.get("loader") is not default
                or functions["pil_loader"] is not of_pillow
                or sys.modules["torchvision"].get_image_backend() != "PIL"
                or type(transform).__name__ != "Compose"
                or not str(type(transform).__module__).startswith("torchvision.transforms.")
            ):
                return original(self, index)
            path, target = self.samples[index]
            if not decoding.is_pillows(path):
                return original(self, index)
            twin = twins.find(transform)
            if twin is None or twin is NotImplemented:
                with _own.own():
                    return original(self, index)
            state = torch.default_generator.get_state()
            # These take longer.
            others = (random.getstate(), np.random.get_state()) if twin.draws_elsewhere else None  # noqa: NPY002
            try:
                sample = twin(lazy(path))
            except (OSError, Image.DecompressionBombError):
                # torchvision reads the file before anything is drawn.
                torch.default_generator.set_state(state)
                if others is not None:
                    random.setstate(others[0])
                    np.random.set_state(others[1])  # noqa: NPY002
                with _own.own():
                    return original(self, index)
            if self.target_transform is not None:
                target = self.target_transform(target)
            return sample, target

        return __getitem__

    calls.put(module.DatasetFolder, "__getitem__", make)
