r"""What can be taken out of a module, one thing at a time: rows, words and patterns of its tables, and its rules.

Everything is found in the syntax tree, so that no name of a table or rule is known here:

- `element`: an element of a tuple, list, set or dictionary in an assignment of the module;
- `word`: a word of a text that such an assignment splits, by white space or by `|`;
- `alternative`: one alternative of a regular expression in such an assignment, `a` in `x(?:a|b)`;
- `branch`: the body of an `if`, which is then never entered, and `case`: one case of a `match`;
- `step`: a function in the tuple of functions that a loop tries in turn;
- `condition`: one operand of `and` or `or`, which then decides nothing;
- `function`: a function that then finds nothing: False, None, or the text that it was given.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

TABLE_KINDS = ("element", "word", "alternative")
_SHOWN = 60
_FEWEST_WORDS = 3
# The function that `marked` calls; for conditions, with the operand's value as well
MARK, DECIDED = "__ran__", "__decided__"


@dataclass(frozen=True)
class Removal:
    """One thing that can be taken out.

    Attributes:
        kind: see above.
        of: the table or the function that it stands in.
        what: its text, shortened.
        line: where it begins, from 1; for a part of a table, where the table does.
        words: texts of which a row must hold one to meet a part of a table; none: any row may.
    """

    kind: str
    of: str
    what: str
    line: int
    words: tuple[str, ...] = ()


def removals(source: str) -> list[Removal]:
    """Everything that can be taken out of a module, in a fixed order."""
    walk = _Walk(frozenset())
    walk.module(ast.parse(source))
    return walk.found


def without(source: str, chosen: Collection[int]) -> ast.Module:
    """The module's tree without those of `removals(source)` whose numbers are given."""
    tree = ast.parse(source)
    _Walk(frozenset(chosen)).module(tree)
    return ast.fix_missing_locations(tree)


def marked(source: str) -> ast.Module:
    """The module's tree with a call of `MARK` with the number of each rule wherever that rule would be missed.

    A row that does not make the call gets the same verdict without the rule.
    """
    tree = ast.parse(source)
    _Walk(frozenset(), marks=True).module(tree)
    return ast.fix_missing_locations(tree)


class _Walk:
    """Goes through a module, numbers what can be taken out, and takes out what is chosen."""

    def __init__(self, chosen: frozenset[int], *, marks: bool = False) -> None:
        self.chosen, self.found, self.marks = chosen, list[Removal](), marks

    def _is_chosen(self, kind: str, of: str, what: str, line: int, words: tuple[str, ...] = ()) -> bool:
        self.found.append(Removal(kind, of, " ".join(what.split())[:_SHOWN], line, words))
        return len(self.found) - 1 in self.chosen

    def _is_rule(self, kind: str, of: str, what: str, body: list[ast.stmt], at: int = 0) -> bool:
        """As `_is_chosen`, for what matters only where `body` runs from its statement `at` on."""
        chosen = self._is_chosen(kind, of, what, body[at].lineno)
        if self.marks:
            call = ast.Call(ast.Name(MARK, ast.Load()), [ast.Constant(len(self.found) - 1)], [])
            body.insert(at, ast.copy_location(ast.Expr(call), body[at]))
        return chosen

    def module(self, tree: ast.Module) -> None:
        for statement in tree.body:
            if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
                target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
                self._table(statement.value, ast.unparse(target))
        self._functions(tree, "")

    # --- tables

    def _table(self, value: ast.expr, name: str) -> None:
        if isinstance(value, ast.Subscript | ast.Name):
            return
        line = value.lineno
        for text, how in _texts(value):
            if how == "pattern":
                self._pattern(text, name, line, whole=True)
            elif how == "part":
                self._pattern(text, name, line, whole=False)
            else:
                self._words(text, name, line, how)
        nodes = list(ast.walk(value))
        # The parts of one row of a table are no elements
        rows = {id(one) for node in nodes if isinstance(node, ast.Tuple | ast.List) for one in node.elts}
        for node in nodes:
            if isinstance(node, ast.Tuple | ast.List | ast.Set) and id(node) not in rows and _is_data(node.elts):
                node.elts = [one for one in node.elts if not self._is_element(one, one, name, line)]
            elif isinstance(node, ast.Dict):
                pairs = list(zip(node.keys, node.values, strict=True))
                kept = [(key, one) for key, one in pairs if key is None or not self._is_element(key, one, name, line)]
                node.keys, node.values = [key for key, _ in kept], [one for _, one in kept]

    def _is_element(self, shown: ast.expr, value: ast.expr, name: str, line: int) -> bool:
        return self._is_chosen("element", name, ast.unparse(shown), line, _spoken(shown) or _spoken(value))

    def _words(self, node: ast.Constant, name: str, line: int, separator: str) -> None:
        assert isinstance(node.value, str)
        words = node.value.split(separator or None)
        kept = [
            word for word in words if not self._is_chosen("word", name, word, line, (word.partition(":=")[0].lower(),))
        ]
        if len(kept) < len(words):
            node.value = (separator or " ").join(kept)

    def _pattern(self, node: ast.Constant, name: str, line: int, *, whole: bool) -> None:
        pattern = node.value
        assert isinstance(pattern, str)
        levels = alternatives(pattern, whole=whole)
        dropped: list[list[bool]] = []
        for level in levels:
            parts = [(pattern[one.start : one.stop], removable) for one, removable in level]
            dropped.append(
                [ok and self._is_chosen("alternative", name, part, line, _literals(part)) for part, ok in parts]
            )
        if any(any(level) for level in dropped):
            node.value = _rendered(pattern, [[one for one, _ in level] for level in levels], dropped)

    # --- rules

    def _functions(self, node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                self._functions(child, f"{prefix}{child.name}.")
            elif isinstance(child, ast.FunctionDef):
                name = f"{prefix}{child.name}"
                self._branches(child, name)
                self._functions(child, f"{name}.")
                neutral, start = _neutral(child), int(ast.get_docstring(child) is not None)
                if neutral is None or len(child.body) <= start:
                    continue
                if self._is_rule("function", name, f"{name}()", child.body, start):
                    child.body = [ast.copy_location(ast.Return(neutral), child.body[0])]

    def _branches(self, function: ast.FunctionDef, name: str) -> None:
        for node in list(_own_nodes(function)):
            if isinstance(node, ast.If):
                if self._is_rule("branch", name, f"if {ast.unparse(node.test)}", node.body):
                    node.test = ast.copy_location(ast.Constant(False), node.test)
            elif isinstance(node, ast.Match):
                gone = [case for case in node.cases if self._case(case, name)]
                # A match needs a case: the last one stays, and never matches
                for case in gone:
                    case.guard = ast.copy_location(ast.Constant(False), case.pattern)
                node.cases = [case for case in node.cases if case not in gone] or node.cases[-1:]
            elif isinstance(node, ast.For) and isinstance(node.iter, ast.Tuple) and len(node.iter.elts) > 1:
                names = [one for one in node.iter.elts if isinstance(one, ast.Name | ast.Attribute)]
                if len(names) == len(node.iter.elts):
                    node.iter.elts = [
                        one for one in names if not self._is_rule("step", name, ast.unparse(one), node.body)
                    ]
            elif isinstance(node, ast.BoolOp):
                self._conditions(node, name)

    def _conditions(self, node: ast.BoolOp, name: str) -> None:
        decides = isinstance(node.op, ast.Or)
        for at, operand in enumerate(node.values):
            if self._is_chosen("condition", name, ast.unparse(operand), operand.lineno):
                node.values[at] = ast.copy_location(ast.Constant(not decides), operand)
            elif self.marks:
                arguments = [ast.Constant(len(self.found) - 1), ast.Constant(decides), operand]
                node.values[at] = ast.copy_location(ast.Call(ast.Name(DECIDED, ast.Load()), arguments, []), operand)

    def _case(self, case: ast.match_case, name: str) -> bool:
        if isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None and case.guard is None:
            return False
        guard = f" if {ast.unparse(case.guard)}" if case.guard else ""
        return self._is_rule("case", name, f"case {ast.unparse(case.pattern)}{guard}", case.body)


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function without those of the functions inside it."""
    waiting: list[ast.AST] = list(reversed(function.body))
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node
            waiting += reversed(list(ast.iter_child_nodes(node)))


def _neutral(function: ast.FunctionDef) -> ast.expr | None:
    """What the function returns where it finds nothing, by its annotation; None where that is not known."""
    returns = function.returns
    shared = any(isinstance(one, ast.Name) and one.id == "property" for one in function.decorator_list)
    if returns is None or (function.name.startswith("__") and not shared):
        return None
    said = ast.unparse(returns)
    if said == "bool":
        return ast.Constant(False)
    if said.endswith("| None"):
        return ast.Constant(None)
    first = next((one for one in function.args.args if one.arg != "self"), None)
    if said == "str" and first is not None and first.annotation is not None and ast.unparse(first.annotation) == "str":
        return ast.Name(first.arg, ast.Load())
    return None


def _is_data(elements: list[ast.expr]) -> bool:
    # Several bounds that are assigned at once are tuples, too: nothing can be taken out of them
    return len(elements) > 1 and not all(
        isinstance(one, ast.UnaryOp | ast.BinOp)
        or (isinstance(one, ast.Constant) and not isinstance(one.value, str))
        or (isinstance(one, ast.Call) and not _spoken(one))
        for one in elements
    )


def _texts(value: ast.expr) -> Iterator[tuple[ast.Constant, str]]:
    """The texts of a table that have parts, and how: `pattern`, `part` of one, or the separator of a list of words."""
    waiting: list[tuple[ast.AST, str]] = [(value, "")]
    while waiting:
        node, inside = waiting.pop()
        if isinstance(node, ast.Constant):
            if not isinstance(node.value, str):
                continue
            if inside == "|" or inside == "words":
                yield node, "" if inside == "words" else "|"
            elif (
                inside != "part"
                and "(?" not in node.value
                and len(node.value.split()) >= _FEWEST_WORDS
                and ("|" not in node.value or ":=" in node.value)
            ):
                yield node, ""
            elif "|" in node.value:
                yield node, inside or "pattern"
            continue
        within = inside
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
            separator = node.args[0] if node.args else None
            within = "|" if isinstance(separator, ast.Constant) and separator.value == "|" else "words"
            waiting.append((node.func.value, within))
            continue
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile":
            within = "pattern"
        elif isinstance(node, ast.JoinedStr):
            within = "part"
        elif isinstance(node, ast.FormattedValue):
            continue
        waiting += [(child, within) for child in reversed(list(ast.iter_child_nodes(node)))]


def alternatives(pattern: str, *, whole: bool = True) -> list[list[tuple[slice, bool]]]:
    """The alternatives of a pattern, level by level: each level's spans, and whether each can be taken out.

    Args:
        whole: False for a part of a pattern: what touches its ends may go on behind them.
    """
    levels: list[list[tuple[slice, bool]]] = []
    open_: list[tuple[int, list[int], bool]] = [(0, [], whole)]

    def close(end: int, closed: bool) -> None:
        start, bars, opened = open_.pop()
        edges = [start, *(edge for bar in bars for edge in (bar, bar + 1)), end]
        spans = [slice(edges[at], edges[at + 1]) for at in range(0, len(edges), 2)]
        last = len(spans) - 1
        if len(spans) > 1:
            levels.append([(one, (at > 0 or opened) and (at < last or closed)) for at, one in enumerate(spans)])

    at = 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            at += 1
        elif sign == "[":
            at = _class_end(pattern, at)
        elif sign == "(":
            head = re.compile(r"\((?:\?(?:P?<[a-zA-Z_]\w*>|<?[=!]|[:>]|[aiLmsux-]+:))?").match(pattern, at)
            assert head is not None
            open_.append((head.end(), [], True))
            at = head.end() - 1
        elif sign == ")":
            close(at, closed=True)
            if not open_:
                open_.append((at + 1, [], False))
        elif sign == "|":
            open_[-1][1].append(at)
        at += 1
    while open_:
        close(len(pattern), closed=whole and len(open_) == 1)
    return levels


def _class_end(pattern: str, at: int) -> int:
    end = at + 2 if pattern[at + 1 : at + 2] == "]" else at + 3 if pattern[at + 1 : at + 3] == "^]" else at + 1
    while end < len(pattern) and pattern[end] != "]":
        end += 2 if pattern[end] == "\\" else 1
    return end


def _rendered(pattern: str, levels: list[list[slice]], dropped: list[list[bool]]) -> str:
    signs = list(pattern)
    for level, gone in zip(levels, dropped, strict=True):
        kept_before = False
        for span, is_gone in zip(level, gone, strict=True):
            if (is_gone or not kept_before) and span is not level[0]:
                signs[span.start - 1] = ""
            if is_gone:
                signs[span] = [""] * (span.stop - span.start)
            kept_before = kept_before or not is_gone
        if not kept_before:
            # Every alternative is gone: a pattern that matches nothing
            signs[level[0].start] = "(?!)"
    return "".join(signs)


def _spoken(node: ast.AST) -> tuple[str, ...]:
    """The words in the texts of an expression."""
    found = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return tuple(dict.fromkeys(word for text in found for word in _literals(text)))


def _literals(pattern: str) -> tuple[str, ...]:
    """The words that a text must have one of to match the pattern; none where that is not known."""
    plain = re.sub(r"\\[a-zA-Z]", " ", pattern.replace("\\\\", "\n"))
    words = re.findall(r"[^\W\d_]{2,}|[\u2100-\uffff]", plain)
    return tuple(dict.fromkeys(word.lower() for word in words)) or ((plain.strip(),) if plain.strip().isalnum() else ())
