"""Read bodies of answers within bounds, compressed or not."""

import zlib
from collections.abc import AsyncIterable
from contextlib import suppress

from keydesk_client.errors import UnreadableAnswer
from keydesk_client.models._core.body_limits import LIST, too_large

GZIP_WINDOW = 31


async def read_body(pieces: AsyncIterable[bytes], encoding: str, most: int = LIST.size) -> bytes:
    """The whole body, decompressed; UnreadableAnswer when it is too large or broken."""
    if encoding in {"", "identity"}:
        return await _plain(pieces, most)
    if encoding in {"gzip", "x-gzip"}:
        return await _unzipped(pieces, most)
    raise UnreadableAnswer(f"the answer is encoded as {encoding[:40]!r}, which was not asked for")


async def _plain(pieces: AsyncIterable[bytes], most: int) -> bytes:
    held: list[bytes] = []
    size = 0
    async for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size > most:
            raise too_large(most)
    return held[0] if len(held) == 1 else b"".join(held)


async def _unzipped(pieces: AsyncIterable[bytes], most: int) -> bytes:
    unzip = zlib.decompressobj(GZIP_WINDOW)
    held = bytearray()
    taken = 0
    with suppress(zlib.error):  # a broken one has no end
        async for piece in pieces:
            taken += len(piece)
            if taken > most:  # what decompresses to nothing has to end too
                raise too_large(most)
            if unzip.eof:
                continue  # it would be kept, and copied with every piece
            held += unzip.decompress(piece, most + 1 - len(held))
            if len(held) > most or unzip.unconsumed_tail:
                raise too_large(most)
    if not unzip.eof:
        raise UnreadableAnswer("the compressed answer is broken or ends half way")
    return bytes(held)
