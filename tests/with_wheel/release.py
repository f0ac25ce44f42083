"""`make release-check`: builds the sdist and the wheel, checks what they hold and say, installs both, runs the demo.

Every Python of noxfile.py that is found gets an empty environment for each of the two. What was checked is left in
out/dist, ready to be uploaded.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from pathlib import Path

from noxfile import PYTHONS

ROOT = Path(__file__).parents[2]
DIST = ROOT / "out" / "dist"
# Beside the modules; what each is for stands in setup.cfg
MUST = (
    "agentscope_tuner/py.typed",
    "agentscope_tuner/cli/starters/math/judge.yaml",
    "agentscope_tuner/lab/demo_rollouts/math.jsonl",
    "agentscope_tuner/lab/view/static/app.js",
    "agentscope_tuner/service/openapi.yaml",
)
NEVER = ("tests/", "benchmarks/", "docs/", "__pycache__", ".pyc", ".env", "node_modules")
NAMED = ("Name", "Version", "Summary", "License", "Requires-Python", "Description-Content-Type")


def run(*words: str | Path, cwd: Path = ROOT) -> str:
    done = subprocess.run([*map(str, words)], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def held(artifact: Path) -> dict[str, bytes]:
    """The files of a wheel or an sdist, without the sdist's own folder."""
    if artifact.suffix == ".whl":
        with zipfile.ZipFile(artifact) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist()}
    with tarfile.open(artifact) as sdist:
        files = {member.name.partition("/")[2]: sdist.extractfile(member) for member in sdist if member.isfile()}
        return {name: stream.read() for name, stream in files.items() if stream is not None}


def problems(name: str, files: dict[str, bytes], modules: set[str]) -> Iterator[str]:
    yield from (f"{name} lacks {wanted}" for wanted in sorted({*MUST, *modules} - files.keys()))
    yield from (f"{name} holds {file}" for file in files if any(part in file for part in NEVER))
    if not any(file.endswith("LICENSE") for file in files):
        yield f"{name} lacks the licence"
    metadata = told(files)
    yield from (f"{name}: the metadata have no {key}" for key in NAMED if not metadata[key])
    version = (ROOT / "agentscope_tuner" / "_version.py").read_text(encoding="utf-8")
    if f'"{metadata["Version"]}"' not in version:
        yield f"{name} is of version {metadata['Version']!r}, and agentscope_tuner/_version.py says {version!r}"


def told(files: dict[str, bytes]) -> Message:
    return message_from_bytes(next(files[name] for name in files if name.endswith(("METADATA", "PKG-INFO"))))


def check_installed(python: str, artifact: Path) -> str:
    """Install an artifact into an empty environment, and run the demo there."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        run(python, "-m", "venv", here / "env")
        programs = here / "env" / "bin"
        run(programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", artifact, cwd=here)
        run(programs / "astuner", "demo", "--output", "shown", cwd=here)
        run(programs / "python", "-m", "pip", "check", cwd=here)
        return run(programs / "astuner", "--version", cwd=here).strip()


def main() -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST)
    artifacts = sorted(DIST.iterdir())
    print(run(sys.executable, "-m", "twine", "check", "--strict", *artifacts))
    modules = set(run("git", "ls-files", "agentscope_tuner/*.py").split())
    found = [problem for path in artifacts for problem in problems(path.name, held(path), modules)]
    if found or len(artifacts) != 2:
        raise SystemExit("\n".join(found) or f"a wheel and an sdist were to be built, got {artifacts}")
    for name, python in PYTHONS.items():
        for path in artifacts:
            print(f"{name}: {path.name} {check_installed(python, path)}: installed, the demo runs")


if __name__ == "__main__":
    main()
