#!/usr/bin/env bash
# Drops every mesh found in a folder beside the checkout on the ground: each must
# run, or be refused with a sentence and exit code 2. Says so when there is none.
set -uo pipefail
cd "$(dirname "$0")/../.."
data=${GOOP_DATA:-../shared/data}
if [ ! -d "$data" ]; then
    echo "no folder $data: nothing tried (set GOOP_DATA to a folder of meshes)"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
tried=0
while IFS= read -r file; do
    tried=$((tried + 1))
    cat > "$work/scene.toml" <<SCENE
format = 1
[clip]
seconds = 1
[[body]]
name = "thing"
formulation = "implicit"
position = [0, 3, 0]
[body.shape.mesh]
file = "$(realpath "$file")"
[body.material]
preset = "rubber"
thickness = 0.02
[[obstacle]]
name = "ground"
[obstacle.shape.plane]
SCENE
    out=$(timeout 300 target/release/goop run "$work/scene.toml" -o "$work/out" --json --quiet --no-movie 2>"$work/err")
    code=$?
    if [ $code = 0 ]; then
        printf 'ran      %s  %s\n' "$file" "$(grep -oE '"(worst_penetration|seconds_per_second)":[^,]*' <<<"$out" | tr '\n' ' ')"
    elif [ $code = 2 ]; then
        printf 'refused  %s  %s\n' "$file" "$(head -n 1 "$work/err")"
    else
        printf 'FAILED   %s  (exit %s) %s\n' "$file" "$code" "$(head -n 2 "$work/err")"
        bad=1
    fi
done < <(find "$data" -type f \( -name '*.obj' -o -name '*.ply' -o -name '*.stl' -o -name '*.glb' -o -name '*.gltf' \) | sort)
echo "$tried meshes tried"
exit $bad
