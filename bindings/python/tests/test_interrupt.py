"""Ctrl-C ends what is being done, at once; and other threads run meanwhile."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import flowpin
import pytest
from conftest import dns_queries

SCRIPT = """
import os, signal, sys, threading, time
import flowpin

def endless():
    number = 0
    while True:
        time.sleep(0.001)
        number += 1
        yield number * 1_000_000, bytes(60)

def never():
    threading.Event().wait()
    yield 0, bytes(60)

def interrupt():
    time.sleep(0.5)
    interrupted.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)

interrupted = []
threading.Thread(target=interrupt, daemon=True).start()
try:
    {work}
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - interrupted[0] < 5)
"""


@pytest.mark.parametrize(
    "work",
    [
        "flowpin.read(endless(), 'conn').to_arrow()",
        "flowpin.read(endless(), 'conn').to_pandas()",
        "flowpin.read(endless(), 'conn').to_polars()",
        "flowpin.read(endless()).to_arrow()",
        "flowpin.read(endless(), 'conn').write_parquet('x.parquet')",
        "flowpin.read(endless()).write_parquet('out')",
        "list(flowpin.read(endless(), 'conn'))",
        "flowpin.read(endless(), 'conn').report()",
        "list(flowpin.packets(endless()))",
        "list(flowpin.streams(endless()))",
        "list(flowpin.identify(endless()))",
        "flowpin.read(never(), 'conn')",
    ],
)
def test_ctrl_c_ends_it(work, tmp_path):
    script = SCRIPT.replace("{work}", work)
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "interrupted True\n", done.stderr
    assert list(tmp_path.rglob("*parquet")) == []


def test_other_threads_run_while_rows_are_waited_for():
    turns = 0
    is_done = False

    def count():
        nonlocal turns
        while not is_done:
            turns += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()

    def slowly():
        for packet in dns_queries(10):
            time.sleep(0.05)
            yield packet

    flowpin.read(slowly(), "conn").to_arrow()
    is_done = True
    thread.join()
    assert turns > 50
