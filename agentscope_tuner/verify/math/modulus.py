r"""The modulus after a congruence: `\pmod 7`, `(\mathrm{mod}\ 7)`, `\mod 7` and `mod 7` have one meaning there."""

from __future__ import annotations

from agentscope_tuner.verify.math.text import Token

_MODULI = frozenset({"\\mod", "\\bmod", "mod", "\\pmod", "\\pod"})


def with_modulus(tokens: list[Token]) -> list[Token]:
    r"""The tokens with the first modulus after a `\equiv` spelled `\pmod`."""
    texts = [t.text for t in tokens]
    if "\\equiv" not in texts:
        return tokens
    at = next((at for at, text in enumerate(texts) if text in _MODULI and at > texts.index("\\equiv")), None)
    if at is None:
        return tokens
    rest = tokens[at + 1 :]
    start = at
    if at and texts[at - 1] == "(" and texts[-1:] == [")"]:
        start, rest = at - 1, rest[:-1]
    return [*tokens[:start], Token("cmd", "\\pmod"), *rest]
