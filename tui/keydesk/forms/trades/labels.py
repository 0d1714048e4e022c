"""The form that edits tag and comment of an open trade; the trade itself is not touched."""

from collections.abc import Sequence
from typing import ClassVar

from keydesk.calc.orders.instructions import LabelTrade
from keydesk.forms.sheet import FormContext, TextLine
from keydesk.forms.text_fields import ENDS_WRITING, MAX_TEXT, TextFields
from keydesk.forms.trades.trade_form import TRADE_BINDINGS, TradeForm
from keydesk.keys.bindings import bindings_of
from keydesk.keys.confirm import Action
from keydesk.keys.keymap import LABELS
from keydesk.text.sanitize import safe


class LabelsForm(TradeForm[LabelTrade]):
    """Edits tag and comment; only what was changed is sent."""

    TWO_COLUMNS: ClassVar[bool] = False
    KEY_CONTEXT: ClassVar[str] = LABELS
    WIDTH: ClassVar[int] = 68
    BINDINGS = [*bindings_of(LABELS), *TRADE_BINDINGS]  # noqa: RUF012 - as Textual has it

    def __init__(self, context: FormContext, trade_id: str) -> None:
        super().__init__(context, trade_id)
        self.fields = self._as_they_are()

    def on_trade_change(self) -> None:
        self.fields = self._as_they_are()

    def _as_they_are(self) -> TextFields:
        trade = self.trade
        tag, comment = ("", "") if trade is None else (trade.tag, trade.comment)
        return TextFields({"tag": tag, "comment": comment})

    def begin_with(self, tag: str, comment: str) -> None:
        """Begin with other labels than the trade has; an empty one leaves that of the trade."""
        given = {"tag": tag[:MAX_TEXT], "comment": comment[:MAX_TEXT]}
        self.fields.texts.update({name: text for name, text in given.items() if text})

    def headline(self) -> TextLine:
        """Return the trade that it is about."""
        return self.headline_of("TAG AND COMMENT ")

    def body(self) -> Sequence[TextLine]:
        """Show both fields."""
        return self.field_lines()

    def field_lines(self) -> Sequence[TextLine]:
        """Return both fields, with how each was before where it is changed."""
        names = (("k", "tag"), ("j", "comment"))
        return [
            self.fields.line(
                safe(key),
                safe(name),
                ("changed" if self.fields.changed(name) is not None else "", "warn"),
                self.inside,
            )
            for key, name in names
        ]

    def action(self) -> Action:
        """Return the row of the confirmation matrix."""
        return Action.LABEL

    def refusals(self) -> Sequence[str]:
        """Refuse what cannot be a label, and to send nothing."""
        if self.fields.writing:
            return (ENDS_WRITING,)
        if self.trade is None:
            return ("The trade is closed already",)
        if long := self.fields.too_long():
            return (f"{long}: it is longer than {MAX_TEXT} characters. Backspace shortens it",)
        return () if self.fields.has_changes else ("Nothing is changed: k tag, j comment",)

    def result(self) -> LabelTrade | None:
        """Return what was changed."""
        trade, fields = self.trade, self.fields
        if trade is None:
            return None
        return LabelTrade(
            trade.id, trade.instrument, fields.changed("tag"), fields.changed("comment")
        )

    @property
    def is_writing(self) -> bool:
        """Whether letters go to one of the fields."""
        return bool(self.fields.writing)

    def write(self, key: str, character: str | None) -> None:
        """Take a key for that field."""
        self.fields.write(key, character)

    def action_write(self, name: str) -> None:
        self.fields.writing = name
        self.redraw()
