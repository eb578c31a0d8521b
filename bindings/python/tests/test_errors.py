"""What is wrong is said in one line, with its place and what to do."""

from __future__ import annotations

import warnings

import flowpin
import pyarrow
import pytest
from conftest import CAPTURES

PATH = CAPTURES / "http.pcapng"


def refused(kind: type[flowpin.FlowpinError], *source, **options) -> flowpin.FlowpinError:
    with pytest.raises(kind) as raised:
        flowpin.read(*source, **options)
    assert "\n" not in str(raised.value)
    return raised.value


def test_a_capture_that_is_not_there():
    error = refused(flowpin.InputError, "nowhere.pcap")
    assert isinstance(error, OSError)
    assert error.place == "nowhere.pcap"
    assert error.remedy == "check the path and its permissions"


def test_what_is_no_capture(tmp_path):
    text = tmp_path / "text.pcap"
    text.write_text("no capture at all")
    assert refused(flowpin.InputError, text).place == str(text)
    assert str(refused(flowpin.InputError, b"no capture at all")).startswith("<17 bytes> is not")
    assert "no file matches" in str(refused(flowpin.InputError, str(tmp_path / "*.pcapng")))
    assert "no capture is named" in str(refused(flowpin.InputError, []))
    assert refused(flowpin.OptionError, 7).place == "source"
    assert "sys.stdin.buffer" in str(refused(flowpin.InputError, "-"))


@pytest.mark.parametrize(
    ("options", "place", "text"),
    [
        ({"timeout": "zeek"}, "timeout", "did you mean `timeouts`?"),
        ({"timeouts": "zek"}, "timeouts", "use one of zeek, suricata, none"),
        ({"filter": "tcp prt 80"}, "filter", "does not compile"),
        ({"memory": "much"}, "memory", "memory="),
        ({"memory": "1 KiB"}, None, "at least 1 MiB"),
        ({"parse": ["dns", "nope"]}, "parse", "no parser for `nope`"),
        ({"log_dir": "."}, "log_dir", "records go to readers"),
        ({"user": "flowpin"}, "user", "whole interpreter"),
        ({"count": 0}, None, "more than 0"),
        ({"count": "many"}, "count", "whole number"),
        ({"ja3": "maybe"}, "ja3", "on, off"),
        ({"since": object()}, "since", "no option takes object"),
        ({"records": "htp"}, "records", "there are conn, "),
        ({"records": []}, "records", "leave `records` out"),
        ({"config": "nowhere.toml"}, None, "nowhere.toml"),
    ],
)
def test_options_that_are_wrong(options, place, text):
    error = refused(flowpin.OptionError, PATH, **options)
    assert isinstance(error, ValueError)
    assert text in str(error)
    assert error.place == place


def test_every_option_is_known_by_its_name():
    assert {"timeouts", "id_seed", "parquet_time", "pipeline"} <= set(flowpin.options())
    assert not {"read", "log_dir", "format", "user"} & set(flowpin.options())


def test_a_stream_is_read_once():
    reader = flowpin.read(PATH, "http")
    reader.to_arrow()
    for again in [reader.to_arrow, lambda: pyarrow.table(reader), lambda: list(reader)]:
        with pytest.raises(flowpin.ConsumedError, match="can be read once; read"):
            again()


def test_what_a_source_raises_is_raised_by_who_reads():
    def packets():
        yield 0, bytes(60)
        raise ZeroDivisionError("of the iterator")

    with pytest.raises(ZeroDivisionError, match="of the iterator"):
        flowpin.read(packets(), "conn").to_arrow()
    with pytest.raises(flowpin.OptionError, match="packet 2 is no"):
        flowpin.read([(0, bytes(60)), ("noon", bytes(60))], "conn").to_arrow()

    class Broken:
        def read(self, size):
            raise OSError("the bucket is gone")

    with pytest.raises(OSError, match="the bucket is gone"):
        flowpin.read(Broken(), "conn").to_arrow()
    with open(PATH, encoding="latin-1") as text, pytest.raises(flowpin.InputError, match="'rb'"):
        flowpin.read(text, "conn").to_arrow()


def test_a_damaged_capture_warns_and_gives_what_came_before():
    data = (CAPTURES / "redis.pcap").read_bytes()
    reader = flowpin.read(data[:-10], "conn")
    with pytest.warns(flowpin.DamagedCaptureWarning, match="everything before it is analysed"):
        assert reader.to_arrow().num_rows >= 1
    assert reader.report().damage[0][0] == f"<{len(data) - 10} bytes>"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(flowpin.DamagedCaptureWarning):
            flowpin.read(data[:-10], "conn").to_arrow()


def test_a_folder_that_cannot_be_written(tmp_path):
    path = tmp_path / "nowhere" / "conn.parquet"
    with pytest.raises(flowpin.FlowpinError, match="cannot write") as raised:
        flowpin.read(PATH, "conn").write_parquet(path)
    assert raised.value.place == str(path)
