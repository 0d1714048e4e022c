"""The rules of the practice broker: pure, event-sourced, the standard library only.

`decide(account, command, market)` says what happens as transactions; `apply(account, transaction)` makes it so.
Clock, chance, network and disk are arguments.
"""
