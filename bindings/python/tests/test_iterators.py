"""Packets, streams and verdicts, one by one."""

from __future__ import annotations

import json
import subprocess

import flowpin
import pytest
from conftest import CAPTURES, UNCHECKED, dns_queries

PATH = CAPTURES / "http.pcapng"


def test_packets_are_those_of_the_capture():
    pcap = (CAPTURES / "redis.pcap").read_bytes()
    packets = list(flowpin.packets(pcap))
    assert b"".join(packet.data for packet in packets) in _without_headers(pcap)
    assert [packet.number for packet in packets] == list(range(1, len(packets) + 1))
    assert all(packet.wire_len >= len(packet.data) for packet in packets)
    assert packets[0].time_ns <= packets[-1].time_ns
    assert repr(packets[0]).startswith("CapturePacket(number=1, time_ns=")
    some = list(flowpin.packets(pcap, filter="src port 6379", count=3))
    assert len(some) == 3


def _without_headers(pcap: bytes) -> bytes:
    at, data = 24, b""
    order = "little" if pcap[0] in (0xD4, 0x4D) else "big"
    while at < len(pcap):
        captured = int.from_bytes(pcap[at + 8 : at + 12], order)
        data += pcap[at + 16 : at + 16 + captured]
        at += 16 + captured
    return data


@pytest.mark.parametrize("capture", ["http.pcapng", "raw-ip.pcap"])
def test_packets_can_be_analysed_again(capture):
    path = CAPTURES / capture

    def connections(source):
        # Packets do not say by which interface they came.
        return flowpin.read(source, "conn").to_arrow().drop_columns(["interface", "queue"])

    expected = connections(path)
    assert expected.num_rows
    assert connections(flowpin.packets(path)).equals(expected)
    assert connections(list(flowpin.packets(path))).equals(expected)


def test_streams_hold_the_bytes_of_conversations(command):
    first = flowpin.read(PATH, "http").to_arrow()
    uid = first["uid"][0].as_py()
    parts = list(flowpin.streams(PATH, uid))
    sent = b"".join(part.data for part in parts if part.data and part.to_server)
    assert sent.startswith(first["method"][0].as_py().encode())
    assert {part.end for part in parts if part.end} <= {"fin", "reset", "ended"}
    assert all(part.uid == uid and part.protocol == "tcp" for part in parts)
    everything = list(flowpin.streams(PATH))
    assert len(everything) > len(parts)
    words = [command, "streams", "-r", PATH, "--follow", uid, "--show", "raw", "--only", "client"]
    done = subprocess.run([str(word) for word in words], capture_output=True)
    if done.returncode == 0:
        assert done.stdout == sent


def test_verdicts_are_those_of_the_command(command):
    path = CAPTURES / "lab-day.pcapng"
    verdicts = list(flowpin.identify(path))
    words = [command, "identify", "-r", path, "--format", "json"]
    done = subprocess.run([str(word) for word in words], capture_output=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(one.uid, one.protocol, one.packets) for one in verdicts] == [
        (line["uid"], line["app_proto"], line["pkts"]) for line in lines
    ]
    assert {one.transport for one in verdicts} >= {"TCP", "UDP"}


def test_explanations_are_those_of_the_command(command):
    eve = flowpin.read(PATH, "http").to_arrow()
    uid = eve["uid"][0].as_py()
    for asked, words in [({"packet": 4}, ["--packet", "4"]), ({"connection": uid}, ["--uid", uid])]:
        told = list(flowpin.explain(PATH, **asked))
        done = subprocess.run(
            [str(command), "explain", "-r", str(PATH), "--json", *words], capture_output=True
        )
        assert told == [json.loads(line) for line in done.stdout.splitlines()]
        assert told
    record = {"event_type": "http", "pcap_cnt": 4}
    assert list(flowpin.explain(PATH, record=record)) == list(flowpin.explain(PATH, 4))
    assert "Checksum, key, shard" in "".join(flowpin.explain(PATH, 4, text=True))


def test_explanations_of_nothing_are_refused():
    with pytest.raises(flowpin.OptionError, match="there is no packet 99999"):
        list(flowpin.explain(PATH, 99999))
    with pytest.raises(flowpin.OptionError, match="no such connection"):
        list(flowpin.explain(PATH, connection="1:wCb3OG7yAFWelaUydu0D+125CLM="))
    with pytest.raises(flowpin.OptionError, match="one of packet, connection and record"):
        flowpin.explain(PATH)
    with pytest.raises(flowpin.OptionError, match="no record"):
        flowpin.explain(PATH, record="what")
    with pytest.raises(flowpin.InputError, match="save it to a file"):
        flowpin.explain(PATH.read_bytes(), 1)


def test_what_is_wrong_is_said():
    with pytest.raises(flowpin.OptionError, match="does not name a connection") as raised:
        flowpin.streams(PATH, "no name")
    assert raised.value.place == "connection"
    for start in [flowpin.packets, flowpin.streams, flowpin.identify]:
        with pytest.raises(flowpin.InputError, match="nowhere"):
            start("nowhere.pcap")
    data = (CAPTURES / "redis.pcap").read_bytes()[:-10]
    for start in [flowpin.packets, flowpin.streams, flowpin.identify]:
        with pytest.warns(flowpin.DamagedCaptureWarning):
            list(start(data))


def test_a_loop_may_end_early():
    for number, packet in enumerate(flowpin.packets(dns_queries(200_000)), 1):
        if number == 10:
            break
    assert packet.number == 10
    verdicts = flowpin.identify(dns_queries(50_000), **UNCHECKED)
    assert next(verdicts).protocol == "dns"
    verdicts.close()
    assert list(verdicts) == []
