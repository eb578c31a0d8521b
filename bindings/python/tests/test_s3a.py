"""Captures in S3 and records there: on a server of this machine."""

import os
import pathlib
import subprocess
import sys

import pytest
from conftest import CAPTURES, sorted_rows

pytest.importorskip("pyspark")
s3fs = pytest.importorskip("s3fs")
pytest.importorskip("moto")
pytestmark = pytest.mark.filterwarnings("default")

import cluster  # noqa: E402
import flowpin  # noqa: E402
import flowpin.spark  # noqa: E402

#: Of the Hadoop that Spark 4.3 brings.
HADOOP_AWS = "org.apache.hadoop:hadoop-aws:3.5.0"
WHO = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}


@pytest.fixture(scope="module")
def server():
    """Where the server is; it has some captures."""
    port = cluster.free_port()
    program = pathlib.Path(sys.executable).with_name("moto_server")
    words = [program, "-H", "127.0.0.1", "-p", port]
    process = subprocess.Popen([str(word) for word in words], stderr=subprocess.DEVNULL)
    try:
        cluster.wait_for(lambda: cluster.is_open(port))
        url = f"http://127.0.0.1:{port}"
        os.environ.update(WHO, AWS_ENDPOINT_URL=url, AWS_REGION="us-east-1")
        files = s3fs.S3FileSystem()
        files.mkdir("captures")
        for name in ("http.pcapng", "http-go.pcap.gz", "dns.pcapng"):
            files.put(str(CAPTURES / name), f"captures/day/{name}")
        yield url
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def spark(server):
    own = {
        "spark.jars.packages": HADOOP_AWS,
        "spark.hadoop.fs.s3a.endpoint": server,
        "spark.hadoop.fs.s3a.access.key": "testing",
        "spark.hadoop.fs.s3a.secret.key": "testing",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
    }
    for name, value in os.environ.items():
        if name.startswith("AWS_"):
            own[f"spark.executorEnv.{name}"] = value
    with cluster.local_cluster(**own) as session:
        flowpin.spark.register(session)
        yield session


def test_captures_are_read_where_they_are(spark):
    load = spark.read.format("flowpin").option("record", "http")
    found = load.load("s3a://captures/day/*.pcap*").toArrow()
    names = ["dns.pcapng", "http-go.pcap.gz", "http.pcapng"]
    tables = [flowpin.read(str(CAPTURES / name), "http").to_arrow() for name in names]
    assert sorted_rows(found) == sorted(row for one in tables for row in sorted_rows(one))
    assert found.num_rows


def test_records_are_written_there(spark):
    options = {"by": "connection", "parts": 2, "split_bytes": 100_000}
    frames = flowpin.spark.analyse(spark, "s3a://captures/day", ["conn"], **options)
    frames["conn"].write.mode("overwrite").parquet("s3a://captures/records/conn")
    found = spark.read.parquet("s3a://captures/records/conn").toArrow()
    names = ["dns.pcapng", "http-go.pcap.gz", "http.pcapng"]
    whole = flowpin.read([str(CAPTURES / name) for name in names], "conn").to_arrow()
    assert sorted_rows(found) == sorted_rows(whole)
