"""The Pythons of this machine that the package supports; `make test-pythons` runs the core's tests on each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("python3.11", "python3.12", "python3.13")
ROOT = Path(__file__).parents[1]


def pythons() -> list[str]:
    """An interpreter of each version that this machine has. A version manager's name may stand for none."""
    managed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = []
    for name in NAMES:
        places = [shutil.which(name), *(str(path) for path in sorted(managed.glob(f"*/bin/{name}")))]
        runs = (
            place
            for place in places
            if place and subprocess.run([place, "-c", ""], capture_output=True).returncode == 0
        )
        found += [next(runs, "")]
    return [python for python in found if python] or [sys.executable]


def others(found: list[str]) -> list[str]:
    """Those of other versions than the Python that runs this; the versions that are not found are said."""
    for name in NAMES:
        if not any(Path(python).name == name for python in found):
            print(f"{name} is not found here: skipped", flush=True)
    own = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return [python for python in found if Path(python).name not in (own, Path(sys.executable).name)]


def main() -> int:
    """Run the core's tests on each, in an environment of its own; the number of Pythons on which they fail.

    `--others` leaves out the version that runs this, on which `make test` has run them; pytest gets what else is given.
    """
    failed = 0
    options = sys.argv[1:]
    found = pythons()
    print(f"found {len(found)} of {len(NAMES)}: {', '.join(found)}", flush=True)
    if "--others" in options:
        options.remove("--others")
        found = others(found)
    for python in found:
        room = ROOT / ".venvs" / Path(python).name
        own = room / "bin" / "python"
        if not own.exists():
            subprocess.run([python, "-m", "venv", str(room)], check=True)
        pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-e", f"{ROOT}[test]"]
        subprocess.run([str(own), *pip], check=True)
        print(f"{Path(python).name}:", flush=True)
        tests = ["-m", "pytest", "-n", "auto", "--dist", "loadfile", *options]
        failed += subprocess.run([str(own), *tests], cwd=ROOT).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
