"""What a judge's backend is: one call, one reply."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

from evals.schemas.verdicts import JudgeFailure, JudgeUsage


@dataclass(frozen=True, slots=True)
class Identity:
    """Who judges.

    Attributes:
        model: The model asked for.
        origin: Where it is reached, without credentials.
        provider: By whose API.
        effort: How hard it is told to think; None where that is left to the model.
    """

    model: str
    origin: str
    provider: str = ""
    effort: str | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One question to a model.

    Attributes:
        system: The instructions.
        content: The data, as one JSON object in text.
        schema: JSON schema of the reply.
        max_tokens: Upper bound of the reply, thinking included.
        shared: Lengths of those beginnings of the data that other calls with these instructions have too.
        remark: What was wrong with a reply to this, where it is asked again; no part of what decides the reply.
    """

    system: str
    content: str
    schema: dict[str, Any]
    max_tokens: int
    shared: tuple[int, ...] = ()
    remark: str = ""

    @property
    def message(self) -> str:
        """What the user says: the data, and behind it the remark."""
        return f"{self.content}\n\n{self.remark}" if self.remark else self.content


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """What a model said.

    Attributes:
        text: Its text blocks, joined.
        stop: Why it ended: by itself, by refusing, or because `max_tokens` was reached.
        model: The model that answered, as it names itself.
        usage: Tokens, where the vendor counts them.
        request_id: The vendor's name for the call, where it gives one.
    """

    text: str
    stop: Literal["end", "refused", "truncated"]
    model: str | None
    usage: JudgeUsage | None
    request_id: str | None = None


class BackendError(Exception):
    """A call that brought no reply.

    Attributes:
        retryable: Whether calling again may help.
        fatal: Whether every further call would fail the same way: no access, no money.
        retry_after_s: How long the vendor asks us to wait.
        unanswered: Whether the request was sent and no complete response came back: it may have to be paid for.
        fatal_if_lasting: Whether it is fatal where calling again, as often as is done for a reply, brought the same.
        usage: Tokens that a response without a reply says it took: they are paid for.
        hint: The way out, where it is fatal and another than to mend the key or the model's name.
    """

    kind: ClassVar[JudgeFailure] = "transport"
    """How the decision counts that it ends."""

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        fatal: bool = False,
        retry_after_s: float | None = None,
        unanswered: bool = False,
        fatal_if_lasting: bool = False,
        usage: JudgeUsage | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.fatal = fatal
        self.retry_after_s = retry_after_s
        self.unanswered = unanswered
        self.fatal_if_lasting = fatal_if_lasting
        self.usage = usage
        self.hint = hint
        self.field: str | None = None
        """The part of the request that the vendor dislikes, where it names one."""


class Backend(Protocol):
    """A way to reach a model. One that tells the model how hard to think says so by an attribute `effort`."""

    model: str
    """The model asked for."""
    origin: str
    """Where it is reached, without credentials: part of the cache key."""

    async def complete(self, call: Call) -> JudgeReply:
        """Make one call.

        Raises:
            BackendError: There is no reply.
        """

    async def aclose(self) -> None:
        """Close connections."""
