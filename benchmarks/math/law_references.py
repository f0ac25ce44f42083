r"""References of every kind for `benchmarks.math.law`, each with its question and with values that it is not.

The rewrites are made by mechanism where one exists (`listing` permutes, `named` swaps names), else written down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """One reference.

    Attributes:
        kind: what it is, in words.
        question: the question that it answers; empty: none is given.
        text: the reference itself.
        others: values of the same kind and the same labels, none of them equal to `text` or to each other, and no set
            among them a part of another: an alternative of both would be the larger one.
        same: texts of the same value that must be paid.
        changed: texts of another value that must not be paid: one letter, one place or one word is another.
        unworked: formulas of the question that have the right value and answer nothing.
        number: whether arithmetic with it has a meaning, and another value.
    """

    kind: str
    question: str
    text: str
    others: tuple[str, ...]
    same: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    unworked: tuple[str, ...] = ()
    number: bool = False


def listing(kind: str, question: str, parts: Sequence[str], others: Sequence[str], form: str) -> Reference:
    """Parts in any order; `form` holds `*` where they stand."""
    turned = (tuple(reversed(parts)), (*parts[1:], parts[0]))
    same = tuple(form.replace("*", ", ".join(order)) for order in turned)
    changed = (form.replace("*", ", ".join(parts[:-1])), form.replace("*", ", ".join((*parts, others[0]))))
    wrong = tuple(form.replace("*", ", ".join((*parts[:-1], other))) for other in others)
    return Reference(kind, question, form.replace("*", ", ".join(parts)), wrong, same, changed)


def ordered(kind: str, question: str, parts: Sequence[str], others: Sequence[str], form: str = "*") -> Reference:
    """As `listing`, where the order counts."""
    turned = {tuple(reversed(parts)), (*parts[1:], parts[0])} - {tuple(parts)}
    changed = tuple(sorted(form.replace("*", ", ".join(order)) for order in turned))
    wrong = tuple(form.replace("*", ", ".join((*parts[:-1], other))) for other in others)
    return Reference(kind, question, form.replace("*", ", ".join(parts)), wrong, (), changed)


def named(kind: str, question: str, names: tuple[str, str], values: tuple[str, str], other: str) -> Reference:
    """Two unknowns whose values stand in the order of the names in the question."""
    (first, second), (one, two) = names, values
    return Reference(
        kind,
        question,
        f"({one},{two})",
        (f"({one},{other})", f"({other},{two})"),
        (f"{first}={one}, {second}={two}", f"{second}={two}, {first}={one}", f"({first},{second})=({one},{two})"),
        (f"({two},{one})", f"{first}={two}, {second}={one}", f"({second},{first})=({one},{two})"),
    )


_NUMBERS = (
    Reference("integer", "", "42", ("17", "91"), ("42.0", "+42", "x=42"), ("-42", "420", "4.2"), number=True),
    Reference(
        "integer",
        "How many apples are left?",
        "36",
        ("25", "58"),
        ("36\\text{ apples}",),
        ("36\\text{ dozen}",),
        number=True,
    ),
    Reference(
        "integer",
        "Find $\\gcd(84,126)$.",
        "42",
        ("21", "14"),
        ("\\gcd(84,126)=42",),
        ("84",),
        ("\\gcd(84,126)", "\\gcd(126,84)"),
        True,
    ),
    Reference(
        "integer",
        "Compute $\\log_3 81$.",
        "4",
        ("3", "27"),
        ("\\log_3 81=4",),
        ("-4",),
        ("\\log_3 81", "\\log_3(81)"),
        True,
    ),
    Reference(
        "integer",
        "Evaluate $\\binom{9}{4}$.",
        "126",
        ("84", "72"),
        ("\\binom94=126",),
        ("-126",),
        ("\\binom{9}{4}",),
        True,
    ),
    Reference(
        "integer", "What is $7!-4$?", "5036", ("5040", "716"), ("5{,}036", "5,036"), ("5,0,36",), ("7!-4",), True
    ),
    Reference("negative", "Solve $3x+40=1$.", "-13", ("-11", "26"), ("x=-13", "−13"), ("13",), number=True),
    Reference(
        "large integer",
        "",
        "1234567890123",
        ("1234567890124", "987654321987"),
        ("1,234,567,890,123",),
        ("1234567890123.5",),
        number=True,
    ),
    Reference(
        "fraction",
        "",
        "\\frac{3}{7}",
        ("\\frac{4}{7}", "\\frac{2}{9}"),
        ("3/7", "\\frac{6}{14}", "\\tfrac37"),
        ("\\frac{7}{3}", "-\\frac37"),
        number=True,
    ),
    Reference(
        "fraction",
        "Simplify $\\frac{42}{56}$.",
        "\\frac34",
        ("\\frac23", "\\frac58"),
        ("3/4", "0.75"),
        ("\\frac43",),
        ("\\frac{42}{56}", "42/56"),
        True,
    ),
    Reference(
        "probability",
        "What is the probability that the sum is seven?",
        "\\frac{1}{6}",
        ("\\frac{1}{9}", "\\frac{5}{18}"),
        ("P=\\frac16",),
        ("\\frac56", "6"),
        number=True,
    ),
    Reference(
        "mixed number",
        "",
        "2\\frac{1}{3}",
        ("5\\frac{1}{4}", "3\\frac{2}{3}"),
        ("\\frac73",),
        ("3\\frac12", "\\frac23"),
        number=True,
    ),
    Reference("decimal", "", "3.75", ("4.25", "9.5"), ("3.750", "\\frac{15}{4}"), ("37.5", "3.57"), number=True),
    Reference("decimal", "Round 2.71828 to two decimal places.", "2.72", ("2.71", "2.8"), ("2.72",), ("2.7183",)),
    Reference(
        "scientific",
        "",
        "4.5\\times 10^{-4}",
        ("4.5\\times 10^{-3}", "8.1\\times 10^{-4}"),
        ("0.00045",),
        ("4.5\\times 10^{4}",),
        number=True,
    ),
    Reference(
        "root",
        "Simplify $\\sqrt{50}$.",
        "5\\sqrt{2}",
        ("2\\sqrt{5}", "7\\sqrt{2}"),
        ("\\sqrt{2}\\cdot 5",),
        ("5\\sqrt{3}",),
        ("\\sqrt{50}", "\\sqrt{5\\cdot10}"),
        True,
    ),
    Reference(
        "multiple of pi", "", "12\\pi", ("16\\pi", "9\\pi"), ("12\\cdot\\pi", "\\pi\\cdot 12"), ("12",), number=True
    ),
    Reference("logarithm", "", "\\ln 7", ("\\ln 5", "\\ln 11"), ("\\ln(7)",), ("\\log_2 7", "7"), number=True),
    Reference(
        "percent", "What percent of 80 is 28?", "35\\%", ("40\\%", "28\\%"), ("35", "35\\text{ percent}"), ("0.35\\%",)
    ),
    Reference(
        "currency",
        "How many dollars does it cost?",
        "\\$24",
        ("\\$36", "\\$18"),
        ("24", "24\\text{ dollars}"),
        ("24\\text{ cents}", "€24"),
    ),
    Reference(
        "length",
        "",
        "15\\text{ cm}",
        ("25\\text{ cm}", "18\\text{ cm}"),
        ("15\\,\\mathrm{cm}", "0.15\\text{ m}"),
        ("15\\text{ m}", "15\\text{ cm}^2", "15\\text{ kg}"),
    ),
    Reference(
        "speed",
        "How fast is it, in metres per second?",
        "12\\text{ m/s}",
        ("15\\text{ m/s}", "8\\text{ m/s}"),
        ("12\\,\\mathrm{m\\,s^{-1}}", "12"),
        ("12\\text{ m/h}", "12\\,\\mathrm{m\\,s^{-2}}"),
    ),
    Reference(
        "acceleration",
        "Find the acceleration.",
        "9.8\\,\\mathrm{m/s^2}",
        ("3.7\\,\\mathrm{m/s^2}", "1.6\\,\\mathrm{m/s^2}"),
        ("9.8\\,\\mathrm{m\\,s^{-2}}",),
        ("9.8\\,\\mathrm{m/s}",),
    ),
    Reference(
        "angle",
        "Find the angle in degrees.",
        "60^\\circ",
        ("45^\\circ", "75^\\circ"),
        ("60", "60\\text{ degrees}"),
        ("60\\pi", "60'"),
    ),
    Reference("time", "When does it arrive?", "8:30", ("9:15", "7:45"), ("8{:}30",), ("8.30", "30:8")),
    Reference(
        "date",
        "On which day is it?",
        "\\text{March 14}",
        ("\\text{March 15}", "\\text{April 14}"),
        ("14\\text{ March}", "\\text{March 14th}"),
        ("\\text{May 14}",),
    ),
    Reference(
        "duration",
        "",
        "2\\text{ hours}",
        ("3\\text{ hours}", "5\\text{ hours}"),
        ("120\\text{ minutes}",),
        ("2\\text{ minutes}", "2\\text{ days}"),
    ),
    Reference("ratio", "Simplify the ratio 8:12.", "2:3", ("3:4", "5:6"), ("2\\text{ to }3",), ("3:2",), ("8:12",)),
    Reference("base", "Write 37 in base 6.", "101_6", ("110_6", "111_6"), ("101_{6}",), ("101_7", "37")),
    Reference(
        "complex",
        "Divide $3+i$ by $1-i$.",
        "1+2i",
        ("2+i", "3-2i"),
        ("2i+1",),
        ("1-2i", "1+2"),
        ("\\frac{3+i}{1-i}",),
        True,
    ),
    Reference(
        "factorisation",
        "Find the prime factorization of 360.",
        "2^3\\cdot 3^2\\cdot 5",
        ("2^2\\cdot 3^3\\cdot 5", "2^3\\cdot 3\\cdot 5"),
        ("5\\cdot 3^2\\cdot 2^3",),
        ("2^3+3^2+5",),
    ),
    Reference(
        "Chinese",
        "小明一共有多少个苹果？",
        "28",
        ("35", "19"),
        ("28个", "28\\text{个苹果}"),
        ("28\\text{个梨}",),
        number=True,
    ),
    Reference("Chinese", "求函数的最小值。", "-3", ("-5", "6"), ("最小值为-3",), ("3",), number=True),
)
_COLLECTIONS = (
    listing("set", "", ("2", "5", "9"), ("8", "14"), "\\{*\\}"),
    listing("roots", "Find all solutions.", ("3", "-4"), ("7", "11"), "*"),
    ordered("pair", "", ("3", "-7"), ("4", "9"), "(*)"),
    ordered("triple", "Find the point.", ("1", "4", "6"), ("5", "8"), "(*)"),
    ordered("sorted", "Sort the numbers 9, 2, 7 in increasing order.", ("2", "7", "9"), ("8", "10")),
    ordered("first terms", "List the first three terms of the sequence.", ("8", "5", "11"), ("12", "14")),
    ordered("quotient and remainder", "Find the quotient and the remainder of 93 by 7.", ("13", "2"), ("4", "5")),
    named("named pair", "Find all $(n,k)$ with $n^k=25$.", ("n", "k"), ("5", "2"), "3"),
    named("named pair", "Solve for $x$ and $y$: $x+y=7$, $x-y=11$.", ("x", "y"), ("9", "-2"), "4"),
    Reference("interval", "", "[2,7)", ("[8,9)", "[-3,1)"), ("2\\le x<7", "x\\in[2,7)"), ("(2,7]", "[2,7]")),
    Reference(
        "union",
        "Solve the inequality.",
        "(-\\infty,1)\\cup(4,\\infty)",
        ("(-\\infty,0)\\cup(2,3)", "(-5,2)\\cup(6,7)"),
        ("x<1\\text{ or }x>4",),
        ("(1,4)", "[-\\infty,1]\\cup[4,\\infty)"),
    ),
    Reference(
        "interval with a letter",
        "",
        "[a,a+1]",
        ("[a+2,a+3]", "[a-4,a-2]"),
        ("a\\le x\\le a+1",),
        ("[0,1]", "(a,a+1)", "[b,b+1]"),
    ),
    Reference(
        "intervals of a period",
        "Where does $f$ increase?",
        "[k\\pi-\\frac{\\pi}{3},k\\pi+\\frac{\\pi}{6}], k\\in\\mathbb{Z}",
        (
            "[k\\pi+\\frac{\\pi}{4},k\\pi+\\frac{\\pi}{2}], k\\in\\mathbb{Z}",
            "[k\\pi-\\frac{\\pi}{2},k\\pi-\\frac{\\pi}{4}], k\\in\\mathbb{Z}",
        ),
        ("[n\\pi-\\frac{\\pi}{3},n\\pi+\\frac{\\pi}{6}], n\\in\\mathbb{Z}",),
        ("[2k\\pi-\\frac{\\pi}{3},2k\\pi+\\frac{\\pi}{6}], k\\in\\mathbb{Z}",),
    ),
    Reference(
        "matrix",
        "",
        "\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}",
        ("\\begin{pmatrix}1&2\\\\3&5\\end{pmatrix}", "\\begin{pmatrix}0&2\\\\3&4\\end{pmatrix}"),
        ("\\begin{bmatrix}1&2\\\\3&4\\end{bmatrix}",),
        ("\\begin{pmatrix}1&3\\\\2&4\\end{pmatrix}", "(1,2,3,4)"),
    ),
    Reference(
        "product of matrices",
        "Give the product of the matrices $A$ and $B$, $A$ first.",
        "AB",
        ("AC", "CB"),
        (),
        ("BA",),
    ),
    Reference(
        "permutation",
        "Write the permutation as a cycle.",
        "(1\\,3\\,2)",
        ("(1\\,2\\,4)", "(2\\,3\\,4)"),
        ("(3\\,2\\,1)",),
        ("(1\\,2\\,3)",),
    ),
    Reference(
        "vector",
        "Which vector is it?",
        "\\overrightarrow{AB}",
        ("\\overrightarrow{AC}", "\\overrightarrow{CD}"),
        ("\\vec{AB}",),
        ("\\overrightarrow{BA}", "-\\overrightarrow{AB}"),
    ),
    Reference("figure", "Which quadrilateral is it?", "ABCD", ("ABDE", "BCDE"), (), ("BADC", "ACBD")),
)
_FORMULAS = (
    Reference(
        "polynomial",
        "Expand $(x+3)^2$.",
        "x^2+6x+9",
        ("x^2+3x+9", "x^2+6x+6"),
        ("9+6x+x^2",),
        ("y^2+6y+9",),
        ("(x+3)^2", "(3+x)^2", "(x+3)(x+3)"),
    ),
    Reference(
        "factors",
        "Factor $x^2-16$.",
        "(x-4)(x+4)",
        ("(x-2)(x+8)", "(x-4)(x-4)"),
        ("(x+4)(x-4)",),
        ("(y-4)(y+4)",),
        ("x^2-16", "-16+x^2"),
    ),
    Reference(
        "function",
        "Find $f(x)$.",
        "f(x)=3x+2",
        ("f(x)=3x+5", "f(x)=2x+2"),
        ("3x+2", "f(t)=3t+2"),
        ("f(x)=3y+2", "3t+2"),
    ),
    Reference("line", "", "y=2x-5", ("y=2x+5", "y=3x-5"), ("2x-y=5",), ("x=2y-5",)),
    Reference(
        "circle",
        "Find the equation of the circle.",
        "(x-1)^2+(y+2)^2=9",
        ("(x-1)^2+(y+2)^2=3", "(x+1)^2+(y-2)^2=9"),
        ("(y+2)^2+(x-1)^2=9",),
        ("(x-1)^2-(y+2)^2=9",),
    ),
    Reference("inequality", "", "x>6", ("x<3", "2<x<5"), ("6<x", "(6,\\infty)"), ("x<6", "x\\ge 6", "x=6")),
    Reference(
        "antiderivative",
        "Find $\\int 2x\\,dx$.",
        "x^2+C",
        ("x^3+C", "2x^2+C"),
        ("x^2+c",),
        ("x^2+x",),
        ("\\int 2x\\,dx",),
    ),
    Reference("trigonometry", "", "\\sin 2x", ("\\sin 3x", "\\cos 2x"), ("2\\sin x\\cos x",), ("\\sin 2y", "2\\sin x")),
    Reference(
        "family",
        "Solve $\\sin x=0$.",
        "k\\pi, k\\in\\mathbb{Z}",
        ("k\\pi+\\frac{\\pi}{2}, k\\in\\mathbb{Z}", "k\\pi+\\frac{\\pi}{3}, k\\in\\mathbb{Z}"),
        ("n\\pi, n\\in\\mathbb{Z}", "x=k\\pi, k\\in\\mathbb{Z}"),
        ("k\\pi, k\\in\\mathbb{R}", "2k\\pi, k\\in\\mathbb{Z}"),
    ),
    Reference(
        "congruence", "", "x\\equiv 3\\pmod 7", ("x\\equiv 4\\pmod 7", "x\\equiv 3\\pmod 9"), ("x=7k+3",), ("x=3",)
    ),
    Reference(
        "functional equation",
        "Find all functions.",
        "f(x)=cx",
        ("f(x)=x+c", "f(x)=cx^2"),
        ("f(x)=kx", "cx"),
        ("f(x)=x",),
    ),
    Reference(
        "chemical equation",
        "Write the balanced equation.",
        "2H_2+O_2\\to 2H_2O",
        ("H_2+O_2\\to H_2O", "2H_2+2O_2\\to 2H_2O"),
        ("\\mathrm{2H_2+O_2\\to 2H_2O}",),
        ("2H_2O\\to 2H_2+O_2",),
    ),
    Reference(
        "chemical formula",
        "Which acid is it?",
        "H_2SO_4",
        ("H_2SO_3", "HNO_3"),
        ("\\mathrm{H_2SO_4}",),
        ("H_2S_4O", "H_4SO_2"),
    ),
    Reference("product", "", "x\\sqrt{x}", ("x\\sqrt{y}", "x^2\\sqrt{x}"), ("\\sqrt{x}\\,x",), ("y\\sqrt{y}",)),
)
_WORDS = (
    Reference("yes or no", "Is 91 prime?", "\\text{No}", ("\\text{Yes}",), ("no",), ("\\text{Not no}",)),
    Reference(
        "two words",
        "Is the function odd or even?",
        "\\text{even}",
        ("\\text{odd}",),
        ("\\text{an even function}",),
        ("\\text{odd even}", "\\text{even odd}", "\\text{neither}"),
    ),
    Reference(
        "name",
        "Who was the first: Anna, Ben or Carla?",
        "\\text{Carla}",
        ("\\text{Anna}", "\\text{Ben}"),
        ("Carla",),
        ("\\text{Anna Carla}", "\\text{Carl}"),
    ),
    Reference(
        "choice",
        "Which is largest? (A) one (B) two (C) three (D) four",
        "D",
        ("A", "C"),
        ("(D)", "\\text{D}"),
        ("AD", "\\text{A or D}"),
    ),
    Reference("several choices", "哪些说法正确？①②③④", "②③", ("①③", "②④"), ("②, ③",), ("②③④", "②")),
    Reference(
        "no solution",
        "Solve the system.",
        "\\text{no solution}",
        ("\\text{infinitely many solutions}",),
        ("\\text{There is no solution}",),
        ("\\text{one solution}", "0"),
    ),
    Reference(
        "limit",
        "Does the series converge or diverge?",
        "\\text{converges}",
        ("\\text{diverges}",),
        (),
        ("\\text{converges or diverges}",),
    ),
    Reference("infinity", "Find the limit.", "\\infty", ("-\\infty", "0"), ("+\\infty",), ("8",)),
)
REFERENCES: tuple[Reference, ...] = (*_NUMBERS, *_COLLECTIONS, *_FORMULAS, *_WORDS)
