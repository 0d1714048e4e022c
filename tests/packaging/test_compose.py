"""The compose file starts brokers and standbys with options that exist, and keeps secrets out of arguments and environment."""

import re
from pathlib import Path
from typing import Any

import yaml

from keydesk_practice.options import read_arguments

BROKERS = ("odd", "even")
PACKAGING = Path(__file__).parents[2] / "packaging"


def composed() -> dict[str, Any]:
    return dict(yaml.safe_load((PACKAGING / "compose.yaml").read_text("utf-8")))


def services() -> dict[str, Any]:
    return dict(composed()["services"])


def test_a_broker_and_its_standby_start_with_the_same_options_of_the_broker(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("a-token-of-one\na-token-of-another\n")
    found = services()
    for name in BROKERS:
        words = found[name]["command"]
        options = read_arguments([one.replace("/run/secrets/tokens", str(tokens)) for one in words])
        assert options.ledger == f"@/run/secrets/ledger-{name}"
        assert options.trust_proxy
        assert len(options.tokens) == 2
        assert found[f"{name}-standby"]["command"] == words
        assert found[f"{name}-standby"]["volumes"] != found[name]["volumes"]


def test_both_brokers_show_the_same_market() -> None:
    seeds = [one for name in BROKERS for one in services()[name]["command"] if "--seed" in one]
    assert len(seeds) == 2
    assert len(set(seeds)) == 1


def test_the_proxy_knows_each_broker_by_its_accounts() -> None:
    proxied = (PACKAGING / "Caddyfile").read_text("utf-8")
    assert all(f"import broker {name}\n" in proxied for name in BROKERS)
    assert "{args[0]}:8020 {args[0]}-standby:8020" in proxied
    rule = re.search(r"@even path_regexp (\S+)\n", proxied)
    assert rule is not None
    for number, is_even in ((1_000_001, False), (1_000_002, True), (1_000_013, False)):
        path = f"/v3/accounts/101-001-{number}-001/orders"
        assert (re.search(rule[1], path) is not None) == is_even
    assert re.search(rule[1], "/v3/accounts") is None


def test_nothing_that_a_service_names_is_missing() -> None:
    found = composed()
    for name, service in found["services"].items():
        for needed in service.get("depends_on", ()):
            assert needed in found["services"], name
        assert set(service.get("secrets", ())) <= found["secrets"].keys(), name
        volumes = [one.partition(":")[0] for one in service["volumes"]]
        files = [one for one in volumes if one.startswith(".")]
        assert set(volumes) - set(files) <= found["volumes"].keys(), name
        assert all((PACKAGING / one).is_file() for one in files), name
        assert ("image" in service) != ("build" in service), name
        assert service["restart"] == "unless-stopped", name


def test_brokers_wait_until_their_database_answers() -> None:
    found = services()
    for name in BROKERS:
        database = f"database-{name}"
        for broker in (name, f"{name}-standby"):
            assert found[broker]["depends_on"] == {database: {"condition": "service_healthy"}}
        check = found[database]["healthcheck"]["test"]
        assert f"-U {found[database]['environment']['POSTGRES_USER']}" in check[-1]


def test_only_the_proxy_is_reached_from_outside() -> None:
    assert [name for name, one in services().items() if "ports" in one] == ["proxy"]


def test_the_image_is_built_from_files_that_exist() -> None:
    build = services()["odd"]["build"]
    assert (PACKAGING / build["context"] / build["dockerfile"]).is_file()
    text = (PACKAGING / "Dockerfile").read_text("utf-8")
    copied = [line.split()[1:-1] for line in text.splitlines() if line.startswith("COPY ")]
    for name in (one for names in copied for one in names):
        assert (PACKAGING.parent / name).exists(), name


def test_no_secret_is_sent_to_the_builder() -> None:
    ignored = (PACKAGING.parent / ".dockerignore").read_text("utf-8").splitlines()
    folders = {Path(one["file"]).parts[0] for one in composed()["secrets"].values()}
    assert {f"{PACKAGING.name}/{one}" for one in folders} <= set(ignored)


def test_no_secret_stands_in_the_file() -> None:
    text = (PACKAGING / "compose.yaml").read_text("utf-8")
    assert "POSTGRES_PASSWORD:" not in text
    for name in BROKERS:
        assert set(services()[name]["secrets"]) == {f"ledger-{name}", "tokens"}
