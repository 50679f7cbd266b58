"""What a wheel is made of, as a CycloneDX bill of materials; PEP 770 says where in a wheel it lies."""

from __future__ import annotations

import importlib.metadata
import json

from sources import SOURCES


def bill_of_materials(version: str) -> str:
    """The text for fastaug of that version. The same wheel has the same text: nothing of time or place is in it."""
    pybind11 = importlib.metadata.version("pybind11")
    components: list[dict[str, object]] = [
        {
            "type": "library",
            "name": source.name,
            "version": source.version,
            "licenses": [{"expression": source.licence}],
            "purl": f"pkg:deb/debian/{source.name}@{source.version}?arch=source",
            "hashes": [{"alg": "SHA-256", "content": source.sha256}],
            "properties": [{"name": "linkage", "value": source.linked}],
        }
        for source in SOURCES
    ]
    components.append(
        {
            "type": "library",
            "name": "pybind11",
            "version": pybind11,
            "licenses": [{"expression": "BSD-3-Clause"}],
            "purl": f"pkg:pypi/pybind11@{pybind11}",
            "properties": [{"name": "linkage", "value": "headers"}],
        }
    )
    zig = importlib.metadata.version("ziglang")
    components.append(
        {
            "type": "library",
            "name": "libc++",
            "version": f"of zig {zig}",
            "licenses": [{"expression": "Apache-2.0 WITH LLVM-exception"}],
            "purl": f"pkg:pypi/ziglang@{zig}",
            "properties": [{"name": "linkage", "value": "static"}],
        }
    )
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "name": "fastaug",
                "version": version,
                "licenses": [{"expression": "BSD-3-Clause"}],
                "purl": f"pkg:pypi/fastaug@{version}",
            }
        },
        "components": components,
    }
    return json.dumps(bill, indent=2) + "\n"
