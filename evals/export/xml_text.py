"""Foreign text that may stand in XML."""

import re

from evals.views.formatting import plain, shortened

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 (section 2.2) has no room for, escaped or not: most control characters, half surrogate pairs."""


def xml_text(text: str, limit: int) -> str:
    """Text that XML can hold, without what steers a terminal or turns its direction, cut at so many characters.

    Escaping is left to the writer of the XML. A replacement character stands for each character that may not be there.
    """
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", shortened(plain(text[: 2 * limit]), limit))
