"""A policy small enough to train on one CPU thread in half a minute: a character tokenizer and an 84k-parameter Llama.

Both are built in place, so nothing is downloaded.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

EOS = "<eos>"
BOX = r"\boxed{"


def char_tokenizer(characters: str) -> PreTrainedTokenizerFast:
    r"""One token a character, and one for `\boxed{`. A character outside `characters` reads as unknown."""
    vocabulary = {token: index for index, token in enumerate(["<pad>", EOS, "<unk>", BOX, "}", *characters])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\\boxed\{|."), "isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token=EOS, unk_token="<unk>", padding_side="left"
    )


def tiny_llama(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """Two layers of width 64, randomly initialised from torch's current seed."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
        initializer_range=0.1,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config)


def warm_up(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    draw: Callable[[random.Random], str],
    *,
    seed: int,
    steps: int = 300,
) -> None:
    """Teach the format on texts of mostly wrong answers: RL needs a policy that is right now and then.

    Args:
        model: trained in place.
        tokenizer: the model's.
        draw: a prompt with its completion, drawn anew for every row of 64 rows a step.
        seed: of what is drawn.
        steps: of AdamW at a learning rate of 3e-3.
    """
    rng = random.Random(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(steps):
        rows = tokenizer([draw(rng) + EOS for _ in range(64)], return_tensors="pt", padding=True)
        labels = rows.input_ids.masked_fill(rows.attention_mask == 0, -100)
        loss = model(input_ids=rows.input_ids, attention_mask=rows.attention_mask, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def new_policy(
    characters: str, draw: Callable[[random.Random], str], *, seed: int, warm_up_steps: int = 300
) -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast]:
    """A warmed-up policy and its tokenizer, the same for the same seed."""
    # 84k parameters: handing work to a second thread costs more than it saves
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    tokenizer = char_tokenizer(characters)
    model = tiny_llama(tokenizer)
    warm_up(model, tokenizer, draw, seed=seed, steps=warm_up_steps)
    return model, tokenizer


def speak(
    policy: tuple[LlamaForCausalLM, PreTrainedTokenizerFast], prompts: Sequence[str], *, completion_length: int
) -> list[str]:
    """What the policy answers when it samples nothing: its likeliest token at every place."""
    model, tokenizer = policy
    # a model that trains checkpoints its gradients, and then has no cache to generate with
    model.eval()
    rows = tokenizer(list(prompts), return_tensors="pt", padding=True)
    with torch.no_grad():
        spoken = model.generate(
            input_ids=rows.input_ids,
            attention_mask=rows.attention_mask,
            max_new_tokens=completion_length,
            do_sample=False,
        )
    return [
        str(text) for text in tokenizer.batch_decode(spoken[:, rows.input_ids.shape[1] :], skip_special_tokens=True)
    ]


def shuffled(rows: Sequence[dict[str, object]], *, seed: int, times: int) -> list[dict[str, object]]:
    """`rows`, `times` over, in a random order."""
    repeated = list(rows) * times
    random.Random(seed).shuffle(repeated)
    return repeated
