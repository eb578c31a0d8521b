"""Runs programs in turn, and says what each took: by the clock, by processor time, by thread."""
import os
import re
import statistics
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1])]
import measure  # noqa: E402

READ = re.compile(r"flowpin: (\d+) packets read, (\d+) lost; reader ([\d.]+) s")
LINES_MIN = 100
TAKEN = re.compile(r"(\d+) taken in ([\d.]+) s")


@dataclass
class Run:
    """A program, and on how many cores of each stage (`FLOWPIN_WAYS`); 1: without threads."""
    name: str
    program: Path
    ways: str = "1"
    threads: int = 1
    wall: list = field(default_factory=list)
    cpu: list = field(default_factory=list)
    slowest: list = field(default_factory=list)  # the thread that took most
    ratio: list = field(default_factory=list)    # by the clock, of the first run of the same round
    cpu_ratio: list = field(default_factory=list)
    read: int = 0

    def once(self, args, capture, expected):
        """One run; its lines, sorted. They must be the expected ones, and no packet may be lost."""
        lines, said = args.work / "lines", []
        lines.unlink(missing_ok=True)
        environment = dict(os.environ, FLOWPIN_WAYS=self.ways, FLOWPIN_ACCOUNT="1")
        took = measure.run_quiet([self.program, capture, lines], allow_busy=args.allow_busy,
                                 env=environment, said=said)
        self.wall.append(took["wall_s"])
        self.cpu.append(took["cpu_s"])
        threads = [float(seconds) for _, seconds in TAKEN.findall(said[-1])]
        account = READ.search(said[-1])
        if account:
            if account[2] != "0":
                raise SystemExit(f"{self.name}: lost {account[2]} packets: its figures say nothing")
            self.read = int(account[1])
            threads.append(float(account[3]))
            self.threads = len(threads)
        self.slowest.append(max(threads, default=took["cpu_s"]))
        found = sorted(lines.read_text().splitlines())
        if expected is not None and found != expected:
            raise SystemExit(f"{self.name} on {self.ways}: other lines than the sequential program")
        return found


def in_turn(args, capture, runs):
    """Measures all, one round after the other. The first is what others are divided by."""
    expected = None
    for turn in range(args.rounds):
        for run in runs:
            found = run.once(args, capture, expected)
            expected = expected if expected is not None else found
            # A line for each connection; without, there was nothing to work on.
            if len(expected) < LINES_MIN:
                raise SystemExit(f"{run.name}: {len(expected)} lines: it has not seen the traffic")
            run.ratio.append(run.wall[-1] / runs[0].wall[-1])
            run.cpu_ratio.append(run.cpu[-1] / runs[0].cpu[-1])
            print(f"round {turn + 1}, {run.name}: {run.wall[-1]:.3f} s, {run.cpu[-1]:.3f} s of "
                  f"processors, {run.slowest[-1]:.3f} s of the slowest thread", file=sys.stderr)
    packets = measure.packets_of(capture)[0]
    for run in runs:
        if run.read not in (0, packets):
            raise SystemExit(f"{run.name}: read {run.read} of {packets} packets")
    return len(expected)


def summary(values):
    """As a cell: median, least, most."""
    return {"median": statistics.median(values), "least": min(values), "most": max(values),
            "runs": len(values)}
