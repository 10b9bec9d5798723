"""Real rows by the way of the hub are the same questions as by the way of local files."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evals.datasets.base import LoadOptions
from evals.datasets.registry import get_loader

ROOT = Path(__file__).resolve().parents[2]
DATA = os.environ.get("EVALS_REAL_DATA")
pytestmark = [
    pytest.mark.real_rows,
    pytest.mark.skipif(DATA is None, reason="EVALS_REAL_DATA names no folder of real rows"),
]
NAMES = ["squad_v2", "hotpotqa", "msmarco", "qasper", "ragbench"]
SCRIPT = """
import json, sys
from pathlib import Path
from evals.datasets.base import LoadOptions
from evals.datasets.registry import get_loader
for name in sys.argv[2:]:
    for samples in (None, 7):
        dataset = get_loader(name).load(LoadOptions(samples=samples, data_dir=Path(sys.argv[1])))
        print(json.dumps([name, samples, dataset.fingerprint.model_dump()]))
"""


def clone_ragbench(rows: Path, folder: Path) -> None:
    """Lay the rows of our own layout out as the hub's repository: a card with configs, and the files."""
    clone = folder / "galileo-ai__ragbench"
    card = ["---", "configs:"]
    for path in sorted((rows / "ragbench").glob("*/test-*.parquet")):
        subset = path.parent.name
        (clone / subset).mkdir(parents=True)
        (clone / subset / path.name).symlink_to(path)
        card += [f"- config_name: {subset}", "  data_files:", "  - split: test", f"    path: {subset}/test-*"]
    (clone / "README.md").write_text("\n".join([*card, "---", ""]), encoding="utf-8")


@pytest.fixture(scope="module")
def by_hub(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int | None], dict[str, Any]]:
    """The fingerprints of all datasets as the library loads them, in a process with empty caches and no network."""
    home = tmp_path_factory.mktemp("hub")
    folder = home / "clones"
    folder.mkdir()
    for clone in (Path(DATA or "") / "hub").iterdir():
        (folder / clone.name).symlink_to(clone.resolve(), target_is_directory=True)
    clone_ragbench((Path(DATA or "") / "hf").resolve(), folder)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{free.getsockname()[1]}"
    caches = {name: str(home / name) for name in ("HF_HOME", "HF_DATASETS_CACHE", "HF_HUB_CACHE")}
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, str(folder), *NAMES],
        cwd=ROOT,
        env={**inherited, **caches, "HF_ENDPOINT": dead, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {(name, samples): fingerprint for name, samples, fingerprint in lines}


@pytest.mark.slow
@pytest.mark.parametrize("samples", [None, 7])
@pytest.mark.parametrize("name", NAMES)
def test_a_clone_gives_the_same_questions_as_local_files(
    by_hub: dict[tuple[str, int | None], dict[str, Any]], name: str, samples: int | None
) -> None:
    """Questions, gold and what was dropped do not depend on the library that reads the rows; the source does."""
    options = LoadOptions(samples=samples, data_dir=Path(DATA or "") / "hf")
    by_files = get_loader(name).load(options).fingerprint.model_dump()
    cloned = dict(by_hub[name, samples])
    assert "(local clone)" in cloned.pop("source")
    assert "(local files)" in by_files.pop("source")
    assert cloned == by_files
