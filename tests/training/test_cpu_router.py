import subprocess
import sys

import pytest

from benchmark.training.cpu.router import LeastBusyRouter


def test_a_request_goes_to_the_least_busy_server():
    router = LeastBusyRouter({"a": "handle a", "b": "handle b"}, {})
    assert [router.acquire_server(str(i))[0] for i in range(3)] == ["a", "b", "a"]
    router.release_server("a")
    router.release_server("a")
    assert router.acquire_server("next") == ("a", "handle a")
    assert router.get_total_inflight() == 2


def test_a_removed_server_gets_nothing_and_an_added_one_does():
    router = LeastBusyRouter({"a": 1}, {})
    router.add_servers({"b": 2})
    router.remove_servers(["a"])
    router.release_server("a")
    assert router.acquire_server("x") == ("b", 2)
    assert router.get_all_servers() == ["b"]
    router.remove_servers(["b"])
    with pytest.raises(RuntimeError, match="no rollout server"):
        router.acquire_server("y")


def test_it_has_every_method_of_verls_protocol():
    from verl.workers.rollout.router import RequestLoadBalancer

    wanted = {name for name in vars(RequestLoadBalancer) if not name.startswith("_")}
    assert "acquire_server" in wanted
    assert wanted <= set(dir(LeastBusyRouter)), wanted - set(dir(LeastBusyRouter))


def test_its_process_imports_neither_torch_nor_verl_though_it_holds_handles_of_the_server():
    # Ray imports the module of an actor's class wherever a handle of it arrives.
    modules = "benchmark.training.cpu.router, benchmark.training.cpu.server"
    code = f"import sys, {modules}; print(sorted({{'torch', 'verl', 'transformers'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
