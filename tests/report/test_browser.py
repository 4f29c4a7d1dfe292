"""The page in headless Chromium: it renders, answers, and keeps to itself."""

import shutil
from pathlib import Path

import pytest

from mppo.report import html
from tests.report.made import described, write
from tests.report.payloads import PAYLOADS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def page_file(tmp_path_factory) -> Path:
    top = tmp_path_factory.mktemp("page")
    for seed in range(3):
        write(top / "runs" / f"mp-{seed}", described("mp-trpo", seed), visits=True)
        write(top / "runs" / f"trpo-{seed}", described("trpo", seed), paths=1)
    file = top / "report.html"
    file.write_text(html([top / "runs"]))
    return file


class Opened:
    """A page and all that it said or asked for."""

    def __init__(self, browser, file, **options):
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(dialog.message))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(f"file://{file}")
        self.page.evaluate(
            "addEventListener('securitypolicyviolation', e => console.error(e.violatedDirective))"
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def quiet(self):
        """Whether nothing was said and nothing but the file itself was asked for."""
        return (
            not self.said and len([url for url in self.asked if not url.startswith("data:")]) == 1
        )


def test_it_renders_and_a_click_hides_a_series(browser, page_file):
    with Opened(browser, page_file, viewport={"width": 1400, "height": 900}) as opened:
        page = opened.page
        curve = page.locator(".large .series").nth(1)
        assert curve.bounding_box()["width"] > 300
        button = page.locator(".large .legend button").nth(1)
        assert button.is_enabled()
        button.click()
        assert not curve.is_visible()
        assert page.locator(".large .series").nth(0).is_visible()
        assert button.get_attribute("aria-pressed") == "false"
        button.focus()
        page.keyboard.press("Enter")
        assert curve.is_visible()
        assert opened.quiet(), (opened.said, opened.asked)


def test_hovering_shows_the_numbers_of_all_series(browser, page_file):
    with Opened(browser, page_file, viewport={"width": 1400, "height": 900}) as opened:
        page = opened.page
        box = page.locator(".large .plot rect").first.bounding_box()
        page.mouse.move(box["x"] + box["width"] - 0.5, box["y"] + 40)
        tip = page.locator(".large .tip").inner_text()
        assert "20k steps" in tip
        # both have returns 10, 11, 12 at the end: 11 with 2.48 to either side
        assert tip.count("11") >= 2
        assert "8.5" in tip
        assert "MP-TRPO" in tip
        page.mouse.move(5, 5)
        assert page.locator(".tip").count() == 0
        assert opened.quiet(), (opened.said, opened.asked)


def test_dragging_zooms_and_the_keyboard_brings_all_back(browser, page_file):
    with Opened(browser, page_file, viewport={"width": 1400, "height": 900}) as opened:
        page = opened.page
        before = page.locator(".large .x-ticks").text_content()
        box = page.locator(".large .plot rect").first.bounding_box()
        middle = box["y"] + box["height"] / 2
        page.mouse.move(box["x"] + box["width"] * 0.49, middle)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.76, middle, steps=4)
        page.mouse.up()
        ticks = page.locator(".large .x-ticks").text_content()
        assert ticks == "10k11k12k13k14k15k"
        assert page.locator(".large .reset").is_visible()
        page.locator(".large .drawing").focus()
        page.keyboard.press("ArrowRight")
        assert page.locator(".large .tip").is_visible()
        page.keyboard.press("Escape")
        assert page.locator(".reset").count() == 0
        assert page.locator(".large .x-ticks").text_content() == before
        assert opened.quiet(), (opened.said, opened.asked)


@pytest.mark.parametrize("width", [360, 768, 1400])
def test_the_page_itself_never_scrolls_sideways(browser, page_file, width):
    with Opened(browser, page_file, viewport={"width": width, "height": 740}) as opened:
        opened.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        assert opened.quiet(), (opened.said, opened.asked)


def test_dark_mode_has_its_own_colours(browser, page_file):
    seen = {}
    for scheme in ("light", "dark"):
        with Opened(browser, page_file, color_scheme=scheme) as opened:
            seen[scheme] = opened.page.evaluate(
                "[getComputedStyle(document.body).backgroundColor,"
                " getComputedStyle(document.querySelector('.large .c0 .mean')).stroke]"
            )
            assert opened.quiet(), (opened.said, opened.asked)
    assert seen["light"] == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]
    assert seen["dark"] == ["rgb(20, 23, 26)", "rgb(242, 242, 242)"]


def test_it_is_readable_without_scripts(browser, page_file):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"file://{page_file}")
    assert page.locator(".large .series").nth(1).is_visible()
    assert page.locator(".large .legend button").first.is_disabled()
    assert page.locator("text=Return at the end").first.is_visible()
    context.close()


def test_a_page_of_hostile_runs_does_nothing(browser, tmp_path):
    for place, value in enumerate(PAYLOADS[::3]):
        run = described("mp-trpo", place, env=value, method_name=value)
        fault = [{"event": "fault", "message": value}]
        write(tmp_path / "runs" / f"{place}", run, iterations=3, final=False, events=fault)
    file = tmp_path / "hostile.html"
    file.write_text(html([tmp_path / "runs"]))
    with Opened(browser, file, viewport={"width": 360, "height": 740}) as opened:
        page = opened.page
        assert page.locator("aside li").count() == 67
        page.locator(".card .plot").first.hover()
        assert page.evaluate("document.scripts.length") == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert opened.quiet(), (opened.said, opened.asked[:5])
