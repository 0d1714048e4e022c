"""The compose file starts nodes with options that exist, and keeps secrets out of arguments and environment."""

from pathlib import Path
from typing import Any

import yaml

from keydesk_practice.options import read_arguments

PACKAGING = Path(__file__).parents[2] / "packaging"


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((PACKAGING / "compose.yaml").read_text("utf-8"))
    return dict(found["services"])


def test_both_nodes_start_with_options_of_the_broker(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("a-token-of-one\na-token-of-another\n")
    for name in ("node1", "node2"):
        words = [
            one.replace("/run/secrets/tokens", str(tokens)) for one in services()[name]["command"]
        ]
        options = read_arguments(words)
        assert options.ledger == "@/run/secrets/ledger"
        assert (options.node_host, options.node_port) == ("0.0.0.0", 8021)  # noqa: S104 - read, not bound
        assert options.trust_proxy
        assert len(options.tokens) == 2


def test_each_node_has_a_folder_of_its_own_and_the_proxy_knows_both() -> None:
    found = services()
    assert found["node1"]["volumes"] != found["node2"]["volumes"]
    proxied = (PACKAGING / "Caddyfile").read_text("utf-8")
    port = "8020"
    assert all(f"{name}:{port}" in proxied for name in ("node1", "node2"))


def test_no_secret_stands_in_the_file() -> None:
    text = (PACKAGING / "compose.yaml").read_text("utf-8")
    assert "POSTGRES_PASSWORD:" not in text
    assert set(services()["node1"]["secrets"]) == {"ledger", "tokens"}
