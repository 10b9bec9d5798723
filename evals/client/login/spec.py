"""How we log in at a server, as data: the keys of `server.login`."""

from base64 import b64encode
from typing import Literal
from urllib.parse import quote_plus

from evals.schemas.base import Record


class OAuth2Spec(Record):
    """Client credentials of OAuth 2.0 (RFC 6749, 4.4), for which a token server gives a token that passes."""

    token_url: str
    """Where the token is fetched, by POST."""
    client_id: str
    client_secret: str
    """Write it as ${NAME}: then it is in no file."""
    scope: str | None = None
    """What the token is to allow, with spaces between several."""
    audience: str | None = None
    """For which server it is to be, where the token server wants to know."""
    sent_as: Literal["basic", "form"] = "basic"
    """Where id and secret stand: in the header Authorization, or in the form (RFC 6749, 2.3.1)."""

    @property
    def basic(self) -> str:
        """Id and secret as the header shows them, each encoded as in a form."""
        return b64encode(f"{quote_plus(self.client_id)}:{quote_plus(self.client_secret)}".encode()).decode()


class LoginSpec(Record):
    """How we log in where headers do not do."""

    oauth2: OAuth2Spec
