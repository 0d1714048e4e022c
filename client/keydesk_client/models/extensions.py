"""What a client may write on its own orders and trades."""

from typing import TYPE_CHECKING, Unpack

from keydesk_client.models._core.asked import Asked
from keydesk_client.models._core.scalars import ClientComment, ClientID, ClientTag

if TYPE_CHECKING:
    from keydesk_client.models.request_members import ExtensionsMembers


class ClientExtensions(Asked):
    """Client tags; not for bridged accounts."""

    if TYPE_CHECKING:

        def __init__(self, **members: Unpack[ExtensionsMembers]) -> None: ...

    id: ClientID | None = None
    """Unique among live orders, or among open trades."""
    tag: ClientTag | None = None
    """Free label."""
    comment: ClientComment | None = None
    """Free text."""
