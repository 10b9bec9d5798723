"""The kinds of servers that are known: `evals profiles`."""

import sys

from rich.table import Table

from evals.cli.terminal.console import DOUBTFUL, console
from evals.client.measurable import measurable
from evals.client.profile import DEFAULT_PROFILE, about_profile, list_profiles, profile_text, resolve_spec
from evals.errors import ConfigError


def show_profiles(name: str | None) -> None:
    """Print the file of the profile named, or list all with what can be measured of each.

    Raises:
        ConfigError: There is no such profile, or it is in no file.
    """
    if name is None:
        _list()
    else:
        sys.stdout.write(profile_text(name))


def _list() -> None:
    table = Table("profile", "for", "what can be measured", box=None, pad_edge=False)
    table.columns[0].no_wrap = True
    for name in list_profiles():
        default = " (default)" if name == DEFAULT_PROFILE else ""
        try:
            table.add_row(
                f"{name}{default}", about_profile(name), ", ".join(measurable(resolve_spec({"profile": name})))
            )
        except ConfigError as error:  # a plug-in that is broken hides no other profile
            table.add_row(f"{name}{default}", f"{error.message}; {error.hint}", style=DOUBTFUL)
    out = console()
    out.print(table)
    out.print(
        "\nas far as the server sends it; `evals profiles NAME` prints the file, which says what a server cannot tell. "
        "Another kind of server: write its keys to a YAML file and pass --profile FILE.yml (docs/profiles.md)"
    )
