"""`--by-file`: each file of tests is imported by the one process that runs it, as it comes to it.

Else every process of xdist imports all files and makes all tests of them, to run a third.
"""

from collections.abc import Generator

import pytest

from tests import tiers


class WholeFile(pytest.Item):
    """Stands for the tests of a file until they are run. Its parent is the session and not the folder, so that all that
    the file before it set up is taken down, whether or not this one turns out to have tests."""

    module: pytest.Module

    @classmethod
    def of(cls, module: pytest.Module) -> "WholeFile":
        made: WholeFile = cls.from_parent(module.session, name=module.nodeid, path=module.path)
        made.module = module
        return made

    def runtest(self, nextitem: pytest.Item | None = None) -> None:
        hook, session = self.config.hook, self.session
        tests = [*session.genitems(self.module)]
        hook.pytest_collection_modifyitems(session=session, config=self.config, items=tests)
        place = session.items.index(self)
        for test, after in zip(tests, [*tests[1:], nextitem], strict=False):  # of no test there is none after
            session.items[place] = test  # xdist takes no report but of the item that it asked for
            hook.pytest_runtest_protocol(item=test, nextitem=after)
            if session.shouldfail or session.shouldstop:
                break


class ByFile:
    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(
        self,
    ) -> Generator[None, list[pytest.Item | pytest.Collector], list[pytest.Item | pytest.Collector]]:
        return [WholeFile.of(one) if isinstance(one, pytest.Module) else one for one in (yield)]

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None]:
        """The longest first. Marks choose among the tests of a file when they are known."""
        files = [one for one in items if isinstance(one, WholeFile)]
        if files:
            items.clear()
        yield
        items += sorted(files, key=lambda one: tiers.place(one.path))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        if not isinstance(item, WholeFile):
            return None
        item.runtest(nextitem)
        return True
