"""Importing fastaug is cheap and starts nothing; FASTAUG_ISA is checked."""

from __future__ import annotations

import json
from typing import Any

import pytest

import fastaug
from support.processes import ISAS, python

HEAVY = ("torchvision", "skimage", "scipy", "matplotlib", "pandas", "cv2", "tqdm", "hypothesis", "pytest")


def output(code: str, **options: Any) -> str:
    result = python(["-W", "error", "-c", code], **options)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_import_alone_brings_no_torch() -> None:
    code = "import sys, fastaug; print('torch' in sys.modules, 'numpy' in sys.modules)"
    assert output(code, fresh=True) == "False False"


QUIET = f"""
import json, os, random, sys, threading
import torch, numpy, PIL.Image
from PIL import Image

def mapped():
    return {{line.split()[-1].rsplit("/", 1)[-1] for line in open("/proc/self/maps") if "/" in line}}

random.seed(1)
torch.manual_seed(1)
states = torch.get_rng_state(), random.getstate()
modules, files, threads = set(sys.modules), mapped(), len(os.listdir("/proc/self/task"))

import fastaug.transforms as T
T.ColorJitter(0.5), T.RandomCrop(3)
same = torch.equal(states[0], torch.get_rng_state()) and states[1] == random.getstate()
T.Compose([T.Resize(8), T.ColorJitter(0.5), T.ToTensor()])(Image.new("RGB", (20, 20)))

print(json.dumps({{
    "heavy": sorted({{name.split(".")[0] for name in set(sys.modules) - modules}} & set({HEAVY!r})),
    "threads": len(os.listdir("/proc/self/task")) - threads + threading.active_count() - 1,
    "cuda": [torch.cuda.is_initialized(), [name for name in mapped() - files if "cuda" in name or "nv" in name]],
    "generators": same,
}}))
"""


def test_transforms_start_nothing() -> None:
    """No heavy package, no thread, no CUDA driver; the global random generators are left alone."""
    assert json.loads(output(QUIET, lean=True)) == {"heavy": [], "threads": 0, "cuda": [False, []], "generators": True}


def test_torchvision_is_not_needed() -> None:
    code = """
import sys
sys.modules["torchvision"] = None
import fastaug.transforms as T
from PIL import Image
print(T.Compose([T.RandomResizedCrop(8), T.ToTensor()])(Image.new("RGB", (20, 20))).shape)
"""
    assert output(code, lean=True) == "torch.Size([3, 8, 8])"


@pytest.mark.parametrize("isa", ISAS)
def test_forced_isa(isa: str) -> None:
    assert output("import fastaug; print(fastaug.isa())", isa=isa) == isa


def test_unforced_isa_is_the_best() -> None:
    assert output("import fastaug; from fastaug import _C; print(fastaug.isa() == _C.isas()[-1])") == "True"


@pytest.mark.parametrize(
    "code", ["fastaug.isa()", "import fastaug.transforms as T; T.Pad(1)(__import__('numpy').zeros((3, 3, 3), 'u1'))"]
)
def test_unknown_isa(code: str) -> None:
    result = python(["-c", f"import fastaug; {code}"], isa="bogus")
    assert result.returncode == 1
    last = result.stderr.strip().splitlines()[-1]
    assert "bogus" in last, last
    assert "FASTAUG_ISA" in last, last
    assert "avx2" in last or fastaug.isa() in last, "the message should name what there is"


def test_all_names_import() -> None:
    names: dict[str, object] = {}
    exec("from fastaug.transforms import *; from fastaug.transforms.functional import *; from fastaug import *", names)
    assert {"Compose", "hflip", "isa"} <= set(names)
