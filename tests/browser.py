"""A headless Chromium for the tests of web pages. Where there is none, or no chromedriver, `needs_browser` skips them.

pytestmark = needs_browser

@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium.webdriver import ActionChains, Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

WIDE, NARROW = 1400, 390  # pixels: a desktop and a telephone

_IS_LOADED = "return location.href !== 'about:blank' && document.readyState === 'complete'"

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_BINARY = next(filter(None, map(shutil.which, _NAMES)), None)
_DRIVER = shutil.which("chromedriver")

# No sandbox, because containers have none; the rest keeps a browser from looking for work on the network.
_SWITCHES = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
)  # fmt: skip

needs_browser = pytest.mark.skipif(not (_BINARY and _DRIVER), reason="no Chromium with a chromedriver here")


@contextmanager
def chromium(profile: Path) -> Iterator[Chrome]:
    """A browser that starts with an empty profile in a folder, and keeps what pages write to the console."""
    options = ChromeOptions()
    options.binary_location = _BINARY or ""
    for switch in (*_SWITCHES, f"--user-data-dir={profile}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = Chrome(options, Service(_DRIVER))
    try:
        yield browser
    finally:
        browser.quit()


def show(browser: Chrome, page: Path | str, *, width: int = WIDE, height: int = 900, dark: bool = False) -> None:
    """Open a file or an address in a window of a size, on a system that is set to light or to dark."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width <= NARROW}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    browser.get("about:blank")  # an address that differs in its hash only would not load the page again
    browser.get(page.resolve().as_uri() if isinstance(page, Path) else page)
    # On a busy machine the driver may take the end of loading the blank page for that of the page.
    WebDriverWait(browser, 20).until(lambda browser: browser.execute_script(_IS_LOADED))


def press(browser: Chrome, *keys: str) -> None:
    """Type keys, one after the other, to whatever has the focus."""
    for key in keys:
        ActionChains(browser).send_keys(key).perform()


def find(browser: Chrome, selector: str) -> WebElement:
    """The first element that a CSS selector matches."""
    return browser.find_element(By.CSS_SELECTOR, selector)


def displayed(browser: Chrome, selector: str) -> list[WebElement]:
    """The elements that a CSS selector matches and a reader can see."""
    return [element for element in browser.find_elements(By.CSS_SELECTOR, selector) if element.is_displayed()]


def console_errors(browser: Chrome) -> list[str]:
    """What pages have complained about since the last call."""
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


@contextmanager
def without_javascript(browser: Chrome) -> Iterator[None]:
    """Pages that are opened inside do not run their scripts."""
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def scrolls_sideways(browser: Chrome) -> bool:
    """Whether the page is wider than its window."""
    return bool(
        browser.execute_script("return document.documentElement.scrollWidth > document.documentElement.clientWidth")
    )


def screenshot(browser: Chrome, path: Path) -> None:
    """A picture of what the window shows."""
    path.write_bytes(browser.get_screenshot_as_png())
