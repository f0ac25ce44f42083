"""Keys of the training YAMLs of AgentJet, the trainer that `astuner.task_judge` comes from, which mean nothing here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

#: By key: its effect here, and the key to write instead.
UPSTREAM_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "alien_llm_model": "upstream it names the model that a judge of your own may ask; write "
        "rubrics_auto_grader.model_name for AutoGraderJudge, or judge_kwargs.model_name and read it in your judge",
        "alien_llm_response_length": "upstream it limits that model's reply in tokens; write "
        "rubrics_auto_grader.client.max_tokens, or a key of your own under judge_kwargs",
        "sampling_mode": "upstream it says which samples rubrics are learned from; here all that are not held out are "
        "tried, `batch_size` at a time, until `patience` ends it: remove it",
        "generate_number": "upstream it is how many rubrics are proposed for a sample; write "
        "query_specific_generate_number",
        "max_retries": "upstream it is how often a call is tried again; write client.max_retries, or leave it out: "
        "calls are tried again until client.deadline_seconds",
        "aggregation_mode": "upstream it says what becomes of the proposals; write enable_categorization: true to "
        "merge them into categories, false to keep all",
    }
)
