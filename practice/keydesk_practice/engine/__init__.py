"""The engine of the practice broker: event-sourced and pure, with the standard library only.

`decide(account, command, market)` returns transactions; `apply(account, transaction)` changes the account by one of them.
Clock, random numbers, network and disk are arguments. See docs/adr/0003-event-sourced-engine.md.
"""
