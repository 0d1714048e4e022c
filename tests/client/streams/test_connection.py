"""Split bytes, cut anywhere, into lines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk_client.errors import UnreadableAnswer
from keydesk_client.streams.connection import LineSplitter


@given(st.lists(st.binary(min_size=1).filter(lambda line: b"\n" not in line)), st.data())
def test_lines_are_the_same_wherever_the_bytes_are_cut(
    lines: list[bytes], data: st.DataObject
) -> None:
    whole = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    splitter = LineSplitter()
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    found = [line for piece in pieces for line in splitter.feed(piece)]
    assert found == [line for line in lines if not line.isspace()]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\r"])
def test_only_a_newline_ends_a_line(separator: str) -> None:
    line = f'{{"comment":"a{separator}b"}}'.encode()
    assert LineSplitter().feed(line + b"\n") == [line]


def test_blank_lines_are_left_out() -> None:
    assert LineSplitter().feed(b"\n \r\n{}\n\n") == [b"{}"]


def test_a_line_without_end_is_refused_before_it_fills_the_memory() -> None:
    splitter = LineSplitter(longest=10)
    splitter.feed(b"12345")
    with pytest.raises(UnreadableAnswer):
        splitter.feed(b"678901")


def test_a_line_that_is_too_long_and_ends_is_refused_too() -> None:
    with pytest.raises(UnreadableAnswer):
        LineSplitter(longest=10).feed(b"1\n12345678901\n2\n")


def test_many_short_lines_in_one_piece_are_not_too_long() -> None:
    assert len(LineSplitter(longest=10).feed(b"12345\n" * 100)) == 100
