# SPDX-License-Identifier: Apache-2.0
"""What the live tests share: the lab, the program, and lines that are counted."""
import os
import sys
import traceback

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(os.path.dirname(HERE)), "cli")]
from harness import CEDE, SOURCE, Folder, Suite, cede  # noqa: E402,F401
import lab  # noqa: E402
from lab import Lab, Missing, node, pod  # noqa: E402,F401


def run(*tests, **options):
    """Each test is a function of (lab, suite); its docstring or name is what it proves. They share one cluster."""
    suite = Suite()
    try:
        with Lab(**options) as cluster:
            for test in tests:
                try:
                    test(cluster, suite)
                except Exception:  # a test that breaks has failed, and the others still run
                    suite.report(False, test.__name__, traceback.format_exc())
    except Missing as why:
        suite.skip("everything against real components", str(why))
    suite.end()
