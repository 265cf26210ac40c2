#!/usr/bin/env bash
# Lays out today's release of the original programs in a folder, beside the one that Debian's stable suite installs.
#
#   scripts/todays-programs.sh FOLDER      then: ANULO_TODAY_PROGRAMS=FOLDER npm test
#
# The packages come from the archive that apt is configured for, but from a newer suite; apt checks their signatures
# with Debian's own keys. They are unpacked with the libraries they were built against, so that nothing is installed
# or upgraded: FOLDER/bin has a starter for each program. Ends with 1, and says why, where that is not possible.
set -euo pipefail

SUITES=(sid trixie)
PROGRAMS=(monerod monero-wallet-rpc monero-wallet-cli monero-blockchain-import monero-blockchain-export)
OLDEST=0.18.5

give_up() {
  echo "todays-programs: $1" >&2
  exit 1
}

[ $# -eq 1 ] || give_up "usage: scripts/todays-programs.sh FOLDER"
mkdir -p "$1"
folder=$(cd "$1" && pwd)

# Prints the release's number; fails where the program does not run or is older than what is wanted.
is_today() {
  local version
  version=$("$folder/bin/monerod" --version 2>/dev/null | sed -n 's/.*(v\([0-9.]*\).*/\1/p')
  [ -n "$version" ] && [ "$(printf '%s\n%s\n' "$OLDEST" "$version" | sort -V | head -n 1)" = "$OLDEST" ] &&
    echo "todays-programs: $version in $folder/bin"
}

# The first archive of Debian among apt's sources; there is none before the first update of its lists.
archive() {
  apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' | sed -n 's/^Debian //p' | head -n 1
}

# An apt of its own for one suite: it knows of no installed package, so that every library is fetched.
fetch() {
  local suite=$1 state=$folder/apt
  rm -rf "$state"
  mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
  touch "$state/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $suite main" >"$state/sources.list"
  local own=(-qq -o "Dir::Etc::SourceList=$state/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State=$state" -o "Dir::State::Lists=$state/lists" -o "Dir::State::Status=$state/status"
    -o "Dir::Cache=$state/cache" -o Debug::NoLocking=true)
  # Only root may become the user that apt fetches as; that user cannot write here.
  own+=(-o "APT::Sandbox::User=$(id -un)")
  apt-get "${own[@]}" update && apt-get "${own[@]}" install --yes --download-only --no-install-recommends monero
}

unpack() {
  rm -rf "$folder/root" "$folder/bin"
  mkdir -p "$folder/root" "$folder/bin"
  local package
  for package in "$folder"/apt/cache/archives/*.deb; do dpkg-deb --extract "$package" "$folder/root" || return 1; done
  rm -rf "$folder/apt"
}

# Each program is started by the dynamic linker it was built for, which looks for libraries in this folder alone.
write_starters() {
  local triplet linker program
  triplet=$(ls "$folder/root/usr/lib" | grep -- '-linux-gnu' | head -n 1)
  linker=$(find "$folder/root/usr/lib/$triplet" -maxdepth 1 -name 'ld-linux*' | head -n 1)
  [ -n "$linker" ] || return 1
  for program in "${PROGRAMS[@]}"; do
    {
      echo '#!/bin/sh'
      echo "exec '$linker' --argv0 \"\$0\" --library-path '$folder/root/usr/lib/$triplet' \\"
      echo "  '$folder/root/usr/bin/$program' \"\$@\""
    } >"$folder/bin/$program"
    chmod +x "$folder/bin/$program"
  done
}

is_today && exit 0
command -v apt-get >/dev/null || give_up "they come from Debian's packages, and there is no apt-get here"
archive=$(archive)
[ -n "$archive" ] || give_up "apt has no lists of Debian's archive: run apt-get update first"
for suite in "${SUITES[@]}"; do
  if fetch "$suite" && unpack && write_starters && is_today; then exit 0; fi
  echo "todays-programs: not from $suite" >&2
done
give_up "no suite of $archive has release $OLDEST or later for this machine"
