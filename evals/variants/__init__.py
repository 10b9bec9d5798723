"""Several runs over the same questions, asked in turn: each variant is the server with some keys of its own.

    runs = asyncio.run(VariantsRunner(variants_of(config)).evaluate())

docs/variants.md says what comes out, and how latency is compared.
"""

from evals.variants.evaluation import VariantsRunner
from evals.variants.plan import added_fields, variants_of
from evals.variants.resume import saved_together

__all__ = ["VariantsRunner", "added_fields", "saved_together", "variants_of"]
