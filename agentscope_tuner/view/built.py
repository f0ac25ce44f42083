"""The folder of the built page; `make page` builds it from `web/`."""

from pathlib import Path

STATIC = Path(__file__).parent / "static"
