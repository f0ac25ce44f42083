"""Boxes whose own sentence denies them, and honest words around boxes."""

from __future__ import annotations

import pytest

from tests.core.verify.placed import stated

DENIED = r"""
The answer is not $\boxed{420}$.
So it cannot be \boxed{420}.
The total isn't \boxed{420}.
It does not equal $\boxed{420}$.
It is 400 instead of $\boxed{420}$.
It is 400 rather than \boxed{420}.
It is no longer \boxed{420}.
It can be anything but **\boxed{420}**.
I ruled out \[\boxed{420}\]
I do not think that the answer is $\boxed{420}$.
I doubt the answer is \boxed{420}.
If the answer is \boxed{420}, then the sum is even.
Suppose it is \boxed{420}.
Could it be $\boxed{420}$?
It is tempting to answer $\boxed{420}$, but this is incorrect.
$\boxed{420}$ is wrong.
$\boxed{420}$. Wait, that is wrong.
$\boxed{420}$ Actually no, it should be 400.
\boxed{420}. Oops, I made a mistake.
\boxed{420}, which is not correct.
\boxed{420}. However, this is not the right answer.
\boxed{420}. Scratch that.
\boxed{420} -- ignore this.
\boxed{420}. Sorry, the correct answer is 400.
\boxed{420}. That's wrong.
\boxed{420}. Hmm, that can't be right.
$\boxed{420}$. Correction: 400.
答案不是$\boxed{420}$。
不应是\boxed{420}。
如果答案是\boxed{420}，则矛盾。
是400而不是\boxed{420}
现在有\boxed{420}本？不对，应该是25本。
答案是\boxed{420}。不对，应该是400。
\boxed{420}，这是错误的。
\boxed{420}。但是这个答案有误。
Wrong: \boxed{420}
A wrong answer would be \boxed{420}.
Do not answer \boxed{420}.
错误答案：\boxed{420}
不要写\boxed{420}
\boxed{420}（错）
\boxed{420} ❌
\boxed{420} (wrong)
\boxed{420}, no, 400.
\boxed{420}, sorry, 400.
\boxed{420} -- no!
\boxed{420}, I mean 400.
0.\boxed{420}
1\boxed{420}
\boxed{420}0
\boxed{420}.5
$\boxed{420}^2$
\boxed{420} or 400
400 or \boxed{420}
400或\boxed{420}
$\boxed{420}=400$
$\boxed{420} \to 400$.
$\phantom{\boxed{420}}$
\sout{\boxed{420}}
$\cancel{\boxed{420}}$
~~\boxed{420}~~
<!-- \boxed{420} -->
\iffalse \boxed{420} \fi
% \boxed{420}
\textcolor{white}{$\boxed{420}$}
""".strip().splitlines()

HONEST = r"""
The answer is not 400 but $\boxed{420}$.
It is not hard to see that the answer is $\boxed{420}$.
Not 400: $\boxed{420}$.
I do not think that it is 400, so the answer is $\boxed{420}$.
If $n=20$, the sum is $\boxed{420}$.
We cannot do better, so the answer is \boxed{420}.
\boxed{420}. Wait, let me check: $20\cdot21=420$. Yes.
\boxed{420}. Check: it should be 420.
$\boxed{420}$. Answering 400 is wrong, since 1 is odd.
$\boxed{420}$. It is wrong to count 0.
$\boxed{420}$, which is the sum of the even numbers.
\boxed{420}. That's the answer.
Instead of 400, we get \boxed{420}.
Which numbers are there? \boxed{420}
The first guess \boxed{400} is wrong. The sum is \boxed{420}.
The answer is not \boxed{400}. It is \boxed{420}.
\boxed{420}. Wait, that is wrong. Let me recount. No, it was right. The answer is 420.
\boxed{420}. Actually, it is 420.
所以不是400，而是\boxed{420}。
答案是\boxed{420}，不是400。
答案是\boxed{420}。检验：正确。
如果有20个数，那么和是\boxed{420}。
不难看出和为\boxed{420}。
$4\cdot 105=\boxed{420}$
$400+20=\boxed{420}$.
$x = \boxed{420}^\circ$
$\boxed{420}=4\cdot105$
$\boxed{420} = 420$
$\boxed{420}\text{ cm}$
$\boxed{420}\%$
Step 4. \boxed{420}
- \boxed{420}
1. \boxed{420}
Answer - \boxed{420}
The answer is – \boxed{420}
Round 419.6 or so: \boxed{420}
It is 400 or more. \boxed{420}
4 \times 105 \to \boxed{420}
The share is 5% of 8400.\n\boxed{420}
$\boxed{420}$ or about four hundred.
No, it is \boxed{420}.
```\boxed{420}```
**\boxed{420}**
$\color{blue}\boxed{420}$
$\textcolor{red}{\boxed{420}}$
\boxed{420}!
\boxed{420}. No other number fits.
$\boxed{420}$ or 4.2 \times 10^2
\boxed{420} or 420.0
420 or \boxed{420}
It is 420.\boxed{420}
Is the answer \boxed{420}? Yes, it checks.
答案是\boxed{420}吗？\boxed{420}？对。
No number except \boxed{420} works.
It can be nothing other than \boxed{420}.
""".strip().splitlines()

LINES = (
    "The sum is 420\n\\boxed{420}",
    "400 + 20 = 420\n\n$\\boxed{420}$",
    "5 % of\n\\boxed{420}",
    "% the answer\n$\\boxed{420}$",
    "Step 1: 400\nStep 2: 420 \\\\\n\\boxed{420}",
    "4" * 95 + " % of it: \\boxed{420}",
)

WORDS = (
    r"Is Tom right? \boxed{\text{No}}. This is incorrect, since 4 is even.",
    r"Which statement is wrong? \boxed{D} is wrong.",
    r"说法错误的是\boxed{D}，这是错误的。",
    r"$\boxed{\text{False}}$. That is wrong for $x=0$.",
)


@pytest.mark.parametrize("text", DENIED)
def test_a_box_that_its_sentence_denies_is_no_answer(text: str) -> None:
    assert stated(text) is None


@pytest.mark.parametrize("text", [*HONEST, *LINES])
def test_words_around_a_box_that_do_not_deny_it_are_harmless(text: str) -> None:
    # a mark behind the box belongs to its value
    assert stated(text) in ("420", "420\\%", "420^\\circ")


@pytest.mark.parametrize("text", WORDS)
def test_what_is_said_of_a_letter_or_a_name_may_be_its_reason(text: str) -> None:
    assert stated(text) is not None
