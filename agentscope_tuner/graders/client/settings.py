"""Which judge model is asked, at which endpoint and with which key, and within which limits."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, SecretStr, model_validator

from agentscope_tuner._run.forks import Kept
from agentscope_tuner.config import StrictSection
from agentscope_tuner.errors import ConfigError, GraderError
from agentscope_tuner.graders.client.usage import Prices, RunBudget
from agentscope_tuner.graders.injection_defence import special_tokens

#: A key, or several that requests take in turn.
ApiKeys = SecretStr | Annotated[list[SecretStr], Field(min_length=1)]

#: The description of `model_name`, for every section of a judge model.
MODEL_NAME = "the model that is asked, by its endpoint's name for it, such as `model_name: qwen-plus`"


class EndpointSection(StrictSection):
    """The keys of a section that say how its judge model is reached."""

    base_url: str | None = None
    #: from the environment when None
    api_key: ApiKeys | None = Field(default=None, exclude=True, repr=False)
    #: the client's limits: see ChatSettings
    client: dict[str, Any] = Field(default_factory=dict)


class ChatSettings(StrictSection):
    """A judge model, and how it may be used."""

    model_config = ConfigDict(ignored_types=(Kept,))

    model_name: str = Field(min_length=1, description=MODEL_NAME)
    #: an OpenAI-compatible endpoint; by the model's name when None
    base_url: str | None = None
    #: from the environment when None; a list is used in turn
    api_key: ApiKeys | None = Field(default=None, exclude=True, repr=False)
    #: sent with each request, such as {api-key: …}
    headers: dict[str, SecretStr] = Field(default_factory=dict, exclude=True, repr=False)
    #: behind each request's URL, such as {api-version: …}
    query: dict[str, str] = Field(default_factory=dict)
    #: not sent when None: some reasoning models refuse it
    temperature: float | None = Field(default=0.0, ge=0)
    #: of one reply; not sent when None
    max_tokens: int | None = Field(default=2048, ge=1)
    #: sent along, such as {enable_thinking: false}
    extra_body: dict[str, Any] = Field(default_factory=dict)
    #: requests at once, in this process
    concurrency: int = Field(default=64, ge=1)
    requests_per_minute: int | None = Field(default=None, ge=1)
    tokens_per_minute: int | None = Field(default=None, ge=1)
    #: for a verdict, retries included
    deadline_seconds: float = Field(default=120.0, gt=0)
    #: for one request; a quarter of the deadline when None
    try_seconds: float | None = Field(default=None, gt=0)
    #: of a verdict's requests that failed in transport; until the deadline when None
    max_retries: int | None = Field(default=None, ge=0)
    #: of a verdict's replies that could not be read
    max_reasks: int = Field(default=3, ge=0)
    #: keep replies on disk, shared by processes
    cache: bool = True
    #: $ASTUNER_CACHE_DIR, else the user's cache folder, when None
    cache_dir: str | None = None
    prices: Prices | None = None
    #: the most that a run may spend; cost needs prices
    budget: RunBudget | None = None
    #: verdicts, after which nothing is asked for the time of a deadline
    most_failures_in_a_row: int | None = Field(default=64, ge=1)
    #: the model's tokenizer.json, whose special tokens no judged text may hold
    tokenizer: str | None = None

    @model_validator(mode="after")
    def _check_prices(self) -> ChatSettings:
        if self.budget is not None and self.budget.cost is not None and self.prices is None:
            raise ValueError("a budget of cost needs prices, as {prompt: 0.4, completion: 1.2} per million tokens")
        return self

    @property
    def keys(self) -> tuple[str, ...]:
        """The configured keys; empty if the key is to come from the environment."""
        keys = self.api_key if isinstance(self.api_key, list) else [self.api_key] if self.api_key else []
        return tuple(key.get_secret_value().strip() for key in keys)

    @property
    def seconds_of_a_try(self) -> float:
        """The most that one request may take."""
        return self.try_seconds or self.deadline_seconds / 4

    @Kept
    def markers(self) -> tuple[str, ...]:
        """The special tokens of `tokenizer`; none when it is None. Other markers are recognised by their shape.

        Raises:
            ConfigError: the file cannot be read.
        """
        return special_tokens(self.tokenizer) if self.tokenizer else ()


_PROBE_SECONDS = 5.0
#: A verdict has a few hundred characters; the embeddings of a batch of rubrics have a few megabytes.
MOST_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible endpoint. The keys stay out of its repr; `more_keys` take turns with `api_key`."""

    base_url: str
    api_key: str = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    query: tuple[tuple[str, str], ...] = ()
    more_keys: tuple[str, ...] = field(default=(), repr=False)
    #: all keys, in their order
    keys: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # a key that is read from a file often ends in a line break
        object.__setattr__(self, "api_key", self.api_key.strip())
        object.__setattr__(self, "keys", (self.api_key, *self.more_keys))
        if not all(key.isascii() and key.isprintable() for key in self.keys):
            raise ConfigError("an API key holds a line break or a sign that no HTTP header may hold: copy it anew")

    def masked(self, text: str) -> str:
        """`text` without the keys, which some servers quote in their errors."""
        for secret in (*self.keys, *(value for _, value in self.headers)):
            text = text.replace(secret, "***") if len(secret) >= 8 else text
        return text


@dataclass(frozen=True, slots=True)
class _Provider:
    prefix: str
    base_url: str
    variable: str


# The start of the model's name decides the provider; each provider's page documents its OpenAI-compatible address
_PROVIDERS = (
    _Provider("qwen", "https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
    _Provider("claude", "https://api.anthropic.com/v1/", "ANTHROPIC_API_KEY"),
)
_OPENAI = _Provider("", "https://api.openai.com/v1", "OPENAI_API_KEY")


def resolve(
    model_name: str, base_url: str | None, api_key: str | None, environ: Mapping[str, str] = os.environ
) -> Endpoint:
    """The endpoint of `model_name`: the configured one, else the one that the environment and the name lead to.

    `OPENAI_BASE_URL` applies to every model whose own provider has no key in the environment. A configured `base_url`
    without a key gets the key of the provider at that host, else `OPENAI_API_KEY`. Without either it gets no key,
    because local servers ask for none.

    Raises:
        ConfigError: no key is configured or in the environment; names the variable to set.
    """
    named = next((provider for provider in _PROVIDERS if model_name.lower().startswith(provider.prefix)), _OPENAI)
    if api_key is not None and api_key.startswith("$"):
        raise ConfigError(f"api_key is no key, got {api_key!r}: write ${{oc.env:{api_key.strip('${}')}}} to read it")
    if base_url is not None:
        host = urlsplit(base_url).hostname
        if host is None or urlsplit(base_url).scheme not in ("http", "https"):
            raise ConfigError(f"base_url must read like http://127.0.0.1:8000/v1, got {base_url!r}")
        if urlsplit(base_url).path.rstrip("/").endswith("/completions"):
            told = base_url.partition("/chat/completions")[0].partition("/completions")[0]
            raise ConfigError(f"base_url ends before the call's own path: write {told}, got {base_url!r}")
        owner = next((p for p in _PROVIDERS if urlsplit(p.base_url).hostname == host), _OPENAI)
        return Endpoint(base_url, api_key or environ.get(owner.variable) or "none")
    if api_key:
        return Endpoint(
            environ.get("OPENAI_BASE_URL") or named.base_url if named is _OPENAI else named.base_url, api_key
        )
    if key := environ.get(named.variable):
        return Endpoint((named is _OPENAI and environ.get("OPENAI_BASE_URL")) or named.base_url, key)
    if elsewhere := environ.get("OPENAI_BASE_URL"):
        return Endpoint(elsewhere, environ.get("OPENAI_API_KEY") or "none")
    raise ConfigError(
        f"no API key for model {model_name!r}: set the environment variable {named.variable}, or api_key, or base_url "
        "for a server that asks for none"
    )


async def probe(endpoint: Endpoint) -> None:
    """Returns when `endpoint` answers a request that costs nothing: the list of its models.

    Raises:
        GraderError: the endpoint cannot be reached, it fails, or it refuses the key.
    """
    import httpx

    from agentscope_tuner._http.transport import Client, Connections, is_proxied

    where = f"the judge model's endpoint {endpoint.base_url}"
    url = f"{endpoint.base_url.rstrip('/')}/models"
    try:
        async with Client(Connections(most=1, most_bytes=MOST_BYTES, proxied=is_proxied())) as client:
            headers = {"Authorization": f"Bearer {endpoint.api_key}", **dict(endpoint.headers)}
            answer = await client.get(url, headers=headers, params=dict(endpoint.query) or None, timeout=_PROBE_SECONDS)
    except httpx.HTTPError as exc:
        raise GraderError(endpoint.masked(f"{where} does not answer: {type(exc).__name__}: {exc}")) from exc
    # Not every server lists its models, so 404 counts as an answer
    if answer.status_code == 401 or answer.status_code >= 500:
        raise GraderError(f"{where} answers {answer.status_code}")
