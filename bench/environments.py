"""Environments for the peers, one each under `.venv-peers`, so that none touches the one fastaug is developed in.

Each sees the packages of the running interpreter behind its own: torch is not installed again, and Pillow-SIMD takes
Pillow's place for itself alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from bench.measure import ROOT, Column

# Library: what pip installs, and what is set in the environment meanwhile.
Requirements = dict[str, tuple[list[str], dict[str, str]]]

# Pillow-SIMD is built from source for AVX2 and needs the headers of libjpeg and zlib (libjpeg-dev, zlib1g-dev).
PEERS: Requirements = {
    "Pillow-SIMD": (["pillow-simd"], {"CC": "cc -mavx2", "PIP_NO_BINARY": "pillow-simd"}),
    "OpenCV": (["opencv-python-headless"], {}),
    "Albumentations": (["albumentations==2.0.8"], {}),
    "kornia-rs": (["kornia-rs"], {}),
}

DECODERS: Requirements = {
    "torchcodec": (["torchcodec"], {}),
    "OpenCV": PEERS["OpenCV"],
    "simplejpeg": (["simplejpeg"], {}),
    "pyspng": (["pyspng"], {}),
    "imagecodecs": (["imagecodecs"], {}),
    "simplejpeg and OpenCV": (["simplejpeg", "opencv-python-headless"], {}),
    # Half a gigabyte; its decoders of the CPU need no GPU.
    "DALI": (["nvidia-dali-cuda120"], {}),
}


def environment(folder: Path, requirements: list[str], env: dict[str, str]) -> str:
    """The environment's Python; installs what is not there yet. CalledProcessError where pip fails."""
    python = folder / "bin" / "python"
    wanted = "\n".join([sys.version, *requirements])
    stamp = folder / "installed.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return str(python)
    print(f"installing {', '.join(requirements)}", flush=True)
    in_front(folder)
    constraints = str(ROOT / "constraints.txt")
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--constraint", constraints]
    subprocess.run([*pip, *requirements], check=True, env={**os.environ, **env})
    stamp.write_text(wanted)
    return str(python)


def in_front(folder: Path) -> None:
    """Makes an environment without packages of its own, in front of the running interpreter's."""
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
    place = sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
    # Not the bare path: fastaug is installed as editable, by a .pth of its own.
    (Path(place) / "behind.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")


def column(library: str, requirements: list[str], env: dict[str, str], suite: str) -> Column | None:
    try:
        python = environment(ROOT / ".venv-peers" / library.lower().replace(" ", "-"), requirements, env)
    except subprocess.CalledProcessError as error:
        print(f"{library} did not install and is left out ({error})", flush=True)
        return None
    return Column(library, library, python, suite=suite)


def peer_columns(peers: Requirements = PEERS, suite: str = "bench.libraries") -> list[Column]:
    """The columns of the peers that could be installed."""
    return [made for library, wanted in peers.items() if (made := column(library, *wanted, suite))]


if __name__ == "__main__":
    in_front(Path(sys.argv[1]))
