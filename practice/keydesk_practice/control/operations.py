"""The operations of the control interface: method, path, bodies and handler of each, and their OpenAPI document."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from keydesk_practice.control import (
    account_operations,
    clock_operations,
    fault_operations,
    ledger_operations,
    replay_operations,
    shock_operations,
)
from keydesk_practice.control.bodies import (
    AccountState,
    AddAccount,
    AddShock,
    AddToken,
    BeginReplay,
    CheckpointName,
    Checkpoints,
    Jump,
    LedgerName,
    Ledgers,
    NoMembers,
    Play,
    RenameLedger,
    ResetAccount,
    Scenarios,
    SetMargin,
    Speed,
    State,
    Step,
    TokenAccounts,
    Transfer,
)
from keydesk_practice.control.schema import schema_of

BASE = "/control/v1"
FAULTS = "/faults"  # of requests, not of the market: at any time, also during a long jump
ACCOUNT = "/accounts/{account}"
Handler = Callable[..., Awaitable[Any]]
_PARAMETER = re.compile(r"\{(\w+)\}")


class Operation(Struct, frozen=True):
    """One operation; its handler takes the control, the request and the path parameters."""

    method: str
    path: str
    handler: Handler
    request: type
    answer: type

    @property
    def name(self) -> str:
        """The name in the OpenAPI document."""
        return self.handler.__name__

    @property
    def is_exclusive(self) -> bool:
        """Whether it holds the lock `changing`: what it checked before an `await`, such as the ledger in use, must hold after it."""
        return self.method != "GET" and self.path != FAULTS

    @property
    def summary(self) -> str:
        """What it does, in one sentence."""
        return (self.handler.__doc__ or "").strip()


OPERATIONS = (
    Operation("GET", "/state", clock_operations.state, NoMembers, State),
    Operation("POST", "/clock/pause", clock_operations.pause, NoMembers, State),
    Operation("POST", "/clock/play", clock_operations.play, Play, State),
    Operation("POST", "/clock/speed", clock_operations.set_speed, Speed, State),
    Operation("POST", "/clock/step", clock_operations.step, Step, State),
    Operation("POST", "/clock/jump", clock_operations.jump, Jump, State),
    Operation("GET", "/scenarios", replay_operations.scenarios, NoMembers, Scenarios),
    Operation("POST", "/replay", replay_operations.begin_replay, BeginReplay, State),
    Operation("POST", "/replay/finish", replay_operations.finish_replay, NoMembers, State),
    Operation("POST", "/shocks", shock_operations.add_shock, AddShock, State),
    Operation("DELETE", "/shocks", shock_operations.cancel_shocks, NoMembers, State),
    Operation("PUT", FAULTS, fault_operations.set_faults, fault_operations.SetFaults, State),
    Operation("DELETE", FAULTS, fault_operations.clear_faults, NoMembers, State),
    Operation("GET", "/checkpoints", replay_operations.checkpoints, NoMembers, Checkpoints),
    Operation(
        "POST", "/checkpoints", replay_operations.save_checkpoint, CheckpointName, Checkpoints
    ),
    Operation(
        "POST", "/checkpoints/restore", replay_operations.restore_checkpoint, CheckpointName, State
    ),
    Operation("GET", "/ledgers", ledger_operations.list_ledgers, NoMembers, Ledgers),
    Operation("POST", "/ledgers/open", ledger_operations.open_ledger, LedgerName, State),
    Operation("POST", "/ledgers/name", ledger_operations.rename_ledger, RenameLedger, Ledgers),
    Operation(
        "DELETE", "/ledgers/{name}", ledger_operations.remove_kept_ledger, NoMembers, Ledgers
    ),
    Operation("POST", "/accounts", account_operations.add_account, AddAccount, AccountState),
    Operation(
        "POST", f"{ACCOUNT}/reset", account_operations.reset_account, ResetAccount, AccountState
    ),
    Operation(
        "POST", f"{ACCOUNT}/clone", account_operations.clone_account, NoMembers, AccountState
    ),
    Operation("POST", f"{ACCOUNT}/transfer", account_operations.transfer, Transfer, AccountState),
    Operation("POST", f"{ACCOUNT}/margin", account_operations.set_margin, SetMargin, AccountState),
    Operation("POST", "/tokens", account_operations.add_token, AddToken, TokenAccounts),
)


def control_document() -> dict[str, Any]:
    """Return the OpenAPI 3.1 document."""
    schemas: dict[str, Any] = {
        "Error": {
            "type": "object",
            "required": ["errorMessage"],
            "properties": {"errorMessage": {"type": "string"}, "errorCode": {"type": "string"}},
        }
    }
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        described = _described(operation, schemas)
        paths.setdefault(f"{BASE}{operation.path}", {})[operation.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Keydesk practice broker: control",
            "version": "1",
            "description": "Clock, replays, shocks, faults and accounts of a practice market.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _described(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    description: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "responses": {
            "200": _json("The answer", schema_of(operation.answer, schemas)),
            "default": _json("An error", {"$ref": "#/components/schemas/Error"}),
        },
    }
    names = _PARAMETER.findall(operation.path)
    if names:
        description["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in names
        ]
    if operation.request is not NoMembers:
        body = schema_of(operation.request, schemas)
        description["requestBody"] = {"content": {"application/json": {"schema": body}}}
    return description


def _json(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}
