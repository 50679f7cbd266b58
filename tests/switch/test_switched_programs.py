"""Programs that are run switched, and all that they start, do the same as plain ones."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import fastaug

#: The package that is tested, and no tests.
ROOT = Path(fastaug.__file__).parents[1]

PROGRAM = """
import hashlib, json, os, random, sys
from pathlib import Path
import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms as T

{begin}

class Pictures(Dataset):
    def __init__(self):
        self.transform = T.Compose(
            [T.RandomResizedCrop(24), T.RandomHorizontalFlip(), T.Lambda(self.noted), T.ToTensor()]
        )

    def noted(self, image):
        return image

    def __len__(self):
        return 24

    def __getitem__(self, index):
        image = Image.fromarray(np.random.default_rng(index).integers(0, 256, (50, 60, 3), np.uint8))
        transformed = self.transform(image)
        switched = sys.modules.get("fastaug._switch.twins")
        found = switched.note_of(self.transform)[1] if switched else 0
        return transformed, found

def main(method):
    torch.manual_seed(0)
    several = {{"num_workers": 2, "multiprocessing_context": method}} if method != "none" else {{}}
    digest, found = hashlib.sha1(), 0
    for images, counts in DataLoader(Pictures(), 4, shuffle=True, **several):
        digest.update(images.numpy().tobytes())
        found = max(found, int(counts.max()))
    digest.update(torch.get_rng_state().numpy().tobytes())
    print(json.dumps([digest.hexdigest(), found, __name__, sys.argv[1:], __file__ == sys.argv[0]]))

if __name__ == "__main__":
    main(sys.argv[1])
"""


def run(*command: str, env: dict[str, str] | None = None, code: int = 0, cwd: Path | None = None) -> tuple[str, str]:
    """What a command prints to both streams."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **(env or {})}
    variables = {name: value for name, value in variables.items() if value}
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=variables, cwd=cwd)
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("program") / "train.py"
    path.write_text(PROGRAM.format(begin=""))
    return path


@pytest.fixture(scope="module")
def plain(program: Path) -> dict[str, Any]:
    """What the program prints as it is, without workers and with them."""
    return {method: json.loads(run(str(program), method)[0]) for method in ("none", "fork")}


def check(found: Any, plain: dict[str, Any], method: str) -> None:
    of = "none" if method == "none" else "fork"
    assert found[0] == plain[of][0] and plain[of][1] == 0
    assert found[1] > 3, "torchvision's own"
    assert found[2:] == ["__main__", [method], True]


@pytest.mark.parametrize(
    "method",
    ["none", "fork", pytest.param("spawn", marks=pytest.mark.main), pytest.param("forkserver", marks=pytest.mark.main)],
)
def test_run(program: Path, plain: dict[str, Any], method: str) -> None:
    out, _ = run("-m", "fastaug", "run", str(program), method)
    check(json.loads(out), plain, method)


@pytest.mark.main
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_one_line_switches_children(tmp_path: Path, plain: dict[str, Any], method: str) -> None:
    """Without the environment: process objects carry it."""
    path = tmp_path / "line.py"
    text = PROGRAM.format(begin="").replace("    main(sys", "    import fastaug; fastaug.install()\n    main(sys")
    path.write_text(text)
    check(json.loads(run(str(path), method)[0]), plain, method)


@pytest.mark.main
def test_the_variable_alone(program: Path, plain: dict[str, Any], tmp_path: Path) -> None:
    """As the .pth of a wheel sees it, here by a sitecustomize; and 0 is off."""
    line = (Path(__file__).parents[2] / "packaging" / "fastaug.pth").read_text()
    (tmp_path / "sitecustomize.py").write_text(line)
    path = f"{tmp_path}{os.pathsep}{ROOT}"
    check(json.loads(run(str(program), "none", env={"FASTAUG_INSTALL": "1", "PYTHONPATH": path})[0]), plain, "none")
    for variables in ({"FASTAUG_INSTALL": "0"}, {}):
        found = json.loads(run(str(program), "none", env={**variables, "PYTHONPATH": path})[0])
        assert found[:2] == plain["none"][:2]
    off = run("-m", "fastaug", "run", str(program), "none", env={"FASTAUG_INSTALL": "0"})[0]
    assert json.loads(off)[:2] == plain["none"][:2]


def test_the_line_of_the_pth_never_raises(tmp_path: Path) -> None:
    line = (Path(__file__).parents[2] / "packaging" / "fastaug.pth").read_text()
    assert len(line.splitlines()) == 1 and line.startswith("import ")
    broken = tmp_path / "fastaug"
    broken.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (broken / "__init__.py").write_text("raise RuntimeError('half removed')")
    for path in (tmp_path, tmp_path / "nothing"):
        for value in ("1", "0", "1,report", "nonsense"):
            variables = {"PYTHONPATH": str(path), "FASTAUG_INSTALL": value}
            out, err = run("-S", "-c", line, env=variables, cwd=tmp_path / "elsewhere")
            assert not out and not err
    # Without the variable nothing is imported.
    code = f"import sys\n{line}\nassert not any(name.startswith('fastaug') for name in sys.modules)"
    run("-c", code, env={"FASTAUG_INSTALL": ""})


def test_modules_and_commands(tmp_path: Path) -> None:
    code = "import sys, json\nprint(json.dumps([__name__, sys.argv, sys.path[0], 'torch' in sys.modules]))\n"
    (tmp_path / "inner").mkdir()
    for name in ("alone.py", "inner/__main__.py", "inner/__init__.py"):
        (tmp_path / name).write_text("" if name.endswith("__init__.py") else code)
    for given in (["alone.py", "-m", "--report", "--"], ["-m", "inner", "--decode", "x"], ["-m", "alone"]):
        theirs = run(*given, cwd=tmp_path)[0]
        ours = run("-m", "fastaug", "run", "--", *given, cwd=tmp_path)[0]
        assert json.loads(ours)[:3] == json.loads(theirs)[:3], given
        assert json.loads(ours)[3] is False  # torch is not imported for it
    command = tmp_path / "command"
    command.write_text(f"#!{sys.executable}\n{code}")
    command.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    found = json.loads(run("-m", "fastaug", "run", "--report", "command", "a", env={"PATH": path})[0])
    assert found[:2] == ["__main__", [str(command), "a"]]


def test_ends_as_the_program_does(tmp_path: Path) -> None:
    path = tmp_path / "ends.py"
    path.write_text("import sys\nsys.exit(7)\n")
    run("-m", "fastaug", "run", str(path), code=7)
    path.write_text("def inner():\n    raise ValueError('as it is')\ninner()\n")
    err = run("-m", "fastaug", "run", str(path), code=1)[1]
    assert re.search(r'ends\.py", line 3, in <module>.*ValueError: as it is', err, re.DOTALL)
    for given, said in (
        (["nowhere.py"], "no file or command nowhere.py"),
        ([], "there is no program to run"),
        (["--fast", "x.py"], "unknown option --fast"),
    ):
        assert said in run("-m", "fastaug", "run", *given, code=2)[1]
    assert "--decode" in run("-m", "fastaug", "run", "--help")[0]
    assert "run" in run("-m", "fastaug", "--help")[0]


def test_report(program: Path, plain: dict[str, Any]) -> None:
    out, err = run("-m", "fastaug", "run", "--report", str(program), "fork")
    assert json.loads(out)[0] == plain["fork"][0]
    head = re.search(r"fastaug: (\d+) of (\d+) calls of torchvision's transforms switched in 3 processes", err)
    # Both workers have called the Compose twelve times, four of them torchvision's own, to compare times.
    assert head is not None and (int(head[1]), int(head[2])) == (16, 24), err
    assert "Compose(RandomResizedCrop, RandomHorizontalFlip, Lambda, ToTensor)" in err


@pytest.mark.main
def test_launchers(program: Path, plain: dict[str, Any]) -> None:
    """torchrun starts the program as another Python."""
    launcher = ("-m", "torch.distributed.run", "--nproc_per_node", "1", "--master_port", "29641")
    out, _ = run("-m", "fastaug", "run", *launcher, str(program), "spawn")
    found = json.loads(next(line for line in out.splitlines() if line.startswith("[")))
    check(found, plain, "spawn")


def test_notebooks() -> None:
    code = (
        "import fastaug\nfrom torchvision import transforms\n"
        "fastaug.load_ipython_extension(None)\nassert '__call__' in vars(transforms.Resize)\n"
        "fastaug.unload_ipython_extension(None)\nassert '__call__' not in vars(transforms.Resize)\n"
    )
    run("-c", code)


def test_imports_in_any_order(tmp_path: Path) -> None:
    check = (
        "image = Image.new('RGB', (50, 40))\n"
        "for transform in (T.Compose([T.Resize(9)]), v2.Compose([v2.Resize(9)])):\n"
        "    results = [transform(image) for _ in range(3)]\n"
        "    assert sys.modules['fastaug._switch.twins'].note_of(transform)[1] == 2\n"
    )
    imports = "from torchvision.transforms import v2\nfrom torchvision import transforms as T\nfrom PIL import Image\n"
    install = "import sys, fastaug\nassert 'torch' not in sys.modules or LATE\nfastaug.install()\n"
    for code in (f"LATE = False\n{install}{imports}{check}", f"LATE = True\n{imports}{install}{check}"):
        run("-c", code)


FOLDERS = """
import json, random, sys
import numpy as np
import torch
from torchvision import transforms as T
from torchvision.datasets import ImageFolder
import fastaug

compose = T.Compose([T.RandomResizedCrop(24), T.RandomHorizontalFlip(), T.ToTensor()])
data = ImageFolder(sys.argv[1], transform=compose, target_transform=lambda label: label + 10)
loads = []
results = []
def epochs():
    torch.manual_seed(1)
    for index in [*range(len(data)), *range(len(data))]:
        try:
            image, label = data[index]
            results.append([label, image.numpy().tobytes().hex()])
        except Exception as error:
            results.append([type(error).__name__])
    results.append(torch.get_rng_state().numpy().tobytes().hex())
if sys.argv[2] == "switched":
    with fastaug.install(decode=True):
        epochs()
        found = sys.modules["fastaug._switch.twins"].note_of(compose)[1]
    assert found > len(data), found
else:
    epochs()
print(json.dumps(results))
"""


def test_folders(tmp_path: Path) -> None:
    """JPEG and PNG files, some of them broken: the same results, errors and draws."""
    rng = np.random.default_rng(0)
    for number in range(12):
        folder = tmp_path / "images" / f"class{number % 2}"
        folder.mkdir(parents=True, exist_ok=True)
        picture = Image.fromarray(rng.integers(0, 256, (60, 80, 3), np.uint8)).resize((160, 120))
        picture = picture.convert("L") if number % 5 == 4 else picture
        picture.save(folder / f"{number:02}.{'png' if number % 3 == 0 else 'jpg'}")
    for name, cut in (("class0/02.jpg", 900), ("class1/03.png", 100), ("class1/05.jpg", 0)):
        path = tmp_path / "images" / name
        path.write_bytes(path.read_bytes()[:cut])
    script = tmp_path / "folders.py"
    script.write_text(FOLDERS)
    theirs, ours = (json.loads(run(str(script), str(tmp_path / "images"), how)[0]) for how in ("plain", "switched"))
    assert len(theirs) == len(ours) == 25
    for number, (one, other) in enumerate(zip(theirs, ours)):
        assert one == other, number
