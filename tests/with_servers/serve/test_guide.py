"""The guide's code runs as it stands, against a real service."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import yaml

from benchmarks.scale.served import Served

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs/service.md").read_text(encoding="utf-8")
CODE = "\n".join(re.findall(r"^```python\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE))


def test_the_guides_code_runs() -> None:
    assert CODE.count("assert") >= 5
    task_judge = yaml.safe_load((ROOT / "configs/math.yaml").read_text(encoding="utf-8"))["astuner"]["task_judge"]
    with Served(task_judge) as served:
        code = CODE.replace("127.0.0.1:8000", f"127.0.0.1:{served.port}")
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
