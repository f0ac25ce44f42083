"""The base of the judges that ask judge models."""

from __future__ import annotations

from agentscope_tuner.graders.client.chat_model import ChatModel
from agentscope_tuner.graders.client.settings import probe
from agentscope_tuner.task_judge.base_judge import BaseJudge


class ModelJudge(BaseJudge):
    """A judge that asks judge models; `astuner judge-eval` measures it.

    Attributes:
        judge_models: all models that may be asked.
        response_path: where the answer is read, such as `output.metadata.final_answer`.
        top_score: the highest score of its range.
    """

    judge_models: list[ChatModel]
    response_path: str
    top_score: float

    async def aready(self) -> None:
        """Asks the judge models' endpoints whether they answer."""
        for endpoint in dict.fromkeys(model.endpoint for model in self.judge_models):
            await probe(endpoint)
