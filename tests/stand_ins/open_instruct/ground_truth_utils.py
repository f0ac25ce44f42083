"""open-instruct's verifiers, as `open_instruct/ground_truth_utils.py` of October 2026 declares them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class VerificationResult:
    """What a verifier answers."""

    score: float
    cost: float = 0.0
    reasoning: str | None = None


class VerifierFunction:
    """Found by its subclasses, chosen by name."""

    def __init__(self, name: str, weight: float = 1.0, verifier_config: Any = None) -> None:
        self.name = name
        self.weight = weight
        self.verifier_config = verifier_config

    @classmethod
    def get_config_class(cls) -> type:
        """The configuration that `verifier_config` is read into."""
        return dict
