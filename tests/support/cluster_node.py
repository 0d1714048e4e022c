"""A node of a cluster in the process of the test, without a server."""

from pathlib import Path

from keydesk_practice.cluster.node import Node
from keydesk_practice.cluster_server import open_node
from keydesk_practice.options import read_arguments


def opened_node(address: str, folder: Path, *more: str) -> Node:
    """Open a node with one token on a database; it takes accounts once it is started."""
    words = ["serve", "--ledger", address, "--node-address", "127.0.0.1:1", "--data", str(folder)]
    words += ["--token", "a-token-for-the-test", *more]
    return open_node(read_arguments(words), owners=1)
