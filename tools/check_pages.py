"""Look at the pages of the built site in headless Chromium: none may be wider than its window, on a phone or a desk.

Nor may the words of a heading be broken in two to make them fit. On a page with a playground every transform is picked
and every control is moved: the picture and the program must follow.

    python tools/check_pages.py site

Exits with 1 where one is, and names it with what sticks out. Without a browser it says so, and exits with 0.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WIDTHS = (360, 820, 1400)
# Of prefers-color-scheme, by the number that Blink gives them.
SCHEMES = {"dark": 0, "light": 1}

# Loads one page after the other into a frame of each width. What scrolls by itself, such as a table, may be wider.
SCRIPT = """
<body><script>
const pages = PAGES, widths = WIDTHS, found = [];
const wide = (page, frame, width) => {
  const root = frame.contentDocument.documentElement;
  if (root.scrollWidth <= width) return;
  const out = [...root.querySelectorAll("body *")].filter(one => one.getBoundingClientRect().right > width + 1);
  const one = out.find(one => one.children.length === 0) || out[0] || root;
  found.push({page, width, wide: root.scrollWidth, what: one.outerHTML.slice(0, 120)});
};
const broken = (page, frame, width) => {
  const inside = frame.contentDocument, style = inside.createElement("style");
  style.textContent = "h1, h2, h3 { overflow-wrap: normal !important; word-break: normal !important }";
  inside.head.append(style);
  for (const one of inside.querySelectorAll("h1, h2, h3"))
    if (one.scrollWidth > one.clientWidth + 1)
      found.push({page, width, wide: one.scrollWidth, what: "a word of " + one.outerHTML.slice(0, 120)});
  style.remove();
};
// Picks each transform of a playground and moves each of its controls. What does not follow is named.
const played = async (page, frame, width) => {
  const inside = frame.contentDocument, pick = inside.querySelector("#playground select");
  const wrong = what => found.push({page, width, what: "playground, " + pick.value + ": " + what});
  const picture = () => inside.querySelector("#playground img");
  const state = () => [picture().src, inside.querySelector(".playground-code pre").textContent];
  const moved = async (what, control, value, event) => {
    const before = state();
    if (control.type === "radio") control.checked = true; else control.value = value;
    control.dispatchEvent(new Event(event, {bubbles: true}));
    const after = state();
    if (before[0] === after[0]) wrong(what + " leaves the picture as it is");
    if (before[1] === after[1]) wrong(what + " leaves the program as it is");
    if (!picture().complete)
      await new Promise(done => ["load", "error"].forEach(one => picture().addEventListener(one, done, {once: true})));
    if (!picture().naturalWidth) wrong("there is no picture " + picture().src);
  };
  for (const option of [...pick.options].reverse()) {
    if (!option.selected) await moved("picking it", pick, option.value, "change");
    for (const slider of inside.querySelectorAll("#playground input[type=range]"))
      for (const end of [slider.min, slider.max])
        if (slider.value !== end) await moved("the slider to " + end, slider, end, "input");
    for (const choice of inside.querySelectorAll("#playground fieldset input[type=radio]"))
      if (!choice.checked) await moved("the choice " + choice.value, choice, "", "change");
    wide(page, frame, width);
  }
  return pick.options.length;
};
let transforms = 0;
(async () => {
  for (const page of pages) {
    const frame = document.createElement("iframe");
    frame.style.cssText = "border: 0; height: 900px; width: " + widths[0] + "px";
    frame.src = page;
    document.body.append(frame);
    await new Promise(done => { frame.onload = done; });
    for (const width of widths) {
      frame.style.width = width + "px";
      wide(page, frame, width);
      broken(page, frame, width);
      if (frame.contentDocument.getElementById("playground")) {
        if (frame.contentDocument.querySelector("#playground select")) transforms = await played(page, frame, width);
        else found.push({page, width, what: "the playground is empty"});
      }
    }
    frame.remove();
  }
  const out = document.createElement("pre");
  out.id = "found";
  out.textContent = JSON.stringify({looked: pages.length, transforms, found});
  document.body.append(out);
})();
</script></body>
"""


def pages_of(site: Path) -> list[Path]:
    """All pages of prose, and of the reference a few of each kind: classes are laid out alike."""
    prose = sorted(site.glob("*.html")) + sorted(site.glob("notes/*/*.html"))
    reference = sorted(site.glob("reference/*.html"))
    for folder in sorted(path for path in site.glob("reference/**") if path.is_dir()):
        reference += sorted(folder.glob("*.html"))[:6]
    left_out = {"genindex.html", "py-modindex.html", "search.html"}
    return [page for page in dict.fromkeys(prose + reference) if page.name not in left_out]


def look(browser: str, pages: list[Path], scheme: int, folder: Path) -> dict[str, object]:
    script = folder / "look.html"
    addresses = json.dumps([page.resolve().as_uri() for page in pages])
    script.write_text(SCRIPT.replace("PAGES", addresses, 1).replace("WIDTHS", json.dumps(WIDTHS), 1))
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        # Pages of files may be looked into by a script that is a file.
        "--disable-web-security",
        "--allow-file-access-from-files",
        f"--user-data-dir={folder}",
        f"--blink-settings=preferredColorScheme={scheme}",
        f"--window-size={max(WIDTHS)},1000",
        "--virtual-time-budget=600000",
        "--dump-dom",
        script.as_uri(),
    ]
    dom = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout
    result = re.search(r'<pre id="found">(.*?)</pre>', dom, re.DOTALL)
    if result is None:
        raise RuntimeError(f"{browser} did not get through the pages")
    return dict(json.loads(html.unescape(result[1])))


def main() -> int:
    site = Path(sys.argv[1])
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(f"Pages were not looked at: there is none of {', '.join(BROWSERS)}")
        return 0
    pages = pages_of(site)
    if not pages:
        print(f"There are no pages in {site}")
        return 1
    failed = False
    for name, scheme in SCHEMES.items():
        with tempfile.TemporaryDirectory() as folder:
            result = look(browser, pages, scheme, Path(folder))
        for one in result["found"]:  # type: ignore[attr-defined]
            failed = True
            wide = f"{one['wide']} px " if "wide" in one else ""
            print(f"{one['page']}, {name}: {wide}in a window of {one['width']}: {one['what']}")
        print(f"{result['looked']} pages looked at, {name}, in windows of {', '.join(map(str, WIDTHS))} px")
        if result["transforms"]:
            print(f"{result['transforms']} transforms of the playground tried, {name}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
