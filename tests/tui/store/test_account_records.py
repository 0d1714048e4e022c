"""Records of accounts of one id in one file."""

from keydesk.store.account_records import MAX_OTHERS, record_of, with_record


def test_the_record_of_each_account_is_found_again() -> None:
    content = with_record({}, 1, {"left": "home"})
    content = with_record(content, 2, {"left": "replay"})
    content = with_record(content, 1, {"left": "home, later"})
    assert record_of(content, 2) == {"left": "replay", "account_ns": 2}
    found = record_of(content, 1)
    assert found is not None
    assert found["left"] == "home, later"
    assert record_of(content, 3) is None


def test_only_the_newest_others_stay() -> None:
    content = with_record({}, 1, {})
    for number in range(2, MAX_OTHERS + 4):
        content = with_record(content, number, {})
    assert list(content["others"]) == [str(each) for each in range(3, MAX_OTHERS + 3)]


def test_damaged_others_are_left_out() -> None:
    assert record_of({"account_ns": 1, "others": 5}, 2) is None
    assert record_of({"account_ns": 1, "others": {"2": 5}}, 2) is None
