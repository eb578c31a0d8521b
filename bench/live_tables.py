"""The capture paper's matrix, and the Snort note's on-line test, on a cable between namespaces.

Used by `bench/live --table FILE`. Figures of the papers are of network cards and generators of
their own; here the sender has a core of the same machine, and delivers each frame up to the
receiver's ring itself. So what is lost is told beside what tcpdump loses in the same minute.
"""

import json
import os
import subprocess

import measure

CARDS = ("two quad-core Xeon 5400, 2.4 GHz, Intel ET 1 Gbit and AF 10 Gbit, PF_RING with and "
         "without a thread for each queue (TNAPI), a generator apart")
# Their rows: name, queues, whether the receiver has one core, NAPI in threads, and their rate.
MATRIX = [
    ("1 queue, one core", 1, True, False, 0.62),
    ("1 queue, two cores", 1, False, False, 0.76),
    ("1 queue, threaded", 1, False, True, 0.92),
    ("4 queues, threaded", 4, False, True, 3.0),
    ("8 queues, threaded", 8, False, True, 5.0),
]
RECEIVERS = ["tcpdump -B 64M", "flowpin", "flowpin, AF_XDP"]
# Size, preset, sessions a second: one thread, several.
SESSIONS = [("HTTP, 1 kB", "snort-http-1k", 20_000, 35_000),
            ("HTTP, 32 kB", "snort-http-32k", 2_000, 3_000),
            ("HTTP, 64 kB", "snort-http-64k", 1_000, 1_500)]
PACKETS = {"snort-http-1k": 11_039_801, "snort-http-32k": 4_902_174, "snort-http-64k": 4_672_290}
LOST_MAX = 0.0005


def column(name, unit, theirs=False):
    return {"name": name, "unit": unit, "theirs": theirs}


def rows_of(rows):
    return [{"name": name, "cells": cells} for name, cells in rows]


def matrix(cable_of, receive, flowpin, small, rounds):
    """Capture only, at the sender's top speed: 64-byte frames to 4,096 destinations."""
    run = [flowpin, "run", "-i", "r", "--json", "--pipeline", "1x1", "-k", "none", "--streams",
           "off", "--scans", "off", "--identify", "off", "--format", "none"]
    commands = [["tcpdump", "-i", "r", "-B", "65536", "-w", "/dev/null"], run,
                [*run, "--capture", "af-xdp"]]
    has_xdp = "--capture" in subprocess.run([flowpin, "run", "--help"], check=True, text=True,
                                            capture_output=True).stdout
    receivers = RECEIVERS if has_xdp else RECEIVERS[:2]
    rows = []
    for name, queues, one_core, threaded, theirs in MATRIX:
        runs = {receiver: [] for receiver in receivers}
        with cable_of(queues) as cable:
            if threaded:
                cable.thread_napi()
            for _ in range(rounds):
                for receiver, command in zip(receivers, commands):
                    cores = ["taskset", "-c", "1"] if one_core else []
                    found = receive(cable, [*cores, *command], small)
                    runs[receiver].append(found)
        cells = [theirs]
        for receiver in receivers:
            of = runs[receiver]
            cells += [measure.summary([one["packets_per_s"] / 1e6 for one in of]),
                      measure.summary([one["lost"] / one["sent"] * 100 for one in of]),
                      measure.summary([one["cpu_s"] / one["sent"] * 1e6 for one in of])]
        cpu = [ours["cpu_s"] / one["cpu_s"] for one, ours in
               zip(runs["tcpdump -B 64M"], runs["flowpin"]) if one["cpu_s"]]
        cells.append(measure.summary(cpu) if cpu else None)
        rows.append((name, cells))
    columns = [column("rate", "Mpps", True)]
    for receiver in receivers:
        columns += [column(f"{receiver}: sent", "Mpps"), column(f"{receiver}: lost", "%"),
                    column(f"{receiver}: CPU per million", "s")]
    columns.append(column("CPU, flowpin : tcpdump", "×"))
    return {
        "name": "live-capture", "title": "Capture alone, by queues and cores",
        "source": f"Theirs: the capture paper, Table I ({CARDS}). Ours: 64-byte TCP frames from one "
                  "source to 4,096 destinations, as theirs, sent by tcpreplay at its top speed over "
                  "a veth pair with as many queues; connections counted, nothing else done.",
        "of": "queues and cores", "columns": columns, "rows": rows_of(rows),
        "notes": ["Sender and receiver share this machine's "
                  f"{os.cpu_count()} cores, and the sender's thread does the kernel's work of "
                  "delivering, so a rate is what the sender can make and not what the receiver "
                  "could take. Within a round the receivers ran one after the other in the same "
                  "minute: compare them with each other only. CPU is the receiver's own processor "
                  "time; with AF_XDP on veth each frame is copied by the kernel in the receiver's "
                  "or a kernel thread's time. A card's driver has no such copy; none was there.",
                  "Threaded: `echo 1 > /sys/class/net/r/threaded`, with GRO on, which makes veth's "
                  "NAPI."],
        "drawn": [],
    }


def online(cable_of, receive, flowpin, folder, packets):
    """The most sessions a second with less than 0.05 % lost, all stages, EVE to disk."""
    logs = os.path.join(folder, "logs")
    command = [flowpin, "run", "-i", "r", "--json", "-k", "none", "-l", logs, "--force"]
    rows = []
    for name, preset, alone, several in SESSIONS:
        part = min(1.0, packets / PACKETS[preset])
        trace = os.path.join(folder, "sessions.pcap")
        subprocess.run([flowpin, "gen", "http", "--preset", preset, "--part", f"{part:.6f}", "-w",
                        trace, "--force", "--no-truth"], check=True, capture_output=True)
        counted = measured_sessions(flowpin, trace)
        with cable_of(1) as cable:
            best = None
            # From fast to slow: the first that loses little enough is the answer.
            for pps in [None, 400_000, 300_000, 200_000, 150_000, 100_000, 70_000, 50_000, 35_000]:
                found = receive(cable, command, trace, pps)
                if found["lost"] / found["sent"] < LOST_MAX:
                    best = found
                    break
        os.unlink(trace)
        if best is None:
            rows.append((name, [alone, several] + [None] * 6))
            continue
        sessions = best["packets_per_s"] / counted["packets"] * counted["connections"]
        soft = best["softirq"]
        rows.append((name, [alone, several, sessions, best["packets_per_s"],
                            best["lost"] / best["sent"] * 100, best["sent"],
                            soft[0] * 100, (soft[1] if len(soft) > 1 else 0) * 100]))
    columns = [column("one thread", "sessions/s", True), column("several", "sessions/s", True),
               column("sessions a second", ""), column("packets a second", ""),
               column("lost", "%"), column("packets sent", ""),
               column("softirq of core 0", "%"), column("softirq of core 1", "%")]
    return {
        "name": "live-sessions", "title": "Sessions a second on-line",
        "source": "Theirs: the Snort note, Table 3 (two quad-core Xeon X5355, 2.66 GHz, 1 Gbit/s, "
                  "Snort 2.8.0.1 with its default rules, 5,000,000 packets, less than 0.05 % lost, "
                  "a generator apart). Ours: traces with the note's characteristics, replayed by "
                  "tcpreplay over a veth pair; all stages and EVE to disk, no rules.",
        "of": "a session's content", "columns": columns, "rows": rows_of(rows),
        "notes": ["Sender and receiver share this machine's "
                  f"{os.cpu_count()} cores. Rates were tried from the sender's top speed downwards "
                  "in steps of a quarter to a third until less than 0.05 % was lost: the next "
                  "higher step is not reached. Softirq is the kernel's share of each core while "
                  "packets came; on a veth pair most of its work is the sender's own time."],
        "drawn": [],
    }


def measured_sessions(flowpin, trace):
    """Packets and connections of a trace."""
    done = subprocess.run([flowpin, "run", "-r", trace, "--json", "--format", "none", "-k", "none",
                           "--streams", "off", "--identify", "off", "--scans", "off"],
                          check=True, capture_output=True, text=True)
    summary = json.loads(done.stdout)
    return {"packets": summary["traffic"]["packets"],
            "connections": summary["connections"]["total"]}
