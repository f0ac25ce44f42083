"""Decides whether a set of rubrics is proven on held-out samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

#: The fewest held-out queries on which a measurement means something.
LEAST_HELD_OUT = 10
#: The largest p-value: shuffled labels may rarely agree in order as well as the learned grader does.
MOST_CHANCE = 0.01


class Verdict(BaseModel):
    """The decision whether rubrics may judge; the saved file keeps it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    accepted: bool
    reasons: list[str] = Field(default_factory=list, description="what speaks against the set; none when accepted")


def verdict_on(report: dict[str, Any]) -> Verdict:
    """The verdict on the measurements of `evaluate`.

    A set is accepted if all of these hold on the samples held out:

    - There are `LEAST_HELD_OUT` queries or more.
    - It has a smaller mean absolute error than the model without rubrics: the interval of the gain lies above 0.
    - Its error is below the error of the constant that predicts the mean label.
    - Its order agrees with the order of the labels better than chance explains.
    """
    against: list[str] = []
    if report["queries"] < LEAST_HELD_OUT:
        against.append(f"{report['queries']} queries were held out, and a proof needs {LEAST_HELD_OUT}")
    gain = report["mae_gain"]
    if gain["interval"] is None or gain["interval"][0] <= 0:
        against.append(f"its gain over the model without rubrics, {_gain_text(gain)}, is not surely above 0")
    learned, constant = report["learned"]["mae"]["value"], report["constant_mean"]["mae"]["value"]
    if learned >= constant:
        against.append(f"its error, {learned:g}, is not below that of always guessing the mean, {constant:g}")
    rho, chance = report["learned"]["spearman"]["value"], report["learned"]["order_by_chance"]
    if rho is None or rho <= 0:
        against.append(f"its order does not follow the labels (rank correlation {'undefined' if rho is None else rho})")
    elif chance is None or chance > MOST_CHANCE:
        against.append(f"chance explains its order (rank correlation {rho:g}, p = {chance}, at most {MOST_CHANCE:g})")
    return Verdict(accepted=not against, reasons=against)


def unproven(reasons: Sequence[str]) -> str:
    """The reasons against a set in one line."""
    return "; ".join(reasons) or "it was never measured"


def _gain_text(gain: dict[str, Any]) -> str:
    spread = gain["interval"]
    return f"{gain['value']:g}" + (f" (95 % interval {spread[0]:g} to {spread[1]:g})" if spread else "")
