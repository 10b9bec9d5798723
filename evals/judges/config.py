"""The part of the configuration that says who judges."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from evals.judges.models import PROVIDERS, Identity, origin_of
from evals.judges.prompts import PromptBook, read_prompts
from evals.schemas.base import Finite, MayChange, Record

DEFAULT_PROVIDER = "anthropic"

DEFAULT_MODEL = "claude-sonnet-5-5"

BATCH_PROVIDER = "anthropic"
"""The one whose batches are known here."""

DEFAULT_MAX_INPUT_TOKENS = 50_000
"""Ten times what ten chunks of 1,200 characters take. An answer of 200 kB, which takes more, has cost dollars."""


def spell_out_model(judge: Mapping[str, Any]) -> dict[str, Any]:
    """The judge's keys with `provider:model` taken apart; the prefix goes before the provider.

    A colon after anything but a provider's name belongs to the name of the model.
    """
    prefix, colon, name = str(judge.get("model", "")).partition(":")
    return {**judge, "provider": prefix, "model": name} if colon and prefix in PROVIDERS else dict(judge)


class JudgeConfig(Record):
    """The LLM judge of the generation metrics."""

    enabled: bool = True
    provider: str = DEFAULT_PROVIDER
    """Whose API it is reached by: a name in `evals.judges.models.PROVIDERS`."""
    model: str = DEFAULT_MODEL
    """`provider:model` gives both."""
    base_url: str | None = None
    """Another address of the provider's API; ANTHROPIC_BASE_URL or OPENAI_BASE_URL where None."""
    effort: str | None = None
    """How hard the model thinks before it writes, in the provider's words; the model's own default where None."""
    repeats: int = Field(default=1, ge=1, le=10)
    """How often each decision is made; the median counts, and how often they disagree is recorded."""
    concurrency: int = Field(default=8, ge=1, le=256)
    cache: Annotated[bool, MayChange.ON_RESUME] = True
    """Keep replies under <runs_dir>/.judge-cache, so that the same question is paid for once."""
    max_cost_usd: Annotated[Finite | None, MayChange.ON_RESUME] = Field(default=None, gt=0)
    """The budget: no call starts that it does not cover. The run is then partial."""
    max_error_rate: Annotated[Finite, MayChange.ON_RESUME] = Field(default=0.1, ge=0, le=1)
    """If a greater share of the decisions is lost, the run is partial (exit code 4)."""
    max_input_tokens: Annotated[int, MayChange.ON_RESUME] = Field(default=DEFAULT_MAX_INPUT_TOKENS, ge=1000)
    """A call that would send more is not made, and its decision counts as lost."""
    on_injection: Literal["exclude", "keep"] = "exclude"
    """A verdict of which the judge itself says that the data tells it what to decide is left out of the value, and
    widens the bounds, by which gates are then decided; `keep` counts it like any other."""
    notes: str = ""
    """Facts of the subject that a judge must know, such as abbreviations: they are added to every prompt."""
    language: str = ""
    """In which the judge gives its reasons; that of the prompts, English, where it is empty."""
    prompts: Path | None = None
    """A folder of changed prompts, each in place of ours of its name: `evals prompts --copy FOLDER` writes ours."""
    batch: Annotated[bool, MayChange.ON_RESUME] = False
    """Ask by the Message Batches API: half the price, in rounds that usually take up to an hour each."""
    batch_poll_s: Annotated[Finite, MayChange.ON_RESUME] = Field(default=15.0, gt=0, le=3600)
    """Between two looks at a batch."""
    batch_timeout_s: Annotated[Finite, MayChange.ON_RESUME] = Field(default=90_000.0, gt=0)
    """So long a round is waited for; after that the run is partial, and its replies are left for a resumed run."""

    @model_validator(mode="before")
    @classmethod
    def _long_form(cls, data: Any) -> Any:
        return spell_out_model(data) if isinstance(data, Mapping) else data

    @field_validator("provider")
    @classmethod
    def _provider_exists(cls, provider: str) -> str:
        if provider not in PROVIDERS:
            raise ValueError(f"no such provider: {provider!r} (there are {', '.join(PROVIDERS)})")
        return provider

    @field_validator("base_url")
    @classmethod
    def _address_can_be_one(cls, base_url: str | None) -> str | None:
        if base_url is None:
            return None
        parts = urlsplit(base_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0:  # raises where it is none
            raise ValueError("must begin with http:// or https:// and name a host")
        if parts.username is not None or parts.password is not None:
            raise ValueError("must hold no login: it would be saved with the run; put the key into the environment")
        if parts.query or parts.fragment:
            raise ValueError("must hold neither ? nor #: a path is appended to it")
        return base_url

    @model_validator(mode="after")
    def _fits_the_provider(self) -> Self:
        provider, ours = self.provider, f"{DEFAULT_PROVIDER}:{DEFAULT_MODEL}"
        efforts = PROVIDERS[provider].efforts
        if self.effort is not None and self.effort not in efforts:
            raise _misfit(f"no such effort: {self.effort} ({provider} takes {', '.join(efforts)})")
        if self.batch and provider != BATCH_PROVIDER:
            hint = f"leave out --judge-batch (judge.batch), or name a model of it, such as {ours}"
            raise _misfit(f"{provider} has no batches", f"batches are of {BATCH_PROVIDER} only: {hint}")
        if not self.model or (provider != DEFAULT_PROVIDER and self.model == DEFAULT_MODEL):
            hint = f"{provider}:NAME is one of {provider} (--judge-model); for Claude write {ours}"
            raise _misfit(f"name a model of {provider}", hint)
        return self

    @field_validator("prompts")
    @classmethod
    def _prompts_can_be_asked(cls, folder: Path | None) -> Path | None:
        if folder is not None:
            read_prompts(folder)
        return folder

    def prompt_book(self) -> PromptBook:
        """The prompts by which this judge is asked.

        Raises:
            ConfigError: A changed one cannot be used.
        """
        return PromptBook(self.notes, self.language, read_prompts(self.prompts) if self.prompts else None)

    @property
    def identity(self) -> Identity:
        """Who judges, known without asking."""
        address = PROVIDERS[self.provider].address(self.base_url)
        return Identity(self.model, origin_of(address), self.provider, self.effort)


def _misfit(message: str, hint: str | None = None) -> PydanticCustomError:
    return PydanticCustomError("judge", "{message}", {"message": message, "hint": hint})
