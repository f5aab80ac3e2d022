"""
Skein's names for what can go wrong. Ours tell more by their ``code`` than by their class, so some of these catch more
than Skein's do.
"""

from __future__ import annotations

from ..errors import ClusterError, TonyError, WaitTimeout

SkeinError = TonyError
ApplicationError = TonyError
ApplicationNotRunningError = TonyError
#: The cluster, or an application, cannot be reached.
ConnectionError = ClusterError
#: There is no driver: what it said is said by the command line.
DriverError = TonyError
DriverNotRunningError = TonyError
TimeoutError = WaitTimeout

__all__ = [
    "ApplicationError",
    "ApplicationNotRunningError",
    "ConnectionError",
    "DriverError",
    "DriverNotRunningError",
    "SkeinError",
    "TimeoutError",
]
