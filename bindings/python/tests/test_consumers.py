"""Programs that take Arrow's C stream, and our own methods, all see the same rows."""

from __future__ import annotations

import time

import flowpin
import pyarrow
import pytest
from conftest import CAPTURES, dns_queries

PATH = CAPTURES / "lab-day.pcapng"


def test_data_frames_hold_the_table():
    table = flowpin.read(PATH, "conn").to_arrow()
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    frame = flowpin.read(PATH, "conn").to_polars()
    assert frame.equals(polars.from_arrow(table))
    assert str(frame["ts"].dtype) == "Datetime(time_unit='us', time_zone='UTC')"
    pandas.testing.assert_frame_equal(flowpin.read(PATH, "conn").to_pandas(), table.to_pandas())
    typed = flowpin.read(PATH, "conn").to_pandas(dtype_backend="pyarrow")
    assert str(typed["orig_bytes"].dtype) == "uint64[pyarrow]"
    frames = flowpin.read(PATH, ["conn", "http"]).to_pandas()
    assert list(frames) == ["conn", "http"]
    assert list(flowpin.read(PATH, ["conn", "http"]).to_polars()) == ["conn", "http"]


def test_other_programs_take_the_stream():
    table = flowpin.read(PATH, "conn").to_arrow()
    assert pyarrow.table(flowpin.read(PATH, "conn")).equals(table)
    reader = pyarrow.RecordBatchReader.from_stream(flowpin.read(PATH, "conn"))
    assert pyarrow.Table.from_batches(list(reader)).equals(table)
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(flowpin.read(PATH, "conn")).height == table.num_rows
    duckdb = pytest.importorskip("duckdb")
    conn = flowpin.read(PATH, "conn")
    assert conn.name == "conn"
    packets = sum(table["orig_pkts"].to_pylist())
    assert duckdb.sql("select count(*), sum(orig_pkts) from conn").fetchall() == [
        (table.num_rows, packets)
    ]


def test_batches_come_one_by_one():
    table = flowpin.read(PATH, "conn").to_arrow()
    with flowpin.read(PATH, "conn") as reader:
        assert pyarrow.Table.from_batches(list(reader)).equals(table)


def test_readers_describe_themselves():
    with flowpin.read(PATH, ["http", "conn"]) as records:
        assert list(records) == ["conn", "http"]
        assert len(records) == 2
        http = records["http"]
        assert http.columns == http.schema.names
        assert http.schema.field("uri").metadata[b"comment"]
        assert repr(http) == f"<flowpin.Reader of http: {len(http.columns)} columns>"
        http.to_arrow()
        assert repr(http).endswith("columns, read>")
        with pytest.raises(KeyError, match="no records `dns` are read; there are conn, http"):
            records["dns"]
    assert "http" in flowpin.record_kinds()
    assert "http" not in flowpin.record_kinds(parse="off")


def test_a_report_has_the_sums_of_the_run():
    records = flowpin.read(PATH, ["conn"])
    table = records["conn"].to_arrow()
    report = records.report()
    assert report.packets > table.num_rows > 0
    assert report.first_ns < report.last_ns
    assert report.damage == [] and not report.stopped_early
    assert "packets=" in repr(report)


def test_progress_is_told():
    told = []

    def slowly():
        for packet in dns_queries(20):
            time.sleep(0.02)
            yield packet

    flowpin.read(slowly(), "dns", progress=lambda *now: told.append(now)).to_arrow()
    assert told and told[-1][2] <= 20
