import pickle
from decimal import InvalidOperation

import httpx
import pytest

from keydesk_client import Client, errors
from keydesk_client.errors import (
    HttpStatusError,
    InvalidRequest,
    KeydeskClientError,
    NotFound,
    Refused,
)
from keydesk_client.models import (
    MarketOrderRejectTransaction,
    MarketOrderRequest,
    OrderCancelRejectTransaction,
)

REJECT = {
    "id": "8",
    "accountID": "1",
    "userID": 1,
    "batchID": "8",
    "time": "2025-03-01T12:00:00.000000000Z",
    "type": "MARKET_ORDER_REJECT",
    "instrument": "EUR_USD",
    "units": "1",
    "timeInForce": "FOK",
    "positionFill": "DEFAULT",
    "reason": "CLIENT_ORDER",
    "rejectReason": "INSUFFICIENT_MARGIN",
}
BODY = {
    "orderRejectTransaction": REJECT,
    "relatedTransactionIDs": ["8"],
    "lastTransactionID": "8",
    "errorCode": "INSUFFICIENT_MARGIN",
    "errorMessage": "Not enough margin.",
}


async def test_what_is_no_order_request_is_refused_before_it_is_sent() -> None:
    client = client_answering(500, {})
    dictionary: object = {"units": 1}
    for sending in (
        client.orders.create(dictionary),  # type: ignore[arg-type]  # that is what is refused
        client.orders.replace("7", dictionary),  # type: ignore[arg-type]  # same
    ):
        with pytest.raises(
            InvalidRequest, match=r"as in MarketOrderRequest\(.*type dict"
        ) as refused:
            await sending
        assert (refused.value.field, refused.value.sent) == ("order", False)


async def test_an_id_that_is_no_text_is_told_how_to_write_it() -> None:
    number: str = 33  # type: ignore[assignment]  # that is what is refused
    with pytest.raises(
        InvalidRequest, match=r"^specifier: invalid type int: pass text, as in '33'$"
    ):
        await client_answering(500, {}).trades.close(number)


async def test_a_refused_parameter_is_told_with_what_was_sent() -> None:
    body = {"errorMessage": "Invalid value specified for 'instruments'"}
    client = client_answering(400, body)
    told = r"400: Invalid value specified for 'instruments' \(instruments=EUR_USD,EUR_XYZ\)"
    with pytest.raises(Refused, match=told) as refused:
        await client.pricing.get(["EUR_USD", "EUR_XYZ"])
    assert refused.value.error_message == body["errorMessage"]
    assert (
        pickle.loads(pickle.dumps(refused.value)).named_parameters == "instruments=EUR_USD,EUR_XYZ"
    )


def client_answering(status: int, body: object) -> Client:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(status, json=body, headers={"RequestID": "77"})

    url = "https://rest.test"
    transport = httpx.MockTransport(answer)
    return Client(token="t", rest_url=url, stream_url=url, account_id="1", transport=transport)


async def test_a_refused_order_tells_why_with_its_reject_transaction() -> None:
    client = client_answering(400, BODY)
    with pytest.raises(Refused) as raised:
        await client.orders.create(MarketOrderRequest(instrument="EUR_USD", units=1))
    error = raised.value
    assert (error.status, error.error_code, error.request_id) == (400, "INSUFFICIENT_MARGIN", "77")
    assert (error.last_transaction_id, error.related_transaction_ids) == ("8", ("8",))
    assert error.reject_reason == "INSUFFICIENT_MARGIN"
    assert isinstance(error.reject_transaction, MarketOrderRejectTransaction)
    assert error.reject_transaction.to_wire() == REJECT
    assert str(error) == "400 INSUFFICIENT_MARGIN: Not enough margin."


async def test_every_reject_transaction_of_an_answer_is_kept() -> None:
    cancel = {"id": "9", "type": "ORDER_CANCEL_REJECT", "rejectReason": "ORDER_DOESNT_EXIST"}
    body = {
        "stopLossOrderCancelRejectTransaction": cancel,
        "takeProfitOrderRejectTransaction": {"type": "TAKE_PROFIT_ORDER_REJECT"},
        "errorMessage": "no",
    }
    with pytest.raises(NotFound) as raised:
        await client_answering(404, body).trades.set_dependent_orders("7", take_profit=None)
    first, second = raised.value.reject_transactions
    assert isinstance(first, OrderCancelRejectTransaction)
    assert raised.value.reject_reason == "ORDER_DOESNT_EXIST"
    with pytest.raises(errors.MissingMember):
        _ = second.reject_reason


def every_error(kind: type[KeydeskClientError]) -> list[type[KeydeskClientError]]:
    return [kind, *(found for each in kind.__subclasses__() for found in every_error(each))]


def test_every_error_pickles_with_all_that_it_carries() -> None:
    for kind in every_error(KeydeskClientError):
        error = kind("words")
        if isinstance(error, HttpStatusError):
            error.status, error.retry_after = 429, 1.5
        back = pickle.loads(pickle.dumps(error))
        assert type(back) is kind
        assert (str(back), vars(back)) == (str(error), vars(error))


async def test_an_error_with_a_reject_transaction_pickles() -> None:
    with pytest.raises(Refused) as raised:
        await client_answering(400, BODY).orders.create(
            MarketOrderRequest(instrument="EUR_USD", units=1)
        )
    back = pickle.loads(pickle.dumps(raised.value))
    assert vars(back) == vars(raised.value)


def test_the_tree_at_the_head_of_the_file_names_every_error() -> None:
    drawn = errors.__doc__ or ""
    here = [kind for kind in every_error(KeydeskClientError) if kind.__module__ == errors.__name__]
    assert [kind.__name__ for kind in here if kind.__name__ not in drawn] == []


SETTLED = {
    "KeydeskClientError": True,
    "ConnectionLost": False,
    "TimedOut": False,
    "UnreadableAnswer": False,
    "AnswerTooLarge": False,
    "MissingMember": False,
    "HttpStatusError": False,
    "ServerFailed": False,
}
"""Errors that are not named are settled, as nothing was sent, except refusals that nothing shows to be the service's."""


def test_an_error_tells_whether_the_request_certainly_was_not_acted_on() -> None:
    for kind in every_error(KeydeskClientError):
        is_settled = SETTLED.get(kind.__name__, not issubclass(kind, Refused))
        assert kind("words").settled is is_settled


def test_a_refusal_leaves_open_what_became_of_the_request_unless_it_is_the_services_own() -> None:
    assert Refused("no", status=400, request_id="7").settled
    assert Refused("no", status=409, request_id="7", error_code="CODE").settled
    assert not Refused("without the id of the request", status=400, error_code="CODE").settled
    assert not Refused("not a status of the service", status=409, request_id="7").settled
    assert not Refused("a proxy's page", status=400, request_id="7", explained=False).settled
    assert not Refused("a proxy stopped waiting", status=408, request_id="7").settled
    assert errors.RateLimited("slow down", status=429, request_id="7").settled
    assert not errors.RateLimited("a proxy's page", status=429).settled
    assert not errors.TimedOut("read", phase="read").settled
    assert errors.TimedOut("connect", phase="connect", sent=False).settled


async def test_a_half_executed_replacement_is_not_settled() -> None:
    body = BODY | {"relatedTransactionIDs": ["7", "8"]}
    with pytest.raises(Refused) as raised:
        await client_answering(400, body).orders.create(
            MarketOrderRequest(instrument="EUR_USD", units=1)
        )
    assert not raised.value.settled


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no price"), "no price"),
        (TimeoutError(), "timeout error"),
        (InvalidOperation([InvalidOperation]), "invalid operation"),
    ],
)
def test_an_error_without_a_text_is_told_in_words(error: Exception, text: str) -> None:
    assert errors.message_of(error) == text
