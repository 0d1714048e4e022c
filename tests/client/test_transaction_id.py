"""Ids of transactions: text with the order of numbers."""

import copy
import json
import pickle
from operator import ge, gt, le, lt

import pytest

from keydesk_client.errors import Refused
from keydesk_client.http.errors import error_of
from keydesk_client.http.messages import HttpResponse
from keydesk_client.models import OrderFillTransaction, Reader, TransactionID

NINE, TEN = TransactionID("9"), TransactionID("10")


def test_ids_are_ordered_as_numbers() -> None:
    assert NINE < TEN <= TransactionID("10") < TransactionID("100")
    assert TEN > NINE >= TransactionID("9")
    assert sorted(map(TransactionID, ("10", "9", "100"))) == ["9", "10", "100"]
    assert max(TEN, NINE) is TEN


def test_ids_are_ordered_as_numbers_beside_plain_text_on_either_side() -> None:
    assert NINE < "10"
    assert NINE < "10"
    assert TEN >= "9"
    assert TEN >= "9"


def test_an_id_is_the_text_of_the_wire() -> None:
    assert NINE == "9"
    assert len({NINE, "9"}) == 1
    assert (json.dumps(NINE), f"{NINE}", int(NINE)) == ('"9"', "9", 9)
    for again in (copy.copy(NINE), pickle.loads(pickle.dumps(NINE))):
        assert type(again) is TransactionID
        assert again < "10"


@pytest.mark.parametrize("compare", [lt, le, gt, ge])
def test_what_is_not_an_id_is_not_compared(compare: type) -> None:
    with pytest.raises(ValueError, match="abc"):
        compare(NINE, "abc")
    with pytest.raises(TypeError):
        compare(NINE, 10)


def test_the_ids_of_records_and_errors_have_this_order() -> None:
    fill = Reader(OrderFillTransaction).read(b'{"id":"9","batchID":"10"}')
    assert fill.id < fill.batch_id
    assert fill.to_wire() == {"id": "9", "batchID": "10"}
    body = b'{"errorMessage":"no","lastTransactionID":"10","relatedTransactionIDs":["9"]}'
    error = error_of(HttpResponse(400, {}, body))
    assert isinstance(error, Refused)
    assert error.last_transaction_id is not None
    assert error.last_transaction_id > error.related_transaction_ids[0]
