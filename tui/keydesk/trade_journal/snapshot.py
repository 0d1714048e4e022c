"""What statistics and pages of the journal are computed from, as it was at one moment; threads may read it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from keydesk.calc.trade_journal.excursions import Excursion
from keydesk.calc.trade_journal.price_paths import PricePath
from keydesk.calc.trade_journal.rebuild import Journal
from keydesk.trade_journal.report import LimitHit
from keydesk.trade_journal.rows import RowContext


@dataclass(frozen=True, slots=True)
class JournalSnapshot:
    """The journal of an account with the trader's notes."""

    journal: Journal = field(default_factory=Journal)
    context: RowContext = field(default_factory=RowContext)
    limits: tuple[LimitHit, ...] = ()
    account: str = ""
    currency: str = ""
    trouble: str = ""  # why it is not whole
    part: str = ""  # what it is of the account, "" if all is read


OpenProfits = Mapping[int, Decimal]
"""Open profit by the end of the day."""
Excursions = Mapping[str, Excursion]
Paths = Mapping[str, PricePath]
