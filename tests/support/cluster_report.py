"""What bots on a cluster were answered while things failed, and what the ledger says."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Report:
    """The figures of a run."""

    acknowledged: int = 0
    refused: int = 0
    unknown: int = 0
    lost: int = 0  # acknowledged and not in the ledger
    doubled: int = 0
    executed_after_all: int = 0  # though refused
    gaps: int = 0  # accounts
    price_comparisons: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    fail_over: list[float] = field(
        default_factory=list
    )  # seconds from a kill to an account's next order
    problems: list[str] = field(default_factory=list)
    transactions: int = 0
    seconds: float = 0.0
    market_seconds: float = 0.0
    outage: float = 0.0  # seconds of silence of the database, at least

    def percentile(self, share: float) -> float:
        """Return a percentile of the fail-over times."""
        ordered = sorted(self.fail_over)
        return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if ordered else 0.0

    def table(self) -> str:
        """Return the figures as a table."""
        restarts = self.faults["restart"]
        different = sum("different prices" in one for one in self.problems)
        rows = [
            ("time, of the market", f"{self.seconds:.0f} s, {self.market_seconds / 60:.0f} min"),
            ("nodes killed", str(self.faults["kill"])),
            ("processes stopped and woken with an old lease", str(self.faults["pause"])),
            ("links between nodes cut", str(self.faults["cut"])),
            ("PostgreSQL restarted, fast, immediate", f"{-(-restarts // 2)}, {restarts // 2}"),
            ("PostgreSQL silent, for one node, for all", f"{self.faults['isolate']}, {self.faults['outage']}"),
            ("orders acknowledged, refused, unknown", f"{self.acknowledged:,}, {self.refused:,}, {self.unknown:,}"),
            ("orders lost, doubled, refused and executed", f"{self.lost}, {self.doubled}, {self.executed_after_all}"),
            ("transactions, accounts with gaps", f"{self.transactions:,}, {self.gaps}"),
            ("prices of all nodes compared, different", f"{self.price_comparisons}, {different}"),
            (f"fail-over of {len(self.fail_over)} accounts, p50, p99, max",
             ", ".join(f"{self.percentile(share):.2f} s" for share in (0.5, 0.99, 1.0))),
            ("problems", "; ".join(self.problems[:5]) or "none"),
        ]  # fmt: skip
        return "\n".join(f"{name:<48} {value}" for name, value in rows)
