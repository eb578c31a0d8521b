"""Spark's data frames hold the rows of flowpin.read on the same files."""

import os
import shutil
import struct
import subprocess
import sys
from collections import Counter

import pytest
from conftest import CAPTURES

pyspark = pytest.importorskip("pyspark")
pytestmark = pytest.mark.filterwarnings("default")

import flowpin  # noqa: E402
import flowpin.spark  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402


@pytest.fixture(scope="module")
def spark():
    """A master and two workers in processes of their own."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_HOME"] = os.path.dirname(pyspark.__file__)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(sys.path),
        "spark.sql.session.timeZone": "UTC",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("flowpin")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    flowpin.spark.register(session)
    yield session
    session.stop()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Captures in two folders, and something that is none."""
    top = tmp_path_factory.mktemp("captures")
    for sensor, names in {"a": ["http.pcapng", "dns.pcapng"], "b": ["http-go.pcap.gz"]}.items():
        (top / sensor).mkdir()
        for name in names:
            shutil.copy(CAPTURES / name, top / sensor / name)
    (top / "a" / "notes.txt").write_text("no capture")
    return top


def rows(table):
    """How often each row is there: the order of tasks is Spark's."""
    return Counter(str([row[name] for name in sorted(row)]) for row in table)


def expected(groups, kind, **options):
    found = Counter()
    for group in groups:
        table = flowpin.read([str(path) for path in group], kind, **options).to_arrow()
        found += rows(table.to_pylist())
    return found


@pytest.mark.parametrize("kind", ["conn", "http", "dns"])
def test_rows_are_those_of_read(spark, folder, kind):
    files = sorted(path for path in folder.rglob("*.pcap*"))
    frame = spark.read.format("flowpin").option("record", kind).load(str(folder))
    assert frame.rdd.getNumPartitions() == len(files)
    assert rows(frame.toArrow().to_pylist()) == expected([[path] for path in files], kind)
    assert frame.count() > 0 or kind == "dns"


def test_a_folder_is_one_group(spark, folder):
    groups = [sorted((folder / name).glob("*.pcap*")) for name in ("a", "b")]
    frames = flowpin.spark.analyse(spark, folder, ["conn"], group="folder", id_seed=7)
    assert rows(frames["conn"].toArrow().to_pylist()) == expected(groups, "conn", id_seed=7)


def test_patterns_options_and_all_kinds(spark, folder):
    frames = flowpin.spark.analyse(spark, [str(folder / "a" / "*.pcapng")], filter="port 53")
    assert {"conn", "http", "dns"} <= set(frames)
    files = [[path] for path in sorted((folder / "a").glob("*.pcapng"))]
    for kind in ("conn", "dns"):
        assert rows(frames[kind].toArrow().to_pylist()) == expected(files, kind, filter="port 53")
    assert frames["http"].count() == 0


def test_sums_are_those_of_the_rows(spark, folder):
    frame = spark.read.format("flowpin").load(str(folder))
    by_protocol = {row["proto"]: row["count"] for row in frame.groupBy("proto").count().collect()}
    files = sorted(folder.rglob("*.pcap*"))
    tables = [flowpin.read(str(path), "conn").to_arrow().to_pylist() for path in files]
    assert by_protocol == Counter(row["proto"] for table in tables for row in table)


def test_what_is_wrong_is_named(spark, folder, tmp_path):
    load = spark.read.format("flowpin")
    with pytest.raises(Exception, match="no capture is there"):
        load.load(str(tmp_path / "nothing")).count()
    with pytest.raises(Exception, match="htp"):
        spark.read.format("flowpin").option("record", "htp").load(str(folder)).count()
    with pytest.raises(flowpin.OptionError, match="by='file'"):
        flowpin.spark.analyse(spark, folder, by="packet")
    divided = [{"host_pairs": True}, {"count": 5}, {"extract": tmp_path}, {"pipeline": "1x2"}]
    for refused in divided:
        with pytest.raises(flowpin.OptionError, match="not with by='connection'"):
            flowpin.spark.analyse(spark, folder, by="connection", **refused)
    cut = tmp_path / "cut.pcapng"
    whole = (folder / "a" / "http.pcapng").read_bytes()
    cut.write_bytes(whole[:-10])
    accepted = spark.read.format("flowpin").load(str(cut)).count()
    assert accepted > 0
    with pytest.raises(Exception, match="cut.pcapng"):
        spark.read.format("flowpin").option("damaged", "fail").load(str(cut)).count()


def compared(spark, paths, kinds, **options):
    """The kinds that have rows, which are those of one run."""
    frames = flowpin.spark.analyse(spark, paths, kinds, by="connection", **options)
    for own in ("parts", "split_bytes"):
        options.pop(own, None)
    tables = flowpin.read([str(path) for path in paths], kinds, **options).to_arrow()
    for kind in kinds:
        assert rows(frames[kind].toArrow().to_pylist()) == rows(tables[kind].to_pylist()), kind
    return {kind for kind in kinds if tables[kind].num_rows}


def test_by_connection_all_captures_are_one_input(spark):
    """Packed and not, merged where they overlap, days apart; with FTP, tunnels, fragments, scans."""
    captures = sorted(path for path in CAPTURES.glob("*.pcap*"))
    kinds = ["conn", "http", "ftp", "tunnel", "scan", "weird"]
    assert compared(spark, captures, kinds, parts=4, split_bytes=40_000) == set(kinds)


@pytest.mark.parametrize("split_bytes", [60_000, 1 << 30])
def test_by_connection_a_generated_trace(spark, command, tmp_path, split_bytes):
    """Fragments, a tunnel and a scan in one capture, in splits of few packets and in one."""
    parts = {
        "mix": ["--tunnel", "vxlan", "--packets", "1500", "--ipv6", "0.3"],
        "fragments": ["--packets", "300"],
        "scan": ["--packets", "300"],
    }
    for name, more in parts.items():
        words = [command, "gen", name, "-w", tmp_path / f"{name}.pcap", "--no-truth", *more]
        subprocess.run([str(word) for word in words], check=True, capture_output=True)
    packets = flowpin.packets(str(tmp_path / "*.pcap"))
    with open(tmp_path / "all.pcap", "wb") as out:
        out.write(struct.pack("=IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, 1))
        for one in packets:
            seconds, rest = divmod(one.time_ns, 1_000_000_000)
            out.write(struct.pack("=IIII", seconds, rest, len(one.data), one.wire_len) + one.data)
    kinds = ["conn", "http", "tunnel", "scan"]
    whole = [tmp_path / "all.pcap"]
    found = compared(spark, whole, kinds, parts=3, split_bytes=split_bytes)
    assert found >= {"conn", "tunnel", "scan"}
