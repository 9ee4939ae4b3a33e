"""Loads the pages of a folder in a headless Chromium, wide and narrow, light and dark, and says what is wrong with them.

    browser.py CHROMIUM FOLDER            every page of the folder; exit 1 if something is wrong
    browser.py CHROMIUM FOLDER --shots T  also pictures of them, into the folder T
    browser.py CHROMIUM --self-test       pages that are wrong in one way each: every one must be found

Chromium is spoken to over a pair of pipes (`--remote-debugging-pipe`), so that the standard library is enough.
"""

import base64
import fcntl
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

WIDTHS = {1280: 900, 390: 844}
SCHEMES = ["light", "dark"]
PATIENCE_S = 180
# Pictures are cut where graphics memory would end.
SHOT_HEIGHT = 6000

# What a page says of itself, as one value.
ASK = r"""
(() => {
  const luminance = (color) => {
    const [r, g, b] = color.match(/[\d.]+/g).slice(0, 3).map((c) => (c / 255) ** 2.2);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (color !== 'transparent' && !/, 0\)$/.test(color)) return luminance(color);
    }
    return 1;
  };
  const name = (element) => {
    const near = element.closest('[id]');
    const says = element.getAttribute('alt') || element.querySelector?.('title')?.textContent || '';
    return `<${element.localName}>${near ? ' in #' + near.id : ''}${says ? ': ' + says.slice(0, 60) : ''}`;
  };
  const shown = (element) => element.checkVisibility();
  const wrong = [];
  const isEmpty = (box) => box.width < 1 || box.height < 1;
  for (const picture of document.querySelectorAll('img, svg')) {
    if (!shown(picture)) continue;
    if (isEmpty(picture.getBoundingClientRect())) wrong.push(`${name(picture)} has no size`);
    else if (picture.localName === 'img' && !picture.naturalWidth) wrong.push(`${name(picture)} shows nothing`);
    else if (picture.localName === 'svg') {
      if (!picture.querySelector('path, rect, circle, polygon, polyline, line, text') || isEmpty(picture.getBBox()))
        wrong.push(`${name(picture)} is empty`);
      // What stands on something coloured, such as a cell, has its contrast there; the title stands on the page.
      const title = picture.querySelector('text');
      const of = title ? contrast(luminance(getComputedStyle(title).fill), ground(picture)) : 21;
      if (of < 3) wrong.push(`${name(picture)} has a title that is hard to read, contrast ${of.toFixed(1)}`);
    }
  }
  for (const figure of document.querySelectorAll('figure')) {
    if (![...figure.querySelectorAll('img, svg')].some(shown)) wrong.push(`${name(figure)} shows nothing`);
    const dark = matchMedia('(prefers-color-scheme: dark)').matches;
    if (dark !== ground(figure) < 0.3) wrong.push(`${name(figure)} has not the colours of its page`);
  }
  if (!document.body.innerText.trim()) wrong.push('there is no text');
  return {
    wrong,
    wide: document.documentElement.scrollWidth,
    high: document.documentElement.scrollHeight,
    links: [...document.querySelectorAll('a[href], area[href]')].map((a) => a.getAttribute('href')),
    ids: [...document.querySelectorAll('[id], a[name]')].map((e) => e.id || e.name),
    figures: document.querySelectorAll('figure').length,
  };
})()
"""


class Browser:
    """A Chromium, and one tab of it."""

    def __init__(self, program):
        self.home = tempfile.TemporaryDirectory(prefix="lsmbench-pages-")
        to_read, self.to = [self._aside(fd) for fd in os.pipe()]
        self.of, to_write = [self._aside(fd) for fd in os.pipe()]

        def plumb():
            os.dup2(to_read, 3)
            os.dup2(to_write, 4)

        arguments = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        arguments += ["--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={self.home.name}", "about:blank"]
        with open(Path(self.home.name) / "said", "wb") as said:
            self.process = subprocess.Popen(
                arguments, preexec_fn=plumb, pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=said, stderr=said
            )
        os.close(to_read)
        os.close(to_write)
        self.number, self.buffer, self.events, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")

    @staticmethod
    def _aside(fd):
        """The same pipe under a number that the browser's own two do not take."""
        other = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10)
        os.close(fd)
        return other

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        return self._until(lambda answer: answer.get("id") == message["id"], method)["result"]

    def wait_for(self, event):
        self._until(lambda answer: answer.get("method") == event, event)

    def _until(self, is_it, what):
        end = time.monotonic() + PATIENCE_S
        while True:
            while b"\0" in self.buffer:
                line, _, self.buffer = self.buffer.partition(b"\0")
                answer = json.loads(line)
                if "method" in answer:
                    self.events.append(answer)
                if is_it(answer):
                    if "error" in answer:
                        raise RuntimeError(f"{what}: {answer['error']}")
                    return answer
            if not select.select([self.of], [], [], max(0, end - time.monotonic()))[0]:
                raise RuntimeError(f"{what}: no answer of the browser in {PATIENCE_S} s")
            part = os.read(self.of, 1 << 20)
            if not part:
                said = (Path(self.home.name) / "said").read_text(errors="replace")
                raise RuntimeError(f"{what}: the browser ended\n{said[-2000:]}")
            self.buffer += part

    def look(self, url, width, scheme):
        """What a page says of itself at a width and in a scheme of colours, and what the browser complained of."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=WIDTHS[width], deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events = []
        self.call("Page.navigate", url=url)
        self.wait_for("Page.loadEventFired")
        says = self.call("Runtime.evaluate", expression=ASK, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in says:
            raise RuntimeError(f"{url}: {says['exceptionDetails']}")
        says = says["result"]["value"]
        says["wrong"] += list(dict.fromkeys(filter(None, map(complaint, self.events))))
        return says

    def shoot(self, width, height, stem):
        """Pictures of the whole page that is shown."""
        for number, top in enumerate(range(0, height, SHOT_HEIGHT), 1):
            clip = {"x": 0, "y": top, "width": width, "height": min(SHOT_HEIGHT, height - top), "scale": 1}
            shot = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
            path = f"{stem}-{number}.png" if height > SHOT_HEIGHT else f"{stem}.png"
            Path(path).write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        try:
            self.call("Browser.close")
        except (RuntimeError, OSError):
            self.process.kill()
        self.process.wait()
        self.home.cleanup()


def complaint(event):
    """What an event says is wrong; nothing where nothing is."""
    says = event["params"]
    match event["method"]:
        case "Runtime.exceptionThrown":
            details = says["exceptionDetails"]
            return f"exception: {details.get('exception', {}).get('description', details['text'])}"
        case "Runtime.consoleAPICalled" if says["type"] in ("error", "assert"):
            return f"console: {' '.join(str(part.get('value', '')) for part in says['args'])}"
        case "Log.entryAdded" if says["entry"]["level"] == "error":
            return f"console: {says['entry']['text']} {says['entry'].get('url', '')}"
        case "Network.requestWillBeSent" if urlsplit(says["request"]["url"]).scheme not in ("file", "data", "about"):
            return f"asks the network for {says['request']['url']}"
    return None


def broken_links(folder, page, links, ids):
    """The links of a page that lead nowhere: to no file of the folder, or to no anchor of its page."""
    broken = []
    base = page.as_uri()
    for link in dict.fromkeys(links):
        url, anchor = urldefrag(urljoin(base, link))
        parts = urlsplit(url)
        if parts.scheme != "file":
            broken.append(f"{link}: leads out of the report")
            continue
        path = Path(unquote(parts.path))
        if not path.is_file() or folder not in path.parents:
            broken.append(f"{link}: no such file")
        elif anchor and path in ids and unquote(anchor) not in ids[path]:
            broken.append(f"{link}: no such place in {path.name}")
    return broken


def check(browser, folder, shots=None):
    """Everything that is wrong with the pages of a folder, and what was looked at."""
    folder = folder.resolve()
    pages = sorted(folder.glob("*.html"))
    wrong, links, ids, figures = [], {}, {}, 0
    for page in pages:
        for width in WIDTHS:
            for scheme in SCHEMES:
                says = browser.look(page.as_uri(), width, scheme)
                where = f"{page.name} at {width}, {scheme}"
                wrong += [f"{where}: {what}" for what in says["wrong"]]
                if says["wide"] > width:
                    wrong.append(f"{where}: {says['wide']} wide")
                if shots:
                    browser.shoot(width, says["high"], shots / f"{page.stem}-{width}-{scheme}")
        links[page], ids[page] = says["links"], set(says["ids"])
        figures += says["figures"]
    for page in pages:
        wrong += [f"{page.name}: link {what}" for what in broken_links(folder, page, links[page], ids)]
    count = sum(map(len, links.values()))
    return wrong, f"{len(pages)} pages, {figures} charts, {count} links, at {len(WIDTHS)} widths, light and dark"


# A page on which nothing is wrong, and what makes something wrong with it: what stands in its body besides.
CHART = '<svg width="90" height="90" viewBox="0 0 9 9"><text y="5" style="fill: {ink}">title</text></svg>'
SOUND = """<!DOCTYPE html><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,"><title>a page</title>
<style>figure {{ background: Canvas }}</style>
<h1 id="here">A page</h1><a href="#here">here</a> <a href="page.html#here">here</a> <figure>{chart}</figure>{more}"""
WRONG = {
    "no such file": '<a href="none.html">there</a>',
    "no such place": '<a href="page.html#nowhere">there</a>',
    "leads out": '<a href="http://localhost:1/">there</a>',
    "wide": '<div style="width: 1400px">wide</div>',
    "exception": "<script>throw new Error('thrown')</script>",
    "console: told": "<script>console.error('told')</script>",
    "shows nothing": '<img src="none.png" width="9" height="9">',
    "has no size": '<svg width="0" height="0"><rect width="1" height="1"/></svg>',
    "is empty": '<svg width="9" height="9"></svg>',
    "hard to read": CHART.format(ink="Canvas"),
    "not the colours": '<figure style="background: white">' + CHART.format(ink="#888") + "</figure>",
    "asks the network": '<script>fetch("http://localhost:1/").catch(() => 0)</script>',
}


def self_test(browser):
    """What was not found, of pages of which it is known what is wrong."""
    missed = []
    for fault, more in {"": "", **WRONG}.items():
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            page.write_text(SOUND.format(chart=CHART.format(ink="CanvasText"), more=more))
            wrong, _ = check(browser, Path(folder))
            if not fault:
                missed += [f"a page that is sound: {what}" for what in wrong]
            elif not any(fault in what for what in wrong):
                missed.append(f"not found: {fault} ({more}), but {wrong}")
    return missed, f"{len(WRONG)} kinds of faults are found"


def main(arguments):
    browser = Browser(arguments[0])
    try:
        if arguments[1] == "--self-test":
            wrong, seen = self_test(browser)
        else:
            shots = Path(arguments[3]) if arguments[2:3] == ["--shots"] else None
            if shots:
                shots.mkdir(parents=True, exist_ok=True)
            wrong, seen = check(browser, Path(arguments[1]), shots)
    finally:
        browser.close()
    for what in wrong:
        print(what, file=sys.stderr)
    print(f"pages: {seen}; {len(wrong)} wrong")
    return 1 if wrong or seen.startswith("0 ") else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
