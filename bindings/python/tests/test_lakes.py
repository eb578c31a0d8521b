"""Records in tables of Iceberg and of Delta Lake, on a version of Spark that both work with."""

import pytest
from conftest import CAPTURES, sorted_rows

pyspark = pytest.importorskip("pyspark")
pytestmark = [
    pytest.mark.filterwarnings("default"),
    pytest.mark.skipif(not pyspark.__version__.startswith("4.1."), reason="made for Spark 4.1"),
]

import cluster  # noqa: E402
import flowpin  # noqa: E402
import flowpin.spark  # noqa: E402


JARS = [
    "io.delta:delta-spark_4.1_2.13:4.1.0",
    "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0",
]


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lakes")
    extensions = [
        "io.delta.sql.DeltaSparkSessionExtension",
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    ]
    own = {
        "spark.jars.packages": ",".join(JARS),
        "spark.sql.extensions": ",".join(extensions),
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": folder / "iceberg",
        "spark.sql.warehouse.dir": folder / "delta",
    }
    with cluster.local_cluster(**own) as session:
        yield session


@pytest.mark.parametrize("by", ["file", "connection"])
def test_records_lie_in_tables(spark, by, tmp_path):
    path = str(CAPTURES / "lab-day.pcapng")
    frames = flowpin.spark.analyse(spark, path, ["conn", "dns"], by=by)
    for kind in ("conn", "dns"):
        expected = sorted_rows(flowpin.read(path, kind).to_arrow())
        frames[kind].write.format("delta").mode("overwrite").save(str(tmp_path / kind))
        delta = spark.read.format("delta").load(str(tmp_path / kind))
        assert sorted_rows(delta.toArrow()) == expected
        frames[kind].writeTo(f"lake.flows.{kind}").createOrReplace()
        assert sorted_rows(spark.table(f"lake.flows.{kind}").toArrow()) == expected
        assert expected
