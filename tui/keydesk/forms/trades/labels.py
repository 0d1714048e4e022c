"""The forms that edit tag and comment of an open trade or a pending order; what they are of is not touched."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Generic

from keydesk.calc.orders.fields import Field
from keydesk.calc.orders.order_options import MAX_TEXT
from keydesk.forms.modal_form import FormContext, TextLine
from keydesk.forms.text_form import TextForm
from keydesk.forms.trades.trade_form import TradeForm
from keydesk.keys.confirm import Action
from keydesk.keys.keymap import LABEL_FIELDS, LABELS
from keydesk.text.sanitize import safe
from keydesk.trading.account_changes import LabelOrder, LabelTrade
from keydesk.values import OrderRow, TradeRow
from keydesk.widgets.overlay import Result
from keydesk.words.order_text import order_name


class _LabelFields(TextForm[Result], Generic[Result]):
    """Edits tag and comment."""

    ACTION: ClassVar[Action] = Action.LABEL
    KEY_CONTEXT: ClassVar[str] = LABELS
    FIELDS: ClassVar[Mapping[str, Field]] = LABEL_FIELDS
    NO_CHANGE: ClassVar[str] = "Nothing is changed: k tag, j comment"

    @property
    @abstractmethod
    def labelled(self) -> TradeRow | OrderRow | None:
        """Return the trade or order, None once it is gone."""

    def texts(self) -> Mapping[str, str]:
        """Return tag and comment as they are."""
        row = self.labelled
        return {"tag": row.tag, "comment": row.comment} if row else {"tag": "", "comment": ""}

    def begin_with(self, tag: str, comment: str) -> None:
        """Begin with other labels than there are; an empty one leaves that there is."""
        given = {"tag": tag[:MAX_TEXT], "comment": comment[:MAX_TEXT]}
        self.fields.texts.update({name: text for name, text in given.items() if text})


class LabelsForm(TradeForm[LabelTrade], _LabelFields[LabelTrade]):
    """Edits tag and comment of an open trade."""

    VERB: ClassVar[str] = "label"

    @property
    def labelled(self) -> TradeRow | None:
        """Return the trade, None once it is closed."""
        return self.trade

    def price_line(self) -> TextLine:
        """Return nothing: labels go by no price."""
        return ()

    def headline(self) -> TextLine:
        """Return the trade that it is about."""
        return self.headline_of("TAG AND COMMENT ")

    def request(self) -> LabelTrade | None:
        """Return what was changed."""
        trade, fields = self.trade, self.fields
        if trade is None:
            return None
        return LabelTrade(
            trade.id, trade.instrument, fields.changed("tag"), fields.changed("comment")
        )


class OrderLabelsForm(_LabelFields[LabelOrder]):
    """Edits tag and comment of a pending order; the trade that an entry order opens gets them, too."""

    def __init__(self, context: FormContext, order_id: str) -> None:
        self.order_id = order_id
        super().__init__(context)

    def gone(self) -> str:
        """Return that the order is gone, "" while it rests."""
        return "" if self.labelled else "It is filled or cancelled already"

    @property
    def labelled(self) -> OrderRow | None:
        """Return the order, None once it is gone."""
        return self.context.store.orders.get(self.order_id)

    def headline(self) -> TextLine:
        """Return the order that it is about."""
        order = self.labelled
        name = order_name(order) if order else safe(f"#{self.order_id}")
        return (("TAG AND COMMENT ", "bright"), (name, "bright"))

    def effect(self) -> Sequence[TextLine]:
        """Say that the trade gets them."""
        order = self.labelled
        if order is None or order.trade_id is not None:
            return ()
        return ((("The trade that it opens gets what is changed here, too", "muted"),),)

    def request(self) -> LabelOrder | None:
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
