"""Spark's clusters for tests, on this machine: each ends with its context."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pyspark
from pyspark.sql import SparkSession

HERE = pathlib.Path(__file__).resolve().parent
HOME = pathlib.Path(pyspark.__file__).resolve().parent


SPARKS_OWN = [
    "com.google.code.findbugs:jsr305",
    "org.apache.logging.log4j:log4j-1.2-api",
    "org.apache.logging.log4j:log4j-api",
    "org.apache.logging.log4j:log4j-core",
    "org.apache.logging.log4j:log4j-slf4j2-impl",
    "org.slf4j:slf4j-api",
]


def session(master: str, modules: Sequence[pathlib.Path] = (), **more: object) -> SparkSession:
    """A session whose workers find the package and the tests' modules where the driver does."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_HOME"] = str(HOME)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "1g",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(map(str, [*modules, HERE, *sys.path])),
        "spark.sql.session.timeZone": "UTC",
        # Spark has these, and Maven's own store on a machine may have them in part.
        "spark.jars.excludes": ",".join(SPARKS_OWN),
        "spark.jars.ivy": str(HERE.parents[2] / "target/ivy"),
        # Tests have little to sort.
        "spark.sql.shuffle.partitions": "4",
    }
    settings.update({name: str(value) for name, value in more.items()})
    builder = SparkSession.builder.master(master).appName("flowpin")
    for name, value in settings.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made


@contextlib.contextmanager
def local_cluster(**more: Any) -> Iterator[SparkSession]:
    """Two workers in processes of their own, whose master is the driver's."""
    made = session("local-cluster[2,1,1024]", **more)
    try:
        yield made
    finally:
        made.stop()


@contextlib.contextmanager
def standalone(
    folder: pathlib.Path, cores: int = 1, workers: int = 2, **more: Any
) -> Iterator[SparkSession]:
    """A master and workers, each a process, as they would be on machines of their own."""
    started: list[subprocess.Popen[bytes]] = []

    def start(name: str, *words: object) -> None:
        command = [HOME / "bin/spark-class", f"org.apache.spark.deploy.{name}", *words]
        environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(HOME)}
        environment["SPARK_WORKER_DIR"] = str(folder / str(len(started)))
        with open(folder / f"{len(started)}.log", "wb") as log:
            started.append(
                subprocess.Popen(
                    [str(word) for word in command], stdout=log, stderr=log, env=environment
                )
            )

    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    place = ["--host", "127.0.0.1", "--webui-port", 0]
    try:
        start("master.Master", *place, "--port", port)
        wait_for(lambda: is_open(port))
        for _ in range(workers):
            start("worker.Worker", *place, "--cores", cores, "--memory", "1g", url)
        log = folder / "0.log"
        wait_for(lambda: log.read_text().count("Registering worker") == workers)
        made = session(url, **more)
        try:
            yield made
        finally:
            made.stop()
    finally:
        for process in reversed(started):
            process.terminate()
        for process in started:
            process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(is_so, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.05)


def executors(spark: SparkSession) -> list[int]:
    """The processes of a session's executors."""
    application = spark.sparkContext.applicationId
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
                is_one = "org.apache.spark.executor.CoarseGrainedExecutorBackend" in words
                if is_one and application in words:
                    found.append(int(folder.name))
    return sorted(found)


def kill_one(spark: SparkSession) -> int:
    """Kills an executor, as a machine that fails would."""
    victim = executors(spark)[0]
    os.kill(victim, signal.SIGKILL)
    return victim
