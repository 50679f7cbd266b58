#!/usr/bin/env bash
# Prints a Python that `make` can use: the argument if given, else the first python3 that is new enough. It must have venv.
set -euo pipefail

usable() {
  "$1" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1
}

if [[ -n ${1:-} ]]; then
  candidates=("$1")
else
  candidates=(python3 python3.13 python3.12 python3.11 python3.10 /usr/bin/python3)
fi
for python in "${candidates[@]}"; do
  if command -v "$python" >/dev/null && usable "$python"; then
    command -v "$python"
    exit 0
  fi
done
echo "No Python >= 3.10 with venv among: ${candidates[*]}. On Debian and Ubuntu: apt install python3-venv" >&2
exit 1
