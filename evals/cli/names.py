"""Names given with commas."""

from evals.errors import ConfigError


def names_of(text: str, flag: str) -> list[str]:
    """The names in a list with commas, without blanks around them; one comma too many does no harm.

    Args:
        text: The list.
        flag: What it was given with, such as "--suite".

    Raises:
        ConfigError: It holds no name.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise ConfigError(f"{flag} {text!r} names nothing", f"leave {flag} out, or name one or more, with commas")
    return names
