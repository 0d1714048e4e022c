"""Forms that are loaded between the frames after the first price: their modules are named in words that no checker reads."""

from keydesk import forms


def test_each_form_that_is_loaded_first_is_there() -> None:
    assert len(list(forms.load_each())) == len(forms._LOADED_FIRST)
