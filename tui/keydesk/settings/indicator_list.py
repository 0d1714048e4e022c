"""A list of indicators, as `templates.toml` and `workspaces.toml` hold it."""

from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from keydesk.calc.market.indicator_specs import (
    IndicatorSpec,
    IndicatorSyntaxError,
    parse_indicators,
)
from keydesk.settings.about import Must, Wrong


def _specs(texts: object) -> tuple[IndicatorSpec, ...]:
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        raise Wrong
    try:
        return parse_indicators(texts)
    except IndicatorSyntaxError as error:
        raise ValueError(f": {error}") from error


IndicatorList = Annotated[
    tuple[IndicatorSpec, ...],
    PlainValidator(_specs),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
INDICATORS = Must("a list of texts", '{key} = ["ema 20", "rsi 14"]')
