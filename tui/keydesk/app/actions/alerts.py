"""Actions of alerts: a new one where the trader points, the page, and muting."""

from __future__ import annotations

from keydesk.app.actions.context import ActionContext


class AlertActions:
    """Makes and shows alerts.

    Args:
        context: What every action is given.
    """

    def __init__(self, context: ActionContext) -> None:
        self._context, self._desk = context, context.desk

    def action_new_alert(self) -> None:
        """Show a new alert: at the crosshair, of the selected trade, or on the instrument."""
        from keydesk.app.alerts.desk import here, no_price  # noqa: PLC0415 - with the first form

        selection, store = self._context.selection(), self._context.store
        trade = store.trades.get(selection.trade_row or "") if selection.pane == "trades" else None
        instrument = selection.instrument(store)
        found = here(
            store, self._context.pointed_at(), "" if trade is None else trade.id, instrument
        )
        if found is None:
            self._desk.tell("info", no_price(instrument) if instrument else "No instrument yet")
        else:
            self._context.pages.new_alert(found)

    def action_alerts(self) -> None:
        """Show the alerts."""
        self._context.pages.show_alerts()

    def action_mute(self) -> None:
        """Mute bell and notifications, or end that."""
        self._context.pages.turn_mute()
