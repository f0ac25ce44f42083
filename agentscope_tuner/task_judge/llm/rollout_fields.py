"""The fields of a rollout that judge models see: paths such as `output.metadata.final_answer`, checked at load."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentscope_tuner.bounds import flat
from agentscope_tuner.config import SECTION
from agentscope_tuner.errors import Cause, ConfigError, JudgeError, did_you_mean, input_error
from agentscope_tuner.graders.injection_defence import is_blank, shortened
from agentscope_tuner.graders.prompt import Trajectory, as_json
from agentscope_tuner.task_judge.base_judge import without_numpy
from agentscope_tuner.workflow import Task, WorkflowOutput, WorkflowTask

#: The default paths of a grader's variables.
USUAL_PATHS = {
    "response": "output.metadata.final_answer",
    "query": "task.main_query",
    "ground_truth": "task.metadata.answer",
}
_ROOTS = {"task": tuple(Task.model_fields), "output": tuple(WorkflowOutput.model_fields)}


def check_path(path: str, where: str) -> None:
    """Refuse a path that cannot lead anywhere.

    Raises:
        ConfigError: names the key, the path and the nearest field.
    """
    root, *rest = path.split(".")
    if root not in _ROOTS or not rest or not all(rest):
        usual = ", ".join(f"{name} {usual}" for name, usual in USUAL_PATHS.items())
        raise ConfigError(
            f"{where}: must begin with task. or output., got {path!r}: a column of a row is task.metadata.COLUMN, "
            f"by default {usual}"
        )
    if rest[0] not in _ROOTS[root]:
        hint = did_you_mean(rest[0], _ROOTS[root])
        raise ConfigError(f"{where}: {path!r}: {root} has no {rest[0]!r}; {hint}it has {', '.join(_ROOTS[root])}")


def read_path(path: str, task: WorkflowTask, output: WorkflowOutput) -> Any:
    """The value at `path`.

    Raises:
        JudgeError: there is none.
    """
    root, *rest = path.split(".")
    value: Any = task.task if root == "task" else output
    for index, part in enumerate(rest):
        try:
            value = value[part] if isinstance(value, Mapping) else getattr(value, part)
        except (KeyError, AttributeError) as exc:
            so_far = ".".join([root, *rest[:index]])
            known = sorted(map(str, value)) if isinstance(value, Mapping) else []
            cause = Cause.REFERENCE if root == "task" else Cause.INPUT
            raise JudgeError(f"{path} is missing: {so_far} has no {part!r}, only {known!r:.300}", cause=cause) from exc
    # From Parquet: a judge model would be shown nothing of a conversation in numpy's array
    return without_numpy(value) if type(value).__module__ == "numpy" else value


def as_shown(value: Any) -> Any:
    """A value as a judge model is shown it: a number as text, since references are often numbers; NaN as None.

    Data frames write NaN for an empty cell.
    """
    value = without_numpy(value) if type(value).__module__ == "numpy" else value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return str(value) if value == value else None


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads what a judge model is shown.

    Args:
        where: the section whose key `images` says what becomes of images; empty where it has no such key.
        images: whether the model is sent images.
    """

    where: str = ""
    images: bool = False

    def counted(self, *values: Any) -> dict[str, float]:
        """The metric `judge_images` of a verdict on `values`; none where the model is sent no images."""
        if not self.images:
            return {}
        return {"judge_images": float(sum(len(one.images) for one in values if isinstance(one, Trajectory)))}

    def value(self, path: str, task: WorkflowTask, output: WorkflowOutput) -> Any:
        """The value at `path`: a number `as_shown`, chat messages as a `Trajectory`.

        Raises:
            JudgeError: there is no value at `path`, or a message there shows the policy what the model cannot be shown.
        """
        value = read_path(path, task, output)
        if isinstance(value, list) and value and all(map(_is_message, value)):
            return _Turns(self, path).trajectory(value)
        return as_shown(value) if isinstance(value, int | float) else value

    def question(self, path: str, task: WorkflowTask, output: WorkflowOutput) -> Any:
        """The value at `path`, of a question that the model is shown.

        Raises:
            JudgeError: as `value`; or it is blank: a model that is shown no question scores the answer all the same.
        """
        value = read_path(path, task, output)
        if isinstance(value, str):
            blank = is_blank(value)
        else:
            value = self.value(path, task, output)
            texts = value if isinstance(value, list | tuple) else [None]
            blank = all(isinstance(text, str) and is_blank(text) for text in texts)
        if blank:
            raise input_error(
                f"{path} is empty, and the judge model is shown what was asked: name the question's column, "
                f"`reads: {{question: COLUMN}}` under {SECTION}"
            )
        return value

    def response(self, path: str, task: WorkflowTask, output: WorkflowOutput) -> str | Trajectory:
        """The answer at `path`: a text, chat messages, or the blocks of one.

        Raises:
            JudgeError: there is none, or it is none of these.
        """
        value = read_path(path, task, output)
        if isinstance(value, str | Trajectory):
            return value
        if isinstance(value, list) and value and all(map(_is_message, value)):
            return _Turns(self, path).trajectory(value)
        if isinstance(value, list) and value and all(isinstance(part, Mapping) and "type" in part for part in value):
            return _Turns(self, path).trajectory([{"role": "assistant", "content": value}])
        raise input_error(f"{path} must be a text or chat messages, got {type(value).__name__}")


def _is_message(item: Any) -> bool:
    return isinstance(item, Mapping) and "role" in item and ("content" in item or "tool_calls" in item)


class _Turns:
    """Makes chat messages a Trajectory. Images are shown as `(image <digest>)`, and kept beside the turns."""

    def __init__(self, reader: Reader, path: str) -> None:
        self._reader, self._path = reader, path
        self._images: dict[str, str] = {}
        # Images that the policy did not send: its own must not use up their room, or it could prevent a verdict
        self._given: dict[str, str] = {}
        self._role = ""

    def trajectory(self, messages: Sequence[Mapping[str, Any]]) -> Trajectory:
        """The turns of `messages`."""
        turns, roles = [], [str(message["role"]) for message in messages]
        for message, self._role in zip(messages, roles, strict=True):
            texts = self._texts(message.get("content"))
            if calls := message.get("tool_calls"):
                texts.append(_shown(calls))
            turns.append("\n".join(filter(None, texts)))
        return Trajectory(turns, roles, self._images)

    def _texts(self, content: Any) -> list[str]:
        try:
            return [self._text(part) for part in (content if isinstance(content, list) else [content])]
        except RecursionError:
            return [flat(content)]

    def _text(self, part: Any) -> str:
        """One block of a message as text."""
        if part is None or isinstance(part, str):
            return part or ""
        if not isinstance(part, Mapping):
            return self._file(type(part).__name__, part)
        if isinstance(part.get("text"), str):
            return str(part["text"])
        kind = str(part.get("type", ""))
        # What a tool gave back holds blocks of its own: `output` in agentscope, `content` in others
        nested = next((key for key in ("output", "content") if isinstance(part.get(key), list)), None)
        if nested is not None:
            told = {name: value for name, value in part.items() if name != nested}
            return "\n".join([_shown(told), *self._texts(part[nested])])
        if not kind or _IS_FILE.search(kind) or _FILES.intersection(part):
            return self._file(kind or "file", part)
        return _shown(part)

    def _file(self, kind: str, part: Any) -> str:
        """The text for an image or another file in a turn: `(image <digest>)`, or that it is not shown.

        Raises:
            JudgeError: the model cannot be shown it, and the policy did not cause it.
        """
        is_given = self._role in _NOT_THE_POLICY
        counted = self._given if is_given else self._images
        if (url := _image_url(part)) is None:
            why = f"a part of type {kind!r}, and judge models are shown texts and images alone"
        elif not self._reader.images:
            key = f"; where the model takes images, set {self._reader.where}.images: send" if self._reader.where else ""
            why = f"an image, and this judge model is shown texts alone{key}"
        elif len(counted) >= _MOST_IMAGES or sum(map(len, [url, *counted.values()])) > _MOST_IMAGE_CHARS:
            why = f"more than {_MOST_IMAGES} images, or more than {_MOST_IMAGE_CHARS:,} characters of them"
        else:
            digest = hashlib.sha256(url.encode()).hexdigest()[:16]
            self._images[digest] = url
            if is_given:
                self._given[digest] = url
            return f"(image {digest})"
        if not is_given:
            # A policy must not prevent a verdict by a picture, so the picture is left out, and the text says so
            return f"(a part of type {kind!r}, not shown)"
        raise input_error(
            f"{self._path} holds {why}: it is in a message of {self._role!r}. Or name a path of text under reads, or "
            "describe the file in a text part"
        )


def _shown(value: Any) -> str:
    """`value` as JSON, in which only the two ends of a file's data are kept, since a reader would see letters alone.

    Both ends stay, because a policy must not hide what it did in what looks like a file.
    """
    return _FILE.sub(lambda file: f'"{shortened(file[0][1:-1], _FILE_ENDS)}"'.replace("\n", " "), as_json(value))


def _image_url(part: Any) -> str | None:
    """The URL of the image in a block, as OpenAI, Anthropic or agentscope write it; None if it holds no image.

    A file of this machine is None, too: a policy that names one must not have it sent.
    """
    found = part if isinstance(part, Mapping) else {}
    held = next((found[key] for key in ("image_url", "source", "image") if key in found), found)
    held = held if isinstance(held, Mapping) else {"url": held}
    media = str(held.get("media_type") or ("image/" if "image" in str(found.get("type")) else ""))
    if not media.startswith("image/"):
        return None
    if isinstance(held.get("data"), str):
        return f"data:{media};base64,{held['data']}"
    url = str(held.get("url", ""))
    return url if url.startswith(("http://", "https://", "data:image/")) else None


# A data URL, or so many letters without a space as no word has
_FILE = re.compile(r'"(?:data:[\w/+.;=-]{3,100},)?[A-Za-z0-9+/_-]{400,}={0,2}"')
_FILE_ENDS = 300
_IS_FILE = re.compile(r"image|audio|video|file|document|media|data", re.IGNORECASE)
_FILES = frozenset({"source", "image_url", "input_audio", "file", "file_data"})
_NOT_THE_POLICY = frozenset({"system", "user", "developer"})
_MOST_IMAGES = 16
_MOST_IMAGE_CHARS = 20_000_000
