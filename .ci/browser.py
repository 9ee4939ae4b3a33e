"""Loads the pages of a folder in a headless Chromium, wide and narrow, light and dark, and says what is wrong with them.

    browser.py CHROMIUM FOLDER            every page of the folder; exit 1 if something is wrong
    browser.py CHROMIUM FOLDER --shots T  also pictures of them, into the folder T
    browser.py CHROMIUM --explore FILE…   pages of results (`lsmbench page`): no complaints at three widths, the hash of the
                                          address, the baseline, the details, and how fluid the table of the last file is
    browser.py CHROMIUM --site FOLDER     a site (`lsmbench site`): all links without the browser, and some pages of each kind
                                          in the browser, at three widths
    browser.py CHROMIUM --history FILE    a page with a history that has a change point
    browser.py CHROMIUM --self-test       pages that are wrong in one way each: every one must be found

Chromium is spoken to over a pair of pipes (`--remote-debugging-pipe`), so that the standard library is enough.
"""

import base64
import fcntl
import html.parser
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
# Screenshots are limited to the size that graphics memory allows.
SHOT_HEIGHT = 6000

# The state of a page, as one value.
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
  for (const figure of [...document.querySelectorAll('figure')].filter((of) => of.checkVisibility())) {
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


# The widths of a phone, a desktop and a wall display, for pages of results.
EXPLORE_WIDTHS = {390: 844, 1280: 900, 1920: 1080}

# The maximum time of one scroll step in a table, in milliseconds: script, style and layout.
MOST_STEP_MS = 50

# The maximum number of attempts to scroll in this time.
SCROLL_ATTEMPTS = 5

# Scrolls the table of a page of results, and returns the time of each step.
SCROLL = r"""
(async () => {
  const table = document.querySelector('.explore .scroll');
  const steps = [];
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  for (let at = 0; at < 60; at++) {
    await frame();
    const start = performance.now();
    table.scrollTop = (at + 1) * 977;
    table.dispatchEvent(new Event('scroll'));
    await frame();
    table.querySelector('tbody').getBoundingClientRect();
    const tasks = performance.now() - start;
    steps.push(tasks);
  }
  steps.sort((a, b) => a - b);
  return { median: steps[30], late: steps[54], lines: table.querySelectorAll('tbody tr').length, high: table.scrollHeight };
})()
"""

# The state of a page of results after a step: the hash, the status, the first lines, and whether the page is ready.
SHOWN = r"""
(() => ({
  hash: location.hash,
  status: document.querySelector('.explore .status')?.textContent || '',
  title: document.querySelector('.explore h2')?.textContent || '',
  lines: [...document.querySelectorAll('.explore tbody tr[data-at]')].slice(0, 5).map((row) => row.innerText.replace(/\s+/g, ' ')),
  dialog: document.querySelector('dialog[open] h2')?.textContent || '',
  focus: document.activeElement?.localName || '',
  charts: document.querySelectorAll('.explore figure svg path.dots').length,
  unnamed: [...document.querySelectorAll('button, select, input, svg[role=img]')].filter((of) => of.checkVisibility()
    && !(of.getAttribute('aria-label') || of.textContent.trim() || of.labels?.length)).length,
}))()
"""


def ask(browser, expression):
    """The value of an expression in the page that is shown."""
    says = browser.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True)
    if "exceptionDetails" in says:
        raise RuntimeError(says["exceptionDetails"].get("exception", {}).get("description", "exception"))
    return says["result"].get("value")


def ready(browser):
    """What a page of results shows as soon as its rows are computed."""
    end = time.monotonic() + 30
    while True:
        shown = ask(browser, SHOWN)
        if shown["lines"] or time.monotonic() > end:
            return shown
        time.sleep(0.05)


def load(browser, url, width, scheme):
    """Loads an address from the beginning, with its hash."""
    browser.call("Page.navigate", url="about:blank")
    browser.wait_for("Page.loadEventFired")
    says = browser.look(url, width, scheme)
    return says, ready(browser)


def explore_one(browser, path, shots):
    """Everything that is wrong with a page of results."""
    url, wrong = path.resolve().as_uri(), []
    for width in EXPLORE_WIDTHS:
        for scheme in SCHEMES:
            says, shown = load(browser, url, width, scheme)
            where = f"{path.name} at {width}, {scheme}"
            wrong += [f"{where}: {what}" for what in says["wrong"]]
            wide = ask(browser, "document.documentElement.scrollWidth")
            if wide > width:
                wrong.append(f"{where}: {wide} wide")
            if not shown["lines"] or not shown["charts"] or shown["unnamed"]:
                counts = f"{len(shown['lines'])} lines, {shown['charts']} kinds of points"
                wrong.append(f"{where}: {counts}, {shown['unnamed']} controls without a name")
            if shots:
                high = ask(browser, "document.documentElement.scrollHeight")
                browser.shoot(width, min(high, SHOT_HEIGHT), shots / f"{path.stem}-{width}-{scheme}")
    before = ready(browser)
    ask(browser, "document.querySelectorAll('.explore tbody td.tools button')[0].click()")
    ask(browser, "[...document.querySelectorAll('.choice button')].find((of) => of.textContent === 'absolute').click()")
    ask(browser, "document.querySelector('th[data-key=value] button').click()")
    time.sleep(0.5)
    after = ready(browser)
    if "baseline=" not in after["hash"] or after["status"] == before["status"]:
        wrong.append(f"{path.name}: another baseline shows nothing new: {before} {after}")
    _, again = load(browser, url + after["hash"], 1280, "light")
    if (again["hash"], again["status"], again["lines"]) != (after["hash"], after["status"], after["lines"]):
        wrong.append(f"{path.name}: the link shows something else: {after} {again}")
    ask(browser, "document.querySelector('.explore tbody button.name').click()")
    time.sleep(0.3)
    opened = ask(browser, SHOWN)
    if not opened["dialog"] or "open=" not in opened["hash"]:
        wrong.append(f"{path.name}: no details: {opened}")
    if shots:
        browser.shoot(1280, 900, shots / f"{path.stem}-details")
    ask(browser, "document.querySelector('dialog[open] .close').click()")
    time.sleep(0.2)
    closed = ask(browser, SHOWN)
    if closed["dialog"] or "open=" in closed["hash"]:
        wrong.append(f"{path.name}: the details stay open: {closed}")
    wrong += [f"{path.name}: {what}" for what in filter(None, map(complaint, browser.events))]
    return wrong


def explore(browser, paths, shots=None):
    """Everything that is wrong with pages of results; the last one has the largest table."""
    WIDTHS.update(EXPLORE_WIDTHS)
    wrong = [what for path in paths for what in explore_one(browser, path, shots)]
    start = time.monotonic()
    load(browser, paths[-1].resolve().as_uri(), 1280, "light")
    loaded = time.monotonic() - start
    # Other programs can delay every step, so the page has several attempts.
    for _ in range(SCROLL_ATTEMPTS):
        steps = ask(browser, SCROLL)
        if steps["late"] <= MOST_STEP_MS:
            break
    if steps["late"] > MOST_STEP_MS:
        wrong.append(f"{paths[-1].name}: a step of scrolling takes {steps['late']:.0f} ms, {MOST_STEP_MS} is the most")
    if steps["lines"] > 200:
        wrong.append(f"{paths[-1].name}: {steps['lines']} lines of the table are in the page")
    sizes = ", ".join(f"{path.name} {path.stat().st_size / 1e6:.1f} MB" for path in paths)
    seen = f"{len(paths)} pages of results ({sizes}); {paths[-1].name} loads in {loaded:.1f} s, a step of scrolling takes "
    return wrong, seen + f"{steps['median']:.0f} ms, 9 of 10 at most {steps['late']:.0f} ms"


# The pages of a site that the browser loads: one page of each kind, and the pages with the largest tables.
SITE_PAGES = [
    "index.html", "search.html", "verdicts.html", "engines.html", "components.html", "history.html", "machines/peers.html",
    "machines/peers-explore.html", "explore/e71-put.html", "docs/index.html", "docs/results/engines.html", "docs/gallery.html",
]


class Addresses(html.parser.HTMLParser):
    """The links and the anchors of a page, without the browser."""

    def __init__(self, path):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        of = dict(attributes)
        self.links += [of[key] for key in ("href", "src") if of.get(key)]
        self.ids.update(filter(None, [of.get("id"), of.get("name")]))


def site_links(folder):
    """The links of a site that lead nowhere, and the number of its pages and links."""
    pages = {path: Addresses(path) for path in sorted(folder.rglob("*.html"))}
    ids, wrong, count = {path: of.ids for path, of in pages.items()}, [], 0
    for path, of in pages.items():
        # Links to other sites are text, and the anchors of interactive pages are selections.
        own = [link for link in of.links if urlsplit(link).scheme not in ("http", "https", "data", "mailto")]
        own = [link.split("#")[0] or "#" if "=" in urldefrag(link)[1] else link for link in own]
        count += len(own)
        wrong += [f"{path.relative_to(folder)}: link {what}" for what in broken_links(folder, path, own, ids)]
    return wrong, len(pages), count


def site(browser, folder, shots=None):
    """Everything that is wrong with a site."""
    folder = folder.resolve()
    wrong, pages, links = site_links(folder)
    WIDTHS.update(EXPLORE_WIDTHS)
    for name in SITE_PAGES:
        path = folder / name
        if not path.is_file():
            wrong.append(f"{name}: no such page")
            continue
        for width in WIDTHS:
            for scheme in SCHEMES:
                says = browser.look(path.as_uri(), width, scheme)
                where = f"{name} at {width}, {scheme}"
                wrong += [f"{where}: {what}" for what in says["wrong"]]
                wide = ask(browser, "document.documentElement.scrollWidth")
                if wide > width:
                    wrong.append(f"{where}: {wide} wide")
                if shots:
                    high = ask(browser, "document.documentElement.scrollHeight")
                    browser.shoot(width, min(high, SHOT_HEIGHT), shots / f"site-{name[:-5].replace('/', '-')}-{width}-{scheme}")
    wrong += [f"verdicts.html: {what}" for what in find(browser, folder / "verdicts.html")]
    wrong += [f"search.html: {what}" for what in search(browser, folder, shots)]
    return wrong, f"a site of {pages} pages, {links} links, {len(SITE_PAGES)} pages at {len(WIDTHS)} widths, light and dark"


# The parts of a page with a history: the lines of the chart, the marks of change points, and the rows of two runs.
PAST = r"""
(() => ({
  lines: document.querySelectorAll('.history svg path.line').length,
  rules: document.querySelectorAll('.history svg line.rule').length,
  commits: [...document.querySelectorAll('.history svg text.rule-text')].map((of) => of.textContent).join(' '),
  rows: document.querySelectorAll('.history table.past tbody tr').length,
  hollow: document.querySelectorAll('.history svg path.hollow').length,
  title: document.querySelector('.history .live h2').textContent,
}))()
"""


def past(browser, path, shots=None):
    """Everything that is wrong with a page that has a history."""
    url, wrong = path.resolve().as_uri(), []
    WIDTHS.update(EXPLORE_WIDTHS)
    for width in WIDTHS:
        for scheme in SCHEMES:
            says = browser.look(url, width, scheme)
            where = f"{path.name} at {width}, {scheme}"
            wrong += [f"{where}: {what}" for what in says["wrong"]]
            if ask(browser, "document.documentElement.scrollWidth") > width:
                wrong.append(f"{where}: wider than the window")
            shown = ask(browser, PAST)
            if not all(shown[key] for key in ("lines", "rules", "commits", "rows", "hollow")):
                wrong.append(f"{where}: {shown}")
            if shots:
                high = ask(browser, "document.documentElement.scrollHeight")
                browser.shoot(width, min(high, SHOT_HEIGHT), shots / f"{path.stem}-{width}-{scheme}")
    choose = "(() => { const of = document.getElementById('history-metric'); of.selectedIndex = 1; of.dispatchEvent(new Event('change')); })()"
    ask(browser, choose)
    other, hash_now = ask(browser, PAST), ask(browser, "location.hash")
    if other["title"] == shown["title"] or "history.metric=" not in hash_now:
        wrong.append(f"{path.name}: another metric shows nothing new: {other}, {hash_now}")
    load_plain(browser, url + hash_now)
    if ask(browser, PAST) != other:
        wrong.append(f"{path.name}: the link shows something else")
    wrong += [f"{path.name}: {what}" for what in filter(None, map(complaint, browser.events))]
    return wrong, f"a history with the change point {shown['commits']}"


def find(browser, path):
    """What is wrong with the selection of comparisons: the lists, the words and the hash of the address."""
    load_plain(browser, f"{path.as_uri()}#words=rocksdb")
    shown = "[...document.querySelectorAll('#evidence tbody tr')].filter((row) => !row.hidden).length"
    some, all_rows = ask(browser, shown), ask(browser, "document.querySelectorAll('#evidence tbody tr').length")
    if not 0 < some < all_rows:
        yield f"the words rocksdb select {some} of {all_rows} rows"
    ask(browser, "(() => { const of = document.getElementById('find-experiment'); of.value = 'ycsb'; of.dispatchEvent(new Event('change')); })()")
    fewer, hash_now = ask(browser, shown), ask(browser, "location.hash")
    if not 0 < fewer < some or "experiment=ycsb" not in hash_now:
        yield f"the experiment ycsb selects {fewer} of {some} rows, {hash_now}"
    load_plain(browser, path.as_uri() + hash_now)
    if ask(browser, shown) != fewer:
        yield "the link selects other rows"
    yield from filter(None, map(complaint, browser.events))


# The state of the search: the status, the addresses of the results, the focus, and whether all pages are listed.
SEARCHED = r"""
(() => ({
  status: document.getElementById('found').textContent,
  results: [...document.querySelectorAll('#results a')].map((of) => of.getAttribute('href')),
  marks: document.querySelectorAll('#results mark').length,
  focus: document.activeElement.getAttribute('href') || document.activeElement.id,
  pages: document.getElementById('pages').checkVisibility(),
  query: location.search,
}))()
"""


def press(browser, key):
    """Presses and releases a key."""
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)


def search(browser, folder, shots=None):
    """What is wrong with the search of a site: the results, the keyboard, the address, and the page without a script."""
    url = (folder / "search.html").as_uri()
    load_plain(browser, (folder / "docs/glossary.html").as_uri())
    ask(browser, "(() => { const of = document.querySelector('.site form'); of.q.value = 'write stall'; of.submit(); })()")
    browser.wait_for("Page.loadEventFired")
    shown = ask(browser, SEARCHED)
    if "q=write+stall" not in shown["query"] or not shown["results"] or not shown["marks"] or shown["pages"]:
        yield f"the field of another page finds nothing: {shown}"
    wrong = [of for of in shown["results"] if not (folder / of.split("#")[0]).is_file()]
    if wrong:
        yield f"results that lead nowhere: {wrong}"
    press(browser, "ArrowDown")
    press(browser, "ArrowDown")
    second = ask(browser, SEARCHED)["focus"]
    press(browser, "ArrowUp")
    first = ask(browser, SEARCHED)["focus"]
    press(browser, "Escape")
    field = ask(browser, SEARCHED)["focus"]
    if [first, second, field] != [*shown["results"][:2], "words"]:
        yield f"the arrow keys move to {[first, second, field]}, not through {shown['results'][:2]}"
    if shots:
        for width in WIDTHS:
            browser.look(f"{url}?q=bloom+filter", width, "light")
            browser.shoot(width, min(ask(browser, "document.documentElement.scrollHeight"), SHOT_HEIGHT), shots / f"site-found-{width}")
    ask(browser, "(() => { const of = document.getElementById('words'); of.value = 'remix'; of.dispatchEvent(new Event('input')); })()")
    one = ask(browser, SEARCHED)
    if one["query"] != "?q=remix" or not one["results"] or one["results"] == shown["results"]:
        yield f"other words find nothing else: {one}"
    ask(browser, "(() => { const of = document.getElementById('words'); of.value = 'zzqx'; of.dispatchEvent(new Event('input')); })()")
    none = ask(browser, SEARCHED)
    if none["results"] or not none["pages"] or "fewer words" not in none["status"]:
        yield f"words that no page has: {none}"
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    load_plain(browser, url)
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    if ask(browser, "document.querySelectorAll('#pages a').length") < len(SITE_PAGES):
        yield "without a script, the pages are not listed"
    yield from filter(None, map(complaint, browser.events))


def load_plain(browser, url):
    """Loads an address from the beginning."""
    browser.call("Page.navigate", url="about:blank")
    browser.wait_for("Page.loadEventFired")
    browser.look(url, 1280, "light")


# A page without faults, and additional contents of its body that cause faults.
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
        shots = Path(arguments[-1]) if arguments[-2:-1] == ["--shots"] else None
        if shots:
            shots.mkdir(parents=True, exist_ok=True)
            arguments = arguments[:-2]
        if arguments[1] == "--self-test":
            wrong, seen = self_test(browser)
        elif arguments[1] == "--site":
            wrong, seen = site(browser, Path(arguments[2]), shots)
        elif arguments[1] == "--history":
            wrong, seen = past(browser, Path(arguments[2]), shots)
        elif arguments[1] == "--explore":
            wrong, seen = explore(browser, [Path(of) for of in arguments[2:]], shots)
        else:
            wrong, seen = check(browser, Path(arguments[1]), shots)
    finally:
        browser.close()
    for what in wrong:
        print(what, file=sys.stderr)
    print(f"pages: {seen}; {len(wrong)} wrong")
    return 1 if wrong or seen.startswith("0 ") else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
