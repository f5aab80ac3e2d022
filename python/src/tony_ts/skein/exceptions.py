"""
Skein's names for what can go wrong. Our errors differ more by ``code`` than by class, so some of these catch more than
Skein's do.
"""

from __future__ import annotations

from ..errors import ClusterError, TonyError, WaitTimeout

SkeinError = TonyError
ApplicationError = TonyError
ApplicationNotRunningError = TonyError
#: The cluster, or an application, cannot be reached.
ConnectionError = ClusterError
#: There is no driver: the command line reports its errors.
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
