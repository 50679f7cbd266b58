"""zig as the compiler of C and C++ for other systems: clang with the headers and the symbols of every target's libc."""

from __future__ import annotations

import importlib.metadata
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Target:
    name: str  # what the command line says
    zig: str
    system: str  # CMake's names
    processor: str
    platform: str | None = None  # of wheels; None: compiled to see that it compiles


#: glibc 2.28 is what PyTorch's own wheels ask for.
TARGETS = {
    target.name: target
    for target in (
        Target("x86_64", "x86_64-linux-gnu.2.28", "Linux", "x86_64", "manylinux_2_28_x86_64"),
        Target("aarch64", "aarch64-linux-gnu.2.28", "Linux", "aarch64", "manylinux_2_28_aarch64"),
        Target("macos-arm64", "aarch64-macos.11.0", "Darwin", "arm64"),
        Target("windows-amd64", "x86_64-windows-gnu", "Windows", "AMD64"),
    )
}


#: What libc++abi calls of the unwinder, by the version of libgcc_s that has had it since.
UNWINDER = {
    "GCC_3.0": (
        "_Unwind_DeleteException",
        "_Unwind_GetGR",
        "_Unwind_GetIP",
        "_Unwind_GetLanguageSpecificData",
        "_Unwind_GetRegionStart",
        "_Unwind_RaiseException",
        "_Unwind_Resume",
        "_Unwind_SetGR",
        "_Unwind_SetIP",
    ),
    "GCC_3.3": ("_Unwind_Backtrace", "_Unwind_GetCFA", "_Unwind_Resume_or_Rethrow"),
    "GCC_4.2.0": ("_Unwind_GetIPInfo",),
}


def unwinder(file: Path) -> Path:
    """A library to link modules for Linux with, beside the toolchain file, that is libgcc_s to the linker.

    zig would link an unwinder in. glibc's pthread_exit, by which Python ends daemon threads when it has ended itself,
    unwinds the stack with libgcc_s wherever it is called, and what is known of a frame to the one unwinder the other
    cannot read. So modules call that which every Linux with glibc has, as those do that gcc links.
    """
    folder = file.parent
    library = folder / "libgcc_s.so.1"
    source, versions = folder / "unwinder.c", folder / "unwinder.map"
    source.write_text("".join(f"void {name}(void) {{}}\n" for names in UNWINDER.values() for name in names))
    versions.write_text("".join(f"{version} {{ {'; '.join(names)}; }};\n" for version, names in UNWINDER.items()))
    link = ["-shared", "-nostdlib", f"-Wl,-soname,{library.name}", f"-Wl,--version-script,{versions}"]
    subprocess.run([folder / "cc", *link, source, "-o", library], check=True)
    return library


def toolchain(target: Target, folder: Path) -> Path:
    """A toolchain file for CMake, in the folder, with the programs that it names."""
    import ziglang

    folder.mkdir(parents=True, exist_ok=True)
    zig = Path(ziglang.__file__).parent / "zig"
    version = importlib.metadata.version("ziglang")
    cache = folder.parent / "zig-cache"
    for name, command in {
        "cc": f"cc -target {target.zig}",
        "c++": f"c++ -target {target.zig}",
        "ar": "ar",
        "ranlib": "ranlib",
        "rc": "rc",
    }.items():
        program = folder / name
        text = (
            f"#!/bin/sh\n# zig {version}\n"
            f"export ZIG_GLOBAL_CACHE_DIR='{cache}' ZIG_LOCAL_CACHE_DIR='{cache}'\n"
            f"exec '{zig}' {command} \"$@\"\n"
        )
        # Written when it changes alone: ccache knows a compiler by the date of its file.
        if not program.exists() or program.read_text() != text:
            program.write_text(text)
            program.chmod(program.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    file = folder / "toolchain.cmake"
    file.write_text(
        f"set(CMAKE_SYSTEM_NAME {target.system})\n"
        f"set(CMAKE_SYSTEM_PROCESSOR {target.processor})\n"
        f'set(CMAKE_C_COMPILER "{folder}/cc")\n'
        f'set(CMAKE_CXX_COMPILER "{folder}/c++")\n'
        f'set(CMAKE_AR "{folder}/ar")\n'
        f'set(CMAKE_RANLIB "{folder}/ranlib")\n'
        f'set(CMAKE_RC_COMPILER "{folder}/rc")\n'
        # Libraries of this machine are not the target's.
        "set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)\n"
    )
    return file
