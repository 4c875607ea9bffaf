"""The documentation site: it builds without a warning, its links lead somewhere, and it works in a browser."""

import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote

import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from codegen.emit.shown_calls import shown_new_call, shown_old_call
from docs.builder import index
from docs.builder.op_page import anchor_of, grouped, page_name
from tests.browser import (
    NARROW,
    chromium,
    console_errors,
    displayed,
    find,
    needs_browser,
    press,
    scrolls_sideways,
    show,
    without_javascript,
)
from tests.harness import ROOT, model

pytestmark = pytest.mark.site

COMMAND = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir"]


# ---- the site is built once, also when several processes run the tests ----


@pytest.fixture(scope="session")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    built, log = folder / "site", folder / "site.log"
    try:
        built.mkdir()
    except FileExistsError:
        wait_for(log)
    else:
        log.with_suffix(".part").write_text(build(built), encoding="utf-8")
        log.with_suffix(".part").rename(log)
    return built


def build(folder: Path) -> str:
    """Build the site; what was said, and a last line with the exit status."""
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run([*COMMAND, str(folder)], cwd=ROOT, env=environment, text=True, capture_output=True)
    return f"{done.stdout}{done.stderr}\nexit status {done.returncode}"


def wait_for(path: Path, seconds: int = 300) -> None:
    end = time.monotonic() + seconds
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.2)


def pages_of(site: Path) -> dict[str, str]:
    return {path.relative_to(site).as_posix(): path.read_text(encoding="utf-8") for path in site.rglob("*.html")}


# ---- the files ----


def test_builds_without_a_warning(site):
    log = (site.parent / "site.log").read_text(encoding="utf-8")
    assert log.endswith("exit status 0"), log
    assert "WARNING" not in log


def test_every_op_has_a_page_with_an_anchor_for_every_overload(site):
    for ops in grouped(model()).values():
        page = (site / "op" / f"{page_name(ops)}.html").read_text(encoding="utf-8")
        anchors = re.findall(r' id="([^"]+)"', page)
        assert [anchors.count(anchor_of(op)) for op in ops] == [1] * len(ops), page_name(ops)


@pytest.mark.parametrize(
    "text",
    [
        "torch.mul(input: Tensor | Number, other: Tensor | Number, *, out: Tensor | None = None) -> Tensor",
        "mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
        ">>> torch.mul(x, other)",
        "grad_fn=<MulBackward0>",
        "the dtype that all tensors and numbers can be converted to",
        "mul_backward(grad, other)",
        "aclnnMul(self, other, out)",
        "- func: mul.Tensor(Tensor self, Tensor other) -> Tensor",
        "Gradient of x * other with respect to x.",
    ],
)
def test_a_page_says_what_there_is_to_know(site, text):
    page = (site / "op/mul.html").read_text(encoding="utf-8")
    words = unescape(re.sub(r"<[^>]+>", "", page))
    assert text.replace(">>> ", "").replace("torch.mul(x", "y = torch.mul(x") in words or text in words


def test_a_deprecated_call_is_on_the_page(site):
    deprecated = next(op for op in model().ops.values() if op.deprecated)
    page = unescape((site / f"op/{deprecated.schema.base}.html").read_text(encoding="utf-8"))
    assert str(deprecated.deprecated[0].schema) in page
    call, instead = (each(model(), deprecated, deprecated.deprecated[0]) for each in (shown_old_call, shown_new_call))
    assert f"<code>{call}</code>: use <code>{instead}</code> instead" in page
    assert "# deprecated" in re.sub(r"<[^>]+>", "", page)


def test_links_lead_somewhere(site):
    pages = pages_of(site)
    anchors = {name: set(re.findall(r'\b(?:id|name)="?([^"\s>]+)', text)) for name, text in pages.items()}
    broken = []
    for name, text in pages.items():
        for link in set(re.findall(r'<(?:a|link|script|img|iframe)\b[^>]*?\b(?:href|src)="([^"]+)"', text)):
            if not leads_somewhere(site, name, unescape(link), anchors):
                broken.append(f"{name}: {link}")
    assert broken == []


def leads_somewhere(site: Path, page: str, link: str, anchors: dict[str, set[str]]) -> bool:
    """A link to a file and a place in it; the index and the coverage page keep their filters behind the #."""
    if re.match(r"[a-z]+:", link):
        return True
    path, _, anchor = link.partition("#")
    target = (site / page).parent / unquote(path) if path else site / page
    name = os.path.relpath(target, site).replace(os.sep, "/")
    if page == "404.html" or not target.exists():
        return page == "404.html"  # its links are for the top of a server
    return not anchor or "=" in anchor or unquote(anchor) in anchors[name]


def test_nothing_is_fetched_from_a_network(site):
    for name, text in pages_of(site).items():
        assert re.findall(r'<(?:script|link|img|iframe)\b[^>]*(?:src|href)="(?:https?:)?//[^"]*', text) == [], name


def test_written_pages_are_in_the_navigation(site):
    home = (site / "index.html").read_text(encoding="utf-8")
    for page in ROOT.glob("docs/*.md"):
        assert f'href="{page.stem}.html"' in home, page.name


# ---- in a browser ----


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        """Say nothing."""


@contextmanager
def served(folder: Path):
    """The address of a web server for a folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(params=["file", "server"])
def address(request, site):
    if request.param == "file":
        yield site.resolve().as_uri()
    else:
        with served(site) as url:
            yield url


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


def shown(browser) -> list[str]:
    """The names in the rows that the filters leave."""
    return browser.execute_script(
        "return [...document.querySelectorAll('tr[data-row]')].filter(row => !row.hidden)"
        ".map(row => row.querySelector('code').textContent)"
    )


@needs_browser
def test_the_index_is_searched(browser, address):
    show(browser, f"{address}/ops.html")
    everything = shown(browser)
    assert len(everything) == len(grouped(model()))
    press(browser, "/", "conv")
    assert shown(browser) == [name for name in everything if "conv" in name]
    assert find(browser, ".mt-count").text == f"{len(shown(browser))} of {len(everything)}"
    press(browser, Keys.ESCAPE)
    assert shown(browser) == everything
    press(browser, "no such op")
    assert shown(browser) == []
    assert len(displayed(browser, ".mt-none")) == 1
    assert console_errors(browser) == []


@needs_browser
def test_filters_are_kept_in_the_address(browser, address):
    show(browser, f"{address}/ops.html")
    Select(find(browser, "select[name=family]")).select_by_visible_text("fft")
    Select(find(browser, "select[name=derivative]")).select_by_visible_text("composite")
    expected = shown(browser)
    assert {"fft_fft", "fft_ifft", "fft_irfft", "fft_rfft"} <= set(expected)
    assert "_fft_r2c" not in expected  # it has a kernel
    assert browser.current_url.endswith("#family=fft&derivative=composite")
    browser.refresh()
    assert shown(browser) == expected
    assert console_errors(browser) == []


@needs_browser
def test_the_index_is_walked_with_keys(browser, address):
    show(browser, f"{address}/ops.html#q=softmax")
    names = shown(browser)
    press(browser, "/", Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert browser.switch_to.active_element.text == names[1]
    press(browser, Keys.ARROW_UP, Keys.ENTER)
    assert browser.current_url == f"{address}/op/{names[0]}.html"
    assert find(browser, "h1").text.startswith(names[0])


@needs_browser
def test_the_page_of_an_op(browser, address):
    show(browser, f"{address}/op/tan.html")
    letter, fraction = (find(browser, f"math {name}").rect["height"] for name in ("mi", "mfrac"))
    assert fraction > 1.5 * letter > 0, "formulas are not set as mathematics"
    link = next(each for each in displayed(browser, "td a") if "backends/cpu" in each.text)
    file, line = link.text.rpartition(" ")[2].rsplit(":", 1)
    link.click()
    assert browser.current_url.endswith(f"/source/{file}.html#__codelineno-0-{line}")
    place = f"document.getElementById('__codelineno-0-{line}').getBoundingClientRect().top"
    assert browser.execute_script(f"return 0 <= {place} && {place} < innerHeight"), "the line is not in sight"
    assert console_errors(browser) == []


@needs_browser
def test_the_search_of_the_site(browser, address):
    show(browser, f"{address}/index.html")
    find(browser, "input.md-search__input").click()
    press(browser, "logsumexp")
    WebDriverWait(browser, 20).until(lambda _: displayed(browser, ".md-search-result__link"))
    assert "op/logsumexp.html" in displayed(browser, ".md-search-result__link")[0].get_attribute("href")
    assert console_errors(browser) == []


@needs_browser
def test_coverage_of_core_aten(browser, address):
    show(browser, f"{address}/coverage.html")
    Select(find(browser, "select[name=core]")).select_by_visible_text("yes")
    Select(find(browser, "select[name=here]")).select_by_visible_text("all")
    names = set(shown(browser))
    assert "mm" in names and not names & {"relu_", "__and__", "cholesky"}
    assert find(browser, ".mt-count").text == f"{len(names)} of {len(index.coverage(model(), []))}"
    assert console_errors(browser) == []


@needs_browser
def test_the_index_needs_no_javascript(browser, site):
    with without_javascript(browser):
        show(browser, site / "ops.html")
        assert len(displayed(browser, "tr[data-row]")) == len(grouped(model()))


@needs_browser
@pytest.mark.parametrize(
    "page", ["index", "ops", "coverage", "notation", "review", "op/add", "op/convolution", "op/bmm"]
)
def test_a_telephone_shows_the_whole_width(browser, site, page):
    show(browser, site / f"{page}.html", width=NARROW)
    assert not scrolls_sideways(browser)
