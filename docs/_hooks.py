"""mkdocs: what the pages say to a reader of the repository, and a reader of the site does not need."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parents[1]
# the site has a switch for the language
_OTHER_LANGUAGE = re.compile(r" ?\(?\[(?:中文|English)\]\([\w./]+\)\)?|（\[(?:中文|English)\]\([\w./]+\)）")
# a file of the repository, which the site does not hold
_OUTWARD = r"\[([^\]]*)\]\({up}([^.)][^)]*)\)"
# files of the repository that are pages of the site
_SHOWN = {"changelog.md": "CHANGELOG.md", "security.md": "SECURITY.md"}
# a console block, whose copy button would copy the prompts, too
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _without_prompts(block: re.Match[str]) -> str:
    """A block of commands alone without their prompts; one that shows output, too, as it is."""
    lines = block[1].splitlines()
    begins = zip(["", *lines], lines, strict=False)
    if not all(line.startswith("$ ") or before.endswith("\\") for before, line in begins):
        return block[0]
    return "\n".join(["```sh", *(line.removeprefix("$ ") for line in lines), "```"])


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The page's text without links to its translation, each outward link replaced by its words and the path.

    The gallery's page also shows the files that it names; the changelog's and the threat model's show the file.
    """
    if page.file.src_uri in _SHOWN:
        markdown = (_ROOT / _SHOWN[page.file.src_uri]).read_text(encoding="utf-8")
        # its links are seen from the repository
        markdown = re.sub(r"\]\((?!\w+:|#)(?:docs/)?", lambda link: "](" if "docs/" in link[0] else "](../", markdown)
    if page.file.src_uri.startswith("gallery."):
        shown = dict.fromkeys(re.findall(r"\]\(\.\./(configs/[^)]+)\)", markdown))
        markdown += "".join(
            f"\n## {name}\n\n```yaml\n{(_ROOT / name).read_text(encoding='utf-8')}```\n" for name in shown
        )
    markdown = _CONSOLE.sub(_without_prompts, markdown)
    # from a folder of the site, `../` leads to its other pages
    outward = _OUTWARD.format(up=r"\.\./" * (page.file.src_uri.count("/") + 1))
    markdown = _OTHER_LANGUAGE.sub("", markdown)
    return re.sub(outward, lambda link: f"{link[1]} (`{link[2]}` in the repository)", markdown)
