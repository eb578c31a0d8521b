"""A file system whose captures can only be read at the second try: for Spark's tasks.

Workers know it by the ``sitecustomize`` that :func:`make_known` writes.
"""

from __future__ import annotations

import hashlib
import os
import pathlib

import fsspec
from fsspec.implementations.local import LocalFileSystem
from pyspark import TaskContext


class Flaky(LocalFileSystem):
    """``flaky:///path``: each task's first attempt finds the file broken."""

    protocol = "flaky"

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return super()._strip_protocol(str(path).removeprefix("flaky://"))

    def unstrip_protocol(self, name: str) -> str:
        return f"flaky://{self._strip_protocol(name)}"

    def _open(self, path, mode="rb", block_size=None, **more):
        task = TaskContext.get()
        if task is not None and task.attemptNumber() == 0:
            name = f"{task.stageId()} {task.partitionId()} {path}"
            seen = hashlib.sha256(name.encode()).hexdigest()
            pathlib.Path(os.environ["FLAKY_FOLDER"], seen).touch()
            raise OSError("the network is down")
        return super()._open(path, mode, block_size, **more)


def make_known(folder: pathlib.Path) -> pathlib.Path:
    """Makes a folder that makes the file system known to each Python that has it in its path."""
    register = 'import fsspec\n\nfsspec.register_implementation("flaky", "flaky.Flaky")\n'
    (folder / "sitecustomize.py").write_text(register)
    fsspec.register_implementation("flaky", Flaky, clobber=True)
    return folder
