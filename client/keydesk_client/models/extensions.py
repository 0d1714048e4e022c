"""What a client may write on its own orders and trades."""

from keydesk_client.models.asked import Asked
from keydesk_client.models.scalars import ClientComment, ClientID, ClientTag


class ClientExtensions(Asked):
    """Client tags; not for bridged accounts."""

    id: ClientID | None = None
    """Unique among live orders, or among open trades."""
    tag: ClientTag | None = None
    """Free label."""
    comment: ClientComment | None = None
    """Free text."""
