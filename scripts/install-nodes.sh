#!/bin/sh
# Installs the nodes that tests and the demo run against: bitcoind and litecoind, from Debian, below one folder of this repository (.nodes, or
# the one named as argument). Does not change the system and needs no root: apt's own tools fetch and verify the packages and their
# dependencies into separate lists and a separate cache, and each node runs with its own libraries. 25 MB, some seconds. Skips a node that
# BITCOIND or LITECOIND names, or that is on the PATH. The third node, anvil, is an npm package. If missing, also installs python3 and php
# (for documented receivers and shops) and a headless Chromium for page tests (110 MB; CHROMIUM may name another).
set -eu
cd "$(dirname "$0")/.."

# The Debian release: its backports have bitcoind (as Bitcoin Knots), which is in no stable release.
RELEASE=trixie
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

say() { echo "nodes: $*"; }
stop() {
  say "$*" >&2
  say "Tests need bitcoind, litecoind, chromium, python3 and php. If you install them by hand, set BITCOIND, LITECOIND and CHROMIUM to their paths." >&2
  exit 1
}

mkdir -p "${1:-.nodes}"
nodes=$(cd "${1:-.nodes}" && pwd)

# runs COMMAND: whether it is a node or a browser that starts here, or a Python or a PHP with its library.
runs() {
  case ${1##*/} in
    python3*) "$1" -c 'import http.server, sqlite3' ;;
    php*) "$1" -r 'exit(extension_loaded("pdo_sqlite") && extension_loaded("curl") ? 0 : 1);' ;;
    *) "$1" -version ;;
  esac >/dev/null 2>&1
}

# has NAME NAMED: whether the node is already installed, searched in the order that tests use.
has() {
  if [ -n "$2" ]; then
    runs "$2" || stop "$2 is set for $1 but does not run; correct the variable."
  else
    command -v "$1" >/dev/null || runs "$nodes/$1/$1.sh"
  fi
}

missing=
has bitcoind "${BITCOIND:-}" || missing="$missing bitcoind"
has litecoind "${LITECOIND:-}" || missing="$missing litecoind"
has chromium "${CHROMIUM:-}" || missing="$missing chromium"
runs python3 || runs "$nodes/python3/python3.sh" || missing="$missing python3"
runs php || runs "$nodes/php/php.sh" || missing="$missing php"
if [ -z "$missing" ]; then
  say "bitcoind, litecoind, chromium, python3 and php are already installed."
  exit 0
fi
for tool in apt-get dpkg-deb; do
  command -v "$tool" >/dev/null || stop "$tool is missing: this script only works on Debian."
done

new=$nodes/new.$$
trap 'rm -rf "$new"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$new/lists/partial" "$new/own/partial" "$new/cache/archives/partial" "$new/none" "$new/root"

# The mirror configured for apt. Its index may never have been fetched (a fresh image), so it is fetched into our own lists.
mirror() {
  apt-get "$@" indextargets --format '$(ORIGIN) $(SITE)' 'Created-By: Packages' 2>/dev/null |
    sed -n '/security/d; s/^Debian //p' | sort -u | head -n 1
}
site=$(mirror)
if [ -z "$site" ]; then
  apt-get -o Dir::State::lists="$new/own" -o Debug::NoLocking=1 -qq update >/dev/null 2>&1 || true
  site=$(mirror -o Dir::State::lists="$new/own")
fi
[ -n "$site" ] || stop "apt has no Debian mirror configured; add one to its sources."

signed=
[ ! -r "$KEYRING" ] || signed="[signed-by=$KEYRING] "
printf 'deb %s%s %s main\n' "$signed" "$site" "$RELEASE" "$signed" "$site" "$RELEASE-backports" >"$new/sources.list"

# No package counts as installed, so that all its libraries are included. This system's post-fetch hooks do not apply to our folder.
cat >"$new/apt.conf" <<CONF
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
Dir::Etc::sourcelist "$new/sources.list";
Dir::Etc::sourceparts "$new/none";
Dir::Etc::preferences "$new/none/none";
Dir::Etc::preferencesparts "$new/none";
Dir::State::lists "$new/lists";
Dir::State::status "/dev/null";
Dir::Cache "$new/cache";
Debug::NoLocking "1";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
Acquire::http::Timeout "30";
CONF
apt() { apt-get --config-file "$new/apt.conf" -qq "$@"; }

# A small replacement for systemd, which the packages need for their system users.
packages=systemd-standalone-sysusers
for node in $missing; do
  case $node in
    bitcoind) packages="$packages bitcoin-knots/$RELEASE-backports" ;;
    chromium) packages="$packages chromium-headless-shell patchelf" ;;
    php) packages="$packages php-cli php-sqlite3 php-curl" ;;
    *) packages="$packages $node" ;;
  esac
done
say "fetching$missing from apt's mirror ..."
apt update || stop "the index of Debian $RELEASE could not be fetched; see apt's message above."
# Leaves out the dependencies on graphics drivers: a third of the bytes, and nothing here uses a graphics card.
# shellcheck disable=SC2046,SC2086 # lists
(
  wanted=$(apt install --yes --no-install-recommends --simulate $packages) || exit 1
  cd "$new/cache/archives"
  apt download $(echo "$wanted" | sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*/\1=\2/p' | grep -Ev '^(libllvm|libz3-|mesa-)') >/dev/null
) || stop "the packages could not be fetched; see apt's message above."
for package in "$new"/cache/archives/*.deb; do dpkg-deb -x "$package" "$new/root"; done

# first PATTERNS: the first existing file below the root.
first() (
  cd "$new/root"
  for file in $1; do [ ! -f "$file" ] || { echo "$file" && break; }; done
)
# browser: Chromium re-executes itself for each of its processes, which would start the loader. So its file names the loader, by its final path
# (after moving the folder, install again), and environment variables name the libraries and fonts for all of its processes.
browser() {
  program=usr/lib/chromium/chromium-headless-shell
  cp "$new/root/$program" "$new/chromium/patched"
  "$new/root/$loader" --library-path "$new/root/$libraries" "$new/root/usr/bin/patchelf" \
    --set-interpreter "$nodes/chromium/root/$loader" "$new/chromium/patched"
  mv -f "$new/chromium/patched" "$new/chromium/root/$program"
  cat >"$new/chromium/chromium.sh" <<SH
#!/bin/sh
root=\$(cd "\$(dirname "\$0")/root" && pwd)
export LD_LIBRARY_PATH="\$root/$libraries:\$root/$libraries/pulseaudio" FONTCONFIG_SYSROOT="\$root"
exec "\$root/$program" "\$@"
SH
}

# interpreter: PHP's database driver is in separate files, loaded by name. -n: without this system's settings.
interpreter() {
  extensions=$(dirname "$(first 'usr/lib/php/*/pdo_sqlite.so')")
  cat >"$new/php/php.sh" <<SH
#!/bin/sh
root=\$(dirname "\$0")/root
exec "\$root/$loader" --library-path "\$root/$libraries" "\$root/$program" -n -d extension_dir="\$root/$extensions" \\
  -d extension=pdo -d extension=pdo_sqlite -d extension=curl "\$@"
SH
}

loader=$(first 'usr/lib/*/ld-linux*.so.*')
libraries=$(dirname "$loader")
for node in $missing; do
  # /usr/bin/litecoind is a script that writes into the caller's home; the node itself is next to it.
  # PHP's file is named with its version; without its installer nothing links to it.
  program=$(first "usr/lib/litecoin/$node usr/bin/$node usr/bin/$node[0-9].[0-9]")
  mkdir "$new/$node"
  cp -al "$new/root" "$new/$node/root"
  # Finds its files relative to itself, so the folder may be moved. exec: the started process is the node itself.
  printf '#!/bin/sh\nroot=$(dirname "$0")/root\nexec "$root/%s" --library-path "$root/%s" "$root/%s" "$@"\n' \
    "$loader" "$libraries" "$program" >"$new/$node/$node.sh"
  [ "$node" != chromium ] || browser
  [ "$node" != php ] || interpreter
  chmod +x "$new/$node/$node.sh"
  rm -rf "${nodes:?}/$node"
  mv "$new/$node" "$nodes/$node"
  runs "$nodes/$node/$node.sh" || {
    rm -rf "${nodes:?}/$node"
    stop "$node was fetched but does not run on this machine."
  }
  say "$("$nodes/$node/$node.sh" --version | head -n 1) in $nodes/$node"
done
