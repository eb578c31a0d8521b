"""Spark's data frames hold the rows of flowpin.read on the same files."""

import shutil
from collections import Counter

import pytest
from conftest import CAPTURES

pytest.importorskip("pyspark")
pytestmark = pytest.mark.filterwarnings("default")

import cluster  # noqa: E402
import flowpin  # noqa: E402
import flowpin.spark  # noqa: E402


@pytest.fixture(scope="module")
def spark():
    with cluster.local_cluster() as session:
        flowpin.spark.register(session)
        yield session


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


def test_rules_of_several_files(spark, folder, tmp_path, monkeypatch):
    texts = ['alert dns any any -> any any (msg:"asks"; sid:1;)']
    texts.append('alert tcp $OF any -> any any (msg:"opens"; flags:S,12; sid:2;)')
    for nth, text in enumerate(texts):
        (tmp_path / f"{nth}.rules").write_text(text)
    # Tasks run elsewhere: paths are those of whoever asks.
    monkeypatch.chdir(tmp_path)
    options = {"rules": ["0.rules", "1.rules"], "var": {"OF": "0.0.0.0/0"}}
    frames = flowpin.spark.analyse(spark, folder, ["alert"], damaged="fail", **options)
    found = rows(frames["alert"].toArrow().to_pylist())
    files = [[path] for path in sorted(folder.rglob("*.pcap*"))]
    assert found == expected(files, "alert", **options)
    assert {1, 2} <= {row["sid"] for row in frames["alert"].select("sid").distinct().collect()}


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
    undivided = {"count": 5, "extract": tmp_path, "pipeline": "1x2", "stats": "s", "write": "w"}
    for name, value in [*undivided.items(), ("interface", "lo")]:
        line = f"^{name}: not with by='connection', as "
        with pytest.raises(flowpin.OptionError, match=line) as raised:
            flowpin.spark.analyse(spark, folder, by="connection", **{name: value})
        assert raised.value.place == name and "\n" not in str(raised.value)
    grammar = flowpin.Grammar('%protocol x\n%identify client "^X"\n%%\nX { return X; }\n')
    for by in ("file", "connection"):
        with pytest.raises(flowpin.OptionError, match="^grammar: .* name a file"):
            flowpin.spark.analyse(spark, folder, ["conn"], by=by, grammar=grammar)
    cut = tmp_path / "cut.pcapng"
    whole = (folder / "a" / "http.pcapng").read_bytes()
    cut.write_bytes(whole[:-10])
    accepted = spark.read.format("flowpin").load(str(cut)).count()
    assert accepted > 0
    with pytest.raises(Exception, match="cut.pcapng"):
        spark.read.format("flowpin").option("damaged", "fail").load(str(cut)).count()
