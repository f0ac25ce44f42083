r"""Where an answer stands: what each place reads, what it refuses, and that nothing hostile makes it slow."""

from __future__ import annotations

import random
import re
import time

import pytest

from agentscope_tuner.verify.find import Place, _may_be_in_comment, after_thinking, find_answer
from agentscope_tuner.verify.labels import is_prose

ALL: list[Place] = ["boxed", "tag", "hash", "label"]

LABELLED = [
    ("Answer: 42", "42"),
    ("The answer is 42, which is not prime.", "42"),
    ("The correct option is B.", "B"),
    ("The right choice: (c)", "(c)"),
    ("answer: 42.", "42"),
    ("ANSWER: 42", "42"),
    ("Answer:42", "42"),
    ("Answer = 42", "42"),
    ("Ans: 42", "42"),
    ("**Answer:** 42", "42"),
    ("**Answer**: 42", "42"),
    ("**Answer: 42**", "42"),
    ("**Answer:** **42**", "42"),
    ("__Answer__: `42`", "42"),
    ("### Answer: 42", "42"),
    ("> Answer: 42", "42"),
    ("**Final Answer:** 42", "42"),
    ("**Final Answer**\n\n42", "42"),
    ("## Final Answer\n42", "42"),
    ("Final Answer:\n\n$$\n42\n$$", "$$\n42\n$$"),
    ("### The final answer\n\\[ 42 \\]", r"\[ 42 \]"),
    ("The final answer is $42$.", "$42$"),
    ("Final Answer: The final answer is $42$. I hope it is correct.", "$42$"),
    (r"Answer is: \(42\)", r"\(42\)"),
    ("The answer is 42.", "42"),
    ("The answer is 42", "42"),
    ("So the answer is: 42.", "42"),
    ("Therefore, the answer is therefore 42.", "42"),
    ("The answer's 42.", "42"),
    ("The answer should be 42.", "42"),
    ("The answer must be 42!\n", "42"),
    ("The answer equals 42.", "42"),
    ("The answer comes out to 42.", "42"),
    ("The answer turns out to be 42.", "42"),
    ("The answer to 6*7 is 42.", "42"),
    ("The answer to the question of how many is **42**.", "42"),
    ("The correct answer is (B).", "(B)"),
    ("The answer is option C.", "C"),
    ("Answer: choice (c)", "(c)"),
    ("The answer is B. 42", "B"),
    ("The answer is $\\frac{1}{2}$.", r"$\frac{1}{2}$"),
    ("The answer is 3.14.", "3.14"),
    ("The answer is 1,234.", "1,234"),
    ("The answer is -5.", "-5"),
    ("The answer is 5 meters.", "5 meters"),
    ("The answer is 25 sq. units.", "25 sq. units"),
    ("The answer is $x = 5$ and $y = 6$.", "x = 5  and  y = 6"),
    (r"The answer is $\begin{pmatrix} 1 \\ 2 \end{pmatrix}$.", r"$\begin{pmatrix} 1 \\ 2 \end{pmatrix}$"),
    ("The answer is 2**10 + 3**2.", "2**10 + 3**2"),
    ("The answer is 42, because 6 times 7 is 42.", "42"),
    ("The answer is 42 since 43 is prime.", "42"),
    ("The answer is 42, as required.", "42"),
    ("The answer is 42, not 43.", "42"),
    ("The answer is Wednesday.", "Wednesday"),
    ("Answer: yes", "yes"),
    ("Answer (final): 42", "42"),
    ("Answer - 42", "42"),
    ("Answer: -42", "-42"),
    ("Answer: 42 ✓", "42"),
    ("**Answer: 42** ✅", "42"),
    ("The answer is 42 (not 43).", "42"),
    ("This is not hard so the answer is 42.", "42"),
    ("If x is 6, the answer is 42.", "42"),
    ("If so the answer is 42.", "42"),
    ("$\\text{The answer is } 42$", "42"),
    ("Answer: does not exist", "does not exist"),
    (r"\textbf{Answer:} 42", "42"),
    ("The answer is \\boxed{42}.", r"\boxed{42}"),
    ("First guess: the answer is 41. Wait, let me check. The answer is 42.", "42"),
    ("The answer is 42. This answer is reasonable.", "42"),
    ("The answer is 42. The answer is not obvious.", "42"),
    ("The answer is not 41. The answer is 42.", "42"),
    ("The answer is 42. " * 50, "42"),
    ("The answer is $42$. The answer is 42.", "42"),
    ("答案：42", "42"),
    ("答案: 42。", "42"),
    ("所以答案是 42。", "42"),
    ("所以，最终答案为 $42$。", "$42$"),
    ("因此，正确答案是：42", "42"),
    ("这道题的答案应该是 42。", "42"),
    ("**答案**：42", "42"),
    ("**答案：** 42", "42"),
    ("【答案】42", "42"),
    ("【答案】：B", "B"),
    ("答案等于 42，因为 6×7=42。", "42"),
    ("最终答案：\n\n42", "42"),
    ("故选 B。", "B"),
    ("所以应选：C", "C"),
    ("因此选择 D。", "D"),
    ("答：42。", "42"),
    ("答案是 41。不对，再算一遍。答案是 42。", "42"),
    ("## Solution\n\nThe product is **42**.", "42"),
    ("6 * 7 = **42**", "42"),
    ("We multiply.\n\n**42**", "42"),
]
NO_LABEL = [
    "",
    "42",
    "Answer:",
    "Answer: ",
    "**Answer:**",
    "答案：",
    "The answer",
    "What is 6 times 7?",
    "Is the answer 42?",
    "Could it be that the answer is 42?",
    "The answer could be 42.",
    "The answer might be 42, or not.",
    "If the answer is 42, then we are done.",
    "I wonder whether the final answer is 42.",
    "Suppose that the answer is 42.",
    "如果答案是 42，那么就好了。",
    "难道答案是 42",
    "The answer could be 40, 41, 42, 43, or 44.",
    "My answerphone: 42",
    "The product is **not** 42, and the sum is **thirteen**.",
    "I like **42** very much.",
    "**6** times",
    "选 3 个球",
]
CONTRADICTED = [
    "The answer is 41. The answer is 42.",
    "Answer: 41\nAnswer: 42",
    "Answer: 41, answer: 42",
    "The answer is 41 or the answer is 42.",
    "The answer is 42. Or 43.",
    "The answer is 42. Maybe 43.",
    "The answer is 41. The answer is 42. The answer is 42.",
    "The answer is 41. Alternatively, the answer is 42.",
    "答案是 41。答案是 42。",
    "答案是 41，或者答案是 42。",
    "It is **41** or **42**",
    "Either **41**, or it is **42**.",
]
DENIED = [
    "The answer is 42, which is incorrect.",
    "The answer is 42, which is clearly wrong.",
    "The answer is 42, which is not right.",
    "The answer is not 42.",
    "The answer is definitely not 42.",
    "The answer isn't 42.",
    "The answer isn’t 42.",
    "The answer cannot be 42.",
    "The answer can't be 42.",
    "The answer must not be 42.",
    "The answer is anything but 42.",
    "The answer is never 42.",
    "The answer is different from 42.",
    "The answer: not 42",
    "The answer is 42. No: the answer is not 42.",
    "I don't think the answer is 42.",
    "I do not believe that the answer is 42.",
    "It is not true that the answer is 42.",
    "It cannot be that the answer is 42.",
    "I doubt that the answer is 42.",
    "It is false that the correct answer is 42.",
    "我不认为答案是 42。",
    "答案不是 42。",
    "答案肯定不是 42。",
    "答案并非 42",
    "答案不可能是 42。",
    "答案是：不是 42",
    "It is not **42**",
    "这不是 **42**",
]


@pytest.mark.parametrize(("text", "answer"), LABELLED)
def test_labels_announce_an_answer(text: str, answer: str) -> None:
    assert find_answer(text, ["label"])[:2] == (answer, "a label")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"answer": 4}', "4"),
        ('{"reasoning": "The answer is 7.", "final_answer": "\\\\frac{1}{2}"}', r"\frac{1}{2}"),
        ('Here it is:\n```json\n{"answer": 4.50}\n```\n', "4.50"),
        ('{"答案": "4"}', "4"),
        # of these the value is not the answer, or not alone
        ('{"answer": 4, "answer": 5}', None),
        ('{"answer": 4, "final_answer": 5}', None),
        ('{"wrong answer": 4}', None),
        ('```json\n{"answer": 4}\n```\nNo, the answer is 5.', "5"),
        ('{"answer": ""}', None),
    ],
)
def test_a_label_in_json_names_its_value(text: str, answer: str | None) -> None:
    assert find_answer(text, ["label"]).text == answer


@pytest.mark.parametrize("text", NO_LABEL)
def test_without_a_label_there_is_none(text: str) -> None:
    assert find_answer(text, ["label"])[:2] == (None, "no label in the answer")


@pytest.mark.parametrize(
    ("texts", "problem"), [(CONTRADICTED, "two different answers side by side"), (DENIED, "a denial")]
)
def test_two_answers_and_denials_are_no_answer(texts: list[str], problem: str) -> None:
    read = {text: find_answer(text, ["label"])[:2] for text in texts}
    assert read == dict.fromkeys(texts, (None, f"{problem} in a label"))


ELSEWHERE: list[tuple[Place, str, str | None]] = [
    ("boxed", r"so \boxed{42}.", "42"),
    ("boxed", r"\boxed{41}, no, it is \boxed{42}", "42"),
    ("boxed", r"\boxed{42} and again \boxed{42}", "42"),
    ("boxed", r"$\boxed{42}$, $\boxed{42}$", "42"),
    ("boxed", r"\boxed{41} \boxed{42} \boxed{43}", None),
    ("boxed", r"\boxed{41} or \boxed{42}", None),
    ("boxed", r"$\boxed{41}$, $\boxed{42}$.", None),
    ("boxed", r"\(\boxed{41}\) and \(\boxed{42}\)", None),
    ("boxed", r"\boxed{41}\text{ or }\boxed{42}", None),
    ("boxed", r"\boxed{41}\quad\fbox{42}", None),
    ("boxed", r"\boxed{41}或\boxed{42}", None),
    ("boxed", r"\boxed{41} or maybe \boxed{42}", None),
    ("boxed", r"Either \boxed{41} or else \boxed{42}", None),
    ("boxed", r"x = \boxed{41}, so y = \boxed{42}", "42"),
    ("boxed", r"\boxed 41 \boxed{42}", None),
    ("boxed", r"\boxed{41\boxed{42}}", r"41\boxed{42}"),
    ("tag", "<answer>42</answer>", "42"),
    ("tag", "<ANSWER>\n42\n</ANSWER>", "42"),
    ("tag", '<answer type="int">42</answer>', "42"),
    ("tag", "<answer>41</answer> Wait. <answer>42</answer>", "42"),
    ("tag", "<answer>41</answer><answer>42</answer>", None),
    ("tag", "<answer>41</answer>\n<answer>42</answer>", None),
    ("tag", "<answer>41</answer>, <answer>42</answer>", None),
    ("tag", "<answer>41</answer> or maybe <answer>42</answer>", None),
    ("tag", "<answer>41</answer>. No, <answer>42</answer>", "42"),
    ("hash", "#### 41\nor\n#### 42", None),
    ("tag", "<answer>42</answer><answer>42</answer>", "42"),
    ("tag", "<answer>41<answer>42</answer>", "42"),
    ("tag", r"<answer>So \boxed{42}</answer>", "42"),
    ("tag", r"<answer>\boxed{41} or \boxed{42}</answer>", None),
    ("tag", "<answer>The answer is 42.</answer>", "42"),
    ("tag", "<answer>The answer is not 42.</answer>", None),
    ("tag", "<answer>$42$</answer>", "$42$"),
    ("tag", "<answer>41 or 42</answer>", "41 or 42"),
    ("tag", "<answer></answer>", None),
    ("tag", "<answer>42", None),
    ("tag", "42</answer>", None),
    ("tag", "<answers>42</answers>", None),
    ("tag", "<answer>42</answer></think>", None),
    ("tag", "<think><answer>41</answer></think>", None),
    ("tag", "<think><answer>41</answer></think><answer>42</answer>", "42"),
    ("hash", "#### 42", "42"),
    ("hash", "6*7 = 42\n#### 42\n", "42"),
    ("hash", "so 6*7 = 42 #### 42", "42"),
    ("hash", "####42", "42"),
    ("hash", "#### $1,234.50", "$1,234.50"),
    ("hash", "#### The final answer is 42", "42"),
    ("hash", "#### Answer: 42", "42"),
    ("hash", r"#### \boxed{42}", "42"),
    ("hash", "#### 42 apples", "42 apples"),
    ("hash", "#### blue", "blue"),
    ("hash", "#### 41\nWait.\n#### 42", "42"),
    ("hash", "#### 41\n#### 42", None),
    ("hash", "#### 42\n\nLet me know if you would like more.", "42"),
    ("hash", "#### Step 1\n6*7\n#### Step 2: add\n42\n", None),
    ("hash", "#### 42\n#### Check\n6*7", "42"),
    ("hash", "##### 42", None),
    ("hash", "####", None),
    ("last_value", "6 times 7 is 42", "42"),
    ("last_value", "So x = $\\frac{1}{2}$.", r"$\frac{1}{2}$"),
    ("last_value", "we get 1,234.5 in total", "1,234.5"),
    ("last_value", "about -5%", "-5%"),
    ("last_value", "so 6*7 = 42.", "42"),
    ("last_value", "from 41 or 42", None),
    ("last_value", "Possible: 40, 41, 42.", None),
    ("last_value", "41、42", None),
    ("last_value", "41 (or 42)", None),
    ("last_value", "41, perhaps 42", None),
    ("last_value", "It is certainly not 42, though.", None),
    ("last_value", "肯定不是 42。", None),
    ("last_value", "no idea", None),
]


@pytest.mark.parametrize(("place", "text", "answer"), ELSEWHERE)
def test_each_place_reads_its_own(place: Place, text: str, answer: str | None) -> None:
    assert find_answer(text, [place]).text == answer


@pytest.mark.parametrize(
    ("text", "places", "answer", "where"),
    [
        (r"\boxed{41} #### 42", ["boxed", "hash"], "41", r"the last \boxed{}"),
        (r"\boxed{41} #### 42", ["hash", "boxed"], "42", "####"),
        ("<answer>41</answer>\nThe answer is 42.", ALL, "41", "<answer>"),
        # the first place that is used settles it: a contradiction, a denial and an empty box do not fall through
        (r"\boxed{} #### 42", ["boxed", "hash"], "", r"the last \boxed{}"),
        (r"\boxed{41} \boxed{42} #### 42", ALL, None, r"two different answers side by side in the last \boxed{}"),
        ("<answer></answer> #### 42", ALL, None, "nothing in <answer>"),
        ("The answer is not 42. It is 42.", ["label", "last_value"], None, "a denial in a label"),
        (r"\boxed{4", ["boxed", "last_value"], "4", "the last value"),
        ("what?", ALL, None, r"no \boxed{}, no <answer>, no ####, no label in the answer"),
        ("<think>42</think>", ["boxed"], None, r"no \boxed{} in the answer after the thinking"),
    ],
)
def test_the_first_place_that_holds_an_answer_counts(
    text: str, places: list[Place], answer: str | None, where: str
) -> None:
    assert find_answer(text, places)[:2] == (answer, where)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("42", "42"),
        ("<think>41</think>42", "\n42"),
        # of its task, and not opened there
        ("<think>It prints <reason>.</think>42", "\n42"),
        ("<think>41 <reasoning>42</think>43</reasoning>44", "44"),
        ("a <think>41</think> 42", "a \n 42"),
        ("41</think>42", "42"),
        ("<think>41", ""),
        ("42 <think>41", "42 "),
        ("<think>1<think>2</think>3</think>42", "\n42"),
        ("<think>1<think>2</think>42", ""),
        ("<THINK>41</THINK >42", "\n42"),
        ("<thinking>41</thinking>42", "\n42"),
        ('<think step="1">41</think>42', "\n42"),
        ("1 < 2 <thinker> 42", "1 < 2 <thinker> 42"),
    ],
)
def test_reasoning_never_counts(text: str, said: str) -> None:
    assert after_thinking(text) == said


HOSTILE = [
    "answer" * 150_000,
    "answer is " * 100_000,
    "answer" + "*" * 1_000_000,
    "answer" + " " * 1_000_000,
    "answer to " * 100_000,
    "Answer: " + "**" * 500_000,
    ("Answer: " + "_a" * 300) * 1_500,
    ("Answer: $" + "a" * 300) * 3_000,
    "Answer:\n" * 100_000,
    "答案是" * 300_000,
    "<answer>" * 100_000,
    "</answer>" * 100_000,
    "<answer>1</answer>" * 50_000,
    "<" * 1_000_000,
    "<think" * 150_000,
    "<think>" * 150_000,
    "</think>" * 100_000,
    "<answer" + " " * 1_000_000,
    "#### " * 200_000,
    "#### 1\n" * 100_000,
    "#" * 1_000_000,
    "\\(" * 500_000,
    "$" * 1_000_000,
    "1, " * 300_000,
    "1" * 1_000_000,
    "1," * 500_000,
    "\\boxed{1} " * 100_000,
    "\\boxed{1}" + " or" * 300_000 + " \\boxed{2}",
    "\\boxed{" * 100_000,
    "**1** " * 150_000,
    "not " * 250_000 + "42",
    "\n" * 1_000_000,
    "\ud800\x00" * 100_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:16]))
@pytest.mark.slow
def test_hostile_outputs_are_read_at_once(text: str) -> None:
    for place in (*ALL, "last_value"):
        began = time.process_time()
        find_answer(text, [place])
        # they take a tenth of it; a quadratic reading would take minutes
        assert time.process_time() - began < 3


_PIECES = [
    *[
        "answer",
        "Answer:",
        "the answer is ",
        "答案",
        "是",
        "：",
        "不",
        "not ",
        " or ",
        "42",
        "41",
        "4",
        "2",
        "$",
        "\\(",
        "\\)",
    ],
    *[
        "\n",
        "**",
        "_",
        "`",
        "#### ",
        "<answer>",
        "</answer>",
        "<think>",
        "</think>",
        "\\boxed{",
        "}",
        ".",
        ",",
        "?",
        "\\",
    ],
]


def test_no_output_raises_and_no_digits_are_joined() -> None:
    chance = random.Random("places")
    for _ in range(5_000):
        text = "".join(chance.choices(_PIECES, k=chance.randint(1, 14)))
        found = find_answer(text, chance.sample([*ALL, "last_value"], k=chance.randint(1, 5)))
        if found.text is not None:
            assert set(re.findall("[0-9]+", found.text)) <= set(re.findall("[0-9]+", text)), text


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [
        (r"18 + 7 = 25. \boxed{25}", True),
        (r"We add them. 1.5 + 1.1 = 2.6. $\boxed{2.6}$", True),
        ("First 4 * 8.\n(4 - 12)/2 = -4. \\boxed{-4}", True),
        (r"So the answer is $\boxed{25}$.", True),
        (r"It is not 18 + 7 = 25. \boxed{25}", False),
        (r"18 + 7 = 25, \boxed{25}", False),
        (r"18 + 7 = 25. -\boxed{25}", False),
        (r"18 + 7 = 25. No. \boxed{25}", False),
        (r"18 + 7 = 25 m. \boxed{25}", False),
        (r"18 + 7 = 25. \boxed{25} is wrong", False),
        (r"25. \boxed{25}", False),
    ],
)
def test_nothing_is_read_around_a_box_behind_plain_words_or_a_calculation(text: str, is_plain: bool) -> None:
    assert find_answer(text, ["boxed"], by_value=True).is_plain() is is_plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ab", True),
        ("$x$ apples", True),
        ("sine x", True),
        # letters, formulas, names of functions and what joins formulas
        ("a b", False),
        ("12a", False),
        ("$x$", False),
        (r"\(ab\)", False),
        (r"\text{ab}", False),
        ("$$a$$ or $b$", False),
        (r"\begin{align}ab\end{align}", False),
        ("sin x", False),
        ("5", False),
    ],
)
def test_words_outside_of_formulas_make_prose(text: str, expected: bool) -> None:
    assert is_prose(text) is expected


@pytest.mark.parametrize(
    ("before", "may_be"),
    [
        ("It is 5. % ", True),
        ("  % ", True),
        ("Use `", True),
        ("\\verb|", True),
        ("\\mycommand ", True),
        ("\\iffalse ", True),
        ("  [//]: # (", True),
        ("<!-- ", True),
        ("\\begin{comment}\n", True),
        ("\\begin{verbatim}\n", True),
        ("At 5 % we get ", False),
        ("Use `x` and ", False),
        ("the verb ", False),
        ("[1] ", False),
        ("a<b ", False),
        ("\\begin{align}\n", False),
        ("% no\n", False),
        ("", False),
    ],
)
def test_a_box_that_may_stand_in_a_comment_is_looked_at_closely(before: str, may_be: bool) -> None:
    assert _may_be_in_comment(f"{before}\\boxed{{2}}", len(before)) is may_be
