"""mkdocs: what the pages say to a reader of the repository, and a reader of the site does not need."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[1]
# the site has a switch for the language
_OTHER_LANGUAGE = re.compile(r" ?\(?\[(?:中文|English)\]\([\w./]+\)\)?|（\[(?:中文|English)\]\([\w./]+\)）")
# a file of the repository, which the site does not hold
_OUTWARD = re.compile(r"\[([^\]]*)\]\(\.\./([^)]+)\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The page's text without links to its translation, each outward link replaced by its words and the path.

    The gallery's page also shows the files that it names.
    """
    if page.file.src_uri.startswith("gallery."):
        shown = dict.fromkeys(re.findall(r"\]\(\.\./(configs/[^)]+)\)", markdown))
        markdown += "".join(
            f"\n## {name}\n\n```yaml\n{(_ROOT / name).read_text(encoding='utf-8')}```\n" for name in shown
        )
    return _OUTWARD.sub(lambda link: f"{link[1]} (`{link[2]}` in the repository)", _OTHER_LANGUAGE.sub("", markdown))
