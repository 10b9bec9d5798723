"""Answers as JSON, each written once: the same bytes go to the log, to the spill and into the record that is saved."""

from evals.schemas import EvalResponse


class AnswerJson:
    """The JSON of answers; that of the latest one is known.

    Threads may use it at once: the worst is that an answer is written twice.
    """

    def __init__(self) -> None:
        self._latest: tuple[EvalResponse | None, bytes] = None, b""

    def of(self, response: EvalResponse) -> bytes:
        """The answer as JSON."""
        known, data = self._latest
        if known is response:
            return data
        data = response.model_dump_json().encode()
        self.is_of(response, data)
        return data

    def is_of(self, response: EvalResponse, data: bytes) -> None:
        """Say what the JSON of an answer is that was just read."""
        self._latest = response, data


ANSWER_JSON = AnswerJson()
