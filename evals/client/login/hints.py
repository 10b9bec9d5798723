"""What a server that refuses us may lack: the headers of a profile whose values come from the environment."""

import os
from collections.abc import Iterator, Mapping

from evals.client.spec import ServerSpec
from evals.inputs.yaml_layers import VARIABLE, is_left_out
from evals.text.counts import agree

REFUSED = frozenset({401, 403})
"""The statuses by which a server says that it does not know us, or does not let us in."""


def login_hint(spec: ServerSpec, environ: Mapping[str, str] | None = None) -> str | None:
    """Which variable of the environment to set or to look at; None where no header is made of one.

    Args:
        spec: With ${NAME} as written.
        environ: Instead of this process's environment.
    """
    env = os.environ if environ is None else environ
    headers = dict(_from_environment(spec))
    unsent = {name: value for name, value in headers.items() if is_left_out(value, env)}
    if unsent:
        return _of_unsent(list(unsent), [name for name in _variables(unsent) if not env.get(name)])
    if headers:
        sources = _variables(headers)
        holds = f"{' and '.join(sources)} {agree(len(sources), 'holds', 'hold')}"
        return f"see whether {holds} the right key for {' and '.join(headers)}, or set server.headers"
    return None


def _of_unsent(headers: list[str], unset: list[str]) -> str:
    """Of headers that are not sent, because variables are not set."""
    many = len(headers)
    sent = f"the {agree(many, 'header', 'headers')} {' and '.join(headers)} {agree(many, 'is', 'are')} sent"
    only = f"only if {' and '.join(unset)} {agree(len(unset), 'is', 'are')} set in the environment"
    return f"{sent} {only}: export {agree(len(unset), 'it', 'them')}, or set server.headers"


def _from_environment(spec: ServerSpec) -> Iterator[tuple[str, str]]:
    """The headers that are made of a variable, with those of the single requests."""
    for part in (spec, spec.ask, spec.retrieve):
        for name, value in part.headers.items() if part is not None else ():
            if VARIABLE.search(value):
                yield name, value


def _variables(headers: Mapping[str, str]) -> list[str]:
    """The variables that these headers are made of, each once."""
    return list(dict.fromkeys(name for value in headers.values() for name, _ in VARIABLE.findall(value)))
