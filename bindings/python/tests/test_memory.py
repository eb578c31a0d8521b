"""Memory is bounded: the run waits for its readers, and a file keeps what must not wait."""

from __future__ import annotations

import gc
import threading
import time

import flowpin
from conftest import UNCHECKED, dns_queries

#: Rows that take several times what may wait in memory.
COUNT = 250_000


def test_the_run_waits_for_its_reader():
    asked = 0

    def packets():
        nonlocal asked
        for packet in dns_queries(COUNT):
            asked += 1
            yield packet

    reader = flowpin.read(packets(), "conn", **UNCHECKED)
    rows = next(iter(reader)).num_rows
    before = -1
    while before != asked:
        before = asked
        time.sleep(0.5)
    assert rows < asked < COUNT
    reader.close()


def test_kinds_can_be_read_one_after_the_other():
    records = flowpin.read(dns_queries(COUNT), ["conn", "dns"], **UNCHECKED)
    dns = records["dns"].to_arrow()
    assert records.spilled_bytes > 0
    conn = records["conn"].to_arrow()
    assert dns.num_rows == conn.num_rows == COUNT
    together = flowpin.read(dns_queries(COUNT), ["conn", "dns"], **UNCHECKED)
    tables = together.to_arrow()
    assert tables["conn"].equals(conn) and tables["dns"].equals(dns)
    assert together.spilled_bytes == 0


def test_a_reader_that_is_dropped_ends_the_run():
    before = threading.active_count()
    endless = ((time_, data) for _ in iter(int, 1) for time_, data in dns_queries(1000, 0.001))
    reader = flowpin.read(endless, "dns", **UNCHECKED)
    next(iter(reader))
    del reader
    gc.collect()
    for _ in range(200):
        if threading.active_count() <= before:
            return
        time.sleep(0.05)
    raise AssertionError("the thread that feeds the run goes on")


def test_readers_of_one_run_work_on_threads_of_their_own():
    records = flowpin.read(dns_queries(20_000), ["conn", "dns"], **UNCHECKED)
    tables = {}
    read = lambda name: tables.setdefault(name, records[name].to_arrow())  # noqa: E731
    threads = [threading.Thread(target=read, args=[name]) for name in records]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tables["conn"].num_rows == tables["dns"].num_rows == 20_000
