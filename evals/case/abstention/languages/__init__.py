"""The words of six languages by the part that they play where an answer declines."""

from evals.case.abstention.languages.base import Language
from evals.case.abstention.languages.english import ENGLISH
from evals.case.abstention.languages.french import FRENCH
from evals.case.abstention.languages.german import GERMAN
from evals.case.abstention.languages.italian import ITALIAN
from evals.case.abstention.languages.portuguese import PORTUGUESE
from evals.case.abstention.languages.spanish import SPANISH

LANGUAGES: tuple[Language, ...] = (ENGLISH, GERMAN, FRENCH, SPANISH, ITALIAN, PORTUGUESE)
