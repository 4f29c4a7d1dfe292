"""The documentation builds as a site, and the site needs no network."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site. Warnings are errors: broken links and pages outside the navigation."""
    out = tmp_path_factory.mktemp("site")
    answer = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return out


def test_every_page_is_there(site):
    pages = [page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")]
    assert len(pages) > 30
    assert all((site / page.with_suffix(".html")).is_file() for page in pages)
    decisions = (site / "index.html").read_text()
    assert decisions.count("decisions/0") >= 24  # listed from their folder


def test_links_to_code_lead_to_its_line(site):
    page = (site / "paper-and-code.html").read_text()
    line = re.search(
        r'"source/src/mppo/algorithm/picking\.py\.html#__codelineno-0-(\d+)"'
        r"[^>]*>\s*<code>min_max",
        page,
    )
    assert line
    source = (ROOT / "src" / "mppo" / "algorithm" / "picking.py").read_text().splitlines()
    assert source[int(line[1]) - 1].startswith("def min_max(")
    assert f'id="__codelineno-0-{line[1]}"' in (
        (site / "source/src/mppo/algorithm/picking.py.html").read_text().replace("name=", "id=")
    )


def test_no_page_loads_anything_from_elsewhere(site):
    loaded = re.compile(r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)=\"?(https?:)?//[^\s\">]*")
    for page in site.rglob("*.html"):
        assert not loaded.search(page.read_text()), page.name


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")
def test_the_site_works_from_files(site):
    from playwright.sync_api import sync_playwright

    asked, complaints = [], []
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda said: said.type == "error" and complaints.append(said.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        for name in ("metrics.html", "reference.html", "paper-and-code.html"):
            page.goto((site / name).as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") == 390, name
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto((site / "index.html").as_uri())
        page.click(".md-search__input")
        page.keyboard.type("theorem_slack")
        page.wait_for_selector(".md-search-result__item")
        found = page.locator(".md-search-result__link").evaluate_all("all => all.map(a => a.href)")
        browser.close()
    assert any("metrics.html" in address for address in found)
    assert asked
    assert all(address.startswith(("file:", "data:", "about:")) for address in asked)
    assert complaints == []
