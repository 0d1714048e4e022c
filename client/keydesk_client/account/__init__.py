"""An account as the fold of its transactions over a snapshot: pure functions on a `ValuedAccount`, without input and output."""
