"""The border between a judge's prompt and the text that it judges.

The policy that wrote a response gains when the judge takes its text for instructions. Three measures prevent this
without the judge's cooperation:

- The markers around the text carry a delimiter drawn for each call. No text can know it, so none can end its block.
- Markers to which chat templates give a meaning are respelled. A list of the tokens of known model families is out of
  date with the next family, so markers are found by shape, in text of one spelling (see `plain`). The shapes are
  `<|…|>`, `<…>`, `[…]`, `<<…>>`, `>>…<<`, `]~…]`, a fence's BEGIN and END, and a role's name in brackets, or with a
  colon at the start of a line.
- Invisible characters are removed, because they can hide instructions from people but not from tokenizers.

`no_content` finds answers without content, which judge models are known to reward: a lone ":" or an opener such as
"Thought process:" or "Solution" talked them into a pass (arXiv 2507.08794, "One Token to Fool LLM-as-a-Judge"). Such
answers are found without a call.
"""

from __future__ import annotations

import json
import re
import secrets
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from agentscope_tuner.errors import ConfigError

# Unicode's property Default_Ignorable_Code_Point and the control characters, but not tab, newline, return and joiners
_HIDDEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
# Persian, Indic scripts and emoji need joiners and U+FE0F. So up to two stay behind a character beyond ASCII, and a
# joiner only if another such character follows
_JOINERS = "\u200c\u200d\ufe0f"
_INVISIBLE = re.compile(
    rf"[{_HIDDEN}]+|(?<![^\x00-\x7f])[{_JOINERS}]+|[{_JOINERS}]{{3,}}|[\u200c\u200d](?![^\x00-\x7f])"
    r"|\ufe0f{2}|[\u200c\u200d][\u200c\u200d\ufe0f]"
)
_ALL_INVISIBLE = re.compile(f"[{_HIDDEN}{_JOINERS}]+")
# For ASCII texts one pass of `translate` is many times as fast as a search for the characters to remove
_NO_CONTROLS = {code: None for code in range(128) if _ALL_INVISIBLE.match(chr(code))}
_LETTERS = {code: chr(code) if chr(code).isalnum() else None for code in range(128)}
_LOWER_LETTERS = {code: char and char.lower() for code, char in _LETTERS.items()}
_WITHIN_WORDS = re.compile(rf"\w[{_HIDDEN}{_JOINERS}]+\w")
# Characters that look like those of a marker, though NFKC does not replace them
_LOOKS_LIKE = {"\u2044": "/", "\u2215": "/", "\u29f8": "/", "\u2223": "|", "\u01c0": "|", "\u2758": "|", "\u2502": "|"}


def without_invisible(text: str) -> str:
    """`text` without invisible characters; joiners stay where a script or an emoji needs them."""
    if text.isascii() and text.isprintable():
        return text
    return _INVISIBLE.sub("", _INVISIBLE.sub("", text))


def hides(text: str) -> bool:
    """Whether an invisible character stands within a word of `text`."""
    return not text.isascii() and _WITHIN_WORDS.search(text) is not None


def plain(text: str) -> str:
    """`text` in one spelling: without invisible characters, and each other character in its NFKC form."""
    if not text.isascii():
        return "".join(map(_folded, text))
    return text if text.isprintable() else text.translate(_NO_CONTROLS)


def letters(text: str) -> str:
    """The letters and digits of `text`, without the characters between them."""
    return text.translate(_LETTERS) if text.isascii() else "".join(filter(str.isalnum, text))


def lower_letters(text: str) -> str:
    """The letters and digits of `text` in lower case."""
    return text.translate(_LOWER_LETTERS) if text.isascii() else "".join(filter(str.isalnum, text.casefold()))


def plain_with_positions(text: str) -> tuple[str, list[int]]:
    """`plain(text)`, and for each of its characters the position in `text` of the character that it came from."""
    pieces = [_folded(char) for char in text]
    return "".join(pieces), [position for position, piece in enumerate(pieces) for _ in piece]


@lru_cache(maxsize=4096)
def _folded(char: str) -> str:
    if _ALL_INVISIBLE.match(char):
        return ""
    return _LOOKS_LIKE.get(char) or unicodedata.normalize("NFKC", char)


_ROLES = (
    r"system|user|assistant|human|developer|tool|function|model|bot|ai|instructions?|response|input|output|query|question"
    r"|grader|judge|evaluator|系统|用户|助手|助理|指令|模型|评分员|评测器|评委|裁判员?|考官"
)
# The speakers of a chat. In code and prose these words start a line less often than the other roles do
_SPEAKERS = (
    r"system|user|assistant|human|developer|chatbot|grader|evaluator|系统|用户|助手|助理|评分员|评测器|评委|裁判员?"
)
_SHAPES = (
    # <|im_start|>, <|eot_id|>, and either end of such a marker alone
    r"<\s?\|[^<>\n]{0,64}?\|\s?>|<\s?\||\|\s?>",
    # <<SYS>>, <</SYS>>, <<<END>>>, >>QUESTION<<
    r"<{2,4}\s?/?\s?[\w\u2581\- ]{1,40}\s?/?\s?>{2,4}|>{2,4}\s?/?[\w\u2581\- ]{1,40}<{2,4}",
    # <think>, </s>, <start_of_turn>, <0x0A>: a tag without attributes, with a letter or digit in its name
    r"<\s?/?\s?(?=[^\s<>]{0,8}[^\W_])[^\s<>()=,;\"'|]{1,64}\s?/?\s?>",
    # [|system|], [INST], [/INST], [gMASK], [unused1]; a[index] stays as it is
    r"\[\s?/?\s?\|[^\[\]\n|]{0,64}\|?\s?\]",
    r"\[\s?/?\s?(?=\w{0,24}[A-Z]{2}|\w{1,24}[_\d]|/)[^\s\[\]()<>,;=\"']{2,64}\s?/?\s?\]",
    r"(?<!\w)\[\s?/?\s?(?=\w{0,8}[^\W\d_]{2})[\w\u2581\-/]{2,64}\s?\](?!\()",
    # This package's own fence, which a policy may imitate
    r"\[\s?/?\s?(?:BEGIN|END|begin|end|Begin|End)\b[^\[\]\n]{0,80}\]",
    # ]~b], ]~!b[, [e~[
    r"\]~!?\w{0,12}[\[\]]|\[\w{1,12}~!?[\[\]]",
    # "### System:", "Human:", "GPT4 Correct Assistant:", "(助手)：", "系统提示："
    rf"(?im:^[^\w\n]{{0,10}}(?:[^\W\d_][\w.]{{0,15}}[ \t]){{0,2}}(?:{_ROLES})(?:提示|消息|输出|回答)?[^\w\n]{{0,3}}:)",
    # "=== Assistant ===", "@@system@@", "assistant>>>"
    rf"(?im:^[^\w\n]{{0,10}}(?:{_SPEAKERS})[^\w\n]{{0,3}}?(?:[-=@$#*~]{{2,}}|>))",
    # A role in brackets that prompts use, though no tokenizer does: «assistant», 【助手】, {{{{#system}}}}
    rf"(?i:[«‹〈《【〔〖「『⟨❬❰]\s?[/#]?\s?(?:{_ROLES})\s?[»›〉》】〕〗」』⟩❭❱])",
    rf"(?i:\{{\{{\s?[#/~]?\s?(?:{_ROLES})\s?~?\s?\}}\}})",
)
_LOOKALIKE = str.maketrans({"<": "‹", ">": "›", "|": "¦", "[": "⟦", "]": "⟧", ":": "∶"})
#: The characters that replace those of a marker.
RESPELLED = "‹›¦⟦⟧∶"
_MOST_TOKEN_CHARS = 100
_WORD = re.compile(r"\w+")


@lru_cache(maxsize=16)
def pattern(tokens: tuple[str, ...] = ()) -> re.Pattern[str]:
    """A pattern that finds every marker and each of `tokens` in text of one spelling."""
    listed = [re.escape(token) for token in sorted(tokens, key=len, reverse=True)]
    return re.compile("|".join([*listed, *_SHAPES]))


def respell(marker: str) -> str:
    """`marker` in similar characters, which a reader recognises and no tokenizer takes for the marker.

    A marker without a character to replace gets a middle dot inside its last word.
    """
    spelled = marker.translate(_LOOKALIKE)
    if spelled != marker:
        return spelled
    words = list(_WORD.finditer(marker))
    first = words[-1].start() + 1 if words else 1
    return f"{marker[:first]}·{marker[first:]}"


def special_tokens(tokenizer_file: str) -> tuple[str, ...]:
    """The tokens that a Hugging Face `tokenizer.json` marks as special in `added_tokens`.

    Raises:
        ConfigError: the file cannot be read, or is no `tokenizer.json`.
    """
    try:
        added = json.loads(Path(tokenizer_file).read_text(encoding="utf-8"))["added_tokens"]
        found: Sequence[str] = [token["content"] for token in added if token.get("special")]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise ConfigError(
            f"tokenizer must name a tokenizer.json with added_tokens, got {tokenizer_file!r}: {exc}"
        ) from exc
    # A token of white space alone is no marker, and nearly every text holds it
    return tuple(sorted({token for token in found if token.strip() and len(token) <= _MOST_TOKEN_CHARS}))


# Every marker in ASCII text holds one of these
_SUSPECT = re.compile(r"[<>\[\]|:]|\{\{|[-=@$#*~]{2}")


def new_delimiter() -> str:
    """An unpredictable delimiter: 64 random bits in hexadecimal."""
    return secrets.token_hex(8)


def neutralise(text: str, max_chars: int | None = None, tokens: tuple[str, ...] = ()) -> str:
    """`text` as it may stand in a prompt: readable as before, without markers and invisible characters.

    Args:
        text: anything a policy can write; lone surrogates, which no request can carry, become question marks.
        max_chars: a longer text loses its middle, and a note in its place says so.
        tokens: special tokens of the judge's own tokenizer, where it is known; other markers are found by their shape.
    """
    if max_chars is not None and len(text) > max_chars:
        head, tail = text[: max_chars * 2 // 3], text[-(max_chars // 3) :]
        text = f"{head}\n[… {len(text) - len(head) - len(tail)} characters left out …]\n{tail}"
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")
    # Invisible characters first: without them the two parts of a marker would join again
    text = without_invisible(text)
    found = pattern(tokens)
    if text.isascii():
        if not tokens and not _SUSPECT.search(text):
            return text  # true of most texts, and many times cheaper than the search for markers
        return found.sub(lambda match: respell(match[0]), text)
    return _respelled(text, found)


def _respelled(text: str, found: re.Pattern[str]) -> str:
    """`text` with its markers respelled, also those of wide characters or with joiners; the rest stays as it is."""
    plain, positions = plain_with_positions(text)
    pieces, end = [], 0
    for match in found.finditer(plain):
        start = positions[match.start()]
        if start < end:
            continue
        pieces += [text[end:start], respell(match[0])]
        end = positions[match.end() - 1] + 1
    return "".join([*pieces, text[end:]])


def fence_all(texts: Mapping[str, str | list[str]], delimiter: str) -> dict[str, str]:
    """Each neutralised text between markers that carry its name and `delimiter`; texts of a list are numbered."""
    blocks = {}
    for name, text in texts.items():
        items = [(name, text)] if isinstance(text, str) else [(f"{name} {n}", item) for n, item in enumerate(text, 1)]
        fenced = [f"[BEGIN {title} {delimiter}]\n{item}\n[END {title} {delimiter}]" for title, item in items]
        blocks[name] = "\n\n".join(fenced)
    return blocks


OPENERS: dict[str, tuple[str, ...]] = {
    "en": (
        "solution", "the solution", "solution process", "here is the solution", "here is my solution", "answer",
        "the answer", "the answer is", "final answer", "the final answer is", "my answer", "my answer is",
        "here is the answer", "here is my answer", "response", "thought process", "my thought process", "thought",
        "thoughts", "reasoning",
        "reasoning process", "step by step reasoning", "explanation", "analysis", "conclusion", "step 1", "step one",
        "let's solve this problem step by step", "let's solve this step by step", "let's think step by step",
        "let's think about this step by step", "let us solve this problem step by step", "let us think step by step",
        "let's begin", "let's start", "to solve this problem", "to solve this problem step by step", "first",
        "as follows",
    ),
    "zh": (
        "解", "解答", "解析", "解法", "解题过程", "解题思路", "解决方案", "答案", "答", "答案是", "最终答案",
        "最终答案是", "回答", "思考过程", "思路", "推理过程", "推理", "分析", "让我们一步一步思考",
        "让我们一步步思考", "让我们逐步思考", "让我们一步一步解决这个问题", "让我们一步步解决这个问题",
        "让我们逐步解决这个问题", "首先", "第一步", "結論", "结论", "思考過程", "解題過程",
    ),
    "ja": ("かいせつ", "解説", "解答", "解法", "回答", "答え", "こたえ", "答えは", "思考プロセス", "思考過程",
           "ステップバイステップで考えましょう"),
    "ko": ("풀이", "해설", "답", "답은", "정답", "정답은", "해결", "사고 과정", "풀이 과정", "단계별로 생각해 봅시다"),
    "es": ("respuesta", "la respuesta", "la respuesta es", "respuesta final", "solución", "proceso de pensamiento",
           "razonamiento", "explicación", "pensemos paso a paso", "resolvamos este problema paso a paso"),
    "fr": ("réponse", "la réponse", "la réponse est", "réponse finale", "solution", "processus de réflexion",
           "raisonnement", "explication", "réfléchissons étape par étape", "résolvons ce problème étape par étape"),
    "de": ("antwort", "die antwort", "die antwort ist", "lösung", "gedankengang", "denkprozess", "begründung",
           "erklärung", "lass uns schritt für schritt denken", "lösen wir dieses problem schritt für schritt"),
    "pt": ("resposta", "a resposta", "a resposta é", "resposta final", "solução", "processo de pensamento",
           "raciocínio", "explicação", "vamos pensar passo a passo", "vamos resolver este problema passo a passo"),
    "it": ("risposta", "la risposta", "la risposta è", "soluzione", "processo di pensiero", "ragionamento",
           "spiegazione", "pensiamo passo dopo passo"),
    "ru": ("ответ", "решение", "рассуждение", "ход мыслей", "процесс мышления", "объяснение",
           "давайте подумаем шаг за шагом", "давайте решим эту задачу шаг за шагом"),
    "ar": ("الإجابة", "الجواب", "الحل", "عملية التفكير", "الشرح", "لنفكر خطوة بخطوة"),
    "hi": ("उत्तर", "समाधान", "हल", "विचार प्रक्रिया", "व्याख्या"),
    "vi": ("lời giải", "đáp án", "câu trả lời", "giải", "quá trình suy nghĩ"),
    "tr": ("cevap", "yanıt", "çözüm", "düşünce süreci", "açıklama", "adım adım düşünelim"),
}  # fmt: skip

# Patterns for openers of which there are too many forms to list
_ENGLISH = re.compile(
    r"(?:(?:sure|okay|ok|alright|well|now|so|certainly|of course|yes) )*"
    r"(?:(?:here is|here's|heres|below is|the following is|this is)(?: an?)? )?(?:(?:my|the|our|your) )?"
    r"(?:(?:detailed|full|complete|final|correct|step by step|short) )*"
    r"(?:solution|answer|response|explanation|reasoning|analysis|thought process|thinking process|chain of thought"
    r"|conclusion|proof|derivation|calculation|working)(?: process| steps)?"
    r"(?: (?:to|for|of) (?:the|this|your) (?:problem|question|task|query))?"
    r"(?: is| are| goes)?(?: as follows| follows| follows below| below| here| follows here| given below)?"
    # "I'll think about it" answers an invitation: an intention is an opener only if it is about work on a problem
    r"|(?:(?:okay|ok|sure|alright|well|first|now|so) )*(?:let's|lets|let us|let me|allow me to"
    r"|(?:to|(?:i|we)(?: will|'ll| shall| have to| need to| am going to| are going to|'m going to|'re going to))"
    r"(?=.* (?:problem|question|task|steps?|carefully|logically|(?:solve|answer|tackle|approach) (?:this|it|that))))"
    r" (?:(?:now|first|carefully|just) )?"
    r"(?:solve|think|work|reason|analy[sz]e|begin|start|answer|approach|tackle|consider|examine|explain|figure|break)"
    r"(?: (?:this|the|that|it|about|through|out|by|down|given|problem|question|task|carefully|logically|step|steps"
    r"|and|answer|solve|together|with|into))*"
)
_CHINESE = re.compile(
    r"(?:好的|首先|那么|下面|接下来|以下|这里)*(?:是|给出|为)?(?:我的|本题的?|该题的?|详细的?|完整的?|最终的?|正确的?)*"
    r"(?:解答|解析|解法|解题过程|解题思路|解题步骤|解决方案|答案|思考过程|推理过程|计算过程|推导过程|思路|分析|回答|结论)(?:过程)?"
    r"(?:如下|是|为)?|(?:详细的?|完整的?|具体的?)?(?:过程|步骤|推导|证明|计算)如下"
    r"|(?:好的|首先|那么|下面)*(?:让我们|我们|我来|我将|我们来)(?:先|来)?(?:一步一步|一步步|逐步|仔细|认真)?地?"
    r"(?:来)?(?:思考|分析|解决|解答|推理|求解)(?:一下)?(?:这个|该|此|这道)?(?:问题|题目|题)?"
    r"|(?:综上所述|综上|总而言之|总之|由此可知|由此可得|由此可见|由题意|由题意可知|由题可知|根据题意|根据题目|因此可得|经过分析|经分析|解题如下)"
)


def is_listed(words: str) -> bool:
    """Whether `words`, in lower case with single spaces, is an opener or several openers in a row."""
    return words in _KNOWN or bool(
        _ENGLISH.fullmatch(words) or _CHINESE.fullmatch(words.replace(" ", "")) or _SEVERAL.fullmatch(words)
    )


def is_listed_squeezed(letters: str) -> bool:
    """Whether `letters`, in lower case with nothing between them, is an opener."""
    return letters in _SQUEEZED


def is_ordinary_word(words: str) -> bool:
    """Whether the opener `words` may be an answer: a single word that no judge model was found to reward alone."""
    if words in _PAID_BARE:
        return False
    return " " not in words and (len(words) <= 4 or words[0].isascii() or (words.isalpha() and words[0] < "\u3000"))


_PAID_BARE = frozenset({"solution", "解", "かいせつ", "respuesta"})
_KNOWN = frozenset(" ".join(opener.casefold().split()) for openers in OPENERS.values() for opener in openers)
_SEVERAL = re.compile(
    "(?:(?:{})(?: |$))+".format("|".join(re.escape(opener) for opener in sorted(_KNOWN, key=len, reverse=True)))
)
_SQUEEZED = frozenset(re.sub(r"[\W_]+", "", opener) for opener in _KNOWN)


__all__ = ["OPENERS", "no_content"]

_MARKUP = re.compile(
    r"\\(?:boxed|text|textbf|mathrm|mathbf)\s*\{([^{}]{0,200})\}|[<‹]/?(\w{1,20})\s?/?[>›]|\${1,2}\s*\${1,2}"
)
# Tags around which output formats are built. Any other tag, such as <b>, may itself be the answer
_FORMAT_TAGS = frozenset({
    "answer", "answers", "final", "final_answer", "output", "response", "reply", "result", "solution", "verdict",
    "submission", "think", "thinking", "thought", "thoughts", "reason", "reasoning", "reflection", "analysis",
    "scratchpad", "explanation", "conclusion", "step", "s",
})  # fmt: skip
# Punctuation of a sentence, and Markdown's rules. Symbols (→, ∅), brackets ({}) and operators may be an answer
_BLANK = re.compile(r"(?:[\s.,:;!?…·、。∶\u2800]|([-*_=#~`])\1\1+)*")
# Words at the beginning of an answer; only `#`, `*` and `>` may stand before them
_FIRST_WORDS = re.compile(r"[\s#*>]*([^\W_](?:[\w '’](?!_)){2,200})")
_FILLERS = frozenset({"sure", "ok", "okay", "alright", "well", "certainly", "of course", "好的", "好", "当然"})
_NOT_WORDS = re.compile(r"[^A-Za-z0-9 ']+")
_NESTED_MARKUP = 3
_HEAD_CHARS = 400
_MOST_CHARS = 20_000
_LONGEST_SET_APART = 150
_LONE_ANSWERS = frozenset("!?")
_OPENS = re.compile(r"(?:[:∶\-–—=>→|,、…]|\.\.\.)[\s*_`]*$|^\s*#{1,6}\s")
# Cyrillic, Greek and other letters that look like Latin ones
_LATIN = str.maketrans("аеорсухіјѕԁɡαοеνρτυικ", "aeopcyxijsdgaoevptuik")


def no_content(answer: str, reference: str | None = None) -> str | None:
    """Why `answer` has no content, in words; None when it has content.

    An answer of blanks and punctuation, or of openers alone, has no content. The answer is read as the judge model
    would read it: without invisible characters, and with wide letters as plain ones. Symbols, brackets, operators and
    single ordinary words may be the answer to a question, so the judge decides on them.

    Args:
        answer: the answer, as it came.
        reference: the right answer, where the task has one. If it reads like an opener or punctuation itself, only a
            blank answer has no content.
    """
    reason = _nothing_in(answer)
    if reason is None or reference is None or not plain(answer).strip():
        return reason
    return None if plain(reference).strip() and _nothing_in(reference) is not None else reason


def _nothing_in(answer: str) -> str | None:
    if len(answer) > _HEAD_CHARS and _begins_with_content(answer[:_HEAD_CHARS]):
        return None
    seen = plain(neutralise(answer))
    text, tags = seen, set[str]()
    for _ in range(_NESTED_MARKUP):
        tags |= {match[2].lower() for match in _MARKUP.finditer(text) if match[2]}
        text = _MARKUP.sub(lambda match: f" {match[1] or ''} ", text)
    if _BLANK.fullmatch(text):
        if not tags <= _FORMAT_TAGS:
            return None
        return None if text.strip() in _LONE_ANSWERS else "the answer holds no letter, no digit and no symbol"
    if _only_openers(text, disguised=hides(answer) or letters(seen) != letters(answer)):
        return f"the answer holds only an opener: {answer.strip()[:80]!r}"
    return None


def _begins_with_content(head: str) -> bool:
    """Whether `head`, the start of a long answer, shows content: most do, and the full check is not needed."""
    text = plain(neutralise(head))
    first = _FIRST_WORDS.match(text)
    return first is not None and not is_listed(_normalised(first[1])) and len(letters(text)) > _LONGEST_SET_APART


def _only_openers(text: str, disguised: bool) -> bool:
    words = [_normalised(segment) for segment in _segments(text)]
    words = [word for word in words if word not in _FILLERS] or words
    if not words:
        return False
    if all(map(is_listed, words)):
        return disguised or len(words) > 1 or not is_ordinary_word(words[0]) or _OPENS.search(text) is not None
    latin = [word.translate(_LATIN) for word in words]
    if latin != words and all(map(is_listed, latin)):
        return True
    # Letters with spaces between them: S o l u t i o n
    return len(text) <= _LONGEST_SET_APART and is_listed_squeezed(letters(text).casefold().translate(_LATIN))


def _segments(text: str) -> list[str]:
    """The runs of letters, digits, marks, inner spaces and apostrophes in `text`."""
    looked_at = text[:_MOST_CHARS]
    if looked_at.isascii():
        segments = [segment.strip(" '") for segment in _NOT_WORDS.split(looked_at)]
    else:
        kept = "".join(char if _may_be_in_word(char) else "\n" for char in looked_at)
        segments = [segment.strip(" '’") for segment in kept.split("\n")]
    segments = [segment for segment in segments if any(map(str.isalnum, segment))]
    # The rest counts as one segment of content: so long an answer is no opener
    return [*segments, "…"] if text[_MOST_CHARS:].strip() else segments


def _may_be_in_word(char: str) -> bool:
    return char.isalnum() or char in " '’" or unicodedata.category(char).startswith("M")


def _normalised(segment: str) -> str:
    return " ".join(segment.replace("’", "'").casefold().split())
