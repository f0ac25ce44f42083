"""Why the judge refuses right programs of packages: each by the judge's own reason, or by the row."""

from __future__ import annotations

from agentscope_tuner.task_judge.contract.judgement import Judgement

#: What the judge's reason says, and what that comes from. Such tests cannot travel, see `docs/code.md`.
SAID = {
    "of what the tests lend": "reads the code, the defaults or the variables of what the tests lend",
    "which the test has not made": "an object that a function returned is compared by what it holds",
    "holds other data": "an object that a function returned is compared by what it holds",
    "what is no data": "an object that cannot be sent",
}
_TIME = "more calls and items than the seconds of a test allow"
_DATA = "an object of the tests' class that is built on data is sent as that data"
_THREAD = "a thread of the program calls the tests while they do something else"
_MODULE = "a class of the program says that it is of another module, or stands in a class of the tests"
_IN_C = "Python's own code in C takes an object of a class of the program"
_IDENTITY = "asks for the very object, its life or its frames, or for a built-in class's own"
#: Where the reason does not say it.
KNOWN = {
    "test_more.BucketTests": "`in` looks at all items of an answer, and they have no end",
    "test_more.CallbackIterTests": _THREAD,
    "test_more.ConstrainedBatchesTests": _DATA,
    "test_more.PowersetOfSetsTests": _DATA,
    "test_cacheutils.test_min_id_map": _IDENTITY,
    "test_debugutils_trace.test_trace_bytes": _IDENTITY,
    "test_debugutils_trace.test_trace_dict": _IDENTITY,
    "test_debugutils_trace.test_trace_exc": _IDENTITY,
    "test_debugutils_trace.test_trace_namedtuple": _IDENTITY,
    "test_dictutils.test_frozendict_api": _IDENTITY,
    "test_dictutils.test_invert": SAID["holds other data"],
    "test_funcutils.test_partials": _MODULE,
    "test_funcutils.test_total_ordering": "sets methods of a class of the tests",
    "test_funcutils_fb.test_get_invocation_sig_str": "a text of the program's stands in what the tests' framework runs",
    "test_ioutils.TestSpooledBytesIO": _IDENTITY,
    "test_namedutils.test_namedlist": _MODULE,
    "test_tbutils.test_contextual": _IDENTITY,
    "test_timeutils.test_us_timezone_dst_fold": _IN_C,
    "test_timeutils.test_us_timezone_fromutc_sets_fold": _IN_C,
}


def said(judgement: Judgement) -> str:
    """What the judge itself says that cannot travel; empty where it says nothing of this."""
    reason = str(judgement.error or judgement.reason)
    return next((why for words, why in SAID.items() if words in reason), "")


def explained(task: str, judgement: Judgement) -> str:
    """Why a right program was refused; empty where nobody knows."""
    is_late = judgement.metrics.get("failed_timeout") == 1.0
    return said(judgement) or KNOWN.get(task, _TIME if is_late else "")
