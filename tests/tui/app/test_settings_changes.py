"""What the desk says of changed limits: which count at once, and which from the next day."""

from decimal import Decimal

from keydesk.app.settings_changes import limit_texts
from keydesk.calc.daily_loss import LossLock
from keydesk.config.limits import LimitChange

D = Decimal
TODAY = LossLock(day_ns=1, percent=D(1), limit=D(1000))


def test_a_daily_loss_limit_that_is_raised_is_not_said_to_be_in_force_today() -> None:
    changes = (LimitChange("daily_loss_percent", D(3)), LimitChange("hard_open_trades", D(5)))
    assert limit_texts(changes, TODAY, "USD") == [
        "Limits in force: Trades and entry orders: 5 trades",
        "From the next day, 17:00 New York: Loss of the day, exit-only: 3 % NAV; today 1 % NAV stays in force",
    ]


def test_a_daily_loss_limit_that_is_removed_holds_until_the_next_day() -> None:
    [text] = limit_texts([LimitChange("daily_loss_percent", None)], TODAY, "USD")
    assert text.endswith("exit-only: off; today 1 % NAV stays in force")


def test_a_daily_loss_limit_that_is_lowered_or_new_is_in_force_at_once() -> None:
    changes = (LimitChange("daily_loss_percent", D("0.5")), LimitChange("daily_loss", D(900)))
    [text] = limit_texts(changes, TODAY, "USD")
    assert text.startswith("Limits in force: ")
    assert "900 USD" in text
