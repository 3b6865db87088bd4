#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages that cede writes can be read: contrast of all text (WCAG AA), measured from what is painted, in both themes, wide and narrow.

Needs chromium (`make test-web` installs it); without one every test is skipped and says so.
"""
import os
import shutil
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "cli")]
from browser import Browser  # noqa: E402
from checks import complaints  # noqa: E402
from harness import SOURCE, Folder, Suite, cede  # noqa: E402

TRACE = ["--trace", "examples/trace/jobs.csv", "--format", "philly"]
PAGES = [("simulation", ["simulate", *TRACE]), ("scenario", ["simulate", "--scenario", "examples/scenario/day.yaml"]),
         ("comparison", ["compare", *TRACE, "--profile", "default,kubernetes", "--seeds", "1"]),
         ("advice", ["advise", "queue.*.reclaimMinRuntime", "--values", "0s,1h", *TRACE, "--seeds", "1"])]


def readable(page):
    """What cannot be read, or does not fit the width."""
    return [c for c in complaints(page) if c.startswith(("contrast", "hardly", "scrolls", "a control"))]


def main():
    s = Suite()
    if not (shutil.which("chromium") or shutil.which("chromium-browser")):
        s.skip("contrast of pages", "there is no chromium here; make test-web installs it")
        s.end()
    with Folder({}) as folder, Browser() as browser:
        for name, args in PAGES:
            path = os.path.join(folder, name + ".html")
            cede(*args, "--report", path, cwd=SOURCE)
            page = browser.open()
            for theme in ("light", "dark"):
                page.theme(theme == "dark")
                page.go(f"file://{path}?theme={theme}")
                page.wait("document.documentElement.dataset.ready === 'yes' || document.body.dataset.ready === 'yes'")
                for width in (1400, 400):
                    page.size(width)
                    s.equal(f"{name}: all text can be read, {theme}, {width} pixels", readable(page), [])
            page.close()
    s.end()


if __name__ == "__main__":
    main()
