"""Prices: those in force, and the stream."""

from starlette.types import ASGIApp

from keydesk_practice.engine.datetimes import rfc3339, unix
from keydesk_practice.http.answers import Answer, encode
from keydesk_practice.http.endpoints import Call
from keydesk_practice.http.refusals import invalid, missing
from keydesk_practice.http.streaming import LineStream


async def get_pricing(call: Call) -> Answer:
    """Answer with the prices in force; with `since`, only those that changed after it."""
    desk = await call.frozen_desk()
    names = _instruments(call)
    since = call.query.time("since")
    units_available = call.query.flag("includeUnitsAvailable", default=True)
    conversions = call.query.flag("includeHomeConversions", default=False)
    now = call.broker.now()
    available = desk.margin_available(await call.worth(desk)) if units_available else None
    quotes = map(desk.board.quote, names)
    changed = (quote for quote in quotes if since is None or quote.time > since)
    body = {
        "prices": await call.encoded(desk.price_view(quote, available) for quote in changed),
        **({"homeConversions": desk.home_conversions(names)} if conversions else {}),
        "time": rfc3339(now),
    }
    return Answer(body)


def stream_pricing(call: Call) -> ASGIApp:
    """Answer with prices as they change, and a heartbeat every five seconds."""
    desk, broker, unix_times = call.desk, call.broker, call.wishes.unix_times
    names = _instruments(call)
    snapshot = call.query.flag("snapshot", default=True)
    conversions = call.query.flag("includeHomeConversions", default=False)
    text_of = unix if unix_times else rfc3339

    def heartbeat() -> bytes:
        return encode({"type": "HEARTBEAT", "time": text_of(broker.now())}) + b"\n"

    home = desk.account.currency if conversions else None
    subscription = broker.prices.join(names, home, unix_times)
    return LineStream(
        subscription,
        first=broker.prices.snapshot(subscription) if snapshot else b"",
        heartbeat=heartbeat,
        release=lambda: broker.prices.leave(subscription),
        window=broker.price_window,
    )


def _instruments(call: Call) -> list[str]:
    names = call.query.words("instruments")
    if not names:
        raise missing("instruments")
    if any(call.broker.board.specification(name) is None for name in names):
        raise invalid("instruments")
    return list(dict.fromkeys(names))
