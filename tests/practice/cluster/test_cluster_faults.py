"""Whatever stops, nothing that a cluster acknowledged is lost or doubled. Its nodes serve no other test: they may still recover."""

import pytest

from support.cluster import Cluster
from support.cluster_faults import rehearse

pytest.importorskip("psycopg", reason="the extra `cluster` is not installed")
pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_nothing_is_lost_or_doubled_whatever_stops(cluster: Cluster) -> None:
    faults = ["kill", "outage", "pause", "restart", "isolate", "cut", "restart"]
    report = await rehearse(cluster, bots=6, faults=faults, think=0.2)
    assert report.problems == []
    assert report.acknowledged >= 6 * len(faults)
