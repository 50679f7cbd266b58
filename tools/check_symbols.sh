#!/usr/bin/env bash
# check_symbols.sh BUILD_DIR: no function that other objects share may contain instructions of AVX or later.
#
# An inline function compiled in several objects is merged by the linker to any one of its copies. Had a copy been compiled
# for AVX2 (say std::vector's growth, used inside a kernel), every machine would run it. Kernels themselves are safe: their
# names say the instruction set (namespace N_AVX2 and the like).
set -euo pipefail

build=${1:?build directory}
[[ $(uname -m) == x86_64 ]] || { echo "check_symbols: only x86-64 needs this"; exit 0; }
mapfile -t objects < <(find "$build" -path '*csrc/kernels*' -name '*.o')
((${#objects[@]})) || { echo "check_symbols: no objects in $build" >&2; exit 1; }

bad=0
for object in "${objects[@]}"; do
  leaks=$(objdump --disassemble --demangle --no-show-raw-insn "$object" | awk -v object="$object" '
    /^[0-9a-f]+ <.*>:$/ { name = $0; sub(/^[0-9a-f]+ </, "", name); sub(/>:$/, "", name); next }
    /\t(v[a-qs-z]|shlx|shrx|sarx|rorx|mulx|andn|bextr|pdep|pext|bzhi)/ && name !~ /N_[A-Z0-9_]+::/ && !(name in seen) { seen[name] = 1; print name }
  ' | while IFS= read -r name; do
    # Only weak symbols are merged; a static function stays in its object.
    if nm --demangle "$object" | grep -F -- " $name" | grep -Eq '^[0-9a-f]+ [WVu] '; then
      echo "  $name"
    fi
  done)
  if [[ -n $leaks ]]; then
    echo "$object: functions compiled for a wider instruction set that the linker may share:" >&2
    echo "$leaks" >&2
    bad=1
  fi
done
((bad)) || echo "check_symbols: ${#objects[@]} objects, no shared function beyond the baseline"
exit $bad
