#!/usr/bin/env bash
# build_wheels.sh [PYTHON...]: an sdist and, for each Python, a manylinux wheel in dist/, each tried in a fresh environment
# far from the checkout. Without arguments: every CPython 3.10-3.13 of pyenv or on PATH. auditwheel and build must be on
# PATH. FASTAUG_WHEEL_SMOKE=0 leaves the trial out.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

version_of() {
  "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2] if sys.implementation.name == "cpython" else "")' 2>/dev/null
}

find_pythons() {
  local minor path
  for minor in 3.10 3.11 3.12 3.13; do
    for path in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$minor".*/bin/python "$(command -v "python$minor" || true)" \
      /usr/bin/python3; do
      if [[ -x $path && $(version_of "$path") == "$minor" ]]; then
        echo "$path"
        break
      fi
    done
  done
}

pythons=("$@")
((${#pythons[@]})) || mapfile -t pythons < <(find_pythons)
((${#pythons[@]})) || { echo "No CPython 3.10-3.13 found; name one: make wheel PYTHONS=..." >&2; exit 1; }

rm -rf dist
python -m build --sdist --no-isolation --outdir dist . >"$work/sdist.log" || { cat "$work/sdist.log" >&2; exit 1; }
sdist=$(echo "$root"/dist/*.tar.gz)
echo "Built $(basename "$sdist")"
# One source directory for all, so that ccache, where there is one, compiles the core once.
tar xzf "$sdist" -C "$work"
source=$work/$(basename "$sdist" .tar.gz)

for python in "${pythons[@]}"; do
  version=$(version_of "$python")
  echo "== CPython $version"
  venv=$work/venv
  rm -rf "$venv" "$work/raw" "$work/build"
  "$python" -m venv "$venv"
  pip=("$venv/bin/python" -m pip --disable-pip-version-check --quiet)

  # From the sdist, so that a file missing there is found out.
  "${pip[@]}" install --constraint constraints.txt scikit-build-core pybind11 cmake ninja
  PATH="$venv/bin:$PATH" "${pip[@]}" wheel --no-build-isolation --no-deps --wheel-dir "$work/raw" \
    --config-settings=build-dir="$work/build" "$source"
  auditwheel --verbose repair --wheel-dir "$root/dist" "$work"/raw/*.whl >"$work/repair.log" 2>&1 ||
    { cat "$work/repair.log" >&2; exit 1; }
  tag=cp${version/./}
  wheel=$(echo "$root"/dist/*-"$tag"-*.whl)
  echo "Built $(basename "$wheel")"

  [[ ${FASTAUG_WHEEL_SMOKE:-1} == 0 ]] && continue
  rm -rf "$venv"
  "$python" -m venv "$venv"
  "${pip[@]}" install --constraint constraints.txt "$wheel"
  cp tests/smoke.py "$work/smoke.py"
  (cd / && "$venv/bin/python" -I "$work/smoke.py")
done
ls -l dist
