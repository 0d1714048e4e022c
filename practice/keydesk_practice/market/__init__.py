"""The practice market: every price of any instant is a pure function of (seed, instrument, time).

How a price is made, one module each, from the lowest layer to the highest:

| module | topic |
|---|---|
| `reference` | the published reference rates |
| `instruments` | the instruments, their specifications and financing rates |
| `rng` | random numbers by purpose and key; the cache of computed results |
| `hours` | the 5-second grid, market days, opening hours, the variance profile of a day |
| `known_events` | jumps and extremes of the past whose minutes are known |
| `jumps` | beta and residual volatility of each currency; the size and the instant of jumps |
| `covariance` | the covariance of all currencies between two fixings, from those before them |
| `fixings` | the log rate of every currency at every fixing instant, future days and weekends included |
| `paths` | the log rate of a currency on the grid, one market day at a time |
| `spread` | the spread model, the volatility factor and the depth |
| `candle_files` | a file of candles in place of the simulated path |
| `pairs` | log mid and half-spread of each pair |
| `quoting` | the quotes of an instant |
| `bar_blocks`, `bar_builder` | open, high, low, close and volume of spans of the grid; what candles a request asks for |
| `candles` | candles of every granularity |
| `shocks` | shocks on demand, laid over the paths, spreads and depth |
| `practice_market` | all of it together, with the conversion factors, as engine and server use it |
| `books` | order and position books of a simulated crowd |

See docs/adr/0004-market-as-a-pure-function.md.
"""
