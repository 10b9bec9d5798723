"""Answers that are there already: files of saved answers, logs, exports of traces, and what people say of them."""
