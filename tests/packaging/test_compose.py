"""The compose file starts nodes with options that exist, and keeps secrets out of arguments and environment."""

import re
from pathlib import Path
from typing import Any

import yaml

from keydesk_practice.options import read_arguments

PACKAGING = Path(__file__).parents[2] / "packaging"


def composed() -> dict[str, Any]:
    return dict(yaml.safe_load((PACKAGING / "compose.yaml").read_text("utf-8")))


def services() -> dict[str, Any]:
    return dict(composed()["services"])


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


def seconds(name: str) -> float:
    """Return the value of a setting of the proxy that is a time."""
    found = re.search(rf"{name} ([\d.]+)(ms|s)\n", (PACKAGING / "Caddyfile").read_text("utf-8"))
    assert found is not None, name
    return float(found[1]) / (1000 if found[2] == "ms" else 1)


def test_the_proxy_has_the_time_to_try_the_other_node() -> None:
    assert seconds("lb_try_duration") >= 2 * seconds("dial_timeout") + seconds("lb_try_interval")


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


def test_nodes_wait_until_the_database_answers() -> None:
    found = services()
    for name in ("node1", "node2"):
        assert found[name]["depends_on"] == {"database": {"condition": "service_healthy"}}
    check = found["database"]["healthcheck"]["test"]
    assert f"-U {found['database']['environment']['POSTGRES_USER']}" in check[-1]


def test_only_the_proxy_is_reached_from_outside() -> None:
    assert [name for name, one in services().items() if "ports" in one] == ["proxy"]


def test_the_image_is_built_from_files_that_exist() -> None:
    build = services()["node1"]["build"]
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
    assert set(services()["node1"]["secrets"]) == {"ledger", "tokens"}
