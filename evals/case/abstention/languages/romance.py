"""What French, Spanish, Italian and Portuguese share: the order of words where they decline."""

ROMANCE = (
    "n~2 t",  # no dice, n'indique pas
    "n~2 iFG",  # no encuentro, non ho, il ne m'est pas
    "n~2 j~3 fo",
    "n~2 jG~3 k~2 aA",
    "n b~2 m~3 f",  # no es posible saber
    "n~1 m~1 p",
    "n~1 m~1 b~1 fp",
    "b~1 u~2 f",  # es imposible decir
    "n~2 b~1 p",
    "n~1 h~4 a",  # no ofrece información
    "n~2 h~3 kA",
    "n~3 b~2 h~3 kaA",
    "n~3 b~2 g~4 kaAs",
    "n~1 e~3 aA",  # no hay información
    "s~4 n~1 e",
    "s~6 n~2 g",
    "k~1 aA~2 n",  # nessuna informazione non …
    "^ k~1 aA",
    "aA~6 n~1 b~1 g",
    "^ l .",
    "Q~2 l",
    "k P~3 t",
    "n~1 b~1 P~2 s",  # no esta en el manual
    "n~1 e~1 P~2 s",
    "a~1 n~1 e",
    "s~6 b~1 l",
    "^ w~9 ,~1 s~4 n~2 t",
)
"""Rules of the grammar."""
