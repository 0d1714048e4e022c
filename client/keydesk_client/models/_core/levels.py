"""What no price and no distance can be, whatever the order."""

from keydesk_client.errors import InvalidRequest
from keydesk_client.models._core.record import Record


def refuse_levels(holder: Record, prefix: str, *, needs_one: bool) -> None:
    """InvalidRequest, naming the member, for levels that can not be right."""
    given = [name for name in ("price", "distance") if getattr(holder, name, None) is not None]
    for name in (*given, "price_bound"):
        level = getattr(holder, name, None)
        if level is not None and level <= 0:
            raise InvalidRequest(f"{prefix}{name}: must be above 0", field=f"{prefix}{name}")
    if len(given) > 1:
        raise InvalidRequest(
            f"{prefix}distance: give it or a price, not both", field=f"{prefix}distance"
        )
    if needs_one and not given:
        field = prefix + ("price" if "price" in type(holder).model_fields else "distance")
        raise InvalidRequest(f"{field}: needed", field=field)
