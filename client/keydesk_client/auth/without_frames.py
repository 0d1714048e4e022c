"""Exceptions that leave the door alone: beneath it, frames of the HTTP library hold the token's header as plain bytes.

A cancellation comes from the innermost frame, and whoever logs a traceback with its locals would log the token: the
parser copies a header that does not show itself into bytes that do.
"""

from typing import TypeVar, cast

E = TypeVar("E", bound=BaseException)


def without_frames(error: E) -> E:
    """The same exception, with its arguments, but without the frames it came through and the errors on its way.

    The same one, and not another like it: who cancelled a task, or set it a time, knows the exception again.
    """
    for member in _members(error):
        without_frames(member)
    error.__cause__ = error.__context__ = None
    error.__suppress_context__ = False  # what the caller was handling may be told
    return error.with_traceback(None)


def _members(error: BaseException) -> tuple[BaseException, ...]:
    if isinstance(error, BaseExceptionGroup):
        return cast("BaseExceptionGroup[BaseException]", error).exceptions
    return ()
