"""The content of `/metrics`, in Prometheus' text format."""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Mapping, Sequence
from functools import partial
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from agentscope_tuner.errors import Cause
from agentscope_tuner.records.scored_rows import MARKS
from agentscope_tuner.service.admission import Gate
from agentscope_tuner.task_judge.contract.judgement import Judgement, Status

# Seconds: from rules and string comparison to reasoning judge models
_BUCKETS = (0.0001, 0.001, 0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
WIRE_NAMES = ("native", "openrlhf", "nemo_gym", "slime")
# The kinds of tokens in the metrics of a judge model's verdicts
_TOKENS = ("prompt", "completion", "cached")


class ServiceMetrics:
    """The counts that `/metrics` shows, with a Prometheus registry of its own; `gate` gives the current requests."""

    def __init__(self, gate: Gate) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        counter = partial(Counter, registry=registry)
        histogram = partial(Histogram, buckets=_BUCKETS, registry=registry)
        gauge = partial(Gauge, registry=registry)
        self.requests = counter("astuner_requests", "Requests answered.", ("judge", "wire", "code"))
        took = "From a request's first byte to its answer."
        self.request_seconds = histogram("astuner_request_seconds", took, ("judge", "wire"))
        self.verdicts = counter("astuner_verdicts", "Rows by status: judged, filtered or failed.", ("judge", "status"))
        self.failures = counter("astuner_failures", "Failed rows by what has to be fixed.", ("judge", "cause"))
        marked = "Rows of 0.0 whose answer was not found wrong, but unread or undecided."
        self.marks = counter("astuner_marked", marked, ("judge", "mark"))
        self.verdict_seconds = histogram("astuner_verdict_seconds", "What a verdict took.", ("judge",))
        self.calls = counter("astuner_llm_calls", "Calls of judge models whose verdicts were reached.", ("judge",))
        self.hits = counter("astuner_llm_cache_hits", "Replies taken from the verdict cache.", ("judge",))
        self.tokens = counter("astuner_llm_tokens", "Tokens of those calls.", ("judge", "kind"))
        self.cost = counter("astuner_llm_cost", "Price of those calls, where prices are configured.", ("judge",))
        gauge("astuner_queue", "Requests that wait for a slot.").set_function(lambda: gate.waiting)
        gauge("astuner_in_flight", "Requests being judged.").set_function(lambda: gate.running)
        gauge("astuner_draining", "1 once the service was told to end.").set_function(lambda: gate.draining)

    def text(self) -> bytes:
        """All metrics, in Prometheus' text format."""
        text: bytes = generate_latest(self._registry)
        return text


class JudgeMetrics:
    """Counts the requests and verdicts of one judge in the service's metrics.

    Prometheus' labels are looked up once, because a look-up takes longer than a count.

    Args:
        of: the service's metrics.
        judge: the judge's name.
    """

    def __init__(self, of: ServiceMetrics, judge: str) -> None:
        self._of = of
        self._judge = judge
        self._verdicts = {status: of.verdicts.labels(judge, status) for status in get_args(Status)}
        self._failures = {cause: of.failures.labels(judge, cause) for cause in Cause}
        self._marks = {mark: of.marks.labels(judge, mark) for mark in MARKS}
        self._verdict_seconds = of.verdict_seconds.labels(judge)
        self._request_seconds = {wire: of.request_seconds.labels(judge, wire) for wire in WIRE_NAMES}

    def request(self, wire: str, code: int, seconds: float) -> None:
        """Count an answered request.

        Args:
            wire: the wire format, one of `WIRE_NAMES`.
            code: the HTTP status of the answer.
            seconds: the time from the request's first byte to its answer.
        """
        self._of.requests.labels(self._judge, wire, code).inc()
        self._request_seconds[wire].observe(seconds)

    def verdicts(self, judgements: Sequence[Judgement]) -> None:
        """Count verdicts by status and cause, with their seconds and what judge models used for them."""
        spent: dict[str, float] = {}
        for status, count in Counts(judgement.status for judgement in judgements).items():
            self._verdicts[status].inc(count)
        for judgement in judgements:
            if judgement.cause is not None:
                self._failures[judgement.cause].inc()
            self._verdict_seconds.observe(judgement.seconds)
            for name, value in judgement.metrics.items():
                # A custom judge's numbers may be negative; a counter's may not
                spent[name] = spent.get(name, 0.0) + max(0.0, value)
        for mark, counter in self._marks.items():
            counter.inc(spent.get(mark, 0.0))
        if "judge_calls" in spent:
            self._count(spent)

    def _count(self, spent: Mapping[str, float]) -> None:
        self._of.calls.labels(self._judge).inc(spent["judge_calls"])
        self._of.hits.labels(self._judge).inc(spent.get("judge_cache_hits", 0.0))
        for kind in _TOKENS:
            self._of.tokens.labels(self._judge, kind).inc(spent.get(f"judge_{kind}_tokens", 0.0))
        if spent.get("judge_cost"):
            self._of.cost.labels(self._judge).inc(spent["judge_cost"])
