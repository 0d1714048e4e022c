"""What really happened, as the broker wrote it down."""

from keydesk_client.client import Client
from keydesk_client.models import Transaction
from support.broker import PracticeServer


async def ledger_of(desk: PracticeServer) -> list[Transaction]:
    """Every transaction of a desk's first account, asked for directly."""
    async with Client(
        token=desk.token,
        rest_url=desk.rest_url,
        stream_url=desk.stream_url,
        account_id=desk.account_id,
    ) as client:
        return [each async for each in client.transactions.iterate_since(0)]
