#!/usr/bin/env bash
# Reads every rig and motion found in a folder beside the checkout, and plays each motion
# on each body with legs: all must be finite, or refused with a sentence. Says so when
# there is no such folder.
set -uo pipefail
cd "$(dirname "$0")/../.."
data=${GOOP_DATA:-../shared/data}
if [ ! -d "$data" ]; then
    echo "no folder $data: nothing tried (set GOOP_DATA to a folder of rigs and motions)"
    exit 0
fi
cargo run --quiet --release -p goop-scene --example rigs -- "$data"
