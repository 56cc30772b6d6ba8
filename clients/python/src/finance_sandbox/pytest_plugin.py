"""The pytest plugin: `sandbox` is a server of the whole session, `world` a world of one test.

A test that fails also prints what happened in its world. Options of the server: `sandbox_options` of the configuration,
for example `sandbox_options = --seed 7 --clock instant`.
"""

from __future__ import annotations

import shlex
from typing import Any, Generator, Iterator

import pytest

from .kit import Sandbox, World

_WORLD = pytest.StashKey[World]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("sandbox_options", "further flags of the program `sandbox`", default="")


@pytest.fixture(scope="session")
def sandbox(pytestconfig: pytest.Config) -> Iterator[Sandbox]:
    """A running sandbox."""
    with Sandbox(args=shlex.split(pytestconfig.getini("sandbox_options"))) as running:
        yield running


@pytest.fixture
def world(sandbox: Sandbox, request: pytest.FixtureRequest) -> Iterator[World]:
    """A world of this test, in its first state."""
    world = request.node.stash[_WORLD] = sandbox.world(request.node.nodeid)
    yield world
    world.close()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    report = (yield).get_result()
    world = item.stash.get(_WORLD, None)
    if report.failed and world:
        try:
            text = world.report()
        except Exception as lost:
            text = f"no report of the world: {lost}"
        report.sections.append(("sandbox", text))
