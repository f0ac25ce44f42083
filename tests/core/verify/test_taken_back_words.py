"""The words that take a box back, each in a sentence, and twins that take nothing back."""

from __future__ import annotations

from tests.core.verify.placed import stated

DENIED = r"""
The answer is never \boxed{7}.
It cannot equal to \boxed{7}.
It is not necessarily \boxed{7}.
It is not really \boxed{7}.
It is not actually \boxed{7}.
It is not exactly \boxed{7}.
It is not simply \boxed{7}.
It is other than \boxed{7}.
It is different from \boxed{7}.
All values except \boxed{7}
This rules out \boxed{7}.
We are ruling out \boxed{7}.
We rule out \boxed{7}.
It is neither \boxed{7} nor 8.
It is 5, nor \boxed{7}.
Unlike \boxed{7}, it is 5.
It is far from \boxed{7}.
I don't believe the answer is \boxed{7}.
I wouldn't say the result is \boxed{7}.
I do not claim that the value is \boxed{7}.
I do not mean the sum is \boxed{7}.
We cannot agree that the total is \boxed{7}.
We do not conclude the solution is \boxed{7}.
I deny that the number is \boxed{7}.
It is false that the answer is \boxed{7}.
It is wrong that it is \boxed{7}.
It is unlikely that it is \boxed{7}.
It is impossible that it is \boxed{7}.
It is not true that the answer is \boxed{7}.
It is not certain that the answer is \boxed{7}.
I am not sure the answer is \boxed{7}.
It is not clear that the answer is \boxed{7}.
It is not likely the answer is \boxed{7}.
It is not possible that the answer is \boxed{7}.
It is not the case that the answer is \boxed{7}.
Whether the answer is \boxed{7} is open.
Supposing the answer is \boxed{7} it fails.
Assume the answer was \boxed{7} for now.
Assuming it is \boxed{7} it fails.
Unless it is \boxed{7} we are done.
Pretend it is \boxed{7} for now.
不为\boxed{7}
不等于\boxed{7}
并非\boxed{7}
绝非\boxed{7}
而非\boxed{7}
不可能是\boxed{7}
不会是\boxed{7}
不再是\boxed{7}
排除\boxed{7}
除了\boxed{7}
如果是\boxed{7}
假设是\boxed{7}
假如答案是\boxed{7}
是否为\boxed{7}
A wrong answer: \boxed{7}
An incorrect result would be \boxed{7}
A false value is \boxed{7}
A mistaken guess was \boxed{7}
Do not write \boxed{7}
Don't choose \boxed{7}
Never box \boxed{7}
You should not submit \boxed{7}
You must not accept \boxed{7}
You can not give \boxed{7}
Never put \boxed{7}
Do not say \boxed{7}
Do not pick \boxed{7}
错误答案：\boxed{7}
不正确的结果为\boxed{7}
错的是\boxed{7}
不能填\boxed{7}
不要选\boxed{7}
不应写\boxed{7}
不可取\boxed{7}
别写\boxed{7}
\phantom{\boxed{7}}
\hphantom{\boxed{7}}
\vphantom{\boxed{7}}
\phantom{\} $\boxed{7}$ }
\sout{\boxed{7}}
\st{\boxed{7}}
\cancel{\boxed{7}}
\xcancel{\boxed{7}}
\bcancel{\boxed{7}}
\iffalse \boxed{7} \fi
\begin{comment}\boxed{7}\end{comment}
\textcolor{white}{\boxed{7}}
\color{white}\boxed{7}
~~\boxed{7}~~
<!-- \boxed{7} -->
<s>\boxed{7}</s>
<del>\boxed{7}</del>
<strike>\boxed{7}</strike>
% \boxed{7}
3\boxed{7}
3 or \boxed{7}
\boxed{7}^2
\boxed{7}5
\boxed{7}.5
\boxed{7} or 8
\boxed{7} = 8.
\boxed{7} is incorrect.
\boxed{7} is mistaken.
\boxed{7} was a mistake.
\boxed{7} looks erroneous.
\boxed{7} appears wrong.
\boxed{7} must be wrong.
\boxed{7} would be wrong.
\boxed{7} turns out to be wrong.
\boxed{7} is clearly wrong.
\boxed{7} is obviously wrong.
\boxed{7} is nonsense.
\boxed{7} is not the final answer.
\boxed{7} is not correct.
\boxed{7} isn't right.
\boxed{7} wasn't correct.
\boxed{7} cannot be right.
\boxed{7} can't be the answer.
\boxed{7}. But it is wrong.
\boxed{7}. And that is wrong.
\boxed{7}. Although that is wrong.
\boxed{7}. Yet this is wrong.
\boxed{7}. Wait, no, that is wrong.
\boxed{7}. Hold on, that is wrong.
\boxed{7}. Never mind, that is wrong.
\boxed{7}. Nope, this is wrong.
\boxed{7}. Oh, the previous answer is wrong.
\boxed{7}. My result is wrong.
\boxed{7}. Sorry, I made an arithmetic error.
\boxed{7}. Disregard this.
\boxed{7}. Forget that.
\boxed{7}. Strike that.
\boxed{7}. Discard the above.
\boxed{7}. Wait, it should be 8.
\boxed{7}. Actually, the true value is 8.
\boxed{7}. Oops, it must be 8.
\boxed{7}. No, it has to be 8.
\boxed{7}. No, it ought to be 8.
\boxed{7}. No, it would be 8.
\boxed{7}. No, it equals 8.
\boxed{7}. I meant 8.
\boxed{7}. Or rather 8.
\boxed{7}. Make that 8.
\boxed{7}. No, 8.
\boxed{7}. Nope.
\boxed{7} ✗
\boxed{7} ✘
\boxed{7} ❌
\boxed{7} ✖
\boxed{7} (wrong)
\boxed{7} (incorrect)
\boxed{7} （错）
\boxed{7}。不对。
\boxed{7}。但这是错的。
\boxed{7}。等等，这个答案有误。
\boxed{7}。不过结果不正确。
\boxed{7}。哦，错了。
\boxed{7}？
除了\boxed{7}还有43
除了\boxed{7}，还有其他答案
除了\boxed{7}以外的数都可以
答案是除了\boxed{7}的数
Any number except \boxed{7} works.
Other than \boxed{7}, all values work.
"""
HONEST = r"""
The answer is \boxed{7}.
It is not 5 but \boxed{7}.
I have no doubt: the answer is \boxed{7}.
It is wrong to say 5. The answer is \boxed{7}.
Not surprisingly, the answer is \boxed{7}.
This is nothing other than the total: \boxed{7}.
It is not hard to see that it is \boxed{7}.
\boxed{7} is correct.
\boxed{7} is right, and 5 is wrong.
\boxed{7} = 7.
\boxed{7}. Actually, it is 7.
\boxed{7}. Wait, let me check: it is 7.
\boxed{7}^\circ
\boxed{7}. Nothing is wrong here.
\boxed{7} ✓
\boxed{7} (correct)
答案是\boxed{7}。
答案不是5，而是\boxed{7}。
\boxed{7}。没有错误。
<b>\boxed{7}</b>
\color{blue}\boxed{7}
If x = 2, then the answer is \boxed{7}.
The difference from 10 is 3, so it is \boxed{7}.
除了\boxed{7}没有别的答案
除了$\boxed{7}$，没有其他解。
除了\boxed{7}之外，别无他解。
除了\boxed{7}外，其他数都不满足条件。
除了\boxed{7}以外没有任何数满足。
Other than \boxed{7}, no number works.
Except $\boxed{7}$ there is no solution.
Except \boxed{7}, nothing fits.
"""


def test_each_word_that_takes_a_box_back_does_so() -> None:
    assert [line for line in DENIED.strip().splitlines() if stated(line) is not None] == []


def test_words_of_honest_sentences_take_nothing_back() -> None:
    assert [line for line in HONEST.strip().splitlines() if stated(line) not in ("7", "7^\\circ")] == []
