#!/usr/bin/env python3
"""Counts what `flowpin cc` costs libnids: instructions per packet on one core, as a record.

    bench/cc/instructions.py [--flowpin PATH] [--packets 60000] [--work DIR] [--record FILE]

Builds libnids 1.26 with two clients (one hashes every byte and searches, one counts bytes alone),
the sequential program and the transformed one with the same compiler and flags, with and without
link-time optimisation, and as one source (--unity), and counts both with callgrind on the same
capture. Lines must be the same.
Fails if the transformed program needs more than 2 % more with link-time optimisation. Needs what
docs/user/cc.md needs, and valgrind; nothing has to be quiet. --record writes a file for
`flowpin bench page`.
"""
import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE), str(HERE.parent)]
import measure  # noqa: E402
import programs  # noqa: E402

LIMIT = 1.02
CLIENTS = {"hashes and searches every byte": None, "counts bytes alone": "thin.c"}
LTO = "-O2 -flto"
# What is compared: flags of the sequential program, flags and choices of the transformed one.
KINDS = {
    "": ("-O2", "-O2", []),
    "link-time optimisation": (LTO, LTO, []),
    "as one source": ("-O2", "-O2", ["--unity"]),
}
LIMITED = "link-time optimisation"


def build(args, name, client, flags, choices):
    folder = args.work / re.sub(r"\W+", "-", f"{name} {flags} {' '.join(choices)}")
    program = programs.build(args, folder.name, [], *choices,
                             client=client, make=[f"CFLAGS={flags}"], flags=flags.split())
    return program


def count(args, program):
    """Instructions of a whole run, and its lines."""
    lines, out = args.work / "lines", args.work / "callgrind.out"
    environment = dict(os.environ, FLOWPIN_WAYS="1")
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", program, args.capture,
         lines], env=environment, check=True, stderr=subprocess.PIPE, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if not found:
        raise SystemExit(f"callgrind says no count: {done.stderr}")
    return int(found[1]), sorted(lines.read_text().splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flowpin", default=str(HERE.parents[1] / "target/release/flowpin"))
    parser.add_argument("--packets", type=int, default=60000)
    parser.add_argument("--work", type=Path, default=HERE.parents[1] / "target/bench-cc-count")
    parser.add_argument("--record", type=Path)
    args = parser.parse_args()
    programs.prepare(args)
    args.capture = programs.capture(args, f"mix-{args.packets}", "mix", "--packets",
                                    str(args.packets), "--seed", "7")
    args.packets = measure.packets_of(args.capture)[0]
    rows, too_many = [], []
    for name, client in CLIENTS.items():
        for kind, (sequential, transformed, choices) in KINDS.items():
            before, lines = count(args, build(args, name, client, sequential, ["sequential"]))
            after, same = count(args, build(args, name, client, transformed, choices))
            if lines != same:
                raise SystemExit(f"{name}: other lines")
            row = f"{name}, {kind}" if kind else name
            ratio = after / before
            rows.append((row, [before / args.packets, after / args.packets,
                               round(100 * (ratio - 1), 2)]))
            print(f"{row}: {before} {after} {ratio:.4f}", flush=True)
            if kind == LIMITED and ratio > LIMIT:
                too_many.append(row)
    if args.record:
        measure.write_tables(args.record, [table(args, rows)])
    if too_many:
        raise SystemExit(f"more than 2 % more instructions: {', '.join(too_many)}")


def table(args, rows):
    compiler = subprocess.run(["cc", "--version"], check=True, stdout=subprocess.PIPE, text=True)
    source = (f"libnids 1.26 and a client, {args.packets:,} packets of mixed traffic; instructions "
              f"of the whole run for each packet, by callgrind. "
              f"{compiler.stdout.splitlines()[0]}, -O2, the same flags on both sides.")
    columns = [("sequential", "instructions"), ("transformed", "instructions"), ("more", "%")]
    note = "The transformed program runs on one core (`FLOWPIN_WAYS=1`), and says the same."
    return measure.table("cc", "What `flowpin cc` costs on one core", source, "client", columns,
                         rows, [note])


if __name__ == "__main__":
    main()
