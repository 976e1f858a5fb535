"""A router for rollout requests that imports nothing, for a process that would otherwise import all of verl.

verl's own router is an actor of a class inside verl, so its process spends five seconds of processor time on
imports, per cell, to count the requests of one server. This one is loaded through verl's extension point for
routers (`rollout.router_config_path`). It chooses the server with the fewest requests under way; sessions do not
stick, because the servers of the CPU backend keep nothing between requests.
"""

from typing import Any


class LeastBusyRouter:
    """Routes each request to the server with the fewest requests under way (verl's LoadBalancer protocol)."""

    def __init__(self, servers: dict[str, Any], config: dict[str, Any]) -> None:
        self._servers = dict(servers)
        self._requests = dict.fromkeys(servers, 0)

    def require_acquire_fields(self) -> list[str]:
        """Ask for nothing but the id of a request."""
        return []

    def require_release_fields(self) -> list[str]:
        """Ask for nothing but the id of the server."""
        return []

    def acquire_server(self, request_id: str, **_: Any) -> tuple[str, Any]:
        """Return the id and the handle of a server for a request."""
        if not self._servers:
            raise RuntimeError("no rollout server: found none registered, allowed one or more")
        server = min(self._requests, key=lambda name: (self._requests[name], name))
        self._requests[server] += 1
        return server, self._servers[server]

    def release_server(self, server_id: str, request_id: str | None = None) -> None:
        """Note that a request has ended; one of a server that was removed is ignored."""
        if self._requests.get(server_id, 0) > 0:
            self._requests[server_id] -= 1

    def add_servers(self, servers: dict[str, Any]) -> None:
        """Add servers by id."""
        self._servers |= servers
        self._requests |= {name: self._requests.get(name, 0) for name in servers}

    def remove_servers(self, server_ids: list[str]) -> None:
        """Remove servers by id."""
        for name in server_ids:
            self._servers.pop(name, None)
            self._requests.pop(name, None)

    def get_all_servers(self) -> list[str]:
        """List the ids of the servers."""
        return list(self._servers)

    def get_status(self) -> dict[str, Any]:
        """Say how many requests are under way."""
        return {
            "servers": dict(self._requests),
            "total_inflight": self.get_total_inflight(),
            "active_servers": len(self._servers),
        }

    def clear_sticky_cache(self) -> dict[str, Any]:
        """Clear nothing: no session sticks to a server."""
        return {"cleared_entries": 0, "server_loads": dict(self._requests)}

    def get_total_inflight(self) -> int:
        """Return the number of requests under way."""
        return sum(self._requests.values())
