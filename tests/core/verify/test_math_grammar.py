r"""How mathematical text is read: its tokens (cases/tokens.txt), its tree and its reading (cases/trees.txt).

A row is `text ⇒ tokens`, or `text ⇒ tree ⇒ reading`; the reading is left out where it is the tree's own value. A token
is `kind:text`, with `~` where white space stood before it and `!` where its letter was set upright. The words of a
refusal stand behind `✗`.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from agentscope_tuner.verify.math.node import Number, Symbol, mapped, with_args
from agentscope_tuner.verify.math.parse import parse
from agentscope_tuner.verify.math.readings import Grid, Named, Value, resolve
from agentscope_tuner.verify.math.tokens import MAX_CHARS, MAX_TOKENS, TooComplex, Unreadable, tokenize

CASES = Path(__file__).parents[2] / "cases"


def rows(name: str) -> list[list[str]]:
    return [line.split(" ⇒ ") for line in (CASES / name).read_text(encoding="utf-8").splitlines()]


def tokens_of(text: str) -> str:
    try:
        found = tokenize(text)
    except Unreadable as refusal:
        return f"✗ {refusal}"
    return " ".join(f"{t.kind}:{t.text}{'~' * t.spaced}{'!' * t.upright}" for t in found)


def shown(one: object) -> str:
    if isinstance(one, Number):
        return str(one.value)
    if isinstance(one, Symbol):
        return one.name
    if isinstance(one, tuple):
        return f"[{', '.join(map(shown, one))}]"
    if is_dataclass(one):
        names = [field.name for field in fields(one) if not (field.name == "node" and isinstance(one, (Named, Grid)))]
        return f"{type(one).__name__}({', '.join(shown(getattr(one, name)) for name in names)})"
    return str(one)


def tree_of(text: str) -> list[str]:
    try:
        node = parse(text)
    except Unreadable as refusal:
        return [f"✗ {refusal}"]
    reading = resolve(node)
    return [shown(node)] if reading == Value(node) else [shown(node), shown(reading)]


def test_text_is_cut_into_the_tokens_of_the_table() -> None:
    found = [[text, tokens_of(text)] for text, *_ in rows("tokens.txt")]
    assert found == rows("tokens.txt")
    assert len(found) > 150


def test_text_is_read_as_the_trees_and_readings_of_the_table() -> None:
    found = [[text, *tree_of(text)] for text, *_ in rows("trees.txt")]
    assert found == rows("trees.txt")
    assert len(found) > 200


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("x" * (MAX_CHARS + 1), f"{MAX_CHARS + 1} characters"),
        ("+" * (MAX_TOKENS + 1), f"{MAX_TOKENS + 1} symbols"),
        ("(" * 400, "nested too deeply"),
        ("5" + "%" * 400, "in a row"),
        ("9" * 2_000, "a number of 2000 characters"),
        ("1e99999", "an exponent of 99999"),
    ],
    ids=["characters", "symbols", "levels", "postfixes", "digits", "exponent"],
)
def test_text_over_a_bound_is_refused_by_its_size(text: str, named: str) -> None:
    with pytest.raises(TooComplex) as refused:
        parse(text)
    assert named in str(refused.value)


def test_text_at_a_bound_is_read() -> None:
    assert len(tokenize(" " * (MAX_CHARS - 1) + "x")) == 1
    assert len(tokenize("+" * MAX_TOKENS)) == MAX_TOKENS


def test_a_node_of_other_operands_differs_in_them_alone() -> None:
    """Of every kind of node that the rows hold, each operand is put in another's place."""
    seen, kinds = [parse(text) for text, tree, *_ in rows("trees.txt") if not tree.startswith("✗")], set[type]()
    for node in seen:
        seen += node.args
        kinds.add(type(node))
        assert mapped(node, lambda one: one) is node
        assert mapped(node, lambda _: Symbol("other")).args == (Symbol("other"),) * len(node.args)
        for at in range(len(node.args)):
            others = (*node.args[:at], Symbol("other"), *node.args[at + 1 :])
            changed = with_args(node, others)
            assert (type(changed), changed.args) == (type(node), others)
            assert with_args(changed, node.args) == node
    assert {kind.__name__ for kind in kinds} == {
        *(
            "Number",
            "Digits",
            "Symbol",
            "Text",
            "Sum",
            "Product",
            "Quotient",
            "Power",
            "Negation",
            "PlusMinus",
            "Apply",
        ),
        *("UndefinedCall", "BigOperator", "Relation", "Connective", "Collection", "SetBuilder", "Interval"),
        *("SetOperation", "Array", "Percent", "Degrees", "Quantity"),
    }
