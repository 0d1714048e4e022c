"""Which task of a trader's day a key belongs to, and an example of each."""

from collections.abc import Mapping

from keydesk.keys.keymap import (
    BOOKS,
    CHART,
    CROSSHAIR,
    LOG,
    ROWS,
    TABLE,
    TRADES,
    WATCHLIST,
    Key,
)
from keydesk.values import Task

EXAMPLES: Mapping[Task, str] = {
    Task.OPEN: "B s 2 5 y buys with a stop 25 pips away",
    Task.CLOSE: "O 5 y closes half of the trade under the cursor",
    Task.MANAGE: "M s 1 5 y moves the stop of the trade under the cursor",
    Task.READ: "/ gbp Enter shows GBP/USD, f its next timeframe",
    Task.REVIEW: "g j lists your trades, g k what they add up to",
    Task.PRACTISE: "; c Enter y replays the Swiss franc of January 2015",
    Task.MOVE: "g t goes to the trades, Tab to the next pane",
}
"""In the order of the help: first what a newcomer needs first, to open and to close."""
OF_CONTEXT: Mapping[str, Task] = {
    **dict.fromkeys((WATCHLIST, CHART, CROSSHAIR, BOOKS), Task.READ),
    **dict.fromkeys((TRADES, LOG), Task.REVIEW),
    **dict.fromkeys((ROWS, TABLE), Task.MOVE),
}
OF_KEY: Mapping[str, Task] = {
    **dict.fromkeys(("find", "granularity", "timeframes", "sessions", "details"), Task.READ),
    **dict.fromkeys(("instrument-page", "jump", "bookmark"), Task.READ),
    **dict.fromkeys(("buy", "sell", "limit", "preset", "preset-risk", "arm"), Task.OPEN),
    **dict.fromkeys(("modify", "labels", "new-alert", "alerts", "mute"), Task.MANAGE),
    **dict.fromkeys(("close", "scale-out", "cancel", "cancel-entries"), Task.CLOSE),
    **dict.fromkeys(("reverse", "flatten"), Task.CLOSE),
    **dict.fromkeys(("account-page", "exposure-page", "outcomes", "journal"), Task.REVIEW),
    **dict.fromkeys(("statistics", "day-page", "limits"), Task.REVIEW),
    **dict.fromkeys(("copy-row", "copy-id", "copy-pane"), Task.REVIEW),
}


def task_of(key: Key) -> Task:
    """Return the task that a key of the main screen belongs to."""
    if key.id.startswith("replay-"):
        return Task.PRACTISE
    if key.opens_on_trade:
        return Task.MANAGE
    return OF_KEY.get(key.id) or OF_CONTEXT.get(key.context, Task.MOVE)
