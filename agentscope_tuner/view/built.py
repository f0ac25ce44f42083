"""Where the built page stands; `make page` builds it from `web/`."""

from pathlib import Path

STATIC = Path(__file__).parent / "static"
