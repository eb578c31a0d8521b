#!/usr/bin/env python3
"""Times transformed libnids against the sequential program, as Markdown tables.

    bench/cc/run.py [--flowpin PATH] [--rounds 9] [--packets 1000000] [--work DIR]

Needs what docs/user/cc.md needs. Modes are where the program is divided, as in the platform paper's
Table 3: not at all (1), by whole packets (2), before the checksums (3), before TCP (4), before the
output (5). Each program's lines are compared with the sequential program's before it is timed.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
FLAGS = ("-D_BSD_SOURCE -DLIBNET_VER=-1 -DHAVE_ICMPHDR=1 -DHAVE_TCP_STATES=1 "
         "-DHAVE_BSD_UDPHDR=1 -Ilibnids-1.26/src -w").split()
HANDLER = "void nids_pcap_handler("
ALONG = "*nids_last_pcap_header) forward(nids_last_pcap_header)"
PACKET = f"copy(data: ntohs(((struct ip *)data)->ip_len), {ALONG}"


def stages(*names):
    lines = "".join(f"#pragma flowpin stage {name}\n" for name in names)
    return [("libnids.c", HANDLER, lines + HANDLER)]


def before(file, text, line):
    return (file, text, f"#pragma flowpin {line}\n{text}")


TICK = [
    before("tcp.c", "void\ntcp_check_timeouts(struct timeval", "tick period(1s)"),
    before("libnids.c", "    if (NULL != nids_tcp_timeouts)\n", "in ap"),
]
CHECKSUMS = TICK + [("libnids.c", " #else\n", f" #else\n#pragma flowpin cut ip->ap key(ip_pair) "
                     f"copy(data: caplen, {ALONG}\n")]
TCP = TICK + [
    before("libnids.c", "\t(i->item) (iph, skblen)", "targets(gen_ip_proc)"),
    before("libnids.c", "\t(i->item) (data, caplen)", "targets(gen_ip_frag_proc)"),
] + [before("libnids.c", call, f"cut ip->ap key(ip_pair) separate(nchk) {PACKET}")
     for call in ("\tprocess_tcp(data", "\tprocess_udp((char", "\t    process_icmp(data")]
MODES = {
    "2 whole packets": [],
    "3 before the checksums": stages("ip ways(1)", "ap") + CHECKSUMS,
    "4 before TCP": stages("ip ways(1)", "ap") + TCP,
    "5 before the output": stages("ap", "out ways(1)"),
}


def build(args, name, edits, *choices, client=None, make=(), flags=("-O2",)):
    folder = args.work / name.replace(" ", "-")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copytree(args.work / "libnids" / "libnids-1.26", folder / "libnids-1.26")
    client = (HERE / (client or "client.c")).read_text()
    if "out" in name:
        client = client.replace("/* CUT", "#pragma flowpin cut").replace("+ 1) */", "+ 1)")
    (folder / "client.c").write_text(client)
    for file, old, new in edits:
        path = folder / "libnids-1.26" / "src" / file
        text = path.read_text(encoding="latin-1")
        if old not in text:
            raise SystemExit(f"{file} has no {old!r}: is this libnids 1.26?")
        path.write_text(text.replace(old, new, 1), encoding="latin-1")
    sources = ["client.c"] + sorted(
        str(one.relative_to(folder)) for one in (folder / "libnids-1.26/src").glob("*.c"))
    if choices == ("sequential",):
        subprocess.run(["cc", *FLAGS, *flags, "-o", "program", *sources, "-lpcap"], cwd=folder,
                       check=True)
        return folder / "program"
    subprocess.run([args.flowpin, "cc", "transform", "-o", "out", *choices, *sources, "--",
                    *FLAGS], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    subprocess.run(["make", "-s", "-C", "out", *make], cwd=folder, check=True)
    return folder / "out" / "program"


def once(args, program, ways):
    lines = args.work / "lines"
    environment = dict(os.environ, FLOWPIN_WAYS=str(ways))
    begin = time.monotonic()
    subprocess.run([program, args.capture, lines], env=environment, check=True)
    return time.monotonic() - begin, sorted(lines.read_text().splitlines())


def median(args, program, ways, expected):
    """The median wall time; the lines must be the sequential program's."""
    times = []
    for _ in range(args.rounds):
        seconds, lines = once(args, program, ways)
        if lines != expected:
            raise SystemExit(f"{program} on {ways}: other lines")
        times.append(seconds)
    return statistics.median(times)


def table(title, heads, rows):
    print(f"\n## {title}\n\n| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def prepare(args):
    """libnids, and a capture."""
    args.flowpin = str(Path(args.flowpin).resolve())
    args.work = args.work.resolve()
    args.capture = args.work / "mix.pcap"
    args.work.mkdir(parents=True, exist_ok=True)
    fetch = HERE.parents[1] / "apps/flowpin/tests/guide/fetch-libnids"
    subprocess.run(["bash", fetch, args.work / "libnids"], check=True)
    if not args.capture.exists():
        subprocess.run([args.flowpin, "gen", "mix", "--packets", str(args.packets), "--seed", "7",
                        "--no-truth", "-w", args.capture], check=True, stderr=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flowpin", default=str(HERE.parents[1] / "target/release/flowpin"))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--packets", type=int, default=1000000)
    parser.add_argument("--work", type=Path, default=HERE.parents[1] / "target/bench-cc")
    args = parser.parse_args()
    prepare(args)
    sequential = build(args, "sequential", [], "sequential")
    _, expected = once(args, sequential, 1)
    base = median(args, sequential, 1, expected)

    def row(name, program, ways):
        seconds = median(args, program, ways, expected)
        return [name, str(ways), f"{seconds:.3f}", f"{seconds / base:.2f}"]

    cores = len(os.sched_getaffinity(0))
    print(f"{len(expected)} connections; {cores} cores; sequential: {base:.3f} s (mode 1), "
          f"median of {args.rounds}")
    heads = ["mode", "ways", "wall s", "of sequential"]
    programs = {mode: build(args, mode, edits) for mode, edits in MODES.items()}
    table("Modes", heads, [row(mode, programs[mode], ways)
                           for mode in MODES for ways in (1, 2)])
    heads[0] = "FIFO"
    mode = "3 before the checksums"
    table("FIFO", heads, [row(fifo, build(args, f"fifo {fifo}", MODES[mode], "--fifo", fifo), 2)
                          for fifo in ("flowpin", "lamport", "fastforward")])
    heads[0] = "memory"
    table("Memory", heads, [row(alloc, build(args, f"alloc {alloc}", [], "--alloc", alloc), 2)
                            for alloc in ("libc", "pool")])
    heads[0] = "scaling"
    table("Scaling", heads, [row("whole packets", programs["2 whole packets"], ways)
                             for ways in (1, 2, 3, 4, 8) if ways <= max(cores, 4)])


if __name__ == "__main__":
    main()
