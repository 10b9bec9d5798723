"""Does an answer decline to answer? A linear model over the words of its clauses, then over its clauses together.

`clauses` cuts an answer into clauses of words with their classes; `features` names what is weighed of each clause and
of the answer as a whole; `model` adds the weights up; `expected` knows answers that the dataset expects. The classes of
words lie in `evals/data/refusal_words.toml`, the weights, which `benchmarks/abstention_fit.py` fits, in
`evals/data/refusals.npz`.
"""

from evals.text.refusals.expected import gives_expected
from evals.text.refusals.model import Refusal, reading

__all__ = ["Refusal", "gives_expected", "reading"]
