"""The tables of a ledger on PostgreSQL, and the statement that commits the batches of a node.

An account belongs to the node that took it last: taking raises its `fence`, and every write compares it, so a node that
was paused and lost its accounts writes nothing when it wakes. The commit is one statement for all accounts: it moves
`last_id` of each account from the number that the node expects, and stores only what belongs to accounts that moved.
"""

SCHEMA = "keydesk_practice"
FORMAT = 1
TRANSACTIONS_CHANNEL = "keydesk_transactions"  # payload: account and newest id
OWNERS_CHANNEL = "keydesk_owners"
CONTROL_CHANNEL = "keydesk_control"

TABLES = """
CREATE TABLE facts (name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE nodes (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, address text NOT NULL, expires timestamptz NOT NULL,
    ticked bigint NOT NULL
);
CREATE TABLE accounts (
    id text PRIMARY KEY, owner integer NOT NULL, currency text NOT NULL, hedging boolean NOT NULL, fifo boolean NOT NULL,
    node bigint, fence bigint NOT NULL DEFAULT 0, last_id bigint NOT NULL, ticked bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE TABLE transactions (
    account text NOT NULL, id bigint NOT NULL, time bigint NOT NULL, type text NOT NULL, body text NOT NULL,
    crc bigint NOT NULL, PRIMARY KEY (account, id)
);
CREATE INDEX transactions_by_type ON transactions (account, type, id);
CREATE TABLE requests (
    account text NOT NULL, request text NOT NULL, first_id bigint, last_id bigint, answer text,
    at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (account, request)
);
CREATE TABLE marks (
    account text NOT NULL, order_id bigint NOT NULL, level text NOT NULL, crc bigint NOT NULL,
    PRIMARY KEY (account, order_id)
);
CREATE TABLE ended (
    account text NOT NULL, kind text NOT NULL, id bigint NOT NULL, state text NOT NULL, instrument text NOT NULL,
    record bytea NOT NULL, crc bigint NOT NULL, PRIMARY KEY (account, kind, id)
);
CREATE TABLE snapshots (
    account text PRIMARY KEY, id bigint NOT NULL, made_by text NOT NULL, state bytea NOT NULL, crc bigint NOT NULL
);
CREATE TABLE clock (
    market bigint NOT NULL, wall bigint NOT NULL, speed double precision NOT NULL, stops bigint, number bigint NOT NULL
);
"""
OF_ACCOUNT = ("transactions", "requests", "marks", "ended", "snapshots")  # tables with rows of one

# The parameters are arrays, one item a row. `previous` is NULL for an account without transactions in the batch.
COMMIT = """
WITH head AS (
    SELECT * FROM unnest(%(accounts)s::text[], %(fences)s::bigint[], %(previous)s::bigint[], %(newest)s::bigint[])
        AS h(id, fence, previous, newest)
), asked AS (
    SELECT * FROM unnest(%(request_accounts)s::text[], %(requests)s::text[], %(first_ids)s::bigint[],
        %(last_ids)s::bigint[], %(answers)s::text[]) AS q(account, request, first_id, last_id, answer)
), moved AS (
    UPDATE accounts a SET last_id = coalesce(h.newest, a.last_id) FROM head h
    WHERE a.id = h.id AND a.fence = h.fence AND (h.previous IS NULL OR a.last_id = h.previous)
        AND NOT EXISTS (SELECT FROM asked JOIN requests r USING (account, request) WHERE account = a.id)
    RETURNING a.id, h.newest
), kept_transactions AS (
    INSERT INTO transactions SELECT t.* FROM unnest(%(transactions_0)s::text[], %(transactions_1)s::bigint[],
        %(transactions_2)s::bigint[], %(transactions_3)s::text[], %(transactions_4)s::text[],
        %(transactions_5)s::bigint[]) AS t(account, id, time, type, body, crc) JOIN moved ON moved.id = account
), kept_requests AS (
    INSERT INTO requests SELECT asked.* FROM asked JOIN moved ON moved.id = account
), kept_ended AS (
    INSERT INTO ended AS e SELECT t.* FROM unnest(%(ended_0)s::text[], %(ended_1)s::text[], %(ended_2)s::bigint[],
        %(ended_3)s::text[], %(ended_4)s::text[], %(ended_5)s::bytea[], %(ended_6)s::bigint[])
        AS t(account, kind, id, state, instrument, record, crc) JOIN moved ON moved.id = account
    ON CONFLICT (account, kind, id) DO UPDATE
        SET state = excluded.state, instrument = excluded.instrument, record = excluded.record, crc = excluded.crc
), kept_marks AS (
    INSERT INTO marks AS m SELECT t.* FROM unnest(%(marks_0)s::text[], %(marks_1)s::bigint[], %(marks_2)s::text[],
        %(marks_3)s::bigint[]) AS t(account, order_id, level, crc) JOIN moved ON moved.id = account
    ON CONFLICT (account, order_id) DO UPDATE SET level = excluded.level, crc = excluded.crc
)
SELECT id, CASE WHEN newest IS NOT NULL THEN pg_notify(%(channel)s, id || ' ' || newest) END FROM moved
"""

# The fencing number lets no snapshot of an account in that another node has reset meanwhile.
SAVE_SNAPSHOT = """
INSERT INTO snapshots SELECT id, %s, %s, %s, %s FROM accounts WHERE id = %s AND fence = %s FOR SHARE
ON CONFLICT (account) DO UPDATE
    SET id = excluded.id, made_by = excluded.made_by, state = excluded.state, crc = excluded.crc
"""
