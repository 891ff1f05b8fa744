#!/usr/bin/env python3
"""Counts the instructions of hot kernels under callgrind and compares them with the stored counts.

    check.py             fails where a kernel needs over 20 % more than stored, or says that it needs less
    check.py --store     stores what it counts

Counts do not depend on how busy the machine is; they do on the compiler, which is stored beside them, and by up to a tenth on how the build was cut.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
STORED = HERE / "counts.json"
TOLERANCE = 0.20
# A run of the program, and the kernels to be counted in it by a part of their names.
RUNS = {
    "cloth": (["bench", "w1", "--n", "24", "--quick", "--threads", "1"], {
        "sweep forwards": "::forward_avx2",
        "sweep backwards": "::backward_avx2",
        "links of springs": "::group_avx2",
        "places of nodes by bundles": "::look_avx2",
        "forces of springs": "pair_forces",
        "forces of bends": "stencil_forces",
    }),
    "jelly": (["bench", "w2", "--n", "7", "--quick", "--threads", "1"], {
        "assembly of tetrahedra": "::assemble_avx2",
        "forces of tetrahedra": "::forces_avx2",
    }),
}


def count(words):
    """Instructions by function."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "callgrind.out"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", ROOT / "target/release/goop", *words]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"goop {' '.join(words)} failed under valgrind:\n{done.stdout}{done.stderr}")
        text = subprocess.run(["callgrind_annotate", "--threshold=100", out], capture_output=True, text=True).stdout
    found = {}
    for line in text.splitlines():
        match = re.match(r"\s*([\d,]+) \([^)]*\)\s+(?:\S*?:)(.*)", line)
        if match:
            name = match.group(2).split(" [")[0]
            found[name] = found.get(name, 0) + int(match.group(1).replace(",", ""))
    return found


def main():
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
    counts = {}
    for run, (words, kernels) in RUNS.items():
        found = count(words)
        for kernel, part in kernels.items():
            counts[f"{run}: {kernel}"] = sum(n for name, n in found.items() if part in name)
    if "--store" in sys.argv:
        STORED.write_text(json.dumps({"compiler": compiler, "counts": counts}, indent=2) + "\n")
        print(f"stored {len(counts)} counts")
        return
    stored = json.loads(STORED.read_text())
    if stored["compiler"] != compiler:
        print(f"counted with {compiler}; the stored counts are of {stored['compiler']}")
    failed = False
    for kernel, now in counts.items():
        before = stored["counts"].get(kernel)
        if not before or not now:
            print(f"{kernel}: {now} instructions, stored {before}: rename it in check.py or store anew")
            failed = True
            continue
        change = now / before - 1
        worse = change > TOLERANCE
        failed |= worse
        word = "TOO MANY" if worse else "store anew" if change < -TOLERANCE else "fine"
        print(f"{kernel:32} {now / 1e6:9.1f} million instructions, {100 * change:+6.1f} %  {word}")
    if failed:
        sys.exit("a kernel needs more instructions than stored: make it lean again, or `check.py --store` and say why")


main()
