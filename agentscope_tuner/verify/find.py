r"""Finds the answer in an output: in a box, between tags, behind `####`, behind a label, or at the end.

Several places must not give a policy several tries. So only one place is read: the first configured place that holds an
answer. Models correct themselves, so the last of several answers in that place counts. But two different answers side
by side, as in `Answer: 41. Answer: 42`, are no answer.

The output is hostile text, so each reader passes over it once, and examines a bounded number of candidates of bounded
length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from agentscope_tuner.verify import re
from agentscope_tuner.verify.again import stated_again, states_nothing
from agentscope_tuner.verify.labels import (
    ANSWER,
    CONTRADICTION,
    DENIAL,
    Found,
    is_denied,
    is_prose,
    labelled,
    named_in_json,
    same_text,
    sole_answer,
    statement_at,
)
from agentscope_tuner.verify.words import OFFERS, SENTENCE_END, condition_of, foretold_wrong, joining

_MACRO = "\\boxed"
# An escaped character is skipped as a whole: so `\{` opens nothing, and `\\}` (a line break, then a brace) closes.
# The backslash before `boxed` is the exception: `\\boxed` (a line break before it, or doubled as in JSON) opens a box
_EVENT = re.compile(r"\\(?:boxed|fbox)(?![a-zA-Z])\s*\{?|\\(?!\\(?:boxed|fbox)(?![a-zA-Z])).|[{}]", re.DOTALL)
# The usual box, whose inner braces are arguments of commands. The repetitions are possessive, so that no text is read
# twice
_PLAIN, _OF_COMMAND = r"[^{}\\]*+", r"\\[a-zA-Z{}|,;:! ]"
_ARGUMENT = rf"\{{{_PLAIN}(?:{_OF_COMMAND}{_PLAIN})*+\}}"
_WITH_ARGUMENTS = rf"\{{{_PLAIN}(?:(?:{_OF_COMMAND}|{_ARGUMENT}){_PLAIN})*+\}}"
_FLAT = re.compile(rf"\\boxed\s*+\{{{_PLAIN}(?:(?:{_OF_COMMAND}|{_WITH_ARGUMENTS}){_PLAIN})*+\}}")
# It ends before the next box, so that no text is read twice
_BARE = re.compile(r"\\boxed(?![a-zA-Z])[ \t]*([^\s${},;.](?:(?!\\boxed)[^\s${},;.])*+)")


# The text between boxes that are read together, because they may be one answer in several boxes,
# `\boxed{2}, \boxed{3}`, or several answers, `$\boxed{2}$ or $\boxed{3}$`. Possessive, for a piece may be read two ways
_BESIDE = re.compile(
    r"(?:或者|也许|可能|[\s,;.&$、，；~和或与/]|\([a-e]\)|(?:(?<![a-zA-Z\\])[a-zA-Z]|\\[a-z]{2,8})"
    r"(?:_\{?\d\}?)?\s*=\s*[-−]?"
    r"|[|•–-]|\d+[.)]\s|\b(?:vs|bzw|resp|option|case|part|answer)\b\.?(?:\s*\d++(?![.)]\s))?:?"
    r"|\\[()\[\],;:! \\]|\\q?quad|\\text\{\s*(?:and|or)\s*\}"
    r"|\b(?:and|or|else|either|maybe|perhaps|possibly|alternatively|[yeiаиіo])\b"
    rf"|(?<!\w)(?:{'|'.join((*joining('and'), *joining('or')))})(?!\w))*+",
    re.IGNORECASE,
)
# Two boxes in a sentence are two answers, whatever is between them, unless the second corrects or follows from the
# first
_PARTS_BOXES = re.compile(
    r"[.!?](?:\s|$)|[。！？\n]|[=:：<>]|\\[a-zA-Z]*(?:arrow|implies|iff|to|le|ge|lt|gt)(?![a-z])|\d|->"
    r"|\b(?:so|then|thus|hence|therefore|which|gives?|means|and\s+so|no|wait|not|rather|meant?|correct\w*|sorry|actually|instead"
    r"|daher|damit|folglich|donc|ainsi|luego|entonces|portanto|logo|quindi|dunque|значит|поэтому|więc|dus)\b"
    r"|所以|因此|故|则|即|从而|よって|ゆえに|따라서"
)
_MOST_BETWEEN = 60
_MOST_CANDIDATES = 64
_CONDITION_END = re.compile(rf"{SENTENCE_END.pattern}|[;；]")


def last_boxed(text: str) -> str | None:
    r"""The content of the last outermost `\boxed{…}` (or `\fbox{…}`) of `text`, stripped, with its nested braces.

    A box inside a box is part of the outer box. A box that is never closed is no answer, for the output was cut off
    there. TeX's form without braces, `\boxed 5`, ends at the next space or delimiter. The time is linear in the length
    of any text.

    Returns:
        The content, possibly empty; None if there is no box.
    """
    start = text.rfind(_MACRO)
    if "\\fbox" not in text:
        if start < 0:
            return None
        if text.find(_MACRO) == start:
            only = _one_box(text, start)
            return None if only is None else inside(text, only).strip()
    boxes = _scan(text)
    return inside(text, boxes[-1]).strip() if boxes else None


def last_boxes(text: str) -> list[str]:
    r"""The last box and the boxes side by side with it: only spaces, punctuation, or a word like `or` is between them.

    Returns:
        The contents, in the order of the text: `["2", "3"]` for `\boxed{2} or \boxed{3}`; not stripped.
    """
    return [inside(text, box) for box in boxes_beside(text)]


def boxes_beside(text: str) -> list[Box]:
    r"""The last box and the boxes side by side with it, in order: both of `\boxed{2} or \boxed{3}`.

    `last_boxes` gives their contents only.
    """
    start = text.rfind(_MACRO)
    if "\\fbox" not in text and (start < 0 or text.find(_MACRO) == start):
        only = _one_box(text, start) if start >= 0 else None
        return [] if only is None else [only]
    boxes = _scan(text)
    beside = boxes[-1:]
    for box in reversed(boxes[-_MOST_CANDIDATES:-1]):
        between = text[box.end : beside[-1].start]
        if not _joins(between) and not _under_conditions(text, box, beside[-1]):
            break
        beside.append(box)
    return beside[::-1]


def _joins(between: str) -> bool:
    """Whether two answers with this text between them both count, as with ` or `. With `, so ` only the second does."""
    is_short = len(between) <= _MOST_BETWEEN
    return is_short and (_BESIDE.fullmatch(between) is not None or _PARTS_BOXES.search(between) is None)


def _under_conditions(text: str, box: Box, following: Box) -> bool:
    r"""Whether two boxes are the answers under two conditions: `If $x > 0$, \boxed{1}. If $x < 0$, \boxed{2}`.

    False if the text between them denies the first box.
    """
    between = text[box.end : following.start]
    if len(between) > _NEAR:
        return False
    ends = [end.end() for end in _CONDITION_END.finditer(between)]
    if not ends or is_denied(between[: ends[-1]]):
        return False
    near = text[max(box.start - _NEAR, 0) : box.start]
    condition = condition_of(near[max((end.end() for end in _CONDITION_END.finditer(near)), default=0) :])
    return condition != "" and condition_of(between[ends[-1] :]) == condition


class Box(NamedTuple):
    r"""A box's positions in the text.

    Attributes:
        start: the start of the macro.
        inside: the start of the content; -1 for a box without braces, `\boxed 5`.
        end: the end of the box.
    """

    start: int
    inside: int
    end: int


def inside(text: str, box: Box) -> str:
    """The content of `box`, not stripped."""
    if box.inside < 0:
        bare = _BARE.match(text, box.start)
        assert bare is not None
        return bare.group(1)
    return text[box.inside : box.end - 1]


def _one_box(text: str, start: int) -> Box | None:
    """The box whose macro begins at `start`; None if it is never closed."""
    if (flat := _FLAT.match(text, start)) is not None:
        return Box(start, text.index("{", start) + 1, flat.end())
    depth = 0
    inside = start
    for event in _EVENT.finditer(text, start):
        if (found := event.group()) == "}":
            depth -= 1
            if depth <= 0:
                return Box(start, inside, event.end()) if depth == 0 else None
        elif found[-1] == "{" and (found == "{" or event.start() == start):
            depth += 1
            inside = inside if depth > 1 else event.end()
        elif event.start() == start:
            bare = _BARE.match(text, start)
            return Box(start, -1, bare.end()) if bare else None
    return None


def _scan(text: str) -> list[Box]:
    """All outermost boxes of `text`, in order; empty if the last box is never closed.

    One pass with a stack of the open braces: each entry notes whether its brace opened a box.
    """
    stack: list[tuple[int, int]] = []
    boxes: list[Box] = []
    opened_at = closed_at = -1
    for event in _EVENT.finditer(text):
        if (found := event.group()) == "}":
            if stack:
                start, inside = stack.pop()
                if start >= 0:
                    while boxes and boxes[-1].start > start:
                        boxes.pop()
                    boxes.append(Box(start, inside, event.end()))
                    closed_at = event.start()
        elif found == "{":
            stack.append((-1, event.end()))
        elif len(found) > 2:
            if found.endswith("{"):
                stack.append((event.start(), event.end()))
                opened_at = event.start()
            elif bare := _BARE.match(text, event.start()):
                boxes.append(Box(event.start(), -1, bare.end()))
                closed_at = event.end()
    return [] if opened_at >= closed_at else boxes


Place = Literal["boxed", "tag", "hash", "label", "last_value"]


class PlacedAnswer(NamedTuple):
    """The answer found in an output, with the text around it.

    Attributes:
        text: the answer, without its box, tags or label; None if no answer was found.
        where: the place of the answer, in words; without an answer, the reason.
        raw: the answer with the white space around it, because a damaged LaTeX command may look like white space.
        before: the text just before the answer's box, tag, mark or value.
        behind: the text just behind it.
        others: answers side by side with this one; a caller that compares values compares these, too.
        again: the values that the text behind the answer states, each in its possible spellings.
        boxed: whether the answer was in a box, so that the text around it may belong to the same formula.
        parts: the boxes, if each names a part of the answer, each with the text before and behind it.
    """

    text: str | None
    where: str
    raw: str = ""
    before: str = ""
    behind: str = ""
    others: tuple[str, ...] = ()
    again: tuple[tuple[str, ...], ...] = ()
    boxed: bool = True
    parts: tuple[tuple[str, str, str], ...] = ()

    def is_plain(self) -> bool:
        """Whether the answer is alone: no text around it has to be read, and there are no further answers."""
        return not (self.before or self.behind or self.others or self.again)


def find_answer(
    output: str, places: Sequence[Place], think: Sequence[Sequence[str]] = (), *, by_value: bool = False
) -> PlacedAnswer:
    r"""The answer that `output` states in the first of `places` that has one: `41` for `So \boxed{41}` and `boxed`.

    Reasoning behind a `<think>` tag never counts, whether the tag is closed or not.

    Args:
        output: the model's output.
        places: where to look, in this order.
        think: other pairs of strings that open and close reasoning.
        by_value: whether the caller compares the values of several answers; if not, two answers with different texts
            are none.
    """
    said = after_thinking(output, think)
    for place in places:
        if place == "boxed" and (plain := _plain_box(said)) is not None:
            return plain
        if (found := _READERS[place](said)) is None:
            continue
        # An empty box is handed on as an answer, because the verifier's reason names it
        problem = found.problem or ("" if found.text or place == "boxed" else "nothing")
        if found.others and not by_value:
            problem = problem or CONTRADICTION
        if problem:
            return PlacedAnswer(None, f"{problem} in {_NAMES[place]}")
        text, _, raw, before, behind, others, again, *_, parts = found
        return PlacedAnswer(text, _NAMES[place], raw or text, before, behind, others, again, place == "boxed", parts)
    sought = ", ".join(f"no {_SHORT_NAMES[place]}" for place in places)
    return PlacedAnswer(None, f"{sought} in the answer" + ("" if said is output else " after the thinking"))


def stated_elsewhere(output: str, places: Sequence[Place], think: Sequence[Sequence[str]] = ()) -> Place | None:
    """The first place, other than `places`, where `output` marks an answer: `boxed` if only `hash` is read.

    Sought are the marks that models are taught: a box, `####`, `<answer>`, a label. None if there is no such answer.
    """
    said = after_thinking(output, think)
    others: tuple[Place, ...] = ("boxed", "hash", "tag", "label")
    return next((place for place in others if place not in places and _states(place, said)), None)


def _states(place: Place, said: str) -> bool:
    """Whether `said` has an answer at this place, without a problem such as a denial."""
    found = _READERS[place](said)
    return found is not None and not found.problem and bool(found.text)


_THINKING = re.compile(
    r"<\|?(/|end_of_)?(?:begin_of_)?(?:\w+:)?"
    r"(?P<name>think(?:ing)?|thoughts?|reason(?:ing)?|reflect(?:ion)?|scratchpad|analysis|monologue)\b[^<>]{0,100}>"
    r"|◁(/)?think▷|\[(/)?THINK\]",
    re.IGNORECASE,
)


def after_thinking(text: str, think: Sequence[Sequence[str]] = ()) -> str:
    """`text` without its reasoning; the same string object if it has no reasoning tags.

    All of these give `5`, apart from a line break:

    - `<think>2+3</think>5`.
    - `2+3</think>5`: chat templates may open the tag in the prompt.
    - `5<think>2+3`: an output may be cut off while it reasons.
    - `<think>a <reason> is needed</think>5`: a closing tag closes all tags inside its own, too.

    Args:
        text: the output.
        think: other pairs of strings that open and close reasoning.
    """
    for opener, closer in think:
        if opener in text or closer in text:
            text = text.replace(opener, "<think>").replace(closer, "</think>")
    tags = (
        list(_THINKING.finditer(text))
        if "<" in text or ("K" in text and "THINK]" in text) or (not text.isascii() and "◁" in text)
        else []
    )
    if not tags:
        return text
    kept: list[str] = []
    opened, at = list[str](), 0
    for tag in tags:
        name = (tag["name"] or "").lower()
        if not any((tag[1], tag[3], tag[4])):
            if not opened:
                kept.append(text[at : tag.start()])
            opened.append(name)
        elif not opened:
            kept.clear()
        else:
            last = next((place for place in reversed(range(len(opened))) if opened[place] == name), -1)
            del opened[last:]
        at = tag.end()
    if not opened:
        kept.append(text[at:])
    return "\n".join(kept)


# Text that is not shown, or states nothing: comments, code, definitions, footnotes
_UNSAID = re.compile(
    r"(?:(?<=\n)|\A)[^\S\n]*\[(?:\^[^\]\n]{1,40}\]:|[^\]\n]{1,40}\]:[^\S\n]*[#<])[^\n]*|(?<=[.!?])[^\S\n]+%[^\S\n][^\n]*|"
    r"<!--.*?(?:-->|\Z)|\\verb\*?(?P<bar>[^\sa-zA-Z]).*?(?P=bar)|\\begin\s*\{(?P<env>comment|verbatim|lstlisting)\}.*?(?:\\end\s*\{(?P=env)\}|\Z)"
    r"|\\iffalse\b.*?(?:\\fi\b|\Z)|(?:(?<=\n)|\A)[^\S\n]*%[^\n]*|(?<!`)`[^`\n]+`(?!`)"
    r"|\\(?:(?:re)?newcommand\*?|providecommand|def|DeclareMathOperator)\b[^\n]*",
    re.DOTALL,
)
# What may open the formula of a box that is all of it
_OPENED = re.compile(r"(?:\$\$?|\\[\[(])\s*\Z")
_UNREAD_BLOCKS = ("comment", "verbatim", "lstlisting")
# Elements that only set type or mark an answer; any other element may say that its content is wrong
_NEUTRAL_ELEMENTS = frozenset(
    """a answer article b big blockquote body box boxed br center code conclusion dd div dl dt em eos final final_answer
    finalanswer font h1 h2 h3 h4 h5 h6 hr html i im_start li main mark math ol output p pre ref response result s_answer
    section small solution span step strong td tr table tbody tt u ul""".split()  # noqa: SIM905
)
_ELEMENT = re.compile(
    r"<([a-zA-Z][\w-]{0,30})((?:\s+[\w:-]+(?:\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>=]+))?){0,8})\s*>"
)
# Words of attributes that say nothing about the content of an element
_ATTRIBUTES = frozenset(
    """class id align center left right lang dir ltr rtl href src name type value data answer final box boxed math
    result solution response correct size color face text block display inline container content main start""".split()  # noqa: SIM905
)
_MOST_ELEMENTS, _MOST_REMOVED, _WITHIN = 64, 16, 20_000
_NEAR, _LINE, _GROUPED = 240, 100, 600
# Longer than `remarks` reads: so long a text behind an answer takes it back
_BEHIND = 1_400
_ENDING = " \t\r\n$*_`)]}.\\"


def _without_hidden(text: str, marks: tuple[str, ...] = ("\\boxed", "\\fbox")) -> str:
    r"""The text without what hides its last answer: a comment, code, a definition, or an unknown element.

    `\boxed{1} <!-- \boxed{2} -->` keeps `\boxed{1}` alone. Empty if too many answers are hidden.

    Args:
        text: the text.
        marks: how an answer begins.
    """
    for _ in range(_MOST_REMOVED):
        if (start := max(map(text.rfind, marks))) < 0:
            return text
        shown = text
        if _may_be_in_comment(text, start):
            shown = _UNSAID.sub(lambda span: " " if any(mark in span[0] for mark in marks) else span[0], text)
        if shown == text and "<" in text:
            shown = _without_element(text, start)
        if shown == text and _may_be_invisible(text, start):
            # the rest of the macro opens no box
            shown = f"{text[:start]} {text[start + 1 :]}"
        if shown == text:
            return text
        text = shown
    return ""


# Commands that show the text in their braces: those that set type, and those of formulas
_SHOWING = frozenset(
    """text textbf textit textrm textsf textup textnormal textsc emph underline mathrm mathbf mathsf mathit mathtt
    boldsymbol bm mbox fbox boxed framebox colorbox fcolorbox textcolor color ensuremath displaystyle large Large
    LARGE huge Huge frac dfrac tfrac cfrac sqrt overline underbrace overbrace overset underset stackrel vec hat bar
    tilde left right binom log ln sin cos tan exp lim max min gcd operatorname mathbb mathcal textstyle centering
    phantomsection section subsection paragraph tag quad qquad item therefore implies dots cdot times sum int prod
    in le ge Rightarrow rightarrow Longrightarrow longrightarrow Leftrightarrow iff to approx equiv sim simeq cong leq
    geq ne neq pm mp normalsize small footnotesize textsl mathbin mathord mathrel mathop pmb bbox centerline
    smash""".split()  # noqa: SIM905
)
_OPENS_GROUP = re.compile(r"\\([a-zA-Z]+)\*?\s*(?:\[[^\[\]]{0,60}\]|<[^<>]{0,40}>|\{[^{}]{0,60}\}|-?[\d.]++)*+\s*\Z")
# An opening brace that is not closed by the next brace
_OPEN = re.compile(r"\{[^{}]*+(?!\})")
_CONDITIONAL = re.compile(r"\\(if[a-zA-Z]*|fi)(?![a-zA-Z])")
# Conditionals and escaped braces, with which a text before a box is more than pairs of braces
_ODD = re.compile(r"\\(?:if|[{}])")
_PALE = re.compile(
    r"(?:color\s*\{?\s*(?:white|#f{3}(?:f{3})?)\s*\}?\s*\{?|~~)\s*\$?\s*\Z|(?<!~)~~(?!~)[^~\n]{1,200}\Z", re.IGNORECASE
)
_IN_TAG = re.compile(r"<[a-zA-Z][^<>]*=\s*[\"'][^\"'<>]*\Z")


def _may_be_invisible(text: str, start: int) -> bool:
    r"""Whether TeX or a browser may not show the box at `start`: in `\phantom{...}`, behind `\iffalse`, in white."""
    near = text[max(start - _GROUPED, 0) : start]
    if _is_hidden_by_style(near) or ("<" in near and _IN_TAG.search(near)):
        return True
    return _is_in_group(near, _ODD.search(near) is not None)


def _is_in_group(near: str, odd: bool) -> bool:
    r"""Whether the text before a box ends inside a TeX conditional, or braces that may be hidden: `\phantom{`.

    Args:
        near: the text before the box.
        odd: whether it may have conditionals or escaped braces.
    """
    if odd and [found[1] for found in _CONDITIONAL.finditer(near)][-1:] not in ([], ["fi"], ["iff"]):
        return True
    # Escaped braces become spaces, so that all others keep their positions
    braces = near.replace("\\\\", "  ").replace("\\{", "  ").replace("\\}", "  ") if odd else near
    if _OPEN.search(braces) is None:
        return False
    closed, at = 0, len(near)
    for behind in reversed(braces.split("{")[1:]):
        at -= len(behind) + 1
        closed += behind.count("}") - 1
        if closed < 0:
            closed = 0
            command = _OPENS_GROUP.search(near, max(at - _NEAR, 0), at)
            if command is not None and command[1] not in _SHOWING:
                return True
    return False


def _is_hidden_by_style(near: str) -> bool:
    r"""Whether the text before a box sets it in white, `\color{white}`, or strikes it through, `~~`."""
    return ("~~" in near or "color" in near) and _PALE.search(near) is not None


def _without_element(text: str, start: int) -> str:
    """The text without an element around the box at `start` that may deny it: `<s>`, `<sup>`, `<wrong>`.

    Unchanged if all elements around it only set type or mark an answer, such as `<b>`.
    """
    lower = text.lower()
    for tag in list(_ELEMENT.finditer(text, max(start - _WITHIN, 0), max(start, 0)))[-_MOST_ELEMENTS:]:
        name = tag[1].lower()
        if (name in _NEUTRAL_ELEMENTS and not _has_unknown_word(tag[2])) or (len(name) == 1 and name not in "sq"):
            continue
        if (close := lower.find(f"</{name}", tag.end())) < 0 or close > start:
            return text[: tag.start()] + (" " if close < 0 else text[close:])
    return text


def _has_unknown_word(attributes: str) -> bool:
    """Whether attributes have a word that may deny the element's content: `class="wrong"`, but not `class="answer"`."""
    return not _ATTRIBUTES.issuperset(re.findall("[a-z]{3,}", attributes.lower()))


def _may_be_in_comment(text: str, start: int) -> bool:
    r"""Whether the box at `start` may be in a comment, code or a definition: `% \boxed{2}`.

    A fast test, which may be True without need.
    """
    line = text[text.rfind("\n", 0, start) + 1 : start]
    percent, tick = "%" in line, "`" in line
    if (percent and (line.lstrip()[:1] == "%" or ". %" in line)) or (tick and line.count("`") % 2 == 1):
        return True
    if (percent or tick or "\\" in line) and (
        "verb" in line or "command" in line or "\\def" in line or "iffalse" in line
    ):
        return True
    if line.lstrip()[:1] == "[" and _UNSAID.match(line.lstrip()) is not None:
        return True
    if "<" in text and "<!--" in text:
        return True
    begun = text.rfind("\\begin{", 0, start)
    return begun >= 0 and text.startswith(_UNREAD_BLOCKS, begun + len("\\begin{"))


# Boxes, and commands that hide the text behind them; the second pattern also finds conditionals and escaped braces
_HIDES = r"boxed|fbox|verb|def|iffalse|[a-z]*command|DeclareMath|begin\s*\{(?:comment|verbatim|lstlisting)"
_HIDING = re.compile(rf"\\(?:{_HIDES})")
_HIDING_OR_ODD = re.compile(rf"\\(?:{_HIDES}|if|[{{}}])")


# An element or a comment of HTML, or a comparison such as `a<b`
_MARKED = re.compile(r"<[^ \d\\=$-]")


def _plain_box(text: str) -> PlacedAnswer | None:
    """The answer in the only box of a text, if nothing can hide it; None for any other text.

    Most outputs are such, and this saves them the slower search.
    """
    start = text.rfind(_MACRO)
    flat = _FLAT.match(text, start) if start >= 0 else None
    if flat is None or ("<" in text and _MARKED.search(text) is not None):
        return None
    rest = text[flat.end() :]
    is_last = not rest.strip(_ENDING)
    near = text[max(start - _GROUPED, 0) : start]
    if _is_hidden_by_style(near) or (not is_last and "\\fbox" in rest):
        return None
    if text.find("\\") != start:
        # without a command before the box no command can hide it
        odd = _HIDING_OR_ODD.search(text, 0, start) is not None
        if (odd and _HIDING.search(text, 0, start) is not None) or _is_in_group(near, odd):
            return None
    line = text[text.rfind("\n", 0, start) + 1 : start]
    # only what begins a comment or code needs the test, which reads the whole text
    if ("%" in line or "`" in line or line.lstrip()[:1] == "[") and _may_be_in_comment(text, start):
        return None
    content = text[text.index("{", start) + 1 : flat.end() - 1]
    led = near[-_LINE:]
    if is_last and _is_plain_lead(led) and not foretold_wrong(led):
        # the text around it need not be read
        return PlacedAnswer(content.strip(), _IN_BOX, content)
    again = () if is_last or states_nothing(rest) else stated_again(text, start, rest, content)
    return PlacedAnswer(content.strip(), _IN_BOX, content, near[-_NEAR:], rest[:_BEHIND], (), again)


def _in_box(text: str) -> Found | None:
    """The answer in the last visible box, with those in boxes side by side with it; None if there is no box."""
    if "\\boxed" not in text and "\\fbox" not in text:
        return None
    text = _without_hidden(text)
    if not (boxes := boxes_beside(text)):
        return None
    last = boxes[-1]
    content = inside(text, last)
    rest = text[last.end :]
    said = same_text(content)
    # no box counts as side by side with an empty one
    beside = [*_alternatives(text, last), *boxes[:-1]] if said else []
    others = tuple(dict.fromkeys(one for box in beside if same_text(one := _with_minus(text, box)) != said))
    before = text[max(boxes[0].start - _NEAR, 0) : boxes[0].start]
    again = stated_again(text, last.start, rest, content) if rest.strip(_ENDING) else ()
    parts = _named_parts(text) if len(boxes) == 1 and text.find(_MACRO) != last.start else ()
    return Found(content.strip(), "", content, before, rest[:_BEHIND], others, again, parts=parts)


_NAME_BEFORE = re.compile(r"(?P<name>[^\W\d_]+(?:[ _-][^\W\d_]+){0,2})\s*=\s*\$?\s*\Z")
_MOST_PARTS = 6


def _named_parts(text: str) -> tuple[tuple[str, str, str], ...]:
    r"""All boxes of a text as `(content, text before, text behind)`, if each names its value differently; else empty.

    Two questions in one have an answer each: `the n-th term is \boxed{a_n=2n-1}; the sum is \boxed{S_n=n^2}`.
    """
    boxes = _scan(text)
    if not 1 < len(boxes) <= _MOST_PARTS:
        return ()
    found: list[tuple[str, str, str]] = []
    for box, previous, following in zip(boxes, (None, *boxes), (*boxes[1:], None), strict=False):
        # the text between two boxes belongs to the second, from the end of its first clause on
        before = text[previous.end if previous else 0 : box.start]
        behind = text[box.end : following.start if following else len(text)]
        if following is not None and OFFERS.search(behind) is not None:
            return ()
        before = before if previous is None else before[_clause_end(before) :]
        behind = behind if following is None else behind[: _clause_end(behind)]
        before, behind = before[-_NEAR:], behind[:_BEHIND]
        content = inside(text, box).strip()
        if "=" not in content and (said := _NAME_BEFORE.search(before)):
            content, before = f"{said['name']} = {content}", before[: said.start()]
        if "=" not in content or _may_be_in_comment(text, box.start):
            return ()
        found.append((content, before, behind))
    names = {same_text(content.partition("=")[0]) for content, _, _ in found}
    return tuple(found) if len(names) == len(found) else ()


def _clause_end(between: str) -> int:
    """The position behind the first clause between two boxes: 2 in `$; the sum is $`; 0 if no clause ends there."""
    end = re.search(r"[,，;；:：。!?\n]|\.(?!\d)", between)
    return end.end() if end is not None else 0


# Words that only announce the answer, in any order
_PLAIN_LEADS = frozenset(
    """the a is are answer answers final result value number total sum of we get have obtain that this correct solution
    solutions""".split()  # noqa: SIM905
)


# Headings of answers side by side, whose first values a last one does not correct: `Method 1`, `Option B`
_ALTERNATIVE = re.compile(
    rf"^[^\S\n]{{0,8}}[#*_>-]{{0,8}}[^\S\n]{{0,8}}[*_]{{0,3}}(?P<word>{ANSWER}|method|approach|option|solution|way|possibility"
    r"|candidate|guess|version|alternative|choice|variant|methode|lösungsweg|lösung|möglichkeit|variante|méthode|método"
    r"|opción|solución|metodo|opzione|soluzione|способ|вариант|решение|方法|解法|方案)"
    r"[ #]{0,3}(?:\d{1,2}|[a-dA-D]|one|two|three|[一二三四])[^\S\n]{0,3}(?:[:：.)）*]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_HEADED = re.compile(r"^[^\S\n]{0,8}(?:#{1,6}\s|\*\*[^*\n]{1,100}\*\*:?[^\S\n]{0,8}$)", re.MULTILINE)
_MOST_HEADINGS = 12


def _alternatives(text: str, last: Box) -> list[Box]:
    """The boxes that compete with the last one: the last under each earlier heading of its kind, such as `Method 1`."""
    if text.find(_MACRO) == last.start:
        return []
    headings = list(_ALTERNATIVE.finditer(text, 0, last.start))[-_MOST_HEADINGS:]
    if len(headings) < 2 or _HEADED.search(text, headings[-1].end(), last.start):
        return []
    same = [found for found in headings if found["word"].lower() == headings[-1]["word"].lower()]
    ends = [found.start() for found in same[1:]]
    boxes = [box for box in _scan(text) if box.start < last.start]
    under = [[box for box in boxes if at.end() <= box.start < end] for at, end in zip(same, ends, strict=False)]
    return [found[-1] for found in under if found]


def _is_plain_lead(near: str) -> bool:
    """Whether only plain words lead to a box, which neither deny nor change it: `So the answer is `."""
    is_whole = len(near) < _LINE
    near = near.rstrip(" $\n")
    if near[-1:] in "=[(" and (opened := _OPENED.search(near, max(len(near) - 16, 0))) is not None:
        near = near[: opened.start()].rstrip(" $\n")
    begun = max(near.rfind("\n"), near.rfind(". ")) + 1
    if _CALCULATION.fullmatch(near, begun) is not None:
        return is_whole or begun > 0
    # the last words of most sentences decide: the others are split when they are needed
    left = near[begun:].lstrip().rsplit(None, _LAST_LEADS)
    while left:
        written = left.pop()
        if not left and len(parts := written.split()) > 1:
            left = parts
            continue
        if written in _PLAIN_LEADS:
            continue
        if (word := written.strip(":,").lower()) in _SO:
            # the text before `so` and plain words is a step, and need not be read, except for `or so` and `is thus`
            return not left or left[-1].rsplit(None, 1)[-1].lower() not in ("or", "is", "are")
        if word and word not in _PLAIN_LEADS:
            return False
    return is_whole or begun > 0


_SO = frozenset({"so", "therefore", "thus", "hence"})
# A sentence that is a calculation: `18 + 7 = 25.`
_CALCULATION = re.compile(r"[\d+*/×·÷() .,-]*+=\s?-?\d+(?:\.\d+)?\.")
_LAST_LEADS = 5


def _with_minus(text: str, box: Box) -> str:
    r"""The content of a box, with the minus sign that is right before the box: `-5` for `-\boxed{5}`."""
    sign = text[max(box.start - 1, 0) : box.start]
    return f"-{inside(text, box)}" if sign in ("-", "−") else inside(text, box)


_TAG = re.compile(r"<(/?)answer\b[^<>]{0,100}>", re.IGNORECASE)


def _in_tag(text: str) -> Found | None:
    """The answer between the last `<answer>` tags, with those side by side with it; None if there are no tags."""
    text = _without_hidden(text, ("<answer", "<Answer", "<ANSWER")) if "<" in text else text
    answers: list[str] = []
    opened = closed = start = -1
    for tag in _TAG.finditer(text):
        if not tag[1]:
            if closed >= 0 and not _joins(text[closed : tag.start()]):
                answers.clear()
            opened, start = tag.end(), start if opened >= 0 else tag.start()
        elif opened >= 0:
            answers.append(text[opened : tag.start()])
            opened, closed, first, start = -1, tag.end(), start, -1
    if not answers:
        return None
    return _placed(_stated_inside(sole_answer(answers[-_MOST_CANDIDATES:])), text, first, closed)


def _stated_inside(found: Found) -> Found:
    """`found`, or the answer in a box or behind a label inside it: models often mark an answer twice."""
    return found if found.problem else (_in_box(found.raw) or _behind_label(found.text) or found)


def _placed(found: Found, text: str, start: int, end: int) -> Found:
    """`found` with the text before and behind it.

    Args:
        found: the answer.
        text: the text that it was found in.
        start: the position at which it begins, with its mark.
        end: the position at which it ends.
    """
    if found.problem:
        return found
    rest = text[end:]
    again = stated_again(text, start, rest, found.text) if rest.strip(_ENDING) else ()
    return found._replace(before=text[max(start - _NEAR, 0) : start], behind=rest[:_BEHIND], again=again)


def _behind_label(text: str) -> Found | None:
    """The answer that JSON names or that is behind a label, such as `Answer: 5`; None if there is none."""
    if (named := named_in_json(text)) is not None:
        return named
    found = labelled(text)
    return found if found is None or found.start < 0 else _placed(found, text, found.start, found.end)


_HASH = re.compile(r"(?<![#\S])####(?!#)[ \t]*")


def _behind_hash(text: str) -> Found | None:
    """The answer behind `####`, as in GSM8K's last line.

    `#### Step 2` is a Markdown heading and no answer, unless it ends the text.
    """
    text = _without_hidden(text, ("####",)) if "####" in text else text
    answers: list[str] = []
    before = start = -1
    for mark in list(_HASH.finditer(text))[-_MOST_CANDIDATES:]:
        line, end = statement_at(text, mark.end(), whole_line=True)
        if not line or (is_prose(line) and text[end : end + 1_000].strip()):
            continue
        if before >= 0 and not _joins(text[before : mark.start()]):
            answers.clear()
        answers.append(line)
        before, start = end, mark.start()
    if not answers:
        return None
    return _placed(_stated_inside(sole_answer(answers)), text, start, before)


_VALUE = re.compile(
    r"\$\$[^$]{1,300}\$\$|\$[^$\n]{1,300}\$|\\\((?:(?!\\\)).){1,300}\\\)|\\\[(?:(?!\\\]).){1,300}\\\]"
    r"|(?<![\w.])[-−+]?(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?(?:/[0-9]+)?(?:\\?%)?",
    re.DOTALL,
)
_TAIL = 4_000
_LISTED = re.compile(
    r"[\s,;、，；(（]*(?:\b(?:and|or|to|maybe|perhaps|possibly)\b|[和或与到]|[,;、，；–-])[\s,;]*(?:\b(?:maybe|perhaps|possibly)\b\s*)?"
)


def _last_value(text: str) -> Found | None:
    """The last number or formula near the end, with those listed beside it: `5 or 6`. A denied one is a problem.

    None if there is no value.
    """
    tail = text.rstrip()[-_TAIL:]
    if not (values := list(_VALUE.finditer(tail))):
        return None
    last = values[-1]
    beside = [last]
    for value in reversed(values[:-1]):
        if not _LISTED.fullmatch(tail[value.end() : beside[-1].start()][:40]):
            break
        beside.append(value)
    if is_denied(re.split(r"[.!?。！？\n]", tail[: last.start()])[-1]):
        return Found("", DENIAL)
    return sole_answer([value[0] for value in beside])


_READERS: dict[Place, Callable[[str], Found | None]] = {
    "boxed": _in_box,
    "tag": _in_tag,
    "hash": _behind_hash,
    "label": _behind_label,
    "last_value": _last_value,
}
_IN_BOX = r"the last \boxed{}"
_NAMES: dict[Place, str] = {
    "boxed": _IN_BOX,
    "tag": "<answer>",
    "hash": "####",
    "label": "a label",
    "last_value": "the last value",
}
_SHORT_NAMES: dict[Place, str] = {**_NAMES, "boxed": r"\boxed{}", "label": "label", "last_value": "value"}
