"""Runs a program and says what it cost; refuses while the machine is busy with other things."""

import datetime
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
# Share of the machine that other processes may take while a figure is measured.
BUSY_SHARE_MAX = 0.04
COPY_BLOCK = 1 << 20


class Busy(Exception):
    """Other processes were using the processors."""


def machine_jiffies():
    """(busy, stolen) seconds of all processors since boot."""
    with open("/proc/stat", encoding="ascii") as file:
        fields = [int(word) for word in file.readline().split()[1:9]]
    user, nice, system, _idle, _iowait, irq, softirq, steal = fields
    per_second = os.sysconf("SC_CLK_TCK")
    return (user + nice + system + irq + softirq) / per_second, steal / per_second


def wait_until_quiet(seconds=60):
    """Waits until others use less than the threshold; Busy if they do not stop."""
    end = time.monotonic() + seconds
    while True:
        before, at = machine_jiffies()[0], time.monotonic()
        time.sleep(0.5)
        share = (machine_jiffies()[0] - before) / (time.monotonic() - at) / os.cpu_count()
        if share <= BUSY_SHARE_MAX:
            return
        if time.monotonic() > end:
            raise Busy(f"other processes use {share:.0%} of the processors; "
                       f"the limit is {BUSY_SHARE_MAX:.0%}")


def run_once(command, stdout=None, ok=(0,), cwd=None, env=None, said=None):
    """One run: CPU seconds by getrusage, wall seconds, peak resident bytes, share of others. `said`
    is a list that gets what it wrote to its standard error."""
    busy, stolen = machine_jiffies()
    start = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                               stdout=stdout or subprocess.DEVNULL, stderr=subprocess.PIPE,
                               cwd=cwd, env=env)
    message = process.stderr.read()
    if said is not None:
        said.append(message.decode(errors="replace"))
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    busy_after, stolen_after = machine_jiffies()
    code = os.waitstatus_to_exitcode(status)
    process.returncode = code
    if code not in ok:
        raise SystemExit(f"{' '.join(map(str, command))}: exit code {code}\n{message.decode()[-2000:]}")
    cpu = usage.ru_utime + usage.ru_stime
    others = max(0.0, busy_after - busy - cpu)
    return {
        "cpu_s": round(cpu, 4), "user_s": round(usage.ru_utime, 4),
        "system_s": round(usage.ru_stime, 4), "wall_s": round(wall, 4),
        "peak_resident_bytes": usage.ru_maxrss * 1024,
        "others_share": round(others / wall / os.cpu_count(), 4),
        "stolen_s": round(stolen_after - stolen, 2),
    }


def peak_mib(nbytes):
    """A peak as it can be told: a program inherits that of who started it, which is this one."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return nbytes >> 20 if nbytes > own else f"≤ {own >> 20}"


def run_quiet(command, allow_busy=False, tries=5, **options):
    """As `run_once`, repeated until nothing else disturbed it."""
    for _ in range(tries):
        stdout = options.get("stdout")
        if hasattr(stdout, "truncate"):
            # What a disturbed run said is not kept.
            stdout.seek(0)
            stdout.truncate()
        if not allow_busy:
            wait_until_quiet()
        result = run_once(command, **options)
        if allow_busy or result["others_share"] <= BUSY_SHARE_MAX:
            return result
    raise Busy(f"disturbed {tries} times in a row: {' '.join(map(str, command))}")


# Counters that tell of the capture: datagrams of which it lacks pieces, its clock.
OF_THE_CAPTURE = {"fragment_timeout", "fragment_overlap", "clock_leaps_clamped"}
# Counters of totals in the summary that are estimates beyond a cap: nothing is left undone.
ESTIMATES = {"addresses_summed", "host_pairs_summed", "vlans_summed"}
# Limits that no memory raises: what they cost is told beside the figures.
BY_DESIGN = {
    "anomalies_suppressed": "anomaly records above their rate",
    "identify_first_bytes": "streams with more before their protocol was known than is kept",
    "scan_sources_forgotten": "sources of connections beyond those that scans are looked for of",
}


def run_flowpin(command, allow_busy=False, **options):
    """As `run_quiet`, of a `flowpin run`; with what its limits by design cost. What is lost for any
    other reason was not done, so that the run says nothing: that ends the measurement."""
    with tempfile.TemporaryFile() as out:
        result = run_quiet([*command, "--json"], allow_busy=allow_busy, stdout=out, **options)
        out.seek(0)
        return result, lost_nothing(command, json.load(out))


def lost_nothing(command, summary):
    """What limits by design cost, by a run's summary; the end if it lost anything else."""
    lost = {name: count for name, count in summary["losses"].items()
            if count and name not in OF_THE_CAPTURE | ESTIMATES}
    limits = {name: lost.pop(name) for name in BY_DESIGN if name in lost}
    if lost:
        words = ", ".join(f"{name} {count:,}" for name, count in lost.items())
        raise SystemExit(f"{' '.join(command)}: lost {words}: its figures would say nothing")
    return limits


def loss_line(limits):
    """What all runs of Flowpin lost, in one sentence; `limits`: of each run."""
    most = {name: max(run.get(name, 0) for run in limits) for name in BY_DESIGN}
    told = [f"{BY_DESIGN[name]} ({name}: {count:,})" for name, count in most.items() if count]
    if not told:
        return "Flowpin's runs lost nothing."
    return f"Flowpin's runs lost nothing but what is limited by design: {', '.join(told)}."


def copy_anew(source, target):
    """Writes the file again, so that every tool finds it in the page cache, laid out alike."""
    if os.path.exists(target):
        os.unlink(target)
    with open(source, "rb", buffering=0) as read, open(target, "wb", buffering=0) as write:
        while block := read.read(COPY_BLOCK):
            write.write(block)
        os.fsync(write.fileno())


def machine():
    """What figures depend on."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        text = file.read()
    model = re.search(r"model name\s*: (.*)", text)
    with open("/proc/meminfo", encoding="ascii") as file:
        memory = int(file.readline().split()[1]) // 1024
    return {"processor": model.group(1).strip() if model else os.uname().machine,
            "cores": os.cpu_count(), "memory_mib": memory,
            "kernel": re.match(r"[\d.]+", os.uname().release).group(0),
            "virtual": "hypervisor" in text, "governor": governor(),
            "load": round(os.getloadavg()[0], 2), "date": datetime.date.today().isoformat(),
            "commit": commit(), "compiler": compiler()}


def governor():
    """How the clock rate is chosen; None where the system does not say."""
    try:
        with open("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                  encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return None


def compiler():
    return subprocess.run(["rustc", "-V"], stdout=subprocess.PIPE, text=True, cwd=ROOT,
                          check=False).stdout.strip()


def commit():
    """The commit that was measured, with a mark if the tree differs from it in more than what
    measuring writes."""
    def git(*words):
        return subprocess.run(["git", "-C", ROOT, *words], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False).stdout.strip()
    written = [":!bench/record", ":!docs/performance.md", ":!docs/performance"]
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", *written)
    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + ("+changes" if changed else "")


def summary(values):
    """Median and extremes."""
    return {"median": round(statistics.median(values), 4), "least": round(min(values), 4),
            "most": round(max(values), 4), "runs": len(values)}


def build(package, *more):
    """Builds a package for release and returns the folder of the programs."""
    done = subprocess.run(["cargo", "build", "--release", "-q", "-p", package, *more], cwd=ROOT,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(f"building {package} failed")
    return os.path.join(TARGET, "release")


def need(program, package):
    """The path of a program, or an end that says how to get it."""
    path = shutil.which(program)
    if not path:
        raise SystemExit(f"{program} is missing: apt-get install {package}")
    return path


def mix_trace(target, replicas):
    """The multiplied mix trace; made if it is not there."""
    original = os.path.join(shared(), "corpus", "mix", "mix-dev.pcap")
    if not os.path.exists(original):
        raise SystemExit(f"{original} is missing: give a capture with -r instead")
    folder = build("flowpin-testkit")
    subprocess.run([os.path.join(folder, "replicate"), "-r", original, "-n", str(replicas),
                    "-w", target], check=True)


def shared():
    """The folder of shared test material."""
    return os.environ.get("FLOWPIN_SHARED", os.path.join(os.path.dirname(ROOT), "shared"))


def packets_of(path):
    """How many packets a classic little-endian pcap file holds, and its bytes."""
    count, at = 0, 24
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        data = memoryview(b"")
        base = 0
        while at + 16 <= size:
            if at + 16 > base + len(data):
                file.seek(at)
                base, data = at, memoryview(file.read(COPY_BLOCK))
            offset = at - base
            if offset + 16 > len(data):
                break
            at += 16 + int.from_bytes(data[offset + 8:offset + 12], "little")
            count += 1
    return count, size


def table(name, title, source, of, columns, rows, notes=(), drawn=()):
    """A table as `flowpin-bench page` reads it. Columns are (name, unit), cells numbers, texts,
    summaries or None."""
    return {"name": name, "title": title, "source": source, "of": of,
            "columns": [{"name": column, "unit": unit} for column, unit in columns],
            "rows": [{"name": row, "cells": cells} for row, cells in rows],
            "notes": list(notes), "drawn": list(drawn)}


def write_tables(path, tables):
    """Machine and tables, for `flowpin-bench page`."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"machine": machine(), "tables": tables}, file, indent=1)
        file.write("\n")


def write_record(kind, result, table):
    """Writes JSON and a table to `bench/record/`."""
    name = record_name(kind)
    folder = os.path.join(ROOT, "bench", "record")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    with open(os.path.join(folder, name + ".md"), "w", encoding="utf-8") as file:
        file.write(table)
    print(table)
    print(f"written to bench/record/{name}.json and .md", file=sys.stderr)


def record_name(kind):
    """A record's name: day, machine, kind."""
    slug = re.sub(r"[^a-z0-9]+", "-", f"{machine()['processor']} {os.cpu_count()} cores".lower())
    return f"{datetime.date.today().isoformat()}-{slug.strip('-')}-{kind}"
