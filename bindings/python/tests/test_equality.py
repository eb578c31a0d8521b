"""What Python gets is what the Parquet files of `flowpin run` hold: rows, order, types, comments."""

from __future__ import annotations

import io
import pathlib
import time

import flowpin
import pyarrow
import pyarrow.parquet
import pytest
from conftest import CAPTURES, UNCHECKED, dns_queries


def files(folder: pathlib.Path) -> dict[str, pyarrow.Table]:
    """The tables of a folder; an empty `conn` file, which every run makes, does not count."""
    tables = {path.stem: pyarrow.parquet.read_table(path) for path in folder.glob("*.parquet")}
    return {name: table for name, table in tables.items() if table.num_rows}


def assert_same(got: dict[str, pyarrow.Table], expected: dict[str, pyarrow.Table]) -> None:
    assert set(got) == set(expected)
    for name, table in expected.items():
        assert got[name].schema.equals(table.schema, check_metadata=False), name
        assert got[name].equals(table), name
        for field in table.schema:
            mine = got[name].schema.field(field.name).metadata
            assert mine[b"comment"] == field.metadata[b"comment"], (name, field.name)


@pytest.mark.parametrize(
    "capture",
    ["lab-day.pcapng", "http-node.pcapng.gz", "dns-fragments.pcap", "tls.pcap.xz", "vxlan.pcap",
     "scan.pcap", "ftp-modes.pcap.gz", "smtp-exim.pcap.gz", "sip.pcap", "midstream.pcap"],
)  # fmt: skip
def test_a_capture_gives_the_rows_of_its_files(capture, run):
    path = CAPTURES / capture
    expected = files(run("-r", path))
    assert expected
    assert_same(flowpin.read(path).to_arrow(), expected)


@pytest.mark.parametrize("shape", ["1x1", "1x3", "2x2", "3x2"])
def test_every_shape_gives_the_same_rows(shape, run):
    expected = files(run("-r", CAPTURES))
    assert len(expected) >= 10
    assert_same(flowpin.read(CAPTURES, pipeline=shape).to_arrow(), expected)


def test_options_mean_what_they_mean_for_the_command(run, tmp_path):
    path = CAPTURES / "lab-day.pcapng"
    config = tmp_path / "flowpin.toml"
    config.write_text("[connections]\ntimeouts = 'none'\n[output]\nhost_pairs = true\n")
    words = ["-c", config, "--id-seed", 7, "--parquet-time", "ns", "-n", 400, "--parse", "http,dns"]
    expected = files(run("-r", path, *words, "tcp"))
    options = {"id_seed": 7, "parquet_time": "ns", "count": 400, "parse": ["http", "dns"]}
    assert_same(flowpin.read(path, filter="tcp", config=config, **options).to_arrow(), expected)
    assert "host_pairs" in expected


def test_write_parquet_writes_what_the_command_writes(run, tmp_path):
    path = CAPTURES / "lab-day.pcapng"
    expected = files(run("-r", path))
    counts = flowpin.read(path).write_parquet(tmp_path / "mine")
    assert counts == {name: table.num_rows for name, table in expected.items()}
    assert_same(files(tmp_path / "mine"), expected)
    assert flowpin.read(path, "conn").write_parquet(tmp_path / "c.parquet") == counts["conn"]
    assert pyarrow.parquet.read_table(tmp_path / "c.parquet").equals(expected["conn"])
    assert flowpin.read(path, "nut").write_parquet(tmp_path / "none.parquet") == 0
    assert pyarrow.parquet.read_table(tmp_path / "none.parquet").num_rows == 0
    assert sorted(one.name for one in tmp_path.glob(".flowpin-*")) == []


def test_sources_of_all_kinds_give_the_same_rows(tmp_path):
    path = CAPTURES / "http.pcapng"
    data = path.read_bytes()
    expected = flowpin.read(str(path), "http").to_arrow()
    assert expected.num_rows == 13
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.pcapng").write_bytes(data)
    with open(path, "rb") as opened:
        for source in [
            path,
            [path],
            str(tmp_path / "*" / "*.pcapng"),
            tmp_path / "a",
            data,
            memoryview(data),
            [bytearray(data)],
            io.BytesIO(data),
            opened,
        ]:
            assert flowpin.read(source, "http").to_arrow().equals(expected), source


def test_packets_are_a_capture_too():
    pcap = (CAPTURES / "redis.pcap").read_bytes()
    expected = flowpin.read(pcap, ["conn", "redis"]).to_arrow()
    assert set(expected) == {"conn", "redis"}
    order = "little" if pcap[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else "big"
    unit = 1000 if pcap[:4] in (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4") else 1
    number = lambda at: int.from_bytes(pcap[at : at + 4], order)  # noqa: E731
    packets, at = [], 24
    while at < len(pcap):
        nanos = number(at) * 1_000_000_000 + number(at + 4) * unit
        captured = number(at + 8)
        packets.append((nanos, pcap[at + 16 : at + 16 + captured], number(at + 12)))
        at += 16 + captured
    link_type = number(20)
    for source in [packets, iter(packets), (packet for packet in packets)]:
        got = flowpin.read(source, ["conn", "redis"], link_type=link_type).to_arrow()
        assert_rows_but_comments(got, expected)


def test_packets_that_come_slowly_are_all_there():
    def slowly():
        for packet in dns_queries(8):
            yield packet
            time.sleep(0.06)

    assert flowpin.read(slowly(), "dns", **UNCHECKED).to_arrow().num_rows == 8


def test_no_packets_are_an_empty_capture():
    reader = flowpin.read(iter(()), "conn")
    assert reader.to_arrow().num_rows == 0
    assert reader.report().packets == 0


def assert_rows_but_comments(got, expected):
    assert set(got) == set(expected)
    for name, table in expected.items():
        assert got[name].equals(table), name


def test_several_captures_are_one_run(run):
    paths = [CAPTURES / "http.pcapng", CAPTURES / "sip.pcap"]
    expected = files(run("-r", paths[0], "-r", paths[1]))
    assert_same(flowpin.read(paths).to_arrow(), expected)
    mixed = [paths[0], paths[1].read_bytes()]
    assert_rows_but_comments(flowpin.read(mixed).to_arrow(), expected)
