#!/usr/bin/env python3
"""Opens pages in headless Chromium as their readers do: light, dark, on a desktop, in smaller windows, on phones, on a wide screen, on paper.

Usage: look.py OUTPUT PAGE...     PAGE: NAME=FILE.html; screenshots are OUTPUT/NAME-THEME-WIDTH.png

Of each page and each way to see it: every chart has marks in colours that differ from the ground, every text is readable
against what is behind it and none of a chart is cut off, the document is no wider than the screen, a table that goes on beyond an
edge has a sign there and keeps its first column, instants are in words, nothing is written to the console, nothing is asked of the
network. A page has charts unless its NAME begins with "live-"; its charts and tables take nine
tenths of a wide screen. Once for each page: every
download saves the file that lies beside the page, where there is one, and the page prints. All that is wrong is listed; exit code 1 if anything is.

Standard library only: DevTools' protocol over two pipes (--remote-debugging-pipe), messages of JSON that end with a zero byte.
"""
import base64
import json
import os
import pathlib
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib

DEADLINE_S = 300  # for one answer of the browser; a busy machine may need much
WIDTHS = {"desktop": (1280, 900, False), "phone": (360, 740, True), "turned": (600, 360, True), "window": (800, 600, False), "wide": (1920, 1080, False)}
THEMES = ("light", "dark")

LOOK = r"""
(() => {
  const wrong = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) wrong.push(`the document is ${root.scrollWidth} wide, the screen ${root.clientWidth}`);
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const known = new Map();
  const rgb = (color) => {
    if (!known.has(color)) {
      canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
      known.set(color, [...canvas.getImageData(0, 0, 1, 1).data]);
    }
    return known.get(color);
  };
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = rgb(getComputedStyle(e).backgroundColor);
      if (color[3] > 0) return color;
    }
    return [255, 255, 255, 255];
  };
  const light = (c) => {
    const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [x, y] = [light(a), light(b)];
    return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
  };
  const visible = (e) => { const box = e.getBoundingClientRect(); return box.width > 0 && box.height > 0; };

  let texts = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !visible(element)) continue;
    const style = getComputedStyle(element);
    const svg = element.closest('svg');
    const instant = /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]+Z/.exec(node.data);
    if (instant && !element.closest('pre')) wrong.push(`${instant[0]} is not in words`);
    const ratio = contrast(rgb(svg ? style.fill : style.color), ground(element));
    texts += 1;
    if (ratio < 4.5) wrong.push(`"${node.data.trim().slice(0, 40)}": contrast ${ratio.toFixed(2)}`);
  }

  const clear = (e) => rgb(getComputedStyle(e).backgroundColor)[3] === 0;
  for (const e of document.body.querySelectorAll(':not(svg *)')) {
    const style = getComputedStyle(e);
    const goes_on = [e.scrollWidth > e.clientWidth + 1 && style.overflowX !== 'visible', e.scrollHeight > e.clientHeight + 1 && style.overflowY !== 'visible'];
    if (!visible(e) || !(goes_on[0] || goes_on[1])) continue;
    const name = e.getAttribute('aria-label') || e.tagName;
    const attached = style.backgroundImage === 'none' ? [] : style.backgroundAttachment.split(', ');
    const signs = ['local', 'scroll'].every((kind) => attached.filter((a) => a === kind).length >= 2);
    if (!signs || ![...e.querySelectorAll('td')].every(clear)) wrong.push(`${name}: goes on beyond its edge without a sign`);
    const first = e.querySelector('tbody th');
    if (goes_on[0] && !(first && getComputedStyle(first).position === 'sticky')) wrong.push(`${name}: the names of its rows scroll away`);
  }

  let charts = 0, marks = 0;
  for (const svg of document.querySelectorAll('figure svg')) {
    if (!visible(svg)) continue;
    charts += 1;
    const name = svg.getAttribute('aria-label');
    const frame = svg.getBoundingClientRect();
    if (/rgb\(|"black"|"white"/.test(svg.innerHTML)) wrong.push(`${name}: a colour that does not follow the page's`);
    let mine = 0;
    for (const shape of svg.querySelectorAll('path[d], polygon[points]')) {
      const kind = shape.hasAttribute('fill') ? 'fill' : 'stroke';
      const paint = shape.getAttribute(kind) || '';
      if (!/var\(--(series|heat|own)/.test(paint)) continue;
      const box = shape.getBoundingClientRect();
      if (box.width === 0 && box.height === 0) continue;
      mine += 1;
      const ratio = contrast(rgb(getComputedStyle(shape)[kind]), ground(svg));
      if (ratio < 1.2) wrong.push(`${name}: a mark of ${paint} has contrast ${ratio.toFixed(2)}`);
    }
    if (mine === 0) wrong.push(`${name}: no marks`);
    marks += mine;
    const scale = svg.getScreenCTM().a;
    const labels = [...svg.querySelectorAll('text')].filter((t) => t.textContent.trim());
    if (labels.length === 0) wrong.push(`${name}: no labels`);
    const boxes = labels.map((t) => t.getBoundingClientRect());
    labels.forEach((text, i) => {
      const box = boxes[i], what = `${name}: "${text.textContent.trim()}"`;
      const size = parseFloat(getComputedStyle(text).fontSize) * scale;
      if (size < 8.5) wrong.push(`${what} is ${size.toFixed(1)} pixels high`);
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
        wrong.push(`${what} is cut off`);
      for (let j = 0; j < i; ++j) {
        const x = Math.min(box.right, boxes[j].right) - Math.max(box.left, boxes[j].left);
        const y = Math.min(box.bottom, boxes[j].bottom) - Math.max(box.top, boxes[j].top);
        // Boxes have room above and below the letters, which are beside them where the text stands upright.
        const upright = box.height > box.width && boxes[j].height > boxes[j].width;
        const most = (side) => 0.4 * Math.min(box[side], boxes[j][side]);
        if (x > (upright ? most('width') : 2) && y > (upright ? 2 : most('height')))
          wrong.push(`${what} and "${labels[j].textContent.trim()}" run into each other`);
      }
    });
  }
  const shown = [...document.querySelectorAll('figure svg, table')].filter(visible).map((e) => (e.closest('.wide') || e).getBoundingClientRect());
  const taken = Math.max(...shown.map((box) => box.right)) - Math.min(...shown.map((box) => box.left));
  const figures = [...document.querySelectorAll('figure')].filter((f) => [...f.querySelectorAll('svg')].filter(visible).length !== 1);
  if (figures.length) wrong.push(`${figures.length} figures show other than one picture`);
  return {wrong, texts, charts, marks, width: root.clientWidth, taken, ground: rgb(getComputedStyle(document.body).backgroundColor)};
})()
"""


class Browser:
    def __init__(self, program, profile):
        to_browser, ours_out = os.pipe()
        ours_in, from_browser = os.pipe()

        def hand_over():
            # 3 and 4 are where it reads and writes; higher numbers first, so that neither is overwritten.
            kept_in, kept_out = os.dup(to_browser), os.dup(from_browser)
            os.dup2(kept_in, 3)
            os.dup2(kept_out, 4)

        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", program, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={profile}", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--hide-scrollbars", "--force-color-profile=srgb", *sandbox, "about:blank"],
            preexec_fn=hand_over, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=open(os.path.join(profile, "stderr"), "wb"))
        os.close(to_browser)
        os.close(from_browser)
        self.out, self.into, self.buffer, self.number, self.events = ours_out, ours_in, b"", 0, []

    def receive(self):
        end = time.monotonic() + DEADLINE_S
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.into], [], [], max(0, end - time.monotonic()))
            part = os.read(self.into, 1 << 20) if ready else b""
            if not part:
                raise RuntimeError("the browser " + ("ended" if ready else "does not answer"))
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method, holds=lambda parameters: True):
        while True:
            for i, event in enumerate(self.events):
                if event.get("method") == method and holds(event["params"]):
                    return self.events.pop(i)["params"]
            self.events.append(self.receive())

    def close(self):
        try:
            self.ask("Browser.close")
        except (RuntimeError, OSError):
            pass
        os.close(self.out)
        os.close(self.into)
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def is_blank(png):
    """All pixels are of one colour. For pictures of eight bits a sample, not interlaced."""
    at, data, width, channels = 8, b"", 0, 0
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, _, _, color = struct.unpack(">IIBB", body[:10])
            channels = {0: 1, 2: 3, 4: 2, 6: 4}[color]
        elif kind == b"IDAT":
            data += body
        at += 12 + length
    raw, row = zlib.decompress(data), width * channels + 1
    # Filters of a picture of one colour leave nothing but zeros behind the first pixel, whichever they are.
    lines = [raw[i + 1:i + row] for i in range(0, len(raw), row)]
    return all(not any(line) or line == lines[0] for line in lines[1:]) and not any(lines[0][channels:])


class Reader:
    def __init__(self, browser, output):
        self.browser, self.output, self.wrong = browser, output, []

    def complain(self, where, what):
        self.wrong.append(f"{where}: {what}")

    def open(self, page, width):
        ask = self.browser.ask
        target = ask("Target.createTarget", url="about:blank")["targetId"]
        session = ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            ask(domain + ".enable", session)
        across, down, phone = WIDTHS[width]
        ask("Emulation.setDeviceMetricsOverride", session, width=across, height=down, deviceScaleFactor=1, mobile=phone)
        self.set_theme(session, THEMES[0])
        self.browser.events.clear()
        ask("Page.navigate", session, url=page.as_uri())
        self.browser.wait_for("Page.loadEventFired")
        return target, session

    def evaluate(self, session, expression):
        answer = self.browser.ask("Runtime.evaluate", session, expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description", "an exception"))
        return answer["result"].get("value")

    def screenshot(self, session, where):
        size = self.browser.ask("Page.getLayoutMetrics", session)["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 16000)}
        png = base64.b64decode(self.browser.ask(
            "Page.captureScreenshot", session, format="png", captureBeyondViewport=True, clip={**clip, "scale": 1})["data"])
        picture = self.output / f"{where}.png"
        picture.write_bytes(png)
        if is_blank(png):
            self.complain(where, "the screenshot is blank")
        print(picture)

    def set_theme(self, session, theme):
        self.browser.ask("Emulation.setEmulatedMedia", session, features=[{"name": "prefers-color-scheme", "value": theme}])

    def read(self, name, page, width):
        target, session = self.open(page, width)
        for theme in THEMES:
            where = f"{name}-{theme}-{width}"
            self.set_theme(session, theme)
            self.look(where, session, theme, width)
            if (theme, width) == ("light", "desktop"):
                self.save_downloads(where, page, session)
                self.print_page(where, session)
            self.judge_events(where, page)
        self.browser.ask("Target.closeTarget", targetId=target)

    def look(self, where, session, theme, width):
        seen = self.evaluate(session, LOOK)
        if seen["width"] != WIDTHS[width][0]:
            self.complain(where, f"is laid out {seen['width']} wide, not as wide as the screen")
        for what in seen["wrong"]:
            self.complain(where, what)
        if (seen["charts"] == 0 and not where.startswith("live-")) or seen["texts"] < 20:
            self.complain(where, f"{seen['charts']} charts and {seen['texts']} texts")
        if width == "wide" and seen["charts"] > 0 and seen["taken"] < 0.9 * seen["width"]:
            self.complain(where, f"charts and tables take {seen['taken']:.0f} of {seen['width']} pixels")
        if (sum(seen["ground"][:3]) > 380) != (theme == "light"):
            self.complain(where, f"the ground is {seen['ground'][0]}, {seen['ground'][1]}, {seen['ground'][2]}")
        self.screenshot(session, where)

    def judge_events(self, where, page):
        for event in self.browser.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.consoleAPICalled":
                self.complain(where, f"console: {parameters['type']}: {parameters['args']}")
            elif method == "Runtime.exceptionThrown":
                self.complain(where, f"exception: {parameters['exceptionDetails']['text']}")
            elif method == "Log.entryAdded":
                self.complain(where, f"console: {parameters['entry']['level']}: {parameters['entry']['text']}")
            elif method == "Network.requestWillBeSent":
                url = parameters["request"]["url"]
                if url != page.as_uri() and not url.startswith("data:"):
                    self.complain(where, f"asks for {url}")
        self.browser.events.clear()

    def save_downloads(self, where, page, session):
        names = self.evaluate(session, "[...document.querySelectorAll('a[download]')].map((a) => a.download)")
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.output))
        self.browser.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder), eventsEnabled=True)
        for name in names:
            self.evaluate(session, f"document.querySelector('a[download={json.dumps(name)}]').click()")
            self.browser.wait_for("Browser.downloadProgress", lambda parameters: parameters["state"] != "inProgress")
            saved, beside = folder / name, page.parent / name
            if not saved.is_file():
                self.complain(where, f"{name} is not saved")
            elif not beside.is_file() or saved.read_bytes() != beside.read_bytes():
                self.complain(where, f"{name} as it is saved is not the file beside the page")
        shutil.rmtree(folder)

    def print_page(self, where, session):
        pdf = base64.b64decode(self.browser.ask("Page.printToPDF", session, printBackground=False, preferCSSPageSize=True)["data"])
        (self.output / f"{where}.pdf").write_bytes(pdf)
        if not pdf.startswith(b"%PDF") or b"/Page" not in pdf:
            self.complain(where, "does not print")


def main():
    output, pages = pathlib.Path(sys.argv[1]), [argument.split("=", 1) for argument in sys.argv[2:]]
    program = shutil.which("chromium")
    if not program:
        print("look.py: there is no chromium; install the packages of packaging/debian-packages.txt")
        return 1
    output.mkdir(parents=True, exist_ok=True)
    profile = tempfile.mkdtemp(prefix="shapley-browser-")
    browser = Browser(program, profile)
    reader = Reader(browser, output)
    try:
        for name, file in pages:
            for width in WIDTHS:
                reader.read(name, pathlib.Path(file).resolve(), width)
    finally:
        browser.close()
        shutil.rmtree(profile, ignore_errors=True)
    for what in reader.wrong[:200]:
        print(what)
    if len(reader.wrong) > 200:
        print(f"and {len(reader.wrong) - 200} more")
    return 1 if reader.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
