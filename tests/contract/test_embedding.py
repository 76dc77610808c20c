"""The example of `docs/embedding.md` is a program that runs as it stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_example_runs_and_says_what_the_page_promises(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "embedding.md").read_text(encoding="utf-8")
    program = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert program is not None
    (tmp_path / "papyrus.py").write_text(program[1], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "papyrus.py"],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    bound = re.search(r"Evaluate \(up to (\d+) model requests\)", done.stdout)
    assert bound is not None
    assert int(bound[1]) > 0
    assert f"(the lease of press begins; ceiling: {bound[1]})" in done.stdout
    assert done.stdout.count("lease of press begins") == done.stdout.count("the lease ends") == 4
    assert done.stdout.splitlines()[-3:] == [
        "A rival asks: record-not-found",
        "A rival asks: record-not-found",
        "A stranger asks: not-allowed",
    ]
