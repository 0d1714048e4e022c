"""Requests and answers: connections, rate limits, retries of reads, errors."""
