#!/usr/bin/env bash
# Makes jelly of every rig and mesh found in a folder beside the checkout: rigs with their own
# animations, the first body with legs with every motion, meshes dropped on the ground. What is in
# the folders mesh-bad and mocap-odd may be refused with a sentence; everything else must run to
# its end, finite, and give a picture (kept where GOOP_PICTURES names a folder).
# Says so when there is no such folder.
set -uo pipefail
cd "$(dirname "$0")/../.."
data=${GOOP_DATA:-../shared/data}
if [ ! -d "$data" ]; then
    echo "no folder $data: nothing tried (set GOOP_DATA to a folder of rigs, motions and meshes)"
    exit 0
fi
goop=${GOOP:-target/release/goop}
seconds=${GOOP_SECONDS:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pictures=${GOOP_PICTURES:-$work/pictures}
mkdir -p "$pictures"
bad=0
tried=0

# try NAME MAY_BE_REFUSED arguments of jelly …
try() {
    local name=$1 lenient=$2 code out last
    shift 2
    tried=$((tried + 1))
    rm -rf "$work/out"
    out=$(timeout 900 "$goop" jelly "$@" -o "$work/out" --json --quiet --no-movie 2>"$work/err")
    code=$?
    if [ $code = 0 ]; then
        last=$(($(grep -oE '"frames":[0-9]+' <<<"$out" | head -n 1 | cut -d: -f2) - 1))
        rm -rf "$work/stills"
        if ! "$goop" render "$work/out" --still "0,$((last / 3)),$((2 * last / 3)),$last" -q -o "$work/stills" --size 640x480 >/dev/null 2>"$work/err"; then
            printf 'FAILED   %-40s no picture: %s\n' "$name" "$(head -n 1 "$work/err")"
            bad=1
            return
        fi
        for still in "$work"/stills/*.png; do
            mv "$still" "$pictures/$name-$(basename "$still")"
        done
        printf 'ran      %-40s %s\n' "$name" "$(grep -oE '"(steps|rejected|seconds_per_second)":[^,}]*' <<<"$out" | tr '\n' ' ')"
    elif [ $code = 2 ] && [ "$lenient" = yes ]; then
        printf 'refused  %-40s %s\n' "$name" "$(head -n 1 "$work/err")"
    else
        printf 'FAILED   %-40s (exit %s) %s\n' "$name" "$code" "$(head -n 2 "$work/err")"
        bad=1
    fi
}

short="clip.seconds=$seconds"
for rig in "$data"/rigged/{CesiumMan,RiggedFigure,RiggedSimple,Fox}.glb; do
    [ -f "$rig" ] && try "$(basename "$rig" .glb)" no "$rig"
done
for motion in "$data"/mocap/*.bvh; do
    [ -f "$motion" ] && try "dance-$(basename "$motion" .bvh)" no "$data/rigged/CesiumMan.glb" --motion "$motion" --set "$short"
done
for motion in "$data"/mocap-odd/*.bvh; do
    [ -f "$motion" ] && try "odd-$(basename "$motion" .bvh)" yes "$data/rigged/CesiumMan.glb" --motion "$motion" --nodes 1000 --set clip.seconds=0.5
done
for mesh in "$data"/mesh/*; do
    [ -f "$mesh" ] && try "drop-$(basename "$mesh")" no "$mesh"
done
for mesh in "$data"/mesh-bad/*; do
    [ -f "$mesh" ] && try "bad-$(basename "$mesh")" yes "$mesh" --nodes 1000 --set clip.seconds=0.5
done
echo "$tried characters tried"
exit $bad
