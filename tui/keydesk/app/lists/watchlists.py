"""The changes of the trader's watchlists: the forms that ask for them, the file that keeps them, the list on the screen."""

from __future__ import annotations

from collections.abc import Callable
from time import time_ns

from keydesk.app.window import DeskWindow
from keydesk.calc.market import watchlists
from keydesk.calc.market.watchlists import Change, ListError
from keydesk.config.watchlists import WatchlistFile
from keydesk.settings.toml_text import BadSettings
from keydesk.store.state import Notice
from keydesk.store.watchlists import active_list, set_lists, show_list
from keydesk.tables.watchlist import RowFilter, Watchlist
from keydesk.text.format import pair
from keydesk.text.sanitize import clean, safe


class WatchlistActions:
    """Carries out what the watchlist asks for.

    Args:
        window: Shows the forms, and has the pane whose rows are filtered.
        file: Keeps the lists.
    """

    def __init__(self, window: DeskWindow, file: WatchlistFile) -> None:
        self._window, self._file = window, file
        self._app, self._store, self._keymap = window.app, window.store, window.keymap
        self._trouble = ""  # why the file cannot be used, as last reported

    def load(self, shown: str) -> None:
        """Read the lists and show one of them; an unusable file is reported and left unchanged."""
        try:
            lists = self._file.read()
        except BadSettings as error:
            self._say_not_kept(str(error))
        else:
            self._store.lists = lists
        show_list(self._store, shown)

    def execute(self, message: Watchlist.ChangeWanted) -> None:
        """Change a list, show another one, or open the form that the change needs."""
        kind, _, number = message.change.partition(" ")
        watched = active_list(self._store)
        match kind:
            case "next":
                show_list(self._store, self._store.lists.after(watched.name).name)
            case "number":
                self._show_number(int(number))
            case "new":
                self._ask_name("A new watchlist", "", self._new)
            case "columns":
                self.choose_columns()
            case "filter":
                self._ask_filter_text()
            case _ if watched.is_all:
                new = self._keymap.name("list-new")
                text = f"{watched.name} always holds every instrument: {new} makes a list of yours"
                self._store.notify("info", text)
            case _:
                self._change_own(kind, message)

    def choose_columns(self) -> None:
        """Let the trader choose the columns of the list on the screen."""
        from keydesk.forms.market.watchlists import ColumnsForm  # noqa: PLC0415 - with the first form

        self._app.push_screen(ColumnsForm(active_list(self._store)), self._apply_columns)

    def _change_own(self, kind: str, message: Watchlist.ChangeWanted) -> None:
        from keydesk.forms.market.watchlists import AddForm, RemoveForm  # noqa: PLC0415 - with the first form

        watched = active_list(self._store)
        match kind:
            case "add":
                self._app.push_screen(AddForm(self._store, watched), self._add)
            case "rename":
                self._ask_name(safe(f"Rename {watched.name}"), watched.name, self._rename)
            case "remove":
                self._app.push_screen(
                    RemoveForm(watched, message.row),
                    lambda choice: self._remove(watched.name, message.row, choice),
                )
            case "move" if message.row:
                self._move(message)
            case _:
                self._store.notify("info", "No row is selected in the watchlist")

    def _show_number(self, number: int) -> None:
        lists = self._store.lists.lists
        if number <= len(lists):
            show_list(self._store, lists[number - 1].name)
        else:
            count = f"{len(lists)} watchlist{'s' if len(lists) > 1 else ''}"
            self._store.notify("info", f"There is no list {number}: there are {count}")

    # Names and letters.

    def _ask_name(self, title: str, before: str, take: Callable[[str | None], None]) -> None:
        from keydesk.forms.market.watchlists import NameForm  # noqa: PLC0415 - with the first form

        def trouble(name: str) -> str:
            taken = {each.name.casefold() for each in self._store.lists.lists}
            if name.strip().casefold() in taken - {before.casefold()}:
                return f"There is a list {name.strip()} already"
            return watchlists.name_trouble(name.strip())

        hint = safe(f"Up to {watchlists.MAX_NAME_LENGTH} characters")
        self._app.push_screen(NameForm(safe(title), before, trouble=trouble, hint=hint), take)

    def _new(self, name: str | None) -> None:
        if name and self._apply(watchlists.new(name)):
            show_list(self._store, name)

    def _rename(self, name: str | None) -> None:
        if name:
            before = self._store.list_name
            self._apply(watchlists.rename(before, name), shown=name)

    def _ask_filter_text(self) -> None:
        from keydesk.forms.market.watchlists import NameForm  # noqa: PLC0415 - with the first form

        now = self._window.screen.watchlist.filter
        form = NameForm(
            "Only rows with these letters",
            now.filter_text,
            trouble=lambda text: "" if not text or text.isalnum() else "letters and digits only",
            hint="such as gj for GBP/JPY; leave empty for every row",
        )
        self._app.push_screen(form, self._filter)

    def _filter(self, filter_text: str | None) -> None:
        if filter_text is not None:
            now = self._window.screen.watchlist.filter
            self._window.screen.watchlist.show_only(RowFilter(filter_text, now.held, now.tradeable))

    # Rows and columns.

    def _add(self, instrument: str | None) -> None:
        if instrument and self._apply(watchlists.add(self._store.list_name, instrument)):
            self._store.notify("info", f"{pair(instrument)} is on {self._store.list_name}")

    def _move(self, message: Watchlist.ChangeWanted) -> None:
        if self._window.screen.watchlist.order.column:
            view = self._keymap.name("watch-view")
            self._store.notify(
                "info", f"The rows are sorted; {view} shows your own order, then they move"
            )
        elif message.past:
            name = self._store.list_name
            self._apply(watchlists.move(name, message.row, message.past))

    def _apply_columns(self, columns: tuple[str, ...] | None) -> None:
        if columns is not None:
            self._apply(watchlists.show_columns(self._store.list_name, columns))

    def _remove(self, name: str, row: str, choice: str | None) -> None:
        if choice == "list":
            self._apply(watchlists.delete(name))
        elif choice == "row" and self._apply(watchlists.remove(name, row)):
            add = self._keymap.name("list-add")
            self._store.notify("info", f"{pair(row)} is off {name}; {add} adds it again")

    # The file.

    def _apply(self, change: Change, *, shown: str = "") -> bool:
        """Change the lists in the file and in the store; return False if the change makes no sense."""
        store = self._store
        try:
            try:
                lists = self._file.change(change)
            except (BadSettings, OSError) as error:
                lists = change(store.lists)
                self._say_not_kept(str(error))
        except ListError as error:
            self._store.notify("warn", safe(f"Not changed: {error}"))
            return False
        if shown:
            store.list_name = shown
        set_lists(store, lists)
        self._window.screen.watchlist.action_sort_again()  # at once: the next key may move the row on
        return True

    def _say_not_kept(self, why: str) -> None:
        if why != self._trouble:
            self._trouble = why
            text = clean(f"Changes of watchlists last until you leave: {why}")
            self._store.add_notice(Notice("warn", text, time_ns(), asks=True))
