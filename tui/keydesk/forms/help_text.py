"""The words of the help: prose on the pane, form or field that has the keys, then its keys by task, and the commands."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from rich.cells import cell_len

from keydesk.forms.command_list import LISTED_COMMANDS
from keydesk.forms.modal_form import BLANK, TextLine, Words, wrap_text
from keydesk.keys.keymap import BENEATH, DESK, FORM, MODIFY, PAGES, TICKET, Key, KeyMap
from keydesk.keys.tasks import EXAMPLES, task_of
from keydesk.text.format import shorten
from keydesk.text.sanitize import Printable, safe
from keydesk.widgets.theme import ColourRole

FIRST_LINE = safe(
    "NAV is what the account is worth now, uPL the profit and loss of open trades, day the result since 17:00 New York, "
    "margin what is bound, risk the loss if every stop is hit, closeout how near the broker's own closing of all trades is, "
    "bal the balance without open trades, free the margin for new ones."
)
RULE: Printable = "UPPER CASE opens a form, y sends it"
SHORT_PROSE = safe(f"{RULE}. Lower case looks, Esc goes back.")
PROSE: Mapping[str, tuple[Printable, Printable, Printable]] = {
    "desk": (
        "The main screen. The pane with the bright frame has the keys; Tab gives",
        "them to the next one. Lower case looks, UPPER CASE opens an order form,",
        "and nothing is sent before y in that form. Esc goes one step back.",
    ),
    "watchlist": (
        "The watchlist: bid, ask, spread in pips, change since 17:00 New York.",
        "Moving to a row turns chart, ticket and books to its instrument.",
        "w begins what changes the list: its rows, their order, its columns.",
    ),
    "chart": (
        "The chart of the instrument, with your own prices as lines: entries,",
        "stops, targets, orders and alerts. Left and right move in time.",
        "The crosshair picks a price: an order or an alert then stands there.",
    ),
    "crosshair": (
        "The crosshair is on: arrows move it by candle and by price step.",
        "An order form opened now takes its price, an alert its level.",
        "M takes the nearest of your own lines, n begins the price levels.",
    ),
    "trades": (
        "Your open trades, with profit and loss at the closing price, in R too.",
        "The order keys act on the row under the cursor, each in its own form.",
        "A ! marks a trade without any stop: its loss has no limit.",
    ),
    "positions": (
        "Your positions: all trades of an instrument together, long and short.",
        "Close and part mean the whole position here, reverse turns it round.",
        "Entry orders are no part of it: they stay when a position is closed.",
    ),
    "orders": (
        "Orders that wait at the broker: entries, and the stops and targets of",
        "your trades. Cancel takes the row under the cursor, modify moves it.",
        "A stop of a trade is moved with the trade, not cancelled by mistake.",
    ),
    "log": (
        "What happened on the account, newest first, back to its beginning.",
        "Enter shows a transaction whole, with all that belongs to it.",
        "Filter by words, an instrument, or #6417 for one order or trade.",
    ),
    "books": (
        "How clients of the broker are positioned, and where their orders are.",
        "A snapshot about every 20 minutes: client positioning, not depth.",
        "Left and right go to the snapshots before and after.",
    ),
    "ticket": (
        "The ticket. Its first line says in words what y would do.",
        "A letter picks a field, digits fill it, Tab goes to the next one.",
        "Enter never sends. Esc drops the ticket, and nothing was sent.",
    ),
    "ticket size": (
        "Size: units such as 10k or 2.5m, or a share of the account at risk.",
        "The unit key changes what it counts in; presets 1-9 and 0 are chosen",
        "on the desk. The size is cut to what margin and your limits allow.",
    ),
    "ticket price": (
        "Price of a limit or stop order. A number with a sign is a distance:",
        "-15 is 15 pips under the market. Arrows move it by one pip,",
        "comma and full stop by ten.",
    ),
    "ticket stop": (
        "Stop loss: pips, a price, or average true ranges (1.5a).",
        "With risk sizing the units follow from its distance.",
        "Erase it for no stop: then a letter is asked for, not y.",
    ),
    "ticket target": (
        "Take profit: in R, the multiple of what the stop risks, in pips,",
        "or a price. The line beside it says what it would make.",
        "Erase it for no target.",
    ),
    "ticket trail": (
        "Trailing stop: the distance in pips or average true ranges that the",
        "stop keeps behind the best price. The broker moves it, not the desk.",
        "It may stand beside a stop loss; the nearer one counts.",
    ),
    "ticket bound": (
        "Bound: how far the price of a market order may slip, in pips.",
        "Beyond it the broker does not fill, and the desk says so.",
        "The ticket shows the worst price that you accept.",
    ),
    "modify": (
        "Move what protects a trade, or an entry order: pick a field, type or",
        "use the arrows. The lines say what changes, in pips, money and R.",
        "Only what you changed is sent, with y. A looser stop asks for a letter.",
    ),
    "scale-out": (
        "Close a part of the trade: 2, 5 or 7 for 25, 50 or 75 %,",
        "or digits and then %. Units are rounded down, never up.",
        "Stop and target stay with the rest. y sends.",
    ),
    "close-position": (
        "Close the position: both sides of a hedged one, or one of them.",
        "Entry orders of the instrument stay; cancel them on their own.",
        "y sends; an exit is never refused by a limit of yours.",
    ),
    "position-part": (
        "Close a part of the position, trade by trade in the order shown.",
        "Type a share with % or units with u, or pick trades with Space.",
        "y sends.",
    ),
    "exit-plan": (
        "An exit plan: the desk moves the stop by itself while it is open,",
        "to break-even, then behind the price, or closes after some time.",
        "It only ever moves a stop nearer. y keeps it.",
    ),
    "break-even": (
        "Move the stop to where closing costs nothing, fees and financing in.",
        "The arrows put it some pips beyond that. It never loosens a stop.",
        "y sends.",
    ),
    "cancel-entries": (
        "Cancel orders that would open trades, here or on the whole account.",
        "Stops and targets of your trades stay as they are.",
        "y sends.",
    ),
    "flatten": (
        "Close every trade and cancel every entry order, on the account or in",
        "this instrument. It is repeated until all is closed, or named.",
        "The letter that it shows sends; it works when disarmed, too.",
    ),
    "form": (
        "A form for an order. Its first line says what sending it would do.",
        "y sends; where more is at stake, the letter that it shows.",
        "Enter never sends. Esc drops it, and nothing was sent.",
    ),
    "journal": (
        "Every trade of the account, rebuilt from the broker's transactions,",
        "with its R, what it went against you and for you, financing apart.",
        "Write tags, setup and a note on a trade, and filter by them.",
    ),
    "trade-note": (
        "What you write about a trade: tags, setup, rating, mistake, note.",
        "A letter picks a field, Enter ends it; Enter again keeps everything.",
        "It stays on this machine, unless you choose the broker as well.",
    ),
    "statistics": (
        "Statistics of your closed trades, each figure with its number of",
        "trades; few trades say little. Digits choose a view.",
        "Enter on a group shows that group only, on a day that day.",
    ),
    "alerts": (
        "Your alerts, those that are watched first. They never send an order.",
        "x deletes one, after Enter; Space pauses it, or goes on.",
        "h lists those that fired.",
    ),
    "new-alert": (
        "A new alert, at the price you pointed at. Arrows move its level.",
        "It fires after a fresh crossing, once or again after a pause.",
        "Enter keeps it; it never sends an order.",
    ),
    "limits": (
        "Your own limits. Some refuse a new order, some ask for a letter;",
        "none ever refuses an exit. Digits change one, x takes it away.",
        "Enter keeps them. A raised daily loss limit counts from tomorrow.",
    ),
    "indicators": (
        "Indicators of the chart: Space shows one, digits change its number.",
        "They are kept for this instrument, or for all.",
        "Enter keeps and shows them, Esc changes nothing.",
    ),
    "page": (
        "A page to read: nothing is sent from here.",
        "j and k or the arrows move, Space turns the page.",
        "Esc and q close it.",
    ),
}
MOST_TOGETHER = 9  # keys of a form or page without groups
_Parts: TypeAlias = Mapping[Printable, tuple[str, Sequence[str]]]
FORM_PARTS: _Parts = {
    "Fields: a letter picks one": ("s 2 5 sets a stop 25 pips away", ("pick",)),
    "The picked field": (
        "s ↑ ↑ moves the stop by two pips",
        ("nudge", "next_field", "erase", "next_unit", "count_in_atr", "next_lifetime"),
    ),
    "Choices: one key each": ("i takes the next trigger", ()),
    "Texts: type, then Enter": (
        "g 4 h Enter lets it end in four hours",
        ("write", "write_until"),
    ),
}
"""Of a form with many keys: the title of each part, an example in ticket and modify, and what its keys do; none: all others."""
PAGE_PARTS: _Parts = {
    "Here": ("", ()),
    "Rows and views": (
        "",
        *(("row", "page", "end", "move", "sort_by", "show_view", "next_view", "level"),),
    ),
}
OPENED_BY: Mapping[str, str] = {TICKET: "buy"}  # others by a key of their name
GAP = "  "
SUCH_AS = "   such as  "
KEY_WIDTH = 9
EXAMPLE_WIDTH = 31
COLUMN, COLUMN_MOST = 37, 44  # columns of a key with its words
PROSE_FROM = (
    80  # columns of the desk's help with three lines of prose, and the rule of the keys in its foot
)
WIDE = 76  # columns in which a command and its words have room side by side
_Group: TypeAlias = tuple[Printable, str, Sequence[Key]]  # its title, an example, its keys


def help_lines(
    keymap: KeyMap,
    context: str,
    width: int,
    left_out: Callable[[str], bool] = lambda _: False,
    field: str = "",
    *,
    words: Sequence[str] = (),
) -> Sequence[TextLine]:
    """Return what the help of a pane, page or form says; `field` is the active one of the form.

    With `words`, only the keys and commands that have all of them.
    """
    lines = [
        *key_lines(keymap, context, width, left_out, field, words=words),
        *([] if is_of_overlay(context) else command_lines(width, words)),
    ]
    return lines[1:] if lines and lines[0] == BLANK else lines


def key_lines(
    keymap: KeyMap,
    context: str,
    width: int,
    left_out: Callable[[str], bool] = lambda _: False,
    field: str = "",
    *,
    words: Sequence[str] = (),
) -> list[TextLine]:
    """Return the prose and the keys; with `words` also those of forms, pages and panes that have not the keys now."""
    lines: list[TextLine] = [] if words else [*prose(context, field, width)]
    for group in _kept_groups(keymap, context, left_out, words):
        lines += _group_lines(group, width)
    return lines


def beside_commands(
    keymap: KeyMap,
    context: str,
    widths: tuple[int, int],
    rows: int,
    left_out: Callable[[str], bool] = lambda _: False,
) -> tuple[Sequence[TextLine], Sequence[TextLine]]:
    """Return the prose and the keys, and the commands; last groups for which there is no row left stand below the commands."""
    groups = _kept_groups(keymap, context, left_out)
    left = [[*prose(context, "", widths[0])], *(_group_lines(each, widths[0]) for each in groups)]
    right, moved = command_lines(widths[1])[1:], list[TextLine]()
    while groups and sum(map(len, left)) > rows:
        moved = [*_group_lines(groups.pop(), widths[1]), *moved]
        if len(right) + len(moved) > rows:
            return key_lines(keymap, context, widths[0], left_out), right
        left.pop()
    return [line for each in left for line in each], [*right, *moved]


def group_columns(
    keymap: KeyMap,
    context: str,
    field: str,
    left_out: Callable[[str], bool],
    *,
    width: int,
    across: int,
) -> list[list[TextLine]]:
    """Return the prose and the keys of a form or page in so many columns of whole groups, as low as they can be."""
    groups = [_group_lines(each, width) for each in _kept_groups(keymap, context, left_out)]
    parts = [[BLANK, *prose(context, field, width)], *groups]
    rows = max(map(len, parts))
    while len(columns := _packed(parts, rows)) > across:
        rows += 1
    return [column[1:] for column in columns]


def _packed(parts: Sequence[Sequence[TextLine]], rows: int) -> list[list[TextLine]]:
    """Return parts in columns of so many rows, in their order."""
    columns: list[list[TextLine]] = [[]]
    for part in parts:
        if len(columns[-1]) + len(part) > rows:
            columns.append([])
        columns[-1] += part
    return columns


def found_count(
    keymap: KeyMap, context: str, left_out: Callable[[str], bool], words: Sequence[str]
) -> int:
    """Return how many keys and commands have all of the words."""
    keys = sum(len(kept) for *_, kept in _kept_groups(keymap, context, left_out, words))
    return keys if is_of_overlay(context) else keys + len([*_commands(WIDE, words)])


def _kept_groups(
    keymap: KeyMap,
    context: str,
    left_out: Callable[[str], bool],
    words: Sequence[str] = (),
) -> list[_Group]:
    """Return the groups with the keys of each that this desk has and that have all of the words."""
    groups = [*_groups(keymap, context)]
    if words and not is_of_overlay(context):
        groups += _elsewhere(keymap, context)
    found: list[_Group] = []
    for title, example, keys in groups:
        kept = [key for key in keys if not left_out(key.id) and _has(words, title, key)]
        if kept:
            found.append((title, example, kept))
    return found


def _group_lines(group: _Group, width: int) -> list[TextLine]:
    title, example, keys = group
    return [BLANK, *_headings(title, example, width), *_columns(keys, width)]


def unparted(lines: Sequence[TextLine], rows: int) -> list[TextLine]:
    """Return the lines of groups for pages of so many rows: none ends with a heading, none begins with a blank line."""
    kept: list[TextLine] = []
    for before, line in zip([BLANK, *lines], lines, strict=False):
        place = len(kept) % rows
        if before == BLANK and line != BLANK and kept and place == rows - 1:
            kept.append(BLANK)
        if line != BLANK or place:
            kept.append(line)
    return kept


def command_lines(width: int, words: Sequence[str] = ()) -> list[TextLine]:
    """Return what the first line says, and the commands; with `words` the commands that have all of them."""
    lines: list[TextLine] = []
    if not words:
        lines += [BLANK, *_headings("The first line"), *wrap_text(FIRST_LINE, "plain", width)]
    if commands := [*_commands(width, words)]:
        lines += [BLANK, *_headings("The command line: press : and type, or choose"), *commands]
    return lines


def _elsewhere(keymap: KeyMap, context: str) -> Iterable[_Group]:
    """Yield the keys of the other panes, of the forms and of the pages, by their names."""
    here = {key.context for key in keymap.in_force(context)}
    names = {key.id: keymap.name(key.id).replace(" ", "") for key in keymap.own(DESK)}
    for each in dict.fromkeys(key.context for key in keymap.keys):
        if each not in here:
            kind = "form" if is_of_form(each) else "page" if each in PAGES else ""
            title = f"{each.replace('-', ' ')} {kind if kind not in each else ''}".strip()
            opens = names.get(OPENED_BY.get(each, each))
            opened = f": {opens} opens it" if opens and kind else ""
            yield safe(f"{title[0].upper()}{title[1:]}{opened}"), "", keymap.own(each)


def _has(words: Sequence[str], title: str, key: Key) -> bool:
    """Return whether each word is the key as it is typed, or, of two letters and more, in what is said of it."""
    keys = {each.replace(" ", "") for each in key.keys}
    text = f"{title} {key.text} {key.hint} {key.id}".lower()
    return all(word in keys or (len(word) > 1 and word.lower() in text) for word in words)


def prose(context: str, field: str, width: int) -> Sequence[TextLine]:
    """Return the three lines on what has the keys, wrapped for a narrow form; of a narrow desk the rule of the keys alone."""
    if width < PROSE_FROM and not is_of_overlay(context):
        return wrap_text(SHORT_PROSE, "plain", width)
    fallback = "form" if is_of_form(context) else "page" if context in PAGES else "desk"
    words = PROSE.get(f"{context} {field}") or PROSE.get(context) or PROSE[fallback]
    if width >= max(map(cell_len, words)):
        return [((line, "plain"),) for line in words]
    return wrap_text(safe(" ".join(words)), "plain", width)


def is_of_form(context: str) -> bool:
    """Return whether the keys are those of a form that sends."""
    return FORM in (context, *BENEATH.get(context, ()))


def is_of_overlay(context: str) -> bool:
    """Return whether the keys are those of a page or form, not of the desk."""
    return context in PAGES or is_of_form(context)


def _groups(keymap: KeyMap, context: str) -> Iterable[_Group]:
    keys = keymap.in_force(context)
    if not is_of_overlay(context):
        for task, example in EXAMPLES.items():
            yield safe(task.value), example, [key for key in keys if task_of(key) is task]
        return
    own = [key for key in keys if key.context == context]
    parts: _Parts = FORM_PARTS if is_of_form(context) else PAGE_PARTS
    if len(own) <= MOST_TOGETHER:
        parts = {"Here": ("", ())}
    rest = {verb for _, verbs in parts.values() for verb in verbs}
    for title, (example, verbs) in parts.items():
        example_here = example if context in {TICKET, MODIFY} else ""
        acts = [key for key in own if (_verb(key) in verbs if verbs else _verb(key) not in rest)]
        yield title, example_here, acts
    every: Printable = "In every form" if is_of_form(context) else "On every page"
    yield every, "", [key for key in keys if key.context != context]


def _verb(key: Key) -> str:
    """Return what a key of a form does, without the field that it does it to."""
    return key.action.partition("(")[0]


def _headings(title: Printable, example: str = "", width: int = 0) -> list[TextLine]:
    """Return the title with its example beside it, or below it where it has room only there."""
    head: Words = (title, "focus")
    beside = safe(f"{SUCH_AS}{example}")
    if example and cell_len(title) + cell_len(beside) <= width:
        return [(head, (beside, "muted"))]
    lines: list[TextLine] = [(head,)]
    below = safe(beside.strip())
    if example and cell_len(below) <= width:
        lines.append(((below, "muted"),))
    return lines


def _columns(keys: Sequence[Key], width: int) -> Iterable[TextLine]:
    """Yield the keys in as many columns as have room for whole words, each read from the top."""
    across = max(1, (width + len(GAP)) // (COLUMN + len(GAP)))
    down = -(-len(keys) // across)
    column = min(COLUMN_MOST, (width + len(GAP)) // across - len(GAP))
    for row in range(down):
        line: list[Words] = []
        for key in keys[row::down]:
            line += [*_entry(key, column), (GAP, "plain")]
        yield tuple(line[:-1])


def _entry(key: Key, width: int) -> TextLine:
    shown = key.shown if len(key.shown) <= KEY_WIDTH else key.shown.split(" ")[0]
    room = max(1, width - KEY_WIDTH - 1)
    text = shorten(safe(key.text), room)
    role: ColourRole = "bright" if key.touches_money else "plain"
    return ((safe(f"{shown:<{KEY_WIDTH}} "), role), (safe(f"{text:<{room}}"), "muted"))


def _commands(width: int, words: Sequence[str] = ()) -> Iterable[TextLine]:
    """Yield the commands that are no keys, and those that take more words, with an example."""
    for each in LISTED_COMMANDS:
        searched = f"{each.name} {each.example} {each.text}".lower()
        if (each.example or not each.key) and all(
            len(word) > 1 and word.lower() in searched for word in words
        ):
            shown = safe(f":{each.example or each.name}")
            if width < WIDE:
                yield ((shown, "plain"),)
                yield ((safe(f"  {each.text}"), "muted"),)
                continue
            rest = shorten(safe(each.text), max(1, width - EXAMPLE_WIDTH - 1))
            yield ((safe(f"{shown:<{EXAMPLE_WIDTH}} "), "plain"), (rest, "muted"))
