"""Mailboxes are bounded: prices conflate, a transaction reader that falls behind is closed."""

import asyncio

from keydesk_practice.broker.feeds import (
    MAX_UNREAD_BYTES,
    PriceSubscription,
    TransactionSubscription,
)


def test_a_reader_gets_the_last_price_of_the_window() -> None:
    mailbox = PriceSubscription(["EUR_USD", "USD_JPY"], None, unix_times=False)
    mailbox.offer({"EUR_USD": b"old\n", "USD_JPY": b"yen\n", "GBP_USD": b"not asked\n"})
    mailbox.offer({"EUR_USD": b"new\n"})
    assert mailbox.take() == b"new\nyen\n"
    assert mailbox.take() == b""


def test_a_price_mailbox_never_holds_more_than_one_line_an_instrument() -> None:
    mailbox = PriceSubscription(["EUR_USD"], None, unix_times=False)
    for _ in range(1000):
        mailbox.offer({"EUR_USD": b"x" * 100})
    assert len(mailbox.take()) == 100


def test_transactions_come_in_order_and_whole_batches() -> None:
    mailbox = TransactionSubscription()
    mailbox.offer(b"1\n2\n")
    mailbox.offer(b"3\n")
    assert mailbox.take() == b"1\n2\n3\n"


def test_a_transaction_reader_too_far_behind_is_closed() -> None:
    mailbox = TransactionSubscription()
    cut: list[bool] = []
    mailbox.on_overrun = lambda: cut.append(True)
    for _ in range(5):
        mailbox.offer(b"x" * (MAX_UNREAD_BYTES // 4))
    assert mailbox.closed
    assert cut == [True]
    assert mailbox.take() == b""


async def test_waiting_ends_with_the_bell_or_with_the_time() -> None:
    mailbox = TransactionSubscription()
    await mailbox.wait(0.001)
    waiting = asyncio.ensure_future(mailbox.wait(60))
    await asyncio.sleep(0)
    mailbox.offer(b"1\n")
    await asyncio.wait_for(waiting, 5)
    mailbox.close()
    await asyncio.wait_for(mailbox.wait(60), 5)
