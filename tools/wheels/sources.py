"""What wheels are compiled from beside fastaug itself: releases of four libraries, each by its digest.

The archives are those of source packages of Debian 12, which are the authors' own; apt fetches them. That of libwebp is
Debian 13's: the one of Debian 12 has a hole (CVE-2023-4863), which a patch beside it mends. A folder that has files of
these names serves as well: `python3 tools/wheels/sources.py FOLDER` makes one on Debian 12.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Source:
    name: str  # also of Debian's source package
    version: str
    sha256: str
    licence: str  # an SPDX expression
    linked: str  # how it is in the wheel
    debian: int = 12  # the release whose source package has the archive

    @property
    def archive(self) -> str:
        return f"{self.name}_{self.version}.orig.tar.gz"


SOURCES = (
    Source(
        "libjpeg-turbo",
        "2.1.5",
        "254f3642b04e309fee775123133c6464181addc150499561020312ec61c1bf7c",
        "IJG AND BSD-3-Clause AND Zlib",
        "static",
    ),
    Source("libdeflate", "1.14", "89e7df898c37c3427b0f39aadcf733731321a278771d20fc553f92da8d4808ac", "MIT", "static"),
    Source(
        "libwebp",
        "1.5.0",
        "7d6fab70cf844bf6769077bd5d7a74893f8ffd4dfb42861745750c63c2a5c92c",
        "BSD-3-Clause",
        "static",
        debian=13,
    ),
    Source(
        "highway",
        "1.0.3",
        "566fc77315878473d9a6bd815f7de78c73734acdcb745c3dde8579560ac5440e",
        "Apache-2.0",
        "headers",
    ),
)


class NotFoundError(RuntimeError):
    """An archive that is not there, or is another one."""


def unpacked(folder: Path, given: Path | None = None) -> dict[str, Path]:
    """The sources of each library below the folder, by name. NotFoundError where one cannot be had."""
    for source, archive in fetched(folder, given).items():
        if not (folder / source.name).is_dir():
            part = folder / f"{source.name}.part"
            with tarfile.open(archive) as opened:
                opened.extractall(part, filter="data")
            (inner,) = part.iterdir()
            inner.rename(folder / source.name)
            part.rmdir()
    return {source.name: folder / source.name for source in SOURCES}


def fetched(folder: Path, given: Path | None = None) -> dict[Source, Path]:
    """The archives in the folder, as they should be. NotFoundError where one cannot be had."""
    folder.mkdir(parents=True, exist_ok=True)
    for source in SOURCES:
        if given is not None and (given / source.archive).is_file():
            (folder / source.archive).write_bytes((given / source.archive).read_bytes())
    absent = [source for source in SOURCES if not (folder / source.archive).is_file()]
    said = _fetch(folder, absent) if absent else ""
    return {source: _checked(folder / source.archive, source, said) for source in SOURCES}


def _checked(archive: Path, source: Source, said: str) -> Path:
    if not archive.is_file():
        raise NotFoundError(
            f"{source.archive} could not be fetched: it is of Debian {source.debian}'s source package {source.name}."
            f" Put it into a folder, and name that with --sources.\n{said}"
        )
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != source.sha256:
        archive.unlink()
        raise NotFoundError(f"{source.archive} has the sha256 {found}; expected: {source.sha256}")
    return archive


def _fetch(folder: Path, wanted: list[Source]) -> str:
    """Has apt download the archives; what it said. Source packages are asked for beside what the system is set to, in a
    state of their own: nothing of the system changes. Those of Debian 13 come from the places of Debian 12's."""
    state = folder / "apt"
    parts = state / "sources"
    for needed in (parts, state / "lists" / "partial", state / "cache" / "archives" / "partial"):
        needed.mkdir(parents=True, exist_ok=True)
    system = Path("/etc/apt")
    for file in [system / "sources.list", *sorted((system / "sources.list.d").glob("*"))]:
        if file.is_file():
            text = re.sub(r"^deb\s", "deb-src ", file.read_text(), flags=re.MULTILINE)
            text = re.sub(r"^Types:.*$", "Types: deb-src", text, flags=re.MULTILINE)
            (parts / file.name).write_text(text)
            if "bookworm" in text:
                (parts / f"trixie-{file.name}").write_text(text.replace("bookworm", "trixie"))
    options = {
        "Dir::Etc::sourcelist": "-",
        "Dir::Etc::sourceparts": parts,
        "Dir::State::lists": state / "lists",
        "Dir::Cache": state / "cache",
        "APT::Sandbox::User": "root",
    }
    apt = [word for key, value in options.items() for word in ("-o", f"{key}={value}")]

    def run(*command: str) -> str:
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, "LC_ALL": "C"},
            )
        except FileNotFoundError:
            return f"{command[0]} is not there\n"
        return done.stdout

    # Repositories without sources fail here, which does not matter.
    said = run("apt-get", *apt, "update")
    for source in wanted:
        packages = run("apt-cache", *apt, "showsrc", "--only-source", source.name)
        for version in re.findall(r"^Version: (\S+)$", packages, re.MULTILINE):
            if re.sub(r"^\d+:|-[^-]+$", "", version) == source.version:
                said += run(
                    "apt-get",
                    *apt,
                    "source",
                    "--download-only",
                    "--tar-only",
                    "--only-source",
                    f"{source.name}={version}",
                )
                break
    return said


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("sources.py FOLDER")
    try:
        for path in fetched(Path(sys.argv[1])).values():
            print(path)
    except NotFoundError as error:
        sys.exit(str(error))
