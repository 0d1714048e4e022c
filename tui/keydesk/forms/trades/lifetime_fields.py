"""Time in force and trigger condition in the forms that change levels or an entry order: turned by a key, or typed."""

from collections.abc import Sequence
from typing import Generic, Literal

from keydesk.calc.orders.fields import MODIFY_CHOICES, Name
from keydesk.calc.orders.lifetime import (
    EXPIRY_WORDS,
    TYPED_EXPIRY,
    UNCHANGED_DRAFT,
    LifetimeDraft,
    end_ns,
    end_refusals,
)
from keydesk.calc.orders.order_options import MAX_TEXT, TRIGGER_WORDS, TRIGGERS, Trigger
from keydesk.forms.level_name import ENDS_NAME
from keydesk.forms.modal_form import BLANK, TextLine, Words
from keydesk.forms.number_fields import NumberFields
from keydesk.forms.text_fields import ENDS_TEXT, ENDS_WRITING, edited_text, text_line
from keydesk.forms.ticket_lines import LABEL_WIDTH, choice_line, range_line
from keydesk.text.format import date_and_time
from keydesk.text.sanitize import clean, safe
from keydesk.widgets.overlay import Result

TEXT_WIDTH = 16
TRIGGER_CHOICES: tuple[Trigger | Literal[""], ...] = ("", *TRIGGERS)


class LifetimeFields(NumberFields[Result, Name], Generic[Result, Name]):
    """A form whose order may get another time in force and trigger; untouched, both stay as they are."""

    lifetime: LifetimeDraft = UNCHANGED_DRAFT
    trigger: Trigger | Literal[""] = ""  # "": as it is
    _writing: bool = False

    def range_lines(self) -> Sequence[TextLine]:
        """Return the size of an average true range, where a field counts in it."""
        counts = any(entry.unit == "ATR" for entry in self.draft.entries.values())
        return [range_line(self.market)] if counts and self.market else []

    def body(self) -> Sequence[TextLine]:
        """Return the fields, the unit of those that count in average true ranges, and what follows."""
        if self.unready():
            return ()
        return [*self.field_lines(), *self.range_lines(), BLANK, *self.effect()]

    def leave_life(self) -> None:
        """Leave time in force and trigger as they are."""
        self.lifetime, self.trigger, self._writing = UNCHANGED_DRAFT, "", False

    @property
    def changes_life(self) -> bool:
        """Whether another time in force or trigger is chosen."""
        return bool(self.lifetime.choice or self.trigger)

    def life_lines(self, names: str = "") -> Sequence[TextLine]:
        """Return what is chosen, and of which levels: nothing while it is as it is."""
        of, lines = f": {names}" if names else "", list[TextLine]()
        if self.lifetime.choice == TYPED_EXPIRY:
            text, cursor = clean(self.lifetime.text)[-TEXT_WIDTH:], "_" if self._writing else ""
            shown = safe(f"{text + cursor:<{TEXT_WIDTH}}")
            label = safe(f"{'until':<{LABEL_WIDTH}}")
            end = self._end_text(of)
            lines.append(
                text_line(
                    safe(MODIFY_CHOICES["write_until"].key), label, shown, end, active=self._writing
                )
            )
        elif self.lifetime.choice:
            lines.append(
                choice_line(
                    MODIFY_CHOICES["next_expiry"], safe(f"{EXPIRY_WORDS[self.lifetime.choice]}{of}")
                )
            )
        if self.trigger:
            lines.append(
                choice_line(
                    MODIFY_CHOICES["next_trigger"], safe(f"{TRIGGER_WORDS[self.trigger]}{of}")
                )
            )
        return lines

    def _end_text(self, of: str) -> Words:
        end = end_ns(self.lifetime, self.context.store.now_ns, self.context.store.zone)
        if isinstance(end, int):
            return (safe(f"{date_and_time(end, self.context.store.zone)}{of}"), "plain")
        return ("✗ no expiry", "danger") if self.lifetime.text else ("18:30, 4h, a date", "muted")

    def life_refusals(self) -> Sequence[str]:
        """Refuse an end that cannot be read, and text that is being typed."""
        if self.level_name.is_typed:
            return (ENDS_NAME,)
        if self._writing:
            return (ENDS_WRITING,)
        store = self.context.store
        return end_refusals(
            self.lifetime, "until", MODIFY_CHOICES["write_until"].key, store.now_ns, store.zone
        )

    @property
    def is_writing(self) -> bool:
        """Whether letters go to the end, or to the name of a price level."""
        return self._writing or super().is_writing

    def write(self, key: str, character: str | None) -> None:
        """Take a key for the end, or for that name; Enter, Tab and Esc end it, and an empty end leaves it as it is."""
        if not self._writing:
            super().write(key, character)
            return
        text, now_ns = self.lifetime.text, self.context.store.now_ns
        if key in ENDS_TEXT:
            self._writing = False
            self.lifetime = self.lifetime if text.strip() else UNCHANGED_DRAFT
        elif key == "backspace" or character:
            text = edited_text(text, key, character, MAX_TEXT + 1)
            self.lifetime = self.lifetime.with_text(text, now_ns)

    def action_next_expiry(self) -> None:
        """Turn to the next time in force; after the last one it stays as it is."""
        self.lifetime = self.lifetime.cycled()
        self.redraw()

    def action_write_until(self) -> None:
        """Send the letters that follow to the end."""
        self.lifetime, self._writing = (
            UNCHANGED_DRAFT.with_text("", self.context.store.now_ns),
            True,
        )
        self.redraw()

    def action_next_trigger(self) -> None:
        """Turn to the next price side that triggers it; after the last one it stays as it is."""
        at = TRIGGER_CHOICES.index(self.trigger) + 1
        self.trigger = TRIGGER_CHOICES[at % len(TRIGGER_CHOICES)]
        self.redraw()
