r"""Fragments of statements for `benchmarks.math.law`: what a policy may write in a box, around it and beside it.

In a fragment `@` is the value, `~` another value of the same kind, `%` a word of `DENYING`, and `%%` a percent sign.
"""

from __future__ import annotations

# --- in the box

# The value in other clothes: it stays the same value
DRESS = ("\\left(@\\right)", "{@}", "\\,@\\,", "\\displaystyle @", "\\mathbf{@}", "\\color{blue}{@}", "$@$")
# Words that deny, doubt or change what they stand with, in many languages
DENYING = (
    "wrong", "false", "forbidden", "rejected", "excluded", "not", "incorrect", "impossible", "never", "fake",
    "invalid", "extraneous", "anything but", "nowhere near", "almost", "at least", "more than", "less than",
    "twice", "half of", "one more than", "the opposite of", "the square of", "minus", "unless", "except",
    "no longer", "hardly", "barely", "too small", "too big", "off by one", "an overestimate", "a trap",
    "the distractor", "discarded", "refuted", "disproved", "absent", "missing", "lacks", "contradicted",
    "guess", "maybe", "possibly", "perhaps", "roughly", "or so", "and more", "plus one", "doubled", "halved",
    "negated", "squared", "inverted", "wrongly", "sarcastically", "hypothetically", "allegedly", "supposedly",
    "old", "previous", "initial", "other", "unknown", "banned", "falsch", "nicht", "niemals", "ungültig",
    "verboten", "fast", "mehr als", "das Doppelte von", "vielleicht", "ausgeschlossen", "faux", "jamais", "pas",
    "interdit", "presque", "le double de", "peut-être", "sauf", "exclu", "moins de", "incorrecto", "nunca",
    "excepto", "prohibido", "casi", "el doble de", "quizás", "mitad de", "descartado", "menos de", "errado",
    "jamais será", "metade de", "talvez", "proibido", "sbagliato", "mai", "vietato", "quasi", "forse",
    "escluso", "неверно", "не", "никогда", "запрещено", "почти", "вдвое больше", "возможно", "кроме", "меньше",
    "ошибка", "错误", "不是", "绝不", "禁止", "几乎", "大于", "两倍", "也许", "除了", "错的", "并非", "一半",
    "誤り", "ではない", "禁止された", "ほぼ", "二倍", "かもしれない", "以外", "未満", "間違い", "틀린",
    "아니다", "금지", "거의", "두 배", "아마", "제외", "미만", "오답", "خطأ", "ليس", "ممنوع", "تقريبا", "ضعف",
    "ربما", "ما عدا", "أقل من", "गलत", "नहीं", "लगभग", "दुगुना", "शायद", "सिवाय", "से कम", "yanlış", "değil",
    "asla", "belki", "hariç", "iki katı", "sai", "không phải", "có lẽ", "gấp đôi", "ngoại trừ",
)  # fmt: skip
# Where such a word may stand: nothing in the box then says that the value is the answer
DENIED = (
    "\\text{% }@", "@\\text{ %}", "@\\text{ (%)}", "@ (\\text{%})", "@=\\text{%}", "\\text{%}=@", "x_{\\text{%}}=@",
    "x_{\\mathrm{%}}=@", "\\text{The % value is }@", "\\text{%: }@", "@,\\text{ %}", "@;\\ \\text{%}",
    "\\underset{\\text{%}}{@}", "\\overset{\\text{%}}{@}", "\\underbrace{@}_{\\text{%}}",
    "\\overbrace{@}^{\\text{%}}", "@_{\\text{%}}", "@^{\\text{%}}", "\\operatorname{%}(@)", "\\mathrm{% }@",
    "\\textit{%}\\ @", "@\\quad[\\text{%}]", "@\\ \\textbf{%}", "\\text{%}(@)", "@\\tag{%}", "@\\mbox{ %}",
    "\\text{It is % }@", "\\stackrel{\\text{%}}{=}@", "@\\text{ is %}", "\\{@: \\text{%}\\}", "@\\text{ if %}",
    "\\text{answer}_{\\text{%}}: @", "@ \\iff \\text{%}", "\\text{%} \\Rightarrow @", "@\\ \\#\\text{%}",
    "@ \\#\\#\\text{%}", "\\text{% answer: }@", "f_{\\text{%}}(x)=@",
)  # fmt: skip
# Signs that deny without a word
STRUCK = (
    "\\neg @", "\\lnot(@)", "\\ne @", "x\\ne @", "\\cancel{@}", "\\not{@}", "\\sout{@}", "\\text{\\sout{@}}",
    "x\\not=@", "\\xcancel{@}", "@?", "@\\text{?}", "\\nexists @", "x\\notin\\{@\\}", "\\phantom{@}",
    "\\text{(}@\\text{)}^c", "@\\ \\bot", "\\color{white}{@}", "%% @",
)  # fmt: skip
# A number with something done to it: another number
OPERATED = (
    "@+1", "-(@)", "(@)^2", "\\frac{@}{2}", "2(@)", "\\sqrt{@}", "\\ln(@)", "(@)i", "e^{@}", "(@)!", "\\log_2(@)",
    ">@", "x>@", "x<@", "\\ge @", "\\sin(@)", "\\text{half of }@", "@\\text{ less than }1000", "3\\cdot @", "@-1",
    "10^{@}", "@\\cdot x", "@\\text{ squared}", "\\text{the sum of the digits of }@", "\\pm(@)x", "1-@",
    "@\\text{ plus one}", "(@)^{-1}", "@\\sqrt{3}", "\\frac{1}{@}+1",
)  # fmt: skip
# The value and another one: a box with two answers has none
HEDGED = (
    "@\\text{ or }~", "~\\text{ or }@", "@\\lor ~", "@\\text{ (or }~\\text{)}", "@\\text{ (not }~\\text{)}",
    "@\\ (~)", "@\\text{, maybe }~", "@\\text{ oder }~", "@\\text{ ou }~", "@\\text{ o }~", "@\\text{ или }~",
    "@\\text{或}~", "@\\text{または}~", "@\\text{ 또는 }~", "@\\text{ أو }~", "@\\text{ या }~", "@\\text{ veya }~",
    "@\\text{ hoặc }~", "@\\text{, not }~", "~\\text{, not }@\\text{, or }@", "@\\text{ unless }~",
    "@\\text{ but possibly }~", "@\\mid ~", "@/~", "@\\text{ vs }~",
    "@\\text{ (because not }@\\text{ but }~\\text{)}", "\\text{either }@\\text{ or }~", "@\\text{不是}~",
    "@\\text{ if lucky, else }~", "\\text{between }@\\text{ and }~", "@\\text{ through }~", "@\\text{ instead of }~",
    "\\max(@,~)\\text{ or }\\min(@,~)", "@\\text{, correction: }~", "@\\text{ I mean }~", "@\\to ~", "@\\ne ~",
    "\\text{not }@\\text{, but }~", "@\\text{ statt }~", "\\text{nicht }@\\text{, sondern }~", "@\\text{, sino }~",
    "@\\text{ mais pas }~", "@\\text{, а не }~", "\\cancel{@}\\,~", "\\text{(1) }@\\text{ (2) }~", "@ \\parallel ~",
)  # fmt: skip
# Two values in one box without a word that hedges: whatever it states, it states once
COMBINED = (
    "@, ~", "~, @", "@; ~", "@=~", "~=@", "@\\approx ~", "[@, ~]", "(@), (~)", "\\{@, ~\\}", "@\\cup ~", "@\\cap ~",
    "@\\,~", "@\\quad ~", "\\begin{cases}@\\\\~\\end{cases}", "\\begin{aligned}@\\\\~\\end{aligned}",
    "\\begin{pmatrix}@\\\\~\\end{pmatrix}", "@:~", "x=@, y=~", "x_1=@, x_2=~", "@\\implies ~", "@ \\equiv ~",
    "\\boxed{@}\\boxed{~}", "\\boxed{@}, ~", "~\\ \\boxed{@}", "@ = x = ~", "\\text{(a) }@\\ \\text{(b) }~",
    "\\overline{@}, ~", "@^{~}", "@_{~}", "\\frac{@}{1}, ~", "x=@\\text{ and }x=~", "\\phantom{~}@", "%% ~\n@",
    "@ %% ~", "@\\\\~", "@\\ &\\ ~", "\\text{@}~", "@\\text{ where }x=~", "@\\text{ for }n=~", "@\\pm 0, ~",
    "\\underset{~}{@}", "\\overset{~}{@}", "\\stackrel{~}{@}", "\\underbrace{@}_{~}", "@\\tag{~}", "@\\hspace{~}",
)  # fmt: skip
# A formula that the question has, with letters on which its value does not depend
LETTERED = (
    "t=@,\\ t\\in\\mathbb{R}", "@\\cdot 1^n", "(@)^{n^0}", "@+0n", "@+0\\cdot k", "@\\cdot\\frac{n}{n}", "@+n-n",
    "@\\cdot k^0", "n^0\\cdot @", "@,\\ n\\in\\mathbb{Z}", "f(t)=@", "f(x)=@,\\ x\\in\\mathbb{R}", "@\\cdot\\cos 0n",
    "\\binom{n}{n}@", "@\\cdot 1^{n}", "@+\\ln 1^n", "@\\ \\forall t", "@\\text{ for all real }t",
    "(@)\\cdot\\frac{t+1}{t+1}", "@+\\sin^2 t+\\cos^2 t-1", "@+\\binom{n}{n}-1", "c=@,\\ c\\text{ constant}",
    "@\\cdot\\left(\\frac{m}{m}\\right)^2", "\\sum_{i=1}^{1}@", "\\lim_{n\\to\\infty}@", "\\max(@,@)",
)  # fmt: skip

# --- around the box: `@` is the box itself

PLACES = ("@", "$@$", "\\[@\\]", "\\(@\\)", "**@**", "$$@$$")
SAID = (
    "The answer is @.", "So we get @.", "**Answer:** @", "Therefore, the final answer is @.", "答案是@。",
    "所以答案为：@", "La respuesta es @.", "Die Antwort ist @.", "La réponse est @.", "Ответ: @.", "答えは@です。",
    "답은 @입니다.", "A resposta é @.", "La risposta è @.", "الجواب هو @.", "उत्तर @ है।", "Cevap @.", "Đáp án là @.",
    "## Final answer\n\n@", "Hence\n@",
)  # fmt: skip
DENIED_BOX = (
    "The answer is not @.", "It is false that the answer is @.", "The answer is anything but @.", "@ is wrong.",
    "@ is not the answer.", "Nobody should answer @.", "We exclude @.", "The answer cannot be @.", "$x\\ne @$",
    "$\\neg @$", "<!-- @ -->", "%% @", "\\iffalse @ \\fi", "\\verb|@|", "\\begin{verbatim}@\\end{verbatim}",
    "\\begin{comment}@\\end{comment}", "\\def\\a{@}", "\\newcommand{\\ans}{@}", "<scratchpad>@</scratchpad>",
    "<reflection>@</reflection>", "[//]: # (@)", "\\phantom{@}", "\\cancel{@}", "The format is @.",
    "For example, one could write @.", "Suppose the answer were @.", "If only it were @!", "Is it @?", "答案不是@。",
    "答案绝不是@。", "@是错误的。", "排除@。", "La respuesta no es @.", "@ es incorrecto.",
    "Die Antwort ist nicht @.", "@ ist falsch.", "La réponse n'est pas @.", "@ est faux.", "Ответ не @.",
    "@ неверно.", "答えは@ではない。", "@は間違いです。", "답은 @이 아니다.", "@은 틀렸다.", "A resposta não é @.",
    "La risposta non è @.", "@ è sbagliato.", "الجواب ليس @.", "@ خطأ.", "उत्तर @ नहीं है।", "Cevap @ değil.",
    "Đáp án không phải là @.", "The % answer is @.", "@ (%)",
)  # fmt: skip
# A number in a formula around the box, or in words: another number
OPERATED_BOX = (
    "$\\ln @$", "$@ i$", "$x>@$", "$-@$", "$2@$", "$\\frac{@}{2}$", "$@^2$", "$\\sqrt{@}$", "$x<@$", "$1+@$", "$@!$",
    "$@+3$", "$\\sin @$", "Half of it is @.", "Twice the answer is @.", "The answer is one more than @.",
    "The answer is less than @.", "$e^{@}$", "$x\\ge @$", "答案的一半是@。", "Das Doppelte der Antwort ist @.",
    "La moitié de la réponse est @.", "Удвоенный ответ: @.", "$@x$", "$3\\cdot @$", "$@-1$",
)  # fmt: skip
# After the box, about it
TAKEN_BACK = (
    "That is wrong.", "But this is incorrect.", "This is not the answer.", "Actually, no.", "I take that back.",
    "Scratch that.", "However, this is false.", "The above is a mistake.", "Wait, that fails the check.",
    "No answer can be given.", "这是错误的。", "但这个答案不对。", "Das ist falsch.", "C'est faux.",
    "Eso es incorrecto.", "Это неверно.", "これは間違いです。", "이것은 틀렸다.", "Isso está errado.",
    "Questo è sbagliato.", "هذا خطأ.", "यह गलत है।", "Bu yanlış.", "Điều này sai.",
)  # fmt: skip
# After the box, another value as the answer: `~`
CONTRADICTED = (
    "Answer: ~", "The answer is ~.", "Final answer: ~", "#### ~", "<answer>~</answer>", "Correction: ~.",
    "I meant ~.", "So it is ~ instead.", "No, it is ~.", "The correct answer is ~.", "答案：~", "正确答案是~。",
    "Antwort: ~", "Die richtige Antwort ist ~.", "Réponse : ~", "Respuesta: ~", "La respuesta correcta es ~.",
    "Ответ: ~", "答えは~です。", "정답: ~", "Resposta: ~", "Risposta: ~", "الجواب: ~", "उत्तर: ~", "Cevap: ~",
    "Đáp án: ~", "\\fbox{~}", "<final>~</final>", "ANSWER = ~", "or $~$", "or \\boxed{~}", ", i.e. $~$", "= $~$",
    "答案：$~$",
    "$\\lor\\ ~$", "Alternatively, \\boxed{~}.", "\\boxed{~} is also possible.",
)  # fmt: skip
# After the box, the same value in another spelling: `~`
RESTATED = (
    "Answer: $~$", "The answer is $~$.", "#### ~", "<answer>~</answer>", ", or \\boxed{~}", "\\boxed{~}", "= $~$",
    "答案：$~$",
    "Respuesta: $~$", "Antwort: $~$", "Réponse : $~$", "Ответ: $~$", "答え：$~$", "정답: $~$", "That is, $~$.",
)  # fmt: skip
# Before or after the box, about another value, and worth nothing: they only try to confuse the finder
ASIDE = (
    "First we try \\boxed{~}.", "One might think of $~$.", "Note that ~ is tempting.", "<answer>~</answer>", "#### ~",
    "Answer: ~", "<think>\\boxed{~}</think>", "<think>It is \\boxed{~}.", "</think>", "Step 1: consider $~$.",
    "先考虑$~$。", "Zuerst $~$.", "D'abord $~$.", "Primero $~$.", "Сначала $~$.", "まず$~$。", "먼저 $~$.",
    "%% \\boxed{~}", "\\boxed{", "}", "$", "```", "\\[", "\\]", "<!--", "-->", "**", "(", ")", "\\begin{aligned}",
    "\\boxed{}", "\\boxed{\\boxed{~}", "\\framebox{~}", "\\text{", "~", "\\boxed ~", "\\boxed{@}\\boxed{~}",
    "\\boxed{~} or \\boxed{@}", "\\boxed{@} or \\boxed{~}", "\\boxed{~}\n\\boxed{@}", "@ or ~", "(A) @ (B) ~",
)  # fmt: skip
# In a text without a box, where tags, hashes and labels are read too
OTHER_PLACES = (
    "<answer>@</answer>", "#### @", "Answer: @", "The final answer is @", "答案：@", "<answer>$@$</answer>",
    "Final Answer: $@$",
)  # fmt: skip
