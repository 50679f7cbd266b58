"""The files of .github: they are what GitHub takes, and what they run is there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = [path for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")) if path.name != "config.yml"]
SCHEMAS = {
    "vendor.github-workflows": WORKFLOWS,
    "custom.github-workflows-require-timeout": WORKFLOWS,
    "vendor.dependabot": [ROOT / ".github" / "dependabot.yml"],
    "vendor.github-issue-forms": FORMS,
    "vendor.github-issue-config": [ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml"],
    "vendor.citation-file-format": [ROOT / "CITATION.cff"],
}
CHECKER = shutil.which("check-jsonschema", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")

sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools" / "wheels")]
import check_release  # noqa: E402

import build  # noqa: E402


def valid(schema: str, files: list[Path]) -> subprocess.CompletedProcess[str]:
    assert CHECKER is not None
    return subprocess.run([CHECKER, "--builtin-schema", schema, *map(str, files)], capture_output=True, text=True)


@pytest.mark.skipif(CHECKER is None, reason="check-jsonschema is not installed")
@pytest.mark.parametrize("schema", SCHEMAS)
def test_is_what_its_schema_says(schema: str, tmp_path: Path) -> None:
    files = SCHEMAS[schema]
    assert files
    done = valid(schema, files)
    assert done.returncode == 0, done.stdout
    broken = tmp_path / files[0].name
    broken.write_text("name: [nothing of what is wanted]\njobs:\n  one: {steps: []}\n")
    assert valid(schema, [broken]).returncode == 1


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow(path: Path) -> None:
    text = path.read_text()
    assert re.search(r"^permissions:\n  contents: read$", text, re.MULTILINE), "more is asked for by jobs that need it"
    assert "pull_request_target" not in text, "gives what others send the rights of the repository"
    for action in re.findall(r"uses: (.+)", text):
        # A tag can be moved to other code, a commit cannot.
        pinned = re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", action)
        assert (ROOT / action).exists() if action.startswith("./") else pinned, action
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    made = " ".join(re.findall(r"run: make ((?:[a-z-]+ ?)+)(?![A-Z=])", text)).split()
    assert set(made) <= targets
    scripts = re.findall(r"run: python3? (\S+)", text)
    assert all((ROOT / script).exists() for script in scripts)
    assert made or scripts
    # What a pull request is called may be shell: nothing of an event stands in a command.
    assert not re.search(r"run: .*\$\{\{ *github\.event", text)
    for line in text.splitlines():
        assert not re.search(r"\bsecrets\b", line)


def test_an_action_has_one_commit() -> None:
    texts = "\n".join(path.read_text() for path in WORKFLOWS)
    pins = set(re.findall(r"uses: ([\w-]+/[\w-]+)@(.+)", texts))
    assert len(pins) == len({action for action, _ in pins})


def jobs_of(name: str) -> dict[str, str]:
    """The jobs of a workflow, as they are written."""
    _, text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text().split("\njobs:\n")
    parts = re.split(r"^  (\w+):\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


#: The jobs that may do more than read, and what.
RIGHTS = {
    ("docs", "deploy"): {"pages: write", "id-token: write"},
    ("release", "publish"): {"contents: read", "id-token: write", "attestations: write"},
}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_rights_are_least(path: Path) -> None:
    """Nothing but the deployment of the site and the publication of a release may write."""
    jobs = jobs_of(path.stem)
    assert "write" not in path.read_text().split("\njobs:\n")[0]
    for name, text in jobs.items():
        given = set(re.findall(r"^      ([\w-]+: (?:read|write))$", text, re.MULTILINE))
        assert given == RIGHTS.get((path.stem, name), set())
        assert "write-all" not in text


def test_only_a_tag_publishes() -> None:
    head, _ = (ROOT / ".github" / "workflows" / "release.yml").read_text().split("\npermissions:")
    assert head.split("\non:\n")[1] == '  push:\n    tags: ["v*"]\n'
    publish = jobs_of("release")["publish"]
    assert "if: github.ref_type == 'tag'" in publish
    assert "needs: [check, tests, wheels]" in publish
    publishing = [path.stem for path in WORKFLOWS if "gh-action-pypi-publish" in path.read_text()]
    assert publishing == ["release"]


def test_what_there_is() -> None:
    assert [path.stem for path in WORKFLOWS] == ["docs", "nightly", "release", "speed", "tests", "wheels"]
    assert len(FORMS) == 4 and (ROOT / ".github" / "PULL_REQUEST_TEMPLATE.md").exists()
    pythons = set(re.findall(r"Programming Language :: Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text()))
    wheels = next(path for path in WORKFLOWS if path.stem == "wheels").read_text()
    built = set(re.findall(r"^ +(3\.\d+)$", wheels, re.MULTILINE))
    assert built >= pythons, "a wheel for each Python that is said to do"
    assert built == {name.removeprefix("python").rstrip("t") for name in build.VERSIONS.values()}


def release(folder: Path, version: str, section: str, unreleased: str = "") -> Path:
    (folder / "fastaug").mkdir()
    (folder / "fastaug" / "__init__.py").write_text(f'__version__ = "{version}"\n')
    (folder / "CITATION.cff").write_text(f"version: {version}\ndate-released: 2030-01-02\n")
    (folder / "packaging" / "conda").mkdir(parents=True)
    (folder / "packaging" / "conda" / "recipe.yaml").write_text(f'context:\n  version: "{version}"\n')
    (folder / "CHANGELOG.md").write_text(f"# Changelog\n\n## [Unreleased]\n{unreleased}\n## {section}\n\n- More.\n")
    return folder


@pytest.mark.parametrize(
    ("tag", "section", "unreleased", "count"),
    [
        ("v1.2.3", "[1.2.3] - 2030-01-02", "", 0),
        ("1.2.3", "[1.2.3] - 2030-01-02", "", 1),
        ("v1.2.4", "[1.2.3] - 2030-01-02", "", 1),
        ("v1.2.3", "[1.2.3]", "", 1),
        ("v1.2.3", "[1.2.2] - 2030-01-02", "\n### Added\n\n- A thing.\n", 2),
    ],
)
def test_check_of_a_release(tmp_path: Path, tag: str, section: str, unreleased: str, count: int) -> None:
    folder = release(tmp_path, "1.2.3", section, unreleased)
    assert len(check_release.problems(tag, folder)) == count
    (folder / "CITATION.cff").write_text("version: 1.2.2\ndate-released: 2030-01-02\n")
    assert len(check_release.problems(tag, folder)) == count + 1
    (folder / "packaging" / "conda" / "recipe.yaml").write_text('context:\n  version: "1.2.2"\n')
    assert len(check_release.problems(tag, folder)) == count + 2


def test_a_release_has_one_date(tmp_path: Path) -> None:
    folder = release(tmp_path, "1.2.3", "[1.2.3] - 2030-01-03")
    (problem,) = check_release.problems("v1.2.3", folder)
    assert "date" in problem


def test_versions_agree_today() -> None:
    """Whatever else a release wants, the version is the same everywhere."""
    assert not [said for said in check_release.problems("v0") if "CITATION" in said or "recipe" in said]
