"""Keys are masked in whatever comes from a judge, because some servers repeat what they were sent."""

import json
import re
from collections.abc import Iterable
from dataclasses import replace

from evals.credentials.judge_keys import secrets_in_environment
from evals.credentials.masker import Masker, secrets_in_url
from evals.credentials.stored import MASK
from evals.judges.backends.base import BackendError, Call, JudgeReply

_LIKE_A_KEY = re.compile(r"(?<![A-Za-z0-9])sk-[\w*-]{9,}")
_LONGEST_MESSAGE = 500
_LONGEST_NAME = 200


class KeyMasker:
    """Masks the keys that were sent, those in the environment, and the password of the address.

    Args:
        keys: Those that were sent.
        address: Where the judge is.
        model: Its name, which is masked in no case.
    """

    def __init__(self, keys: Iterable[str | None], address: str, model: str) -> None:
        self._secrets = {*filter(None, keys), *secrets_in_environment(), *secrets_in_url(address)}
        self._model = model
        self._masker = Masker(self._secrets)

    def clean(self, error: BackendError) -> None:
        """Make the message of an error fit to be saved and shown: keys are masked, then it is cut."""
        error.args = (self._shown(str(error))[:_LONGEST_MESSAGE],)
        error.field = error.field and self._shown(error.field)[:_LONGEST_NAME]

    def _shown(self, text: str) -> str:
        return _LIKE_A_KEY.sub(MASK, self._masker.text(text.encode("utf-8", "replace").decode()))

    def reply(self, reply: JudgeReply, call: Call) -> JudgeReply:
        """The reply without keys, and with names of bounded length. Keys are looked for in the parsed JSON.

        A key that stands in what the judge was sent is not masked: a key such as `ollama` is an ordinary word there.
        """
        given = f"{self._model}\n{call.system}\n{call.content}\n{json.dumps(call.schema)}"
        masker = Masker(secret for secret in self._secrets if Masker([secret]).text(given) == given)
        return replace(
            reply,
            text=_without_secrets(reply.text, masker),
            model=reply.model and masker.text(reply.model)[:_LONGEST_NAME],
            request_id=reply.request_id and masker.text(reply.request_id)[:_LONGEST_NAME],
        )


def _without_secrets(text: str, masker: Masker) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _LIKE_A_KEY.sub(MASK, masker.text(text))
    masked = masker.value(value)
    return text if masked == value else json.dumps(masked, ensure_ascii=False)
