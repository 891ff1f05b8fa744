#!/usr/bin/env bash
# Opens what goop exports in other programs: Blender, usd-core, meshio, plyfile and
# Khronos' glTF validator. Ends with "N passed, N failed" and fails if any did.
# Everything it installs goes under target/interchange; the first run takes minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=tests/interchange
target=${CARGO_TARGET_DIR:-$PWD/target}
work=$target/interchange
mkdir -p "$work"

python=${PYTHON:-python3.11}
command -v "$python" >/dev/null || {
    echo "Python 3.11 is missing: Blender's module needs just that version; install it, or name it with PYTHON=" >&2
    exit 1
}
command -v npm >/dev/null || { echo "npm is missing: install Node.js, then run this again" >&2; exit 1; }

if ! cmp -s $here/requirements.txt "$work/venv/requirements.txt"; then
    echo "installing Blender and the readers (about 400 MB) ..."
    rm -rf "$work/venv"
    "$python" -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet --disable-pip-version-check -r $here/requirements.txt
    cp $here/requirements.txt "$work/venv/"
fi
if ! cmp -s $here/package-lock.json "$work/npm/package-lock.json" || [ ! -d "$work/npm/node_modules" ]; then
    mkdir -p "$work/npm"
    cp $here/package.json $here/package-lock.json "$work/npm/"
    npm ci --prefix "$work/npm" --silent --no-audit --no-fund
fi

# Blender's module links against a few libraries of a desktop.
missing() { ldd "$work"/venv/lib/python3.11/site-packages/bpy/__init__*.so 2>/dev/null | awk '/not found/ { print $1 }'; }
if [ -n "$(missing)" ]; then
    packages="libgl1 libegl1 libxi6 libxfixes3 libxrender1 libxkbcommon0 libsm6 libice6 libxxf86vm1"
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq && apt-get install -y -qq --no-install-recommends $packages >/dev/null
    fi
    if [ -n "$(missing)" ]; then
        echo "Blender needs these libraries:" $(missing) >&2
        echo "on Debian or Ubuntu: apt-get install $packages" >&2
        exit 1
    fi
fi

rm -rf "$work/out" "$work/checks"
cargo run --release --quiet --locked -p goop-output --example interchange -- "$work/out"

# A program that ends early without saying what failed is a failure as well.
checks() {
    local name=$1
    shift
    local before code=0
    before=$(grep -c '^FAILED' "$work/checks" || true)
    "$@" | grep --line-buffered -E '^(ok    |FAILED)' | tee -a "$work/checks" || code=$?
    if [ "$code" != 0 ] && [ "$(grep -c '^FAILED' "$work/checks" || true)" = "$before" ]; then
        echo "FAILED  $name ended with status $code" | tee -a "$work/checks"
    fi
}
touch "$work/checks"
checks files "$work/venv/bin/python" $here/files.py "$work/out"
checks blender "$work/venv/bin/python" $here/blender.py "$work/out"
checks gltf node $here/gltf.mjs "$work/npm" "$work"/out/*/*.glb

passed=$(grep -c '^ok' "$work/checks" || true)
failed=$(grep -c '^FAILED' "$work/checks" || true)
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
