#!/usr/bin/env bash
# Installs the Debian packages given as arguments that are not there yet: as root, else by sudo where it asks for no
# password. Else prints the one line to run and fails. Where there is no dpkg it does nothing: CMake names what is missing.
set -euo pipefail

command -v dpkg-query >/dev/null || exit 0
missing=()
for package in "$@"; do
  state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $state == installed ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

if ((EUID == 0)); then
  root=()
elif command -v sudo >/dev/null && sudo --non-interactive true 2>/dev/null; then
  root=(sudo --non-interactive)
else
  echo "fastaug needs system packages. Run this, then make again:" >&2
  echo "  sudo apt-get update && sudo apt-get install --yes ${missing[*]}" >&2
  exit 1
fi
echo "Installing ${missing[*]}"
"${root[@]}" apt-get update --quiet=2
"${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet=2 --no-install-recommends "${missing[@]}"
