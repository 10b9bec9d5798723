"""The HTTP client of a judge's SDK: by the same rules about proxies as the RAG server is reached by.

Left to itself, the SDK would send calls to a judge on this machine through the proxy of the environment, and break
where that is one over SOCKS, even for an address that needs none.
"""

from types import ModuleType
from typing import Any

from evals.client.connections.proxies import Proxy


def http_client(sdk: ModuleType, proxy: Proxy | None) -> Any:
    """A client with the SDK's own defaults that goes through this proxy, and through no other.

    Args:
        sdk: The package; its HTTP library is installed with it.
        proxy: As `proxy_for` finds it for the judge's address; None for none.
    """
    import httpx2  # noqa: PLC0415 - as the SDK that needs it

    login = {"Proxy-Authorization": proxy.authorization} if proxy is not None and proxy.authorization else None
    through = None if proxy is None else httpx2.Proxy(proxy.url, headers=login)
    # With a transport of its own, a client looks for no proxy in the environment, and still for certificates.
    transport = httpx2.AsyncHTTPTransport(proxy=through, limits=sdk.DEFAULT_CONNECTION_LIMITS)
    return sdk.DefaultAsyncHttpxClient(transport=transport)
