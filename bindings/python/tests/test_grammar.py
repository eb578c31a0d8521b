"""Grammars in Python: a protocol of one's own is a table."""

from __future__ import annotations

import flowpin
import pytest
from conftest import CAPTURES, ROOT
from test_equality import assert_same, files

CAPTURE = ROOT / "tests" / "grammar" / "captures" / "memcached.pcap"


@pytest.fixture(scope="module")
def tutorial() -> str:
    """The listing of the tutorial."""
    page = (ROOT / "docs" / "user" / "grammar.md").read_text()
    return page.split("```lex\n", 1)[1].split("```", 1)[0]


def test_a_grammar_gives_the_rows_of_the_command(tutorial, run, tmp_path):
    path = tmp_path / "memcached.l"
    path.write_text(tutorial)
    expected = files(run("-r", CAPTURE, "--grammar", path))
    assert expected["memcached"].num_rows > 0
    compiled = flowpin.Grammar(tutorial, "memcached.l")
    for grammar in [path, str(path), compiled, [compiled], flowpin.Grammar.from_file(path)]:
        assert_same(flowpin.read(CAPTURE, grammar=grammar).to_arrow(), expected)
    assert "memcached" in flowpin.record_kinds(grammar=compiled)
    config = tmp_path / "flowpin.toml"
    config.write_text(f"[parse]\ngrammars = ['{path}']\n")
    assert_same(flowpin.read(CAPTURE, config=config).to_arrow(), expected)


def test_what_a_grammar_is(tutorial):
    grammar = flowpin.Grammar(tutorial)
    assert grammar.protocol == "memcached"
    assert grammar.name == "grammar"
    (name, columns), *others = grammar.messages
    assert (name, others) == ("memcached", [])
    assert columns[-4:] == ["command", "key", "status", "bytes"]
    assert grammar.warnings == []
    assert "memcached" in repr(grammar)


def test_tokens_of_bytes():
    words = flowpin.Grammar("%x IN\n%%\n[a-z]+ { return WORD; }\n[0-9]+ { return NUMBER; }\n"
                            "[ \\t\\n]+\n<IN>[0-9]+ { return INNER; }\n")  # fmt: skip
    data = b"ab 12!x"
    got = words.tokens(data)
    assert got == [("WORD", 0, 2), (None, 2, 3), ("NUMBER", 3, 5), (None, 5, 6), ("WORD", 6, 7)]
    assert words.tokens(b"7", "IN") == [("INNER", 0, 1)]
    assert words.tokens(b"") == []
    with pytest.raises(flowpin.OptionError, match="there are INITIAL, IN"):
        words.tokens(data, "OUT")


def test_a_grammar_that_is_refused():
    with pytest.raises(flowpin.GrammarError) as raised:
        flowpin.Grammar("%%\n[a-z { return WORD; }\n", "mine.l")
    error = raised.value
    assert isinstance(error, ValueError)
    assert str(error).startswith("mine.l:2:")
    assert "\n" not in str(error)
    assert error.place == "mine.l"
    assert "^" in error.detail
    with pytest.raises(flowpin.GrammarError, match="nowhere.l"):
        flowpin.Grammar.from_file("nowhere.l")


def test_a_grammar_in_the_way_of_others(tutorial):
    grammar = flowpin.Grammar(tutorial)
    path = CAPTURES / "http.pcapng"
    with pytest.raises(flowpin.GrammarError, match="memcached already has a grammar"):
        flowpin.read(path, grammar=[grammar, grammar])
    unknown = flowpin.Grammar(tutorial.replace("memcached", "memo"))
    with pytest.warns(flowpin.GrammarWarning, match="no rule identifies memo"):
        flowpin.read(path, "memo", grammar=unknown).to_arrow()
