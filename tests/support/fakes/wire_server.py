"""A service in this process that knows every operation of `tests/wire/v20.yaml`, and nothing else.

    server = WireServer()
    Client(token="…", rest_url="https://rest.test", stream_url="https://stream.test", transport=server)

It refuses what the file does not know: paths, methods, query members, body members. `seen` holds what was asked,
`answers` may put a status, a body and headers in the place of the standing answer of an operation.
"""

import json
import re
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import parse_qsl, unquote

import httpx

from support.data.wire_samples import Samples, fields_of, specification


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, taken apart."""

    operation: str
    path: dict[str, str]
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class WireServer(httpx.AsyncBaseTransport):
    """Answers with drawn bodies."""

    samples: Samples = field(default_factory=lambda: Samples(Random(7)))
    seen: list[Asked] = field(default_factory=list)
    answers: dict[str, httpx.Response] = field(default_factory=dict)
    sent: Any = None
    """The body of the last answer."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        asked = taken_apart(request, (await request.aread()))
        _hold_to_specification(asked)
        self.seen.append(asked)
        if asked.operation in self.answers:
            return self.answers[asked.operation]
        response = specification()["endpoints"][asked.operation]["response"]
        self.sent = self.samples.answer(asked.operation)
        self._name_target(asked)
        headers = {
            "RequestID": str(41 + len(self.seen)),
            "Location": "https://rest.test/v3/somewhere",
        }
        return httpx.Response(response["status"], json=self.sent, headers=headers)

    def _name_target(self, asked: Asked) -> None:
        """Have the answer to a write name what was changed."""
        for name, members in _named(asked).items():
            self.sent[name] = self.sent.get(name, {}) | members


def _named(asked: Asked) -> dict[str, dict[str, Any]]:  # noqa: PLR0911 - a table
    """The members of the answer to a write that name its request, by the transaction."""
    body, account = asked.body or {}, {"accountID": asked.path.get("accountID")}
    order, trade = (
        {f"{kind}ID": asked.path.get(f"{kind}Specifier")} for kind in ("order", "trade")
    )
    order_id = str(order["orderID"])
    if order_id.startswith("@"):
        order = {"clientOrderID": order_id[1:]}
    match asked.operation:
        case "create_order":
            extensions = {"clientExtensions": body["order"]["clientExtensions"]}
            return {"orderCreateTransaction": extensions | account}
        case "replace_order" | "cancel_order":
            return {"orderCancelTransaction": order | account}
        case "close_trade":
            close = {"tradeClose": trade | {"units": body["units"]}}
            return {"orderCreateTransaction": close | account}
        case "close_position":
            side = {"instrument": asked.path["instrument"], "units": body["longUnits"]}
            return {"longOrderCreateTransaction": {"longPositionCloseout": side} | account}
        case "set_trade_dependent_orders":
            protected = {"reason": "CLIENT_ORDER", **trade, **account}
            kinds = {name: name[0].lower() + name[1:] for name in ("TakeProfit", "StopLoss")}
            details = {kind: body[kind] for kind in kinds.values() if body.get(kind)}
            return {
                f"{kind}OrderTransaction": protected | members for kind, members in details.items()
            }
        case "set_order_client_extensions":
            return {"orderClientExtensionsModifyTransaction": order | account}
        case "set_trade_client_extensions":
            return {"tradeClientExtensionsModifyTransaction": trade | account}
        case "configure_account":
            return {"clientConfigureTransaction": body | account}
        case _:
            return {}


def taken_apart(request: httpx.Request, body: bytes) -> Asked:
    """The request as the operation it is."""
    path, _, query = request.url.raw_path.decode().partition("?")
    matches = [
        (name, match.groupdict())
        for name, endpoint in specification()["endpoints"].items()
        if endpoint["method"] == request.method
        and (match := _pattern(endpoint["path"]).fullmatch(path))
    ]
    assert matches, f"no operation is {request.method} {path}"
    # a fixed word beats a parameter: transactions/sinceid is not the transaction called sinceid
    name, parameters = min(matches, key=lambda found: len(found[1]))
    return Asked(
        operation=name,
        path={key: unquote(value) for key, value in parameters.items()},
        query=dict(parse_qsl(query, keep_blank_values=True)),
        headers=dict(request.headers),
        body=json.loads(body) if body else None,
    )


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path))


def _hold_to_specification(asked: Asked) -> None:
    endpoint = specification()["endpoints"][asked.operation]
    allowed = {param["name"] for param in endpoint["params"] if param["in"] == "query"}
    needed = {
        param["name"]
        for param in endpoint["params"]
        if param["in"] == "query" and param["required"]
    }
    assert set(asked.query) <= allowed, f"{asked.operation}: unknown {set(asked.query) - allowed}"
    assert needed <= set(asked.query), f"{asked.operation}: missing {needed - set(asked.query)}"
    headers = {param["name"].lower() for param in endpoint["params"] if param["in"] == "header"}
    for name in ("accept-datetime-format", "clientrequestid"):
        assert name not in asked.headers or name in headers, f"{asked.operation} takes no {name}"
    body = endpoint.get("request_body")
    assert (asked.body is None) == (body is None), f"{asked.operation}: {asked.body}"
    if body is not None:
        assert set(asked.body) <= set(body)
        _hold_order(asked.body.get("order"))


def _hold_order(order: dict[str, Any] | None) -> None:
    if order is None:
        return
    kinds = {spec["type_value"]: name for name, spec in specification()["requests"].items()}
    fields = fields_of(kinds[order["type"]])
    assert set(order) - {"type"} <= set(fields), set(order) - set(fields)
    missing = {name for name, spec in fields.items() if spec["required"] and "default" not in spec}
    assert missing <= set(order)
