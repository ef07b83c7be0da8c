"""The page in a real browser: nothing is fetched, nothing overflows, keyboard and links work.

Chromium is driven through its debugging pipe, which needs no port, no driver and no library. A headless window is
never narrower than about 500 pixels; device metrics are.
"""

import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from stridecheck.reports.render import render_dirs

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")


# The protocol is spoken on descriptors 3 and 4, wherever the pipes are here.
LAUNCH = """
import fcntl, os, sys
to_browser, from_browser = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(to_browser, 3)
os.dup2(from_browser, 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One headless page; commands of the Chrome DevTools Protocol, NUL-separated JSON on two pipes."""

    def __init__(self, profile):
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={profile}"]
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", LAUNCH, str(to_browser), str(from_browser)),
                *(CHROMIUM, "--remote-debugging-pipe", *options),
            ],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._numbers = itertools.count(1)
        self._buffer = b""
        self._session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def _message(self):
        while b"\0" not in self._buffer:
            read = os.read(self._read, 1 << 16)
            if not read:
                raise EOFError("chromium went away")
            self._buffer += read
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._message()).get("id") != number:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def open(self, url, width, scheme="light"):
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        # The event that a page has loaded may be that of the blank one before.
        while not self.evaluate(f"document.readyState === 'complete' && location.href === {json.dumps(url)}"):
            time.sleep(0.02)

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def requests(self):
        urls = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [url for url in urls if url != "about:blank"]

    def complaints(self):
        kinds = ("Runtime.exceptionThrown", "Log.entryAdded")
        return [event["params"] for event in self.events if event.get("method") in kinds]

    def close(self):
        self._process.terminate()
        self._process.wait(20)
        os.close(self._read)
        os.close(self._write)


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("chromium"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def url(tmp_path_factory, sample):
    out = sample.write(tmp_path_factory.mktemp("a run"), sample.whole())
    render_dirs([out], out)
    return (out / "report.html").as_uri()


OPEN_ALL = "document.querySelectorAll('details').forEach(details => { details.open = true; })"

# Elements that stick out of the page, unless a container that scrolls by itself holds them.
STICKING_OUT = """
[...document.querySelectorAll("body *")].filter(element => {
  if (element.closest(".scroll, pre, svg, .skip, .visually-hidden")) return false;
  return element.getBoundingClientRect().right > innerWidth + 1;
}).map(element => element.tagName + "." + element.className + ": " + element.textContent.slice(0, 40))
"""


@pytest.mark.parametrize("width", [320, 400, 800, 1280])
def test_the_page_fits_its_window_and_fetches_nothing(browser, url, width):
    browser.open(url, width)
    browser.evaluate(OPEN_ALL)
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert browser.evaluate(STICKING_OUT) == []
    assert browser.requests() == [url]
    assert browser.complaints() == []


def test_wide_tables_scroll_in_containers_that_the_keyboard_reaches(browser, url):
    browser.open(url, 400)
    browser.evaluate(OPEN_ALL)
    scrolling = "[...document.querySelectorAll('.scroll, pre')].filter(e => e.scrollWidth > e.clientWidth + 1)"
    assert browser.evaluate(f"{scrolling}.length") > 0
    assert browser.evaluate(f"{scrolling}.every(e => e.tabIndex === 0 && e.getAttribute('aria-label'))")


def test_hostile_text_runs_nothing(browser, url):
    browser.open(url, 1280)
    assert browser.evaluate("document.scripts.length") == 1
    assert browser.evaluate("document.body.textContent.includes('<script>alert(1)</script>')")


def test_a_link_to_a_failure_opens_it(browser, url):
    anchor = "fail-numpy-0003c0ffee5e-2-3-layout"
    browser.open(f"{url}#{anchor}", 1280)
    assert browser.evaluate(f"document.getElementById('{anchor}').open")
    assert browser.evaluate(f"document.getElementById('{anchor}').checkVisibility()")


def test_dark_and_light_both_have_contrast(browser, url):
    # Text against its own background, by the formula of WCAG 2; 4.5 is what it asks of small text.
    contrast = """
    (() => {
      const channels = color => color.match(/[\\d.]+/g).map(Number);
      const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(
        c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
      ).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
      const ground = element => {
        for (let at = element; at; at = at.parentElement) {
          const color = channels(getComputedStyle(at).backgroundColor);
          if (color.length < 4 || color[3] > 0) return color;
        }
        return [255, 255, 255];
      };
      const poor = new Set();
      for (const element of document.querySelectorAll("body *")) {
        if (element.closest("svg, script") || !element.checkVisibility()) continue;
        if (![...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())) continue;
        const [a, b] = [channels(getComputedStyle(element).color), ground(element)].map(light);
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) poor.add(`${element.tagName}.${element.className} ${ratio.toFixed(2)}`);
      }
      return [...poor];
    })()
    """
    for scheme in ("light", "dark"):
        browser.open(url, 1280, scheme)
        browser.evaluate(OPEN_ALL)
        assert browser.evaluate(contrast) == [], scheme
    browser.evaluate("document.documentElement.style.setProperty('--muted', '#556')")
    assert browser.evaluate(contrast), "the check itself must be able to fail"


def test_charts_follow_the_colour_scheme(browser, url):
    color = "getComputedStyle(document.querySelector('figure svg text')).fill"
    browser.open(url, 1280, "light")
    light = browser.evaluate(color)
    browser.open(url, 1280, "dark")
    assert browser.evaluate(color) != light
    assert browser.evaluate("document.querySelector('figure svg').getAttribute('aria-label')").startswith(
        "copy: x_copy"
    )


def test_the_printer_gets_each_kind_opened_but_no_repetition(browser, url):
    browser.open(url, 1280)
    closed = "document.querySelectorAll('details[data-print]:not([open], details:not([open]) details)').length"
    before = browser.evaluate(closed)
    assert before > 0
    browser.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert browser.evaluate(closed) == 0
    assert browser.evaluate("document.querySelectorAll('details.nested[open]').length") == 0
    browser.evaluate("dispatchEvent(new Event('afterprint'))")
    assert browser.evaluate(closed) == before
