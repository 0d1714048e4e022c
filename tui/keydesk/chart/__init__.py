"""Drawing of charts as rows of text and roles: pure functions of candles, prices and a size."""
