"""Whom a connection trusts, and how it shows who we are."""

import ssl

from evals.client.spec import TlsSpec
from evals.errors import ConfigError


def tls_context(tls: TlsSpec) -> ssl.SSLContext:
    """The settings of TLS: the authorities of this machine and those that are named, and a certificate of our own.

    Args:
        tls: Files of PEM, and whether the server's certificate is verified.

    Raises:
        ConfigError: A file cannot be read, or is no such file; the message names it.
    """
    context = ssl.create_default_context()
    if tls.ca is not None:
        _load_authorities(context, tls.ca)
    if tls.cert is not None:
        _load_own(context, tls.cert, tls.key)
    if not tls.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _load_authorities(context: ssl.SSLContext, path: str) -> None:
    try:
        context.load_verify_locations(cafile=path)
    except OSError as error:  # of which ssl's errors are
        raise _unreadable("ca", path, error, "name a file with the certificates of authorities, as PEM") from error


def _load_own(context: ssl.SSLContext, cert: str, key: str | None) -> None:
    try:
        context.load_cert_chain(cert, key, password="")
    except OSError as error:
        named = cert if key is None else f"{cert} with the key {key}"
        hint = "name the certificate and its key as PEM; the key may have no password, and may stand in the same file"
        raise _unreadable("cert", named, error, hint) from error


def _unreadable(key: str, path: str, error: OSError, hint: str) -> ConfigError:
    said = error.strerror or getattr(error, "reason", None) or type(error).__name__
    return ConfigError(f"server.tls.{key} {path} cannot be used: {said}", hint)
