"""Order and position books: snapshots of what the crowd of clients holds, by price."""

from keydesk_practice.face.answers import Answer
from keydesk_practice.face.endpoints import Call
from keydesk_practice.face.refusals import not_served_yet


def get_order_book(_: Call) -> Answer:
    """Answer with a snapshot of the order book."""
    raise not_served_yet("order books")


def get_position_book(_: Call) -> Answer:
    """Answer with a snapshot of the position book."""
    raise not_served_yet("position books")
