"""When to come back. Contenders that were refused together must not come back together."""

LARGEST_JITTER_MS = 1000

Jitter = float  # from 0 to 1


def spread(wait_ms: int, jitter: Jitter) -> int:
    return max(1, wait_ms) + int(jitter * min(LARGEST_JITTER_MS, 100 + wait_ms // 10))
