"""Connections of aiohttp through a proxy that speaks SOCKS: needs the extra `socks`."""

from typing import Any
from urllib.parse import urlsplit

import aiohttp
from aiohttp_socks import ProxyConnector, ProxyError
from python_socks import ProxyType

from evals.client.connections import Proxy

_PORT = 1080


class SocksConnector(ProxyConnector):
    """Connects through the proxy, which looks up the names of hosts where its kind can."""

    async def _wrap_create_connection(self, *args: Any, **options: Any) -> Any:
        try:
            return await super()._wrap_create_connection(*args, **options)
        except ProxyError as error:
            raise aiohttp.ClientConnectionError(f"the proxy does not connect us: {error}") from error


def socks_options(proxy: Proxy) -> dict[str, Any]:
    """The options of a connector through a proxy that speaks SOCKS."""
    parts = urlsplit(proxy.url)
    user, password = proxy.login or (None, None)
    return {
        "host": parts.hostname,
        "port": parts.port or _PORT,
        "proxy_type": ProxyType.SOCKS4 if parts.scheme.startswith("socks4") else ProxyType.SOCKS5,
        "rdns": parts.scheme != "socks4",
        "username": user,
        "password": password,
    }
