#!/usr/bin/env bash
# The studio: its page type-checked, hostile clients refused, everything one can do done in a real
# browser, its rates reported, and two minutes of play. With the argument `speed` the rates are asked
# for, not only reported; with a number: so many seconds of play. Pictures are in
# target/studio-pictures.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=tests/studio
command -v npm >/dev/null || { echo "npm is missing: install Node.js, then run this again" >&2; exit 1; }
if [ -z "${CHROMIUM:-}" ] && ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "installing Chromium ..."
        apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null
    else
        echo "Chromium is missing: install it, or name it with CHROMIUM=" >&2
        exit 1
    fi
fi
[ -d $here/node_modules/playwright-core ] && cmp -s $here/package-lock.json $here/node_modules/.lock ||
    { npm ci --prefix $here --silent --no-audit --no-fund && cp $here/package-lock.json $here/node_modules/.lock; }
[ -d studio/node_modules/typescript ] && cmp -s studio/package-lock.json studio/node_modules/.lock ||
    { npm ci --prefix studio --ignore-scripts --silent --no-audit --no-fund && cp studio/package-lock.json studio/node_modules/.lock; }
case "${1:-}" in
speed) GOOP_STRICT=1 node $here/speed.mjs ;;
"")
    npm run --prefix studio --silent check
    node $here/hostile.mjs
    node $here/play.mjs
    node $here/speed.mjs
    node $here/soak.mjs 120
    ;;
*) node $here/soak.mjs "$1" ;;
esac
