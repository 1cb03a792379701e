#!/bin/sh
# Installs the nodes that tests and the demo run against: bitcoind and litecoind, from Debian, below one folder of this repository (.nodes,
# or the one named as argument). Nothing of the system is touched and no root is needed: apt's own tools fetch and verify the packages with
# all they depend on, into lists and a cache of their own, and each node runs with the libraries that came with it. 25 MB, some seconds.
# Skipped: a node that BITCOIND or LITECOIND names, or that is on the PATH. The third node, anvil, is an npm package. In the same way come,
# where there is none: python3, which one of the documented receivers is written for, and the browser of the tests of pages, Chromium
# (without a window; 110 MB), which CHROMIUM may name.
set -eu
cd "$(dirname "$0")/.."

# Where the packages are: bitcoind is in no stable release, and in the backports of this one (as Bitcoin Knots).
RELEASE=trixie
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

say() { echo "nodes: $*"; }
stop() {
  say "$*" >&2
  say "Tests need bitcoind, litecoind, chromium and python3; where they are installed by hand, BITCOIND, LITECOIND and CHROMIUM may name them." >&2
  exit 1
}

mkdir -p "${1:-.nodes}"
nodes=$(cd "${1:-.nodes}" && pwd)

# runs COMMAND: whether it is a node or a browser that starts here, or a Python with its library.
runs() {
  case ${1##*/} in
    python3*) "$1" -c 'import http.server' ;;
    *) "$1" -version ;;
  esac >/dev/null 2>&1
}

# has NAME NAMED: whether the node is there already, in the order in which tests look.
has() {
  if [ -n "$2" ]; then
    runs "$2" || stop "$2 is named for $1 and does not run."
  else
    command -v "$1" >/dev/null || runs "$nodes/$1/$1.sh"
  fi
}

missing=
has bitcoind "${BITCOIND:-}" || missing="$missing bitcoind"
has litecoind "${LITECOIND:-}" || missing="$missing litecoind"
has chromium "${CHROMIUM:-}" || missing="$missing chromium"
runs python3 || runs "$nodes/python3/python3.sh" || missing="$missing python3"
if [ -z "$missing" ]; then
  say "bitcoind, litecoind, chromium and python3 are there."
  exit 0
fi
for tool in apt-get dpkg-deb; do
  command -v "$tool" >/dev/null || stop "$tool is missing: this script knows Debian only."
done

new=$nodes/new.$$
trap 'rm -rf "$new"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$new/lists/partial" "$new/own/partial" "$new/cache/archives/partial" "$new/none" "$new/root"

# The mirror that apt is configured with. Its index may never have been fetched (a fresh image): then into lists of our own.
mirror() {
  apt-get "$@" indextargets --format '$(ORIGIN) $(SITE)' 'Created-By: Packages' 2>/dev/null |
    sed -n '/security/d; s/^Debian //p' | sort -u | head -n 1
}
site=$(mirror)
if [ -z "$site" ]; then
  apt-get -o Dir::State::lists="$new/own" -o Debug::NoLocking=1 -qq update >/dev/null 2>&1 || true
  site=$(mirror -o Dir::State::lists="$new/own")
fi
[ -n "$site" ] || stop "apt has no mirror of Debian configured."

signed=
[ ! -r "$KEYRING" ] || signed="[signed-by=$KEYRING] "
printf 'deb %s%s %s main\n' "$signed" "$site" "$RELEASE" "$signed" "$site" "$RELEASE-backports" >"$new/sources.list"

# No package counts as installed, so that all of its libraries come along. What this system does after a fetch is not for a folder of ours.
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

# The small stand-in for systemd, which the packages want for their system users.
packages=systemd-standalone-sysusers
for node in $missing; do
  case $node in
    bitcoind) packages="$packages bitcoin-knots/$RELEASE-backports" ;;
    chromium) packages="$packages chromium-headless-shell patchelf" ;;
    *) packages="$packages $node" ;;
  esac
done
say "fetching$missing with the mirror of apt ..."
apt update || stop "the index of Debian $RELEASE could not be fetched; apt's message is above."
# Of what they depend on, the drivers of graphics cards are left out: a third of the bytes, and nothing here draws with a card.
# shellcheck disable=SC2046,SC2086 # lists
(
  wanted=$(apt install --yes --no-install-recommends --simulate $packages) || exit 1
  cd "$new/cache/archives"
  apt download $(echo "$wanted" | sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*/\1=\2/p' | grep -Ev '^(libllvm|libz3-|mesa-)') >/dev/null
) || stop "the packages could not be fetched; apt's message is above."
for package in "$new"/cache/archives/*.deb; do dpkg-deb -x "$package" "$new/root"; done

# first PATTERNS: the first file below the root that there is.
first() (
  cd "$new/root"
  for file in $1; do [ ! -f "$file" ] || { echo "$file" && break; }; done
)
# browser: Chromium starts itself anew for each of its processes, which must not be the loader. So its file names the loader instead, by
# the place where it will be (whoever moves the folder installs it again), and the libraries and fonts are named to all of its processes.
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

loader=$(first 'usr/lib/*/ld-linux*.so.*')
libraries=$(dirname "$loader")
for node in $missing; do
  # /usr/bin/litecoind is a script that writes into the home of whoever calls it; the node itself is beside it.
  program=$(first "usr/lib/litecoin/$node usr/bin/$node")
  mkdir "$new/$node"
  cp -al "$new/root" "$new/$node/root"
  # Found from its own place, so that the folder may be moved. exec: the process that is started is the node's own.
  printf '#!/bin/sh\nroot=$(dirname "$0")/root\nexec "$root/%s" --library-path "$root/%s" "$root/%s" "$@"\n' \
    "$loader" "$libraries" "$program" >"$new/$node/$node.sh"
  [ "$node" != chromium ] || browser
  chmod +x "$new/$node/$node.sh"
  rm -rf "${nodes:?}/$node"
  mv "$new/$node" "$nodes/$node"
  runs "$nodes/$node/$node.sh" || {
    rm -rf "${nodes:?}/$node"
    stop "$node was fetched and does not run here."
  }
  say "$("$nodes/$node/$node.sh" --version | head -n 1) in $nodes/$node"
done
