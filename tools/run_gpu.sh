#!/usr/bin/env bash
# run_gpu.sh PYTHON [WHEEL] [ARGUMENTS..]: python -m bench.cuda by an interpreter that has PyTorch, without network or
# pip. A wheel is unpacked into build/gpu, beside copies of bench/ and tests/, and run there, so that nothing of the
# checkout's own package takes part. Without one (or with an empty one), fastaug is the checkout's if its extension is
# built for that interpreter, else the installed one. Results are written to bench/results of the checkout.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
(($#)) || { sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
wheel=${2:-}
# It is run elsewhere. A link stays one: by its place an interpreter knows its environment.
python=$(command -v "$1") || { echo "PYTHON is $1, and there is no such program" >&2; exit 2; }
[[ $python != */* || $python == /* ]] || python=$PWD/$python
shift $(($# > 1 ? 2 : 1))

room=$root/build/gpu
rm -rf "$room"
mkdir -p "$room"
cp -r "$root/bench" "$root/tests" "$root/pyproject.toml" "$room/"
if [[ -n $wheel ]]; then
  [[ -f $wheel ]] || { echo "WHEEL is $wheel, which is not a file; make wheel builds them in dist/" >&2; exit 2; }
  "$python" -m zipfile -e "$wheel" "$room"
elif suffix=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))') &&
  [[ -f $root/fastaug/_C$suffix ]]; then
  ln -s "$root/fastaug" "$room/fastaug"
fi
cd "$room"
export PYTHONPATH="$room${PYTHONPATH:+:$PYTHONPATH}"
"$python" -c 'import torch, fastaug._C' || {
  echo "$python ($("$python" --version)) cannot import torch and fastaug, as it says above (WHEEL is '$wheel')" >&2
  exit 2
}
exec "$python" -m bench.cuda --out "$root/bench/results" "$@"
