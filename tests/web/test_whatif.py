#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What if, in the console: queues and settings are edited, the difference is shown with its reasons and can be kept as YAML; nothing is written."""
import os
import sys
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks  # noqa: E402
from console import EXAMPLE, HOSTILE, NOW, Folder, Server, hostile_cluster, is_harmless, open_console, run  # noqa: E402

GPU = "queue.root.ads.ranking.guaranteed.nvidia.com/gpu"
FIELD = f"[data-key='edit-{GPU}']"


def edit(page, selector, text):
    page.js(f"document.querySelector({selector!r}).focus(); document.querySelector({selector!r}).select()")
    page.type(text)
    page.key("Enter")
    page.js("document.activeElement.blur()")


def queues(s, browser):
    with Server(*EXAMPLE) as server:
        before = urllib.request.urlopen(server.url + "/api/v1/plan").read()
        page = open_console(browser, server, "#/whatif")
        s.true("it says that nothing is written", "Nothing is written to the cluster" in page.text(".heading"))
        s.true("with nothing changed there is nothing to ask", page.js("document.querySelector('#plan').disabled && document.querySelector('#save').disabled"))
        checks.everywhere(s, page, "what if, at first")
        edit(page, FIELD, "8")
        page.wait("document.querySelector('.changes')")
        s.equal("the change is told", page.texts(".changes code"), [GPU + " = 8"])
        page.click("#plan")
        page.wait("document.querySelector('#difference .tiles')")
        s.equal("evictions that vanish, with their reason", page.texts("#spared tbody th"), ["vision/sweep-2"])
        s.true("in words", "root.research.language uses 4 of 8 guaranteed nvidia.com/gpu" in page.text("#spared") and "language/eval-0" in page.text("#spared"))
        s.equal("other answers", page.texts("#answers tbody th"), ["ads/ranker-retrain-0"])
        s.true("today and then", "−1, today 3" in page.text("#difference .tiles"), page.text("#difference .tiles"))
        checks.everywhere(s, page, "what if, with a difference")
        s.true("what is thought of stands in the address", "set=" in page.js("location.hash"))
        page.reload()
        page.wait("document.querySelector('#difference .tiles')")
        s.equal("and is planned again after a reload", page.texts("#spared tbody th"), ["vision/sweep-2"])
        page.js("""window.saved = []; const make = URL.createObjectURL; URL.createObjectURL = b => { saved.push(b.text()); return make.call(URL, b); };
            document.addEventListener('click', ev => { if (ev.target.download) { saved.push(ev.target.download); ev.preventDefault(); } }, true)""")
        page.click("#save")
        page.wait("saved.length === 2")
        yaml = page.js("saved[0]")
        s.true("downloaded as YAML: settings and queues with the change", page.js("saved[1]") == "cede-whatif.yaml" and "kind: CedeConfiguration" in yaml and 'nvidia.com/gpu: "8"' in yaml, yaml)
        page.click("[data-key='drop-0']")
        page.wait("!document.querySelector('.changes')")
        s.equal("taken back, the difference is gone with it", (page.count("#difference .tiles"), page.js("location.hash")), (0, "#/whatif"))
        edit(page, FIELD, "many")
        page.click("#plan")
        page.wait("document.querySelector('#difference .state.broken')")
        s.true("what cannot be is refused, and why", "That cannot be" in page.text("#difference") and "many" in page.text("#difference"), page.text("#difference"))
        page.click("#reset")
        page.wait("!document.querySelector('.changes')")
        s.true("start again", page.js("document.querySelector('#plan').disabled"))
        s.equal("nothing was changed by all that", urllib.request.urlopen(server.url + "/api/v1/plan").read(), before)
        s.equal("nothing was complained about", page.complaints, [])
        page.close()


def others(s, browser):
    with Server(*EXAMPLE) as server:
        page = open_console(browser, server, "#/whatif")
        page.click("[data-key='settings'] > summary")
        edit(page, "[data-key='setting-rules.opt-out.mode']", "hard")
        page.wait("document.querySelector('.changes')")
        s.equal("a setting", page.texts(".changes code"), ["rules.opt-out.mode = hard"])
        s.true("and its card is still open", page.js("document.querySelector('[data-key=settings]').open"))
        page.click("#plan")
        page.wait("document.querySelector('#difference .tiles')")
        page.click("#reset")
        page.click("[data-key='others'] > summary")
        page.js("(() => { const n = document.querySelector('[data-key=other-drain]'); n.value = 'a100-1'; n.dispatchEvent(new Event('change')); })()")
        page.wait("document.querySelector('.changes')")
        page.click("#plan")
        page.wait("document.querySelector('#difference .card')")
        s.true("a node that is drained", page.texts(".changes code") == ["a100-1 drained"] and page.count("#difference tbody tr") > 0, page.text("#difference"))
        page.click("#reset")
        page.click("[data-key='yaml'] > summary")
        page.js("[...document.querySelectorAll('[data-key=yaml] button')].find(b => b.innerText.startsWith('Start from')).click()")
        page.wait("document.querySelector('#documents').value.includes('kind: CedeConfiguration')")
        page.click("#plan")
        page.wait("document.querySelector('#difference .state.empty')")
        s.true("the documents in force make no difference", "Nothing would differ" in page.text("#difference"))
        page.js("""(() => { const n = document.querySelector('#documents'); n.value = n.value.replaceAll('nvidia.com/gpu: "12"', 'nvidia.com/gpu: "8"'); n.dispatchEvent(new Event('change')); })()""")
        page.click("#plan")
        page.wait("document.querySelector('#difference .card')")
        s.true("changed ones do", page.count("#difference tbody tr") > 0)
        for key in ("settings", "others"):
            page.js(f"document.querySelector('[data-key={key}]').open = true")
        checks.everywhere(s, page, "what if, with everything open", widths=(400, 1400))
        s.equal("nothing was complained about", page.complaints, [])
        page.close()


def hostile(s, browser):
    with Folder(hostile_cluster()) as folder, Server("-f", folder, *NOW) as server:
        page = open_console(browser, server, "#/whatif?drain=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&set=%3Cscript%3E%3D1")
        page.wait("document.querySelector('#difference .state.broken')")
        s.true("hostile names are text, also in what the server says of them", is_harmless(page) and "<img src=x" in page.text("main"), page.text("main"))
        s.true("queues too", HOSTILE in page.text("#queues"), page.text("#queues"))
        s.equal("nothing ran", page.complaints, [])
        page.close()


if __name__ == "__main__":
    run(queues, others, hostile)
