"""The golden set: an invented company's documents and questions on them, shipped with the package."""

import re
from pathlib import Path

from evals.datasets.base import BaseDatasetLoader, Draft, LoadOptions, sample
from evals.datasets.file import read_file
from evals.schemas.dataset import Document, EvalDataset, Section

DATA = Path(__file__).resolve().parent.parent / "data"

QUESTIONS = DATA / "golden_qa.json"
CORPUS = DATA / "golden_corpus"

_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)


class GoldenLoader(BaseDatasetLoader):
    """Questions of all kinds on the handbooks, rate manuals, contracts and product sheets of an invented insurer."""

    name = "golden"
    aspects = ("retrieval", "generation", "citation", "abstention")
    description = "Curated questions on an invented insurer's documents; replace it by a file of your own"
    licence = "MIT"
    origin = "shipped: evals/data/golden_qa.json"
    has_configs = False

    def load(self, options: LoadOptions) -> EvalDataset:
        """Draw questions; the corpus is always whole."""
        questions = read_file(QUESTIONS).questions
        places = sample([question.id for question in questions], options.samples, options.seed)
        draft = Draft(questions=[questions[index].model_copy(update={"dataset": self.name}) for index in places])
        for path in sorted(CORPUS.glob("*.md")):
            draft.documents[path.stem] = read_markdown(path)
        return self.build(draft, config=None, split=None, source=QUESTIONS.name)


def read_markdown(path: Path) -> Document:
    """Read a Markdown file as a document whose sections are its headings."""
    text = path.read_bytes().decode()  # with the ends of lines as they are
    headings = list(_HEADING.finditer(text))
    ends = [*(heading.start() for heading in headings[1:]), len(text)]
    parts = [Section(title=part[1], start=part.end(), end=end) for part, end in zip(headings, ends, strict=True)]
    return Document(id=path.stem, name=headings[0][1] if headings else path.stem, text=text, sections=parts)
