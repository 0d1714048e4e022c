"""The practice market: every price of any instant as a pure function of (seed, instrument, time).

How a price comes about, one file each, in this order:

| file | answers |
|---|---|
| `reference` | which rates were published, and when |
| `chance` | where chance comes from: a counter-based generator keyed by what it is for |
| `grid` | where an instant lies on the 5-second grid, and in which market day |
| `future` | what the rates do after the last published day |
| `moves` | how much a currency moves of late, and how it follows its parent |
| `famous`, `jumps` | which part of a day's move was a jump, and at which instant |
| `anchors` | the log rate of every currency at every fixing instant, weekends included |
| `pace` | how a day's motion spreads over its hours |
| `curve`, `paths` | the log rate of a currency on the grid, one market day at a time |
| `listing`, `policy_rates`, `instruments` | what can be traded, with its published-style numbers |
| `session`, `turbulence`, `spread`, `depth` | how far bid and ask stand apart, and what stands behind them |
| `hours` | when the market is open |
| `pairs`, `quoting`, `conversion` | prices and conversion factors of an instant |
| `alignment`, `blocks`, `stretches`, `rounding`, `candles` | candles of every granularity from the same path |
| `market` | all of it together, as engine and face see it |
| `own_data` | a user's own history in place of all that |
| `crowd`, `books` | order and position books of a simulated crowd |
"""
