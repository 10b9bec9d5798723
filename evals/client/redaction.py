"""No credential reaches a record or a message."""

import re
from collections.abc import Iterable

from evals.client.login.spec import OAuth2Spec
from evals.client.spec import RequestSpec, ServerSpec
from evals.credentials.masker import Masker, looks_secret, secrets_in_url
from evals.credentials.stored import in_clear, is_credential, looks_random

_TOKENS = 8
MAX_RAW_CHARS = 256 * 1024
_CUT_BEFORE = re.compile(r"… \[cut: [\d,]+ characters\]\Z")
"""How a body that was cut ended before `raw_cut` said so."""


def was_cut(raw: str, *, raw_cut: bool) -> bool:
    """Whether a stored body is only the beginning of what was received; runs of before `raw_cut` say it in the body."""
    return raw_cut or (len(raw) > MAX_RAW_CHARS and _CUT_BEFORE.search(raw, MAX_RAW_CHARS) is not None)


class Redactor(Masker):
    """Masks the values that came from the environment, credentials written in clear and the URL's password.

    Args:
        secrets: Values to mask.
        spec: The server, with the environment's values filled in.
    """

    def __init__(self, secrets: Iterable[str], spec: ServerSpec) -> None:
        found = set(secrets)
        headers = [spec.headers, *(request.headers for request in _requests(spec))]
        for name, value in (item for each in headers for item in each.items()):
            if is_credential(name) or looks_random(value):
                found.update((value, value.rpartition(" ")[2]))
        if spec.login is not None:
            found.update(_of_login(spec.login.oauth2))
        self._lasting = {*found, *_in_question(spec), *secrets_in_url(spec.url)}
        self._passing: tuple[str, ...] = ()
        super().__init__(self._lasting)

    def learn(self, token: str) -> None:
        """Mask a token too, as long as it is one of the last few: an expired one opens nothing."""
        self._passing = (*self._passing[1 - _TOKENS :], token)
        super().__init__({*self._lasting, *self._passing})

    def body(self, body: bytes | bytearray) -> str:
        """A received body as text, with every secret masked."""
        return self.text(body.decode("utf-8", "replace"))


def _of_login(oauth2: OAuth2Spec) -> Iterable[str]:
    """The secret of a login, and the header that shows it."""
    return oauth2.client_secret, oauth2.basic


def _in_question(spec: ServerSpec) -> Iterable[str]:
    """The credentials in the body and the parameters of a question; a word such as `sort_key: title` is none."""
    sent = (request.model_dump(include={"query", "body", "form"}) for request in _requests(spec))
    return filter(looks_secret, (str(value) for each in sent for value in in_clear(each).values()))


def _requests(spec: ServerSpec) -> list[RequestSpec]:
    return [spec.ask, *([spec.retrieve] if spec.retrieve is not None else [])]
