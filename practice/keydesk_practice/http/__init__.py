"""The v20 interface over HTTP: routes, checks of requests, answers, streams, rate limit and faults on demand."""
