"""One comparison: two bare texts, their readings and the question. Each text is read once, at its first use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from agentscope_tuner.verify.math.question import Question, about
from agentscope_tuner.verify.math.read import Side, read_answer, read_reference
from agentscope_tuner.verify.math.sympy_shapes import needs_sympy


@dataclass(frozen=True)
class Pair:
    """The input of every stage of one comparison."""

    answer: str
    truth: str
    question: Question | None

    @classmethod
    def of(cls, answer: str, truth: str, question: str | None) -> Pair:
        """The comparison of two bare texts."""
        return cls(answer, truth, about(question))

    @property
    def seed(self) -> str:
        """The seed of the random points. It holds the answer, so nobody can write an answer that fits known points."""
        return f"{self.answer}|{self.truth}"

    @cached_property
    def ref(self) -> Side:
        """The reference.

        Raises:
            JudgeError: the reference cannot be read.
        """
        return read_reference(self.truth, self.question)

    @cached_property
    def ans(self) -> Side:
        """The answer.

        Raises:
            TooComplex: the answer is over a bound.
        """
        return read_answer(self.answer, self.ref, self.question)

    def is_for_sympy(self) -> bool:
        """Whether a side has a part that sympy may evaluate and the symbolic stage cannot."""
        ref, ans = self.ref.node, self.ans.node
        return ref is not None and ans is not None and needs_sympy(ref, ans)
