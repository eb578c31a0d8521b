"""Rules in Python alert as the command's do, and what is wrong with them is told."""

from __future__ import annotations

import flowpin
import pytest
from conftest import CAPTURES
from test_equality import assert_same, files

RULES = """\
alert http any any -> any any (msg:"A page"; http.method; content:"GET"; sid:1; rev:2;)
alert dns $HOME_NET any -> any any (msg:"A name"; dns.query; content:"example"; sid:2;)
alert tcp any any -> any any (msg:"A flag"; flags:R; sid:3;)
"""


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "mine.rules"
    path.write_text(RULES)
    return path


@pytest.mark.parametrize("shape", ["1x1", "3x2"])
def test_alerts_are_those_of_the_command(shape, rules, run):
    expected = files(run("-r", CAPTURES, "-S", rules, "--alert-payload", 40))
    got = flowpin.read(CAPTURES, rules=rules, alert_payload=40, pipeline=shape).to_arrow()
    assert_same(got, expected)
    assert {"A page", "A flag"} <= set(got["alert"]["signature"].to_pylist())


def test_alerts_alone_and_by_a_file_of_settings(rules, tmp_path):
    path = CAPTURES / "http.pcapng"
    alerts = flowpin.read(path, "alert", rules=[rules]).to_arrow()
    assert alerts.num_rows > 0
    named = flowpin.read(path, records=["alert"], rules=str(rules)).to_arrow()
    assert named["alert"].equals(alerts)
    config = tmp_path / "flowpin.toml"
    config.write_text(f"[rules]\nfiles = ['{rules}']\n")
    assert flowpin.read(path, "alert", config=config).to_arrow().equals(alerts)
    with pytest.raises(flowpin.OptionError, match="`alert` needs `rules`"):
        flowpin.read(path, "alert")


def test_variables_may_be_a_mapping(rules):
    everyone = {"HOME_NET": "any"}
    all_names = flowpin.read(CAPTURES, "alert", rules=rules, var=everyone).to_arrow()
    words = flowpin.read(CAPTURES, "alert", rules=rules, var="HOME_NET=any").to_arrow()
    assert all_names.equals(words)
    nobody = {"HOME_NET": "203.0.113.9"}
    none = flowpin.read(CAPTURES, "alert", rules=rules, var=nobody).to_arrow()
    assert none.num_rows < all_names.num_rows
    with pytest.warns(flowpin.RuleWarning, match=r"no rule has \$HOME_NETT"):
        flowpin.read(CAPTURES / "http.pcapng", "alert", rules=rules, var={"HOME_NETT": "any"})


def test_a_rule_that_is_refused_is_told_with_its_place(tmp_path):
    path = tmp_path / "some.rules"
    path.write_text('alert tcp any any -> any any (content:"|4"; sid:1;)\n' + RULES)
    with pytest.warns(flowpin.RuleWarning, match=r"some\.rules:1:\d+: "):
        alerts = flowpin.read(CAPTURES / "http.pcapng", "alert", rules=path).to_arrow()
    assert alerts.num_rows > 0
    with pytest.raises(flowpin.OptionError, match=r"some\.rules:1:\d+: ") as raised:
        flowpin.read(CAPTURES / "http.pcapng", "alert", rules=path, strict_rules=True)
    assert raised.value.place == "rules"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"rules": "nowhere.rules"}, "nowhere.rules"),
        ({"var": "HOME_NET"}, "NAME=VALUE"),
        ({"var": {"HOME_NET": "[nothing"}}, "HOME_NET"),
        ({"streams": False}, "rules need streams"),
    ],
)
def test_rules_that_cannot_be_used(options, text, rules):
    with pytest.raises(flowpin.OptionError) as raised:
        flowpin.read(CAPTURES / "http.pcapng", "alert", **{"rules": rules, **options})
    assert text in str(raised.value)
    assert "\n" not in str(raised.value)
