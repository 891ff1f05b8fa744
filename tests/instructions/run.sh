#!/usr/bin/env bash
# Counts the instructions of hot kernels; installs valgrind where that is possible.
set -euo pipefail
if ! command -v valgrind >/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "installing valgrind ..."
        apt-get update -qq && apt-get install -y -qq --no-install-recommends valgrind >/dev/null
    else
        echo "valgrind is missing: install it (on Debian or Ubuntu: apt-get install valgrind)" >&2
        exit 1
    fi
fi
exec python3 "$(dirname "$0")/check.py" "$@"
