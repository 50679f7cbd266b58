"""Programs that train with other packages do the same under `python -m fastaug run`: batches, losses and draws."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

from support.processes import python

#: What each program begins with: what it trains, and a digest of all that it sees.
WITNESS = """
import hashlib, json, random, sys
import numpy as np
import torch
from torch import nn

WORKERS = int(sys.argv[1])
digest, losses = hashlib.sha1(), []

def seed():
    torch.manual_seed(3)
    random.seed(3)
    np.random.seed(3)

def see(*tensors):
    for tensor in tensors:
        digest.update(repr((tensor.shape, tensor.dtype)).encode() + tensor.contiguous().numpy().tobytes())

def network(outputs=2):
    seed()
    pool = nn.AdaptiveAvgPool2d(2)
    return nn.Sequential(nn.Conv2d(3, 8, 5, 4), nn.ReLU(), pool, nn.Flatten(), nn.Linear(32, outputs))

def train(loader, epochs=2):
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(epochs):
        for images, labels in loader:
            see(images, labels)
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())

def end():
    _, keys, *rest = np.random.get_state()
    states = torch.get_rng_state().tolist(), random.getstate(), keys.tolist(), rest
    print(json.dumps([digest.hexdigest(), losses, hashlib.sha1(repr(states).encode()).hexdigest()]))
"""

# As in the references of torchvision's repository, which is in no wheel.
REFERENCES = """
from torch.utils.data import DataLoader, RandomSampler, SequentialSampler, default_collate
from torchvision import datasets, transforms
from torchvision.transforms import v2
from torchvision.transforms.functional import InterpolationMode, pil_to_tensor

def preset_train(T, policy, backend):
    steps = [T.PILToTensor()] if backend == "tensor" else []
    steps += [T.RandomResizedCrop(64, interpolation=InterpolationMode.BILINEAR, antialias=True)]
    steps += [T.RandomHorizontalFlip(0.5)]
    if policy == "ra":
        steps += [T.RandAugment(interpolation=InterpolationMode.BILINEAR, magnitude=9)]
    elif policy == "ta_wide":
        steps += [T.TrivialAugmentWide(interpolation=InterpolationMode.BILINEAR)]
    elif policy == "augmix":
        steps += [T.AugMix(interpolation=InterpolationMode.BILINEAR, severity=3)]
    else:
        aa = T.AutoAugmentPolicy(policy)
        steps += [T.AutoAugment(policy=aa, interpolation=InterpolationMode.BILINEAR)]
    steps += [T.PILToTensor()] if backend == "pil" else []
    steps += [T.ToDtype(torch.float, scale=True) if T is v2 else T.ConvertImageDtype(torch.float)]
    steps += [T.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)), T.RandomErasing(p=0.3)]
    return T.Compose(steps + ([T.ToPureTensor()] if T is v2 else []))

def preset_eval(T):
    steps = [T.Resize(72, interpolation=InterpolationMode.BILINEAR, antialias=True), T.CenterCrop(64), T.PILToTensor()]
    steps += [T.ToDtype(torch.float, scale=True) if T is v2 else T.ConvertImageDtype(torch.float)]
    return T.Compose([*steps, T.Normalize(mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))])

def main():
    mix = v2.RandomChoice([v2.MixUp(alpha=0.2, num_classes=2), v2.CutMix(alpha=1.0, num_classes=2)])
    for T, policy, backend in [
        (transforms, "ra", "pil"), (transforms, "imagenet", "tensor"), (transforms, "augmix", "pil"),
        (v2, "ta_wide", "pil"), (v2, "ra", "tensor"),
    ]:
        seed()
        data = datasets.ImageFolder("photographs", preset_train(T, policy, backend))
        collate = (lambda batch: mix(*default_collate(batch))) if T is v2 else None
        options = dict(batch_size=5, num_workers=WORKERS, pin_memory=False, collate_fn=collate)
        train(DataLoader(data, sampler=RandomSampler(data), **options))
        test = datasets.ImageFolder("photographs", preset_eval(T))
        for images, labels in DataLoader(test, batch_size=4, sampler=SequentialSampler(test), num_workers=WORKERS):
            see(images, labels)
    end()
"""

PRESETS = """
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.models import ConvNeXt_Tiny_Weights, ResNet50_Weights, ViT_B_16_Weights

def main():
    seed()
    for weights in (ResNet50_Weights.DEFAULT, ViT_B_16_Weights.IMAGENET1K_SWAG_E2E_V1, ConvNeXt_Tiny_Weights.DEFAULT):
        data = ImageFolder("photographs", weights.transforms())
        train(DataLoader(data, 6, shuffle=True, num_workers=WORKERS), epochs=1)
    end()
"""

TIMM = """
from timm.data import create_dataset, create_loader

def main():
    data = create_dataset("", "photographs", split="train")
    seed()
    for options in [
        dict(is_training=True, auto_augment="rand-m9-mstd0.5", re_prob=0.25),
        dict(is_training=True, no_aug=False, hflip=0.5, color_jitter=0.4),
        dict(is_training=False, crop_pct=0.9),
    ]:
        train(create_loader(data, (3, 64, 64), 6, num_workers=WORKERS, use_prefetcher=False, device="cpu", **options))
    end()
"""

OPEN_CLIP = """
from open_clip.transform import AugmentationCfg, image_transform
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

def main():
    seed()
    colours = dict(color_jitter=(0.4, 0.4, 0.4, 0.1), color_jitter_prob=0.8, gray_scale_prob=0.2)
    more = AugmentationCfg(scale=(0.4, 1.0), **colours)
    for transform in (image_transform(64, True), image_transform(64, True, aug_cfg=more), image_transform(64, False)):
        train(DataLoader(ImageFolder("photographs", transform), 6, shuffle=True, num_workers=WORKERS))
    end()
"""

LIGHTLY = """
from lightly.data import LightlyDataset
from lightly.loss import NTXentLoss
from lightly.transforms import DINOTransform, SimCLRTransform
from torch.utils.data import DataLoader

def main():
    for transform in (SimCLRTransform(input_size=32), DINOTransform(global_crop_size=48, local_crop_size=24)):
        model, criterion = network(16), NTXentLoss()
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        data = LightlyDataset("photographs", transform=transform)
        for _ in range(2):
            for views, labels, names in DataLoader(data, 6, shuffle=True, drop_last=True, num_workers=WORKERS):
                see(*views, labels)
                loss = criterion(model(views[0]), model(views[1]))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
    end()
"""

ACCELERATE = """
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder

def main():
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    set_seed(3)
    transform = transforms.Compose(
        [transforms.RandomResizedCrop(64), transforms.RandomHorizontalFlip(), transforms.ToTensor()]
    )
    loader = DataLoader(ImageFolder("photographs", transform), 5, shuffle=True, num_workers=WORKERS)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for _ in range(2):
        for images, labels in loader:
            with accelerator.accumulate(model):
                see(images, labels)
                loss = nn.functional.cross_entropy(model(images), labels)
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
                losses.append(accelerator.gather(loss).mean().item())
    end()
"""

LIGHTNING = """
import pytorch_lightning as pl
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.transforms import v2

class Data(pl.LightningDataModule):
    def setup(self, stage):
        first = [v2.ToImage(), v2.RandomResizedCrop(64), v2.RandomHorizontalFlip(), v2.ColorJitter(0.4, 0.4, 0.4, 0.1)]
        last = [v2.ToDtype(torch.float32, scale=True), v2.Normalize([0.5] * 3, [0.25] * 3)]
        self.data = ImageFolder("photographs", v2.Compose([*first, *last]))
        self.test = ImageFolder("photographs", v2.Compose([v2.ToImage(), v2.Resize(72), v2.CenterCrop(64), *last]))

    def train_dataloader(self):
        return DataLoader(self.data, 5, shuffle=True, num_workers=WORKERS, persistent_workers=WORKERS > 0)

    def val_dataloader(self):
        return DataLoader(self.test, 5, num_workers=WORKERS)

class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.network = network()

    def training_step(self, batch, index):
        see(*batch)
        loss = nn.functional.cross_entropy(self.network(batch[0]), batch[1])
        losses.append(loss.item())
        return loss

    def validation_step(self, batch, index):
        see(*batch)
        losses.append(nn.functional.cross_entropy(self.network(batch[0]), batch[1]).item())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

def main():
    pl.seed_everything(3, workers=True)
    quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer = pl.Trainer(accelerator="cpu", devices=1, max_epochs=2, num_sanity_val_steps=1, **quiet)
    trainer.fit(Model(), Data())
    end()
"""

ULTRALYTICS = """
import os
os.environ["YOLO_CONFIG_DIR"] = os.getcwd()
os.environ["YOLO_OFFLINE"] = "true"
from ultralytics.models.yolo.classify import ClassificationTrainer, ClassificationValidator

class Trainer(ClassificationTrainer):
    def preprocess_batch(self, batch):
        see(batch["img"], batch["cls"])
        return super().preprocess_batch(batch)

    def get_validator(self):
        self.loss_names = ["loss"]
        return Validator(self.test_loader, self.save_dir, args=self.args)

class Validator(ClassificationValidator):
    def preprocess(self, batch):
        see(batch["img"], batch["cls"])
        return super().preprocess(batch)

def main():
    for policy in ("randaugment", ""):
        options = dict(model="yolo11n-cls.yaml", data="split", epochs=1, imgsz=32, batch=6, device="cpu", seed=3)
        quiet = dict(plots=False, save=False, verbose=False, amp=False, project="runs", exist_ok=True)
        trainer = Trainer(overrides=dict(**options, **quiet, workers=WORKERS, auto_augment=policy, erasing=0.4))
        trainer.add_callback("on_train_batch_end", lambda trainer: losses.append(float(trainer.loss)))
        trainer.train()
    end()
"""

PROGRAMS = {
    "torchvision's references": ("torchvision", REFERENCES),
    "torchvision's presets": ("torchvision", PRESETS),
    "timm": ("timm", TIMM),
    "open_clip": ("open_clip", OPEN_CLIP),
    "lightly": ("lightly", LIGHTLY),
    "accelerate": ("accelerate", ACCELERATE),
    "Lightning": ("pytorch_lightning", LIGHTNING),
    "ultralytics": ("ultralytics", ULTRALYTICS),
}


def needs(package: str) -> None:
    """Skip a test without a package, which is not imported: ultralytics would write settings."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"could not import {package!r}")


def outcome(place: Path, *command: str) -> tuple[list[Any], str]:
    """The last line that a program prints, and its errors."""
    done = python([*command], folder=place, fresh=True, timeout=900, OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr[-3000:]
    found: list[Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found, done.stderr


def check(place: Path, text: str, *launcher: str, workers: int) -> None:
    (place / "train.py").write_text(f"{WITNESS}\n{text}\nif __name__ == '__main__':\n    main()\n")
    program = (*launcher, "train.py", str(workers))
    theirs, _ = outcome(place, *program)
    ours, said = outcome(place, "-m", "fastaug", "run", "--report", *program)
    assert len(theirs[1]) > 3 and all(loss == loss for loss in theirs[1])
    assert ours == theirs
    head = re.search(r"fastaug: (\d+) of (\d+) calls of torchvision's transforms switched", said)
    # A transform's first five calls are torchvision's, of each of its transforms in each process.
    assert head is not None and int(head[1]) > 0.3 * int(head[2]) > 10, said


@pytest.fixture
def split(place: Path) -> Path:
    """The place, with the photographs also as ultralytics wants them."""
    (place / "split").mkdir()
    for part in ("train", "val"):
        (place / "split" / part).symlink_to(place / "photographs")
    return place


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, workers: int, split: Path) -> None:
    package, text = PROGRAMS[name]
    needs(package)
    check(split, text, workers=workers)


def test_accelerate_launches_a_switched_program(place: Path) -> None:
    needs("accelerate")
    check(place, ACCELERATE, "-m", "accelerate.commands.launch", "--cpu", "--num_processes", "1", workers=2)
