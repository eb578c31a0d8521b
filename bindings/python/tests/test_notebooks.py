"""The notebooks run from their first cell to their last, and what they assert is true."""

from __future__ import annotations

import json
import pathlib

import pytest

NOTEBOOKS = pathlib.Path(__file__).resolve().parents[1] / "notebooks"


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs(path, monkeypatch):
    for module in ["duckdb", "pandas", "polars"]:
        pytest.importorskip(module)
    monkeypatch.chdir(NOTEBOOKS)
    cells = json.loads(path.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(code) >= 3
    names: dict[str, object] = {"__name__": path.stem}
    for number, text in enumerate(code, 1):
        exec(compile(text, f"{path.name}, code cell {number}", "exec"), names)
    assert not any(cell.get("outputs") for cell in cells), "outputs are not committed"
