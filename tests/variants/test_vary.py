"""What `--vary` and `variants:` make of a configuration."""

from typing import Any

import pytest

from evals.cli.commands.eval import _configured, vary
from evals.cli.flags import EvalFlags
from evals.config import EvalConfig
from evals.errors import ConfigError
from evals.variants import variants_of


def test_values_of_one_key_make_a_variant_each() -> None:
    """The label holds the last part of the key; the value is what YAML makes of it."""
    assert vary(["ask.json.top_k=3,10"]) == {
        "top_k=3": {"ask": {"json": {"top_k": 3}}},
        "top_k=10": {"ask": {"json": {"top_k": 10}}},
    }


def test_several_keys_make_their_product() -> None:
    """Each value of the one with each of the other, below the variants that are configured."""
    made = vary(["ask.json.top_k=3,5", "ask.json.rerank=true,false"], {"old": {"url": "http://a"}, "new": {}})
    assert len(made) == 8
    assert made["old top_k=3 rerank=true"] == {"url": "http://a", "ask": {"json": {"top_k": 3, "rerank": True}}}
    assert made["new top_k=5 rerank=false"] == {"ask": {"json": {"top_k": 5, "rerank": False}}}


def test_addresses_are_values_too() -> None:
    """A colon in a value makes no mapping of it, and `server.` before the key is no part of it."""
    made = vary(["server.url=http://127.0.0.1:1,http://127.0.0.1:2"])
    assert [over["url"] for over in made.values()] == ["http://127.0.0.1:1", "http://127.0.0.1:2"]


def test_labels_name_key_and_value() -> None:
    """A text as it is, anything else as JSON; `k=3 k=5` would not say which key is which."""
    assert list(vary(['k=3,true,null,{"x": 1},"a,b",it\'s'])) == [
        *("k=3", "k=true", "k=null", 'k={"x": 1}', "k=a,b", "k=it's"),
    ]
    assert list(vary(["ask.json.k=3", "retrieve.json.k=5,6"])) == [
        "ask.json.k=3 retrieve.json.k=5",
        "ask.json.k=3 retrieve.json.k=6",
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["ask.json.top_k"], "has no key or no values"),
        (["=3"], "has no key or no values"),
        (["ask..top_k=3"], "has no key or no values"),
        (["top_k="], "has no key or no values"),
        (["top_k=[3"], "cannot be read"),
        (["top_k=3,3"], "has a value twice"),
        (["top_k=3,5", "top_k=7,9"], "a key is varied twice"),
        (["a=1,2,3,4,5,6,7,8,9", "b=1,2,3,4,5,6,7,8"], "more than 64 variants"),
    ],
)
def test_what_makes_no_variants_is_refused(given: list[str], said: str) -> None:
    """The message names what was given."""
    with pytest.raises(ConfigError, match=said):
        vary(given)


def test_a_field_of_the_request_is_below_ask_json() -> None:
    """A key that the server's configuration does not have gets the right one named."""
    with pytest.raises(ConfigError, match=r"did you mean ask\.json\.top_k"):
        _configured(EvalFlags(vary=["top_k=3,5"]))


def build(**keys: Any) -> EvalConfig:
    return EvalConfig.build({"rag_server_url": "http://127.0.0.1:9", "datasets": ["golden"], **keys})


def test_each_variant_is_a_configuration_of_its_own() -> None:
    """Its keys are laid over the server's, its label ends the name, and the judge's budget is shared."""
    over = {"few": {"ask": {"json": {"top_k": 3}}}, "many": {"ask": {"json": {"top_k": 9}}}}
    few, many = variants_of(build(name="k", variants=over, judge={"max_cost_usd": 4}))
    assert (few.name, many.name) == ("k few", "k many")
    assert [one.server["ask"]["json"]["top_k"] for one in (few, many)] == [3, 9]
    assert few.rag_server_url == "http://127.0.0.1:9"
    assert (few.variants, few.judge.max_cost_usd) == ({}, 2)


def test_variants_that_do_not_differ_are_refused() -> None:
    """Unless both are empty, which is how equal ones are asked for."""
    for over in ({"a": {}, "b": {"timeout_s": 120.0}}, {"a": {"timeout_s": 120.0}, "b": {}}):
        with pytest.raises(ConfigError, match="variants 'a' and 'b' ask alike"):
            variants_of(build(variants=over))
    assert len(variants_of(build(variants={"a": {}, "b": {}}))) == 2


def test_true_is_not_one() -> None:
    """They are equal in Python, and not to a server."""
    over = {str(value): {"ask": {"json": {"rerank": value}}} for value in (1, True)}
    assert len(variants_of(build(variants=over))) == 2


def test_variants_are_asked_by_this_process() -> None:
    """Workers of a cluster would each ask what they have."""
    with pytest.raises(ConfigError, match="not by a cluster"):
        variants_of(build(variants={"a": {}, "b": {}}, dask="local"))


def test_credentials_of_variants_are_not_stored() -> None:
    """As those of `server` are not."""
    written = build(variants={"a": {"headers": {"Authorization": "Bearer s3cret-of-a"}}, "b": {}}).as_written()
    assert "s3cret" not in str(written)


def test_an_unknown_key_of_the_server_is_an_error() -> None:
    """Only a body has fields that a profile need not know."""
    with pytest.raises(ConfigError, match="nope: unknown key"):
        variants_of(build(variants={"one": {"nope": {"key": 1}}, "two": {"nope": {"key": 2}}}))
