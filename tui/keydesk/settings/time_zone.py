"""The time zone in which times are shown: one that is named, or the system's."""

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

MAX_ZONE_LENGTH = 64  # characters of a name


class UnknownZone(ValueError):
    """Raised for a name that no time zone has."""


class SystemZone(tzinfo):
    """The zone that the system is set to, by `TZ` or its clock settings."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        """Return the local offset."""
        return _local(moment).utcoffset()

    def dst(self, moment: datetime | None) -> timedelta | None:  # noqa: ARG002 - what tzinfo names
        """Return None: the system tells the whole offset only."""
        return None

    def tzname(self, moment: datetime | None) -> str | None:
        """Return the local name, such as CET or CEST."""
        return _local(moment).tzname()

    def fromutc(self, moment: datetime) -> datetime:
        """Return the local time; `fold` distinguishes the hour that occurs twice."""
        instant = moment.replace(tzinfo=UTC)
        try:
            local = instant.astimezone().replace(tzinfo=None)
            is_second = local.astimezone(UTC) != instant
        except (OverflowError, ValueError, OSError):  # at the first and last day of the calendar
            return moment
        return local.replace(tzinfo=self, fold=int(is_second))


def _local(moment: datetime | None) -> datetime:
    if moment is None:
        return datetime.now(UTC).astimezone()
    try:
        return moment.replace(tzinfo=None).astimezone()
    except (OverflowError, ValueError, OSError):
        return moment.replace(tzinfo=UTC)


def time_zone(name: str) -> tzinfo:
    """Return the zone of a name such as Europe/Berlin; "" is the system's.

    Raises:
        UnknownZone: there is none of this name.
    """
    if not name:
        return SystemZone()
    try:
        if len(name) > MAX_ZONE_LENGTH:
            raise UnknownZone
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError) as error:
        raise UnknownZone(name[:MAX_ZONE_LENGTH]) from error
