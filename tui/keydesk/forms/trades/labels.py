"""The forms that edit tag and comment of an open trade or a pending order; what they are of is not touched."""

from collections.abc import Sequence
from typing import ClassVar, Generic

from keydesk.calc.orders.ticket_draft import MAX_TEXT
from keydesk.forms.form import Form
from keydesk.forms.modal_form import BLANK, FormContext, TextLine
from keydesk.forms.text_fields import ENDS_WRITING, TextFields
from keydesk.forms.trades.trade_form import TRADE_BINDINGS, TradeForm
from keydesk.keys.confirm import Action
from keydesk.keys.keymap import LABELS
from keydesk.keys.textual_bindings import bindings_of
from keydesk.text.sanitize import safe
from keydesk.trading.account_changes import LabelOrder, LabelTrade
from keydesk.values import OrderRow, TradeRow
from keydesk.widgets.overlay import Result
from keydesk.words.order_text import order_name


class _LabelFields(Form[Result], Generic[Result]):
    """Edits tag and comment; only what was changed is sent."""

    TWO_COLUMNS: ClassVar[bool] = False
    KEY_CONTEXT: ClassVar[str] = LABELS
    WIDTH: ClassVar[int] = 68
    GONE: ClassVar[str]
    fields: TextFields

    @property
    def labelled(self) -> TradeRow | OrderRow | None:
        """Return the trade or order, None once it is gone."""
        raise NotImplementedError

    def as_they_are(self) -> TextFields:
        """Return the fields as the form begins."""
        row = self.labelled
        tag, comment = ("", "") if row is None else (row.tag, row.comment)
        return TextFields({"tag": tag, "comment": comment})

    def begin_with(self, tag: str, comment: str) -> None:
        """Begin with other labels than there are; an empty one leaves that there is."""
        given = {"tag": tag[:MAX_TEXT], "comment": comment[:MAX_TEXT]}
        self.fields.texts.update({name: text for name, text in given.items() if text})

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
        if self.labelled is None:
            return (self.GONE,)
        if long := self.fields.too_long():
            return (f"{long}: it is longer than {MAX_TEXT} characters. Backspace shortens it",)
        return () if self.fields.has_changes else ("Nothing is changed: k tag, j comment",)

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


class LabelsForm(TradeForm[LabelTrade], _LabelFields[LabelTrade]):
    """Edits tag and comment of an open trade."""

    BINDINGS = [*bindings_of(LABELS), *TRADE_BINDINGS]  # noqa: RUF012 - as Textual has it
    GONE: ClassVar[str] = "The trade is closed already"

    def __init__(self, context: FormContext, trade_id: str) -> None:
        super().__init__(context, trade_id)
        self.fields = self.as_they_are()

    @property
    def labelled(self) -> TradeRow | None:
        """Return the trade, None once it is closed."""
        return self.trade

    def on_trade_change(self) -> None:
        self.fields = self.as_they_are()

    def headline(self) -> TextLine:
        """Return the trade that it is about."""
        return self.headline_of("TAG AND COMMENT ")

    def result(self) -> LabelTrade | None:
        """Return what was changed."""
        trade, fields = self.trade, self.fields
        if trade is None:
            return None
        return LabelTrade(
            trade.id, trade.instrument, fields.changed("tag"), fields.changed("comment")
        )


class OrderLabelsForm(_LabelFields[LabelOrder]):
    """Edits tag and comment of a pending order; the trade that an entry order opens gets them, too."""

    BINDINGS = bindings_of(LABELS)
    GONE: ClassVar[str] = "It is filled or cancelled already"

    def __init__(self, context: FormContext, order_id: str) -> None:
        super().__init__(context)
        self.order_id = order_id
        self.fields = self.as_they_are()

    @property
    def labelled(self) -> OrderRow | None:
        """Return the order, None once it is gone."""
        return self.context.store.orders.get(self.order_id)

    def headline(self) -> TextLine:
        """Return the order that it is about."""
        order = self.labelled
        name = order_name(order) if order else safe(f"#{self.order_id}")
        return (("TAG AND COMMENT ", "bright"), (name, "bright"))

    def body(self) -> Sequence[TextLine]:
        """Show both fields, and that the trade gets them."""
        order = self.labelled
        if order is None or order.trade_id is not None:
            return self.field_lines()
        note: TextLine = (("The trade that it opens gets what is changed here, too", "muted"),)
        return [*self.field_lines(), BLANK, note]

    def result(self) -> LabelOrder | None:
        """Return what was changed."""
        order, fields = self.labelled, self.fields
        if order is None:
            return None
        return LabelOrder(
            order.id,
            order.instrument,
            fields.changed("tag"),
            fields.changed("comment"),
            with_trade=order.trade_id is None,
        )
