"""Whether wheels are what they say they are: `python tools/wheels/check.py WHEEL ...`.

One extension module for the interpreter and the machine in the name; nothing asked of the system but glibc and
gcc's unwinder, of no later version than the name says; nothing shown but what Python looks for; types, licences and the
bill of materials in it.
"""

from __future__ import annotations

import io
import json
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from elftools.elf.sections import SymbolTableSection
from sources import SOURCES

#: Bytes of a wheel, at most: it has no library beside its module, and no debug information.
MOST = 4 * 2**20
MACHINES = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64"}
#: glibc's own libraries, which every system of a manylinux tag has.
SYSTEM = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"}
#: gcc's unwinder, which glibc loads too.
UNWINDER = "libgcc_s.so.1"
#: Of the systems that have glibc 2.28.
OLDEST_GCC = (8,)
LOADERS = {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
LICENCES = {"LICENSE", "bundled.txt", "highway.txt", "pybind11.txt"}
NAME = re.compile(
    r"fastaug-(?P<version>[^-]+)-(?P<python>cp\d+)-(?P<abi>cp\d+t?)-manylinux_(?P<glibc>\d+_\d+)_(?P<machine>\w+)\.whl"
)


def problems(wheel: Path) -> list[str]:
    """What is not as it should be, a line each."""
    match = NAME.fullmatch(wheel.name)
    if match is None:
        return ["the name is not that of a wheel of fastaug for manylinux"]
    said = []
    if wheel.stat().st_size > MOST:
        said.append(f"it has {wheel.stat().st_size} bytes, more than {MOST}")
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        info = f"fastaug-{match['version']}.dist-info"
        said += _content(opened, names, info, match)
        module = f"fastaug/_C.cpython-{match['abi'][2:]}-{match['machine']}-linux-gnu.so"
        modules = sorted(name for name in names if ".so" in name)
        if modules == [module]:
            data = opened.read(module)
            said += _module(ELFFile(io.BytesIO(data)), match["machine"], tuple(map(int, match["glibc"].split("_"))))
            paths = set(re.findall(rb"/(?:home|root|tmp|work|build|github|__w|usr/(?:local|src))/[\x21-\x7e]+", data))
            if paths:
                said.append(f"the module names paths of the machine that built it: {sorted(paths)[:3]}")
        else:
            said.append(f"its modules are {modules}; expected: {module}")
    return said


def _content(opened: zipfile.ZipFile, names: set[str], info: str, match: re.Match[str]) -> Iterator[str]:
    for name in (
        "fastaug.pth",
        "fastaug/py.typed",
        "fastaug/_C.pyi",
        "fastaug/__init__.py",
        f"{info}/METADATA",
        f"{info}/RECORD",
    ):
        if name not in names:
            yield f"{name} is missing"
    for name in names:
        if not name.startswith(("fastaug.pth", "fastaug/", f"{info}/")) or "__pycache__" in name:
            yield f"{name} should not be in it"
    tags = re.findall(r"^Tag: (.*)$", opened.read(f"{info}/WHEEL").decode(), re.MULTILINE)
    tag = f"{match['python']}-{match['abi']}-manylinux_{match['glibc']}_{match['machine']}"
    if tags != [tag]:
        yield f"its tags are {tags}; expected: {tag}"
    licences = {Path(name).name for name in names if name.startswith(f"{info}/licenses/")}
    if licences != LICENCES:
        yield f"its licences are {sorted(licences)}; expected: {sorted(LICENCES)}"
    bill = f"{info}/sboms/fastaug.cdx.json"
    if bill not in names:
        yield f"{bill} is missing"
        return
    components = {one["name"]: one for one in json.loads(opened.read(bill))["components"]}
    for source in SOURCES:
        told = components.get(source.name, {})
        if told.get("version") != source.version or told.get("hashes", [{}])[0].get("content") != source.sha256:
            yield f"the bill of materials tells another {source.name} than {source.version}"
    for name in ("pybind11", "libc++"):
        if name not in components:
            yield f"the bill of materials lacks {name}"


def _module(elf: ELFFile, machine: str, glibc: tuple[int, ...]) -> Iterator[str]:
    if elf["e_machine"] != MACHINES.get(machine):
        yield f"the module is for {elf['e_machine']}"
    for section in elf.iter_sections():
        if isinstance(section, DynamicSection):
            needed = {tag.needed for tag in section.iter_tags("DT_NEEDED")}
            if not needed <= SYSTEM | LOADERS | {UNWINDER}:
                yield f"it needs {sorted(needed - SYSTEM - LOADERS - {UNWINDER})} of the system"
            if UNWINDER not in needed:
                yield f"it brings its own unwinder; expected: that of {UNWINDER}"
            for kind in ("DT_RPATH", "DT_RUNPATH", "DT_TEXTREL"):
                if any(True for _ in section.iter_tags(kind)):
                    yield f"it has {kind}"
        elif isinstance(section, GNUVerNeedSection):
            for library, versions in section.iter_versions():
                names, newest = ("GCC", OLDEST_GCC) if library.name == UNWINDER else ("GLIBC", glibc)
                for version in versions:
                    number = re.fullmatch(rf"{names}_([\d.]+)", version.name)
                    if number is None or tuple(map(int, number[1].split("."))) > newest:
                        yield f"it asks {library.name} for {version.name}"
        elif isinstance(section, SymbolTableSection):
            if section.name == ".symtab":
                yield "it is not stripped"
            shown = {
                symbol.name
                for symbol in section.iter_symbols()
                if symbol["st_shndx"] != "SHN_UNDEF" and symbol["st_info"]["bind"] != "STB_LOCAL"
            }
            if section.name == ".dynsym" and shown != {"PyInit__C"}:
                yield f"it shows {len(shown)} symbols, such as {sorted(shown)[:3]}; expected: PyInit__C"
    for segment in elf.iter_segments("PT_GNU_STACK"):
        if segment["p_flags"] & 1:
            yield "its stack would be executable"


def main() -> int:
    said = 0
    for name in sys.argv[1:]:
        found = problems(Path(name))
        said += len(found)
        for problem in found:
            print(f"{Path(name).name}: {problem}")
        if not found:
            print(f"{Path(name).name}: sound, {Path(name).stat().st_size / 2**20:.2f} MiB")
    if len(sys.argv) < 2:
        print("check.py WHEEL ...", file=sys.stderr)
        return 2
    return bool(said)


if __name__ == "__main__":
    sys.exit(main())
