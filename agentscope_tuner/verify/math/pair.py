"""One comparison: two bare texts, their sides as they are read, and the question; each is read once, when asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from agentscope_tuner.verify.math.question import Question, about
from agentscope_tuner.verify.math.read import Side, read_answer, read_reference
from agentscope_tuner.verify.math.sympy_shapes import needs_sympy


@dataclass(frozen=True)
class Pair:
    """What every stage of one comparison is given."""

    answer: str
    truth: str
    question: Question | None

    @classmethod
    def of(cls, answer: str, truth: str, question: str | None) -> Pair:
        """The comparison of two bare texts."""
        return cls(answer, truth, about(question))

    @property
    def seed(self) -> str:
        """What chooses the points: nobody can write an answer for points that depend on the answer."""
        return f"{self.answer}|{self.truth}"

    @cached_property
    def ref(self) -> Side:
        """The reference.

        Raises:
            JudgeError: it cannot be read.
        """
        return read_reference(self.truth, self.question)

    @cached_property
    def ans(self) -> Side:
        """The answer.

        Raises:
            TooComplex: it is over a bound.
        """
        return read_answer(self.answer, self.ref, self.question)

    def is_for_sympy(self) -> bool:
        """Whether something stands there that the symbolic stage cannot evaluate and sympy may."""
        ref, ans = self.ref.node, self.ans.node
        return ref is not None and ans is not None and needs_sympy(ref, ans)
