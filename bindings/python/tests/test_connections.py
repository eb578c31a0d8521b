"""By connection, Spark's data frames hold the rows of the command's Parquet files, whatever happens
to the machines on the way."""

import os
import pathlib
import struct
import threading
import warnings
from datetime import timedelta

import pytest
from conftest import CAPTURES, dns_queries, sorted_rows

pytest.importorskip("pyspark")
pytest.importorskip("fsspec")
pytestmark = pytest.mark.filterwarnings("default")

import cluster  # noqa: E402
import flaky  # noqa: E402
import flowpin  # noqa: E402
import flowpin.spark  # noqa: E402
import pyarrow.parquet  # noqa: E402
from captures import generate, joined, write_pcap  # noqa: E402

SHARED = os.environ.get("FLOWPIN_SHARED", str(CAPTURES.parents[2] / "shared"))
CORPUS = pathlib.Path(SHARED, "corpus")


@pytest.fixture(scope="module", params=["local-cluster", "standalone"])
def spark(request, tmp_path_factory):
    """Tasks are started twice where one seems slow, and read again what they had read."""
    folder = tmp_path_factory.mktemp("spark")
    often = {
        "spark.speculation": "true",
        "spark.speculation.interval": "20ms",
        "spark.speculation.quantile": "0.1",
        "spark.speculation.multiplier": "1.01",
        "spark.speculation.minTaskRuntime": "10ms",
        "spark.executorEnv.FLAKY_FOLDER": str(folder),
        # An executor that is killed is no reason to give up.
        "spark.deploy.maxExecutorRetries": "-1",
    }
    often["modules"] = [flaky.make_known(folder)]
    start = {
        "local-cluster": cluster.local_cluster,
        "standalone": lambda **more: cluster.standalone(folder, cores=2, **more),
    }[request.param]
    with start(**often) as session:
        session.flaky_folder = folder
        yield session


@pytest.fixture
def compare(spark, run):
    """Compares what Spark has with the files of one run; gives the kinds that have rows."""

    def compare(paths, parts=3, split_bytes=1 << 20, urls=None, during=None, **more):
        own = {"parts": parts, "split_bytes": split_bytes, "slice": more.pop("slice", None)}
        named = [word for path in paths for word in ("-r", path)]
        folder = run(*named, *[word for pair in more.items() for word in option(*pair)])
        files = {file.stem: file for file in folder.glob("*.parquet")}
        kinds = ["conn", "weird", *sorted({*files} - {"conn", "weird"})]
        with warnings.catch_warnings():
            warnings.simplefilter("error", flowpin.CapWarning)
            start = urls or [str(path) for path in paths]
            frames = analysed(spark, start, kinds, during, {**own, **more})
        for kind in kinds:
            one_run = pyarrow.parquet.read_table(files[kind]) if kind in files else None
            expected = sorted_rows(one_run) if one_run else []
            found = sorted_rows(frames[kind].toArrow())
            # Not by pytest's comparison, which would take minutes to say how they differ.
            same = found == expected
            assert same, f"{kind}: {len(found)} rows, of {len(expected)}; {first(found, expected)}"
        return {*files}

    return compare


def option(name, value):
    word = f"--{name.replace('_', '-')}"
    return [word] if value is True else [word, value]


def analysed(spark, paths, kinds, during, options):
    if during is None:
        return flowpin.spark.analyse(spark, paths, kinds, by="connection", **options)
    ready = threading.Thread(target=during, args=[spark])
    ready.start()
    try:
        return flowpin.spark.analyse(spark, paths, kinds, by="connection", **options)
    finally:
        ready.join()


def first(found, expected):
    only = (set(found) - set(expected), set(expected) - set(found))
    return [min(rows, default=None) for rows in only]


def in_l2tp(capture):
    """The IPv4 packets of a capture as an access concentrator hands them on (RFC 2661, 1661)."""
    for one in flowpin.packets(str(capture)):
        if one.data[12:14] != b"\x08\x00" or len(one.data) != one.wire_len:
            continue
        inner = struct.pack("!HHHBBH", 0x0002, 7, 9, 0xFF, 0x03, 0x0021) + one.data[14:]
        udp = struct.pack("!HHHH", 1701, 1701, 8 + len(inner), 0) + inner
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0)
        ip += bytes([192, 0, 2, 1, 192, 0, 2, 2])
        yield one.time_ns, bytes(12) + b"\x08\x00" + ip + udp


@pytest.fixture
def much(command, tmp_path):
    """Services, a tunnel, fragments and a scan in one capture."""
    parts = [
        ["mix", "--packets", 4000, "--ipv6", "0.3", "--loss", "0.02", "--reset", "0.1"],
        ["mix", "--tunnel", "gre", "--packets", 1000, "--seed", 2],
        ["fragments", "--packets", 600],
        ["scan", "--packets", 600],
    ]
    made = [generate(command, tmp_path / f"{n}.pcap", *one) for n, one in enumerate(parts)]
    return joined(tmp_path / "all.pcap", made)


@pytest.mark.parametrize(
    "words",
    [
        ["http", "--packets", 6000, "--packet-len", 500, "--chunked", "0.1", "--reorder", "0.02"],
        ["fix", "--packets", 4000, "--vlan", 7],
        ["mix", "--packets", 4000, "--ipv6", "0.4", "--loss", "0.02", "--duplicate", "0.02"],
    ],
    ids=["http", "fix", "mix"],
)
def test_generated_traces(compare, command, tmp_path, words):
    assert "conn" in compare([generate(command, tmp_path / "t.pcap", *words)], split_bytes=200_000)


@pytest.mark.parametrize("kind", ["vxlan", "gre"])
def test_tunnels(compare, command, tmp_path, kind):
    words = ["mix", "--packets", 3000, "--tunnel", kind, "--ipv6", "0.2"]
    assert "tunnel" in compare([generate(command, tmp_path / "t.pcap", *words)])


def test_l2tp(compare, command, tmp_path):
    inside = generate(command, tmp_path / "t.pcap", "http", "--packets", 2000)
    path = write_pcap(tmp_path / "l2tp.pcap", in_l2tp(inside))
    assert {"conn", "http", "tunnel"} <= compare([path], checksums="none")


def test_fragments_and_scans(compare, command, tmp_path):
    paths = [
        generate(command, tmp_path / "f.pcap", "fragments", "--packets", 2000),
        generate(command, tmp_path / "s.pcap", "scan", "--packets", 3000),
    ]
    assert "scan" in compare(paths, split_bytes=100_000)


def test_packets_that_are_shorter_than_a_look_behind_a_split(compare, tmp_path):
    def packets():
        for number in range(2000):
            udp = struct.pack("!HHHH", 1024 + number // 4, 9, 8, 0)
            ip = struct.pack("!BBHHHBBH", 0x45, 0, 28, 0, 0, 64, 17, 0)
            ip += bytes([10, 0, 0, 1, 10, 0, 0, 2])
            yield number * 1_000_000, bytes(12) + b"\x08\x00" + ip + udp

    path = write_pcap(tmp_path / "short.pcap", packets())
    assert "conn" in compare([path], split_bytes=10_000, checksums="none")


def test_pcapng_in_splits(compare, command, tmp_path):
    path = generate(command, tmp_path / "t.pcapng", "mix", "--packets", 5000)
    assert "conn" in compare([path], split_bytes=100_000)


def test_bundled_captures_as_one_input(compare):
    captures = sorted(CAPTURES.glob("*.pcap*"))
    assert {"conn", "ftp", "http", "scan", "tunnel"} <= compare(captures, split_bytes=40_000)


RULES = """
alert tcp any any -> any any (msg:"opens"; flags:S,12; threshold:type both,track by_src,count 3,\
seconds 5; sid:1;)
alert tcp any any -> any any (msg:"many"; flags:S,12; detection_filter:track by_dst,count 4,\
seconds 60; sid:2;)
alert udp any any -> any any (msg:"was here"; xbits:set,here,track ip_src,expire 864000; noalert; \
sid:3;)
alert tcp any any -> any any (msg:"again"; flags:S,12; xbits:isset,here,track ip_src; sid:4;)
alert dns any any -> any any (msg:"name"; dns.query; dataset:set,names,type string; sid:5;)
alert dns any any -> any any (msg:"known"; dns.query; dataset:isset,names,type string; sid:6;)
alert http any any -> any any (msg:"method"; http.method; content:"GET"; sid:7;)
alert tcp any any -> any any (msg:"stream"; flow:established,to_server; content:"HTTP/1."; sid:9;)
"""


@pytest.mark.parametrize("slice", [None, timedelta(days=60)])
def test_rules_and_host_pairs(compare, tmp_path, slice):
    rules = tmp_path / "mine.rules"
    rules.write_text(RULES)
    captures = sorted(CAPTURES.glob("*.pcap*"))
    options = {"rules": rules, "host_pairs": True, "alert_packet": True, "slice": slice}
    assert {"alert", "host_pairs", "ftp"} <= compare(captures, split_bytes=40_000, **options)
    # The name of the capture is in the alerts of one.
    day = [CAPTURES / "lab-day.pcapng"]
    assert {"alert", "host_pairs"} <= compare(day, split_bytes=20_000, **options)


def test_the_mix_of_the_corpus(compare):
    mix = CORPUS / "mix" / "mix-dev.pcap"
    if not mix.exists():
        pytest.skip("the corpus is not there (FLOWPIN_SHARED)")
    assert "conn" in compare([mix], parts=4, split_bytes=4 << 20)


def test_tunnels_of_the_corpus(compare):
    if not CORPUS.is_dir():
        pytest.skip("the corpus is not there (FLOWPIN_SHARED)")
    names = [*CORPUS.glob("pcaps/*/Test/CaptureFiles/l2tp.pcap")]
    names += CORPUS.glob("zeek/testing/btest/Traces/tunnels/gre-*.pcap")
    assert "tunnel" in compare(sorted(names), checksums="none")


@pytest.mark.parametrize("seconds", [0.7, 2.0, 4.0])
def test_an_executor_is_killed(compare, much, seconds):
    killed = []

    def kill(spark):
        cluster.wait_for(lambda: cluster.executors(spark))
        threading.Event().wait(seconds)
        killed.append(cluster.kill_one(spark))

    assert "scan" in compare([much], split_bytes=60_000, during=kill)
    assert killed


def test_every_task_fails_once(compare, spark, much):
    assert "scan" in compare([much], split_bytes=60_000, urls=[f"flaky://{much}"])
    assert len([name for name in spark.flaky_folder.iterdir() if len(name.name) == 64]) > 10


@pytest.mark.parametrize("seconds", [3, 7, 60, 86_400])
def test_slices_of_time(compare, much, seconds):
    slice = timedelta(seconds=seconds)
    assert "scan" in compare([much], split_bytes=60_000, slice=slice)


def test_slices_of_months(compare):
    captures = sorted(CAPTURES.glob("*.pcap*"))
    assert "ftp" in compare(captures, split_bytes=40_000, slice=timedelta(days=60))


def test_an_executor_is_killed_in_a_slice(compare, much):
    def kill(spark):
        threading.Event().wait(3)
        cluster.kill_one(spark)

    assert "scan" in compare([much], slice=timedelta(seconds=5), during=kill)


def test_limits_that_connections_share_are_told(spark, tmp_path):
    queries = write_pcap(tmp_path / "q.pcap", dns_queries(60_000, 1e-5))
    options = {"memory": "16MiB", "checksums": "none", "scans": False}
    with pytest.warns(flowpin.CapWarning, match="connections_evicted"):
        flowpin.spark.analyse(spark, str(queries), ["conn"], by="connection", parts=2, **options)


def test_what_needs_no_warning_gets_none(spark):
    with warnings.catch_warnings():
        warnings.simplefilter("error", flowpin.CapWarning)
        paths = [str(CAPTURES / "http.pcapng")]
        flowpin.spark.analyse(spark, paths, ["conn"], by="connection", parts=2)
