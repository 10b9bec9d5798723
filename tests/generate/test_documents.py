"""Which files are read, and how they become passages."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from generate.conftest import HARBOUR, write_files
from other_servers.loopback import serving

from evals.errors import ConfigError
from evals.generate.documents import SourceDocument, read_documents, text_of_html
from evals.generate.passages import LONGEST, SHORTEST, PassageSet
from evals.text.tokens import tokens

WORDS = [
    "north",
    "south",
    "east",
    "west",
    "tide",
    "mast",
    "keel",
    "sail",
    "rope",
    "oar",
    "deck",
    "port",
    "star",
    "board",
    "wind",
    "wave",
    "sand",
    "rock",
    "gull",
    "seal",
]


def prose(words: int, start: int = 0) -> str:
    """Sentences of ten words, no two of which are alike."""
    text = [f"{WORDS[n % 20]}{n}" if n % 10 else f"{WORDS[n % 20].title()}{n}" for n in range(start, start + words)]
    return " ".join(word + "." * (place % 10 == 9) for place, word in enumerate(text))


def cut(**files: str) -> PassageSet:
    return PassageSet.cut([SourceDocument(name.replace("_", "."), text) for name, text in files.items()])


# Files.


def test_texts_of_all_folders_are_read_and_hidden_ones_are_not(tmp_path: Path) -> None:
    """The name is the path below the folder; what is not read is named with its reason."""
    files = {"a.md": "A", "sub/b.txt": "B", ".git/c.md": "C", "sub/.d.md": "D", "logo.png": "E", "empty.md": " \n"}
    documents, left_out = read_documents(write_files(tmp_path, files))
    assert [(document.name, document.text) for document in documents] == [("a.md", "A"), ("sub/b.txt", "B")]
    assert left_out == ["empty.md (empty)", "logo.png (not of a kind that is read)"]


def test_one_file_may_be_named_and_may_be_of_windows(tmp_path: Path) -> None:
    """Line ends stay as they are, for spans count in them."""
    path = tmp_path / "a.md"
    path.write_bytes("Fähre\r\n".encode("cp1252"))
    assert read_documents(path) == ([SourceDocument("a.md", "Fähre\r\n")], [])


@pytest.mark.parametrize(("files", "message"), [(None, "does not exist"), ({"a.png": "x"}, "no document")])
def test_a_place_without_documents_is_refused(files: dict[str, str] | None, message: str, tmp_path: Path) -> None:
    """Before anything is paid for."""
    place = tmp_path / "nowhere" if files is None else write_files(tmp_path, files)
    with pytest.raises(ConfigError, match=message):
        read_documents(place)


def test_a_page_is_read_without_navigation_and_scripts() -> None:
    """Headings, items and rows have lines of their own; entities are read."""
    page = (
        "<html><head><title>T</title><style>p {}</style></head><body><nav><a href='/'>Home</a></nav>"
        "<h2 class='x'>Berths &amp; <b>buoys</b></h2><p>A berth\ncosts <i>$9</i>.</p>"
        "<ul><li>north</li><li>south</li></ul>"
        "<table><tr><td>a</td><td>b</td></tr></table><script>alert('<p>no</p>')</script></body></html>"
    )
    assert text_of_html(page) == "## Berths & buoys\n\nA berth costs $9 .\n\nnorth\nsouth\n\na b"


def test_office_files_need_their_extra_and_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that a file answers which was left out would be no near miss."""
    monkeypatch.setitem(sys.modules, "markitdown", None)
    with pytest.raises(ConfigError, match="needs markitdown") as caught:
        read_documents(write_files(tmp_path, {"a.pdf": "%PDF"}))
    assert "rag-evals[documents]" in str(caught.value.hint)


def test_office_files_are_converted_and_a_broken_one_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By markitdown, for which a converter of the same interface stands here."""
    fake: Any = ModuleType("markitdown")
    fake.MarkItDownException = type("MarkItDownException", (Exception,), {})

    class Converter:
        def __init__(self, *, enable_plugins: bool) -> None:
            assert not enable_plugins

        def convert(self, path: Path) -> Any:
            if path.stem == "broken":
                raise fake.MarkItDownException("no  xref\ntable")
            return type("Result", (), {"text_content": f"# {path.stem}"})()

    fake.MarkItDown = Converter
    monkeypatch.setitem(sys.modules, "markitdown", fake)
    documents, left_out = read_documents(write_files(tmp_path, {"a.docx": "", "b.pptx": "", "broken.pdf": ""}))
    assert [document.text for document in documents] == ["# a", "# b"]
    assert left_out == ["broken.pdf (MarkItDownException: no xref table)"]


@pytest.mark.parametrize("texts", [True, False])
def test_a_server_may_list_its_documents_with_their_texts(
    texts: bool, generate: Callable[..., Any], tmp_path: Path
) -> None:
    """By `documents.map` of its profile; one whose list has names alone cannot be used."""
    listed = [{"title": name, "body": text} for name, text in HARBOUR.items()]
    profile = tmp_path / "mine.yml"
    body = ", text: body" if texts else ""
    profile.write_text(
        "ask: {path: /ask, json: {q: '{{question}}'}}\nmap: {answer: a}\n"
        f"documents: {{path: /docs, map: 'all[].{{name: title{body}}}'}}\n"
    )
    with serving({("GET", "/docs"): lambda _: {"all": listed}}) as url:
        done = generate("--rag-url", url, "--profile", profile, "--dry-run")
    assert done.code == (0 if texts else 2)
    assert ("2 passages of 2 documents" if texts else "lists no documents with their texts") in done.err


# Passages.


def test_passages_are_slices_of_60_to_400_words_that_begin_at_headings() -> None:
    """Short sections are joined with what follows; a long one is cut at its paragraphs."""
    text = f"# Title\n\nShort.\n\n## One\n\n{prose(70)}\n\n{prose(350, 100)}\n\n## Two\n\n{prose(30, 500)}\n"
    passages = cut(a_md=text).passages
    assert [(passage.section, len(tokens(passage.text))) for passage in passages] == [("Title", 73), ("One", 381)]
    assert all(text[passage.start : passage.end] == passage.text for passage in passages)
    assert passages[0].text.startswith("# Title")
    assert passages[1].text.endswith(prose(30, 500))


@pytest.mark.parametrize(
    "text", [prose(2000), prose(2000).replace(".", ""), "x" * 30_000, prose(900).replace(". ", ".\n")]
)
def test_what_is_too_long_is_cut_at_sentences_else_at_words(text: str) -> None:
    """Nothing is lost, and no passage is longer than may be."""
    passages = cut(a_txt=f"{prose(80, 5000)}\n\n{text}").passages
    assert max(len(tokens(passage.text)) for passage in passages) <= LONGEST
    assert sum(text.count(passage.text) for passage in passages) >= len(passages) - 1


def test_boilerplate_and_lists_of_links_are_in_no_passage() -> None:
    """They cut a passage, so that each is one piece of its document."""
    notice = "All rights of the harbour are reserved, and no part of this page may be copied in any form."
    links = "- [North](n)\n- [South](s)\n- [East](e)\n"
    files = {
        f"{name}_md": f"{prose(80, n)}\n\n{notice}\n\n{prose(80, n + 100)}\n\n{links}"
        for name, n in zip("abc", (0, 300, 600), strict=True)
    }
    passages = cut(**files)
    assert len(passages.passages) == 6
    assert not any(notice in passage.text or "[North]" in passage.text for passage in passages.passages)
    assert passages.dropped == {"boilerplate": 3, "list of links": 3}


def test_front_matter_is_left_out_and_code_stays_whole() -> None:
    """A line in code that begins with a sign of a heading is none."""
    text = f"---\ntitle: T\n---\n# Top\n\n```sh\n# not a heading\n\nrun\n```\n\n{prose(80)}\n"
    (passage,) = cut(a_md=text).passages
    assert passage.section == "Top"
    assert passage.text.startswith("# Top\n\n```sh\n# not a heading")


def test_a_near_copy_is_not_drawn_and_a_text_of_other_words_is() -> None:
    """Whatever its place; two changed words of a hundred make no other passage."""
    text = prose(100)
    files = {"a_md": text, "b_md": text.replace("tide4 ", "tide ").replace("rope8", "rope"), "c_md": prose(100, 900)}
    passages = cut(**files)
    assert passages.repeats == {1}
    assert sorted(passages.drawn("x")) == [0, 2]


def test_each_document_is_drawn_once_before_any_twice_and_then_by_the_root_of_its_size() -> None:
    """The draw depends on the seed, and a longer one begins with a shorter one."""
    big = "\n\n".join(f"## Part {n}\n\n{prose(70, 1000 * n)}" for n in range(1, 65))
    small = "\n\n".join(f"## Part {n}\n\n{prose(70, 100_000 + 1000 * n)}" for n in range(1, 5))
    passages = cut(big_md=big, small_md=small, tiny_md=prose(70, 900_000))
    order = [passages.passages[place].document for place in passages.drawn("7")]
    assert sorted(order[:3]) == ["big.md", "small.md", "tiny.md"]
    assert order[3:13].count("big.md") == 8
    assert passages.drawn("7") != passages.drawn("8")
    assert len(order) == len(passages.passages) == 69


def test_chinese_words_count_by_characters() -> None:
    """Else a page would be a passage of three words, and left out."""
    (passage,) = cut(a_md="# 港口\n\n" + "渡轮每天早上七点四十分从奥尔港出发。" * 5).passages
    assert len(tokens(passage.text)) > SHORTEST


def test_a_server_that_does_not_answer_is_named(generate: Callable[..., Any], tmp_path: Path) -> None:
    """With the exit code of a server that cannot be reached."""
    profile = tmp_path / "mine.yml"
    profile.write_text(
        "ask: {path: /ask, json: {q: '{{question}}'}}\nmap: {answer: a}\ndocuments: {path: /docs, map: all}\n"
    )
    done = generate("--rag-url", "http://127.0.0.1:9", "--profile", profile, "--dry-run")
    assert done.code == 3
    assert "http://127.0.0.1:9 does not list its documents" in done.err
