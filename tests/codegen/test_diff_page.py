"""The page of the schema diff in a browser: filters, search, keys, the dark switch, paper, and no script at all."""

import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from codegen.diff.formats import html
from tests.browser import (
    NARROW,
    WIDE,
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
from tests.codegen import reports

pytestmark = needs_browser
EVERYTHING = ["sum.dim", "exp2", "trunc_divide", "clip", "mean.dim", "logaddexp10", "fft_zoom", "split"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def write(tmp_path):
    """A function that writes the page of a report and gives its path."""

    def write(report):
        path = tmp_path / "diff.html"
        path.write_text(html.render(report), encoding="utf-8")
        return path

    return write


@pytest.fixture
def page(browser, write):
    """The browser with the page of an ordinary report; the page must leave nothing in the console."""
    show(browser, write(reports.ordinary()))
    browser.execute_script("localStorage.clear(); delete document.documentElement.dataset.theme")
    yield browser
    assert console_errors(browser) == []


def shown(browser):
    return [card.get_attribute("id") for card in displayed(browser, ".op")]


def opened(browser):
    return [card.get_attribute("id") for card in displayed(browser, ".op[open]")]


def focused(browser):
    return browser.execute_script("return document.activeElement.closest('.op')?.id")


def test_what_breaks_is_open_and_the_rest_is_a_list(page):
    assert shown(page) == EVERYTHING
    assert opened(page) == EVERYTHING[:4]
    assert find(page, "#shown").text == "8 of 8 shown"


def test_much_that_breaks_is_a_list_as_well(browser, write):
    show(browser, write(reports.large(60)))
    assert len(shown(browser)) == 60
    assert opened(browser) == []


@pytest.mark.parametrize(
    ("verdict", "left"),
    [("breaking", EVERYTHING[3:]), ("forward-only", EVERYTHING[:3] + EVERYTHING[4:]), ("text", EVERYTHING[:-1])],
)
def test_verdicts_can_be_hidden(page, verdict, left):
    find(page, f"[value={verdict}]").click()
    assert shown(page) == left
    assert find(page, "#shown").text == f"{len(left)} of 8 shown"


def test_one_family_can_be_shown(page):
    Select(find(page, "#family")).select_by_visible_text("reduction")
    assert shown(page) == ["sum.dim", "mean.dim"]
    assert [heading.text.split()[0] for heading in displayed(page, ".group > h2")] == ["Breaking", "Compatible"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("SUM.dim", ["sum.dim"]),
        ("axis numpy", ["mean.dim"]),
        ("log_2", ["exp2"]),
        ("scalar", ["clip"]),
        ("no such words", []),
        ("<del>", []),
    ],
)
def test_search_looks_at_every_text(page, words, found):
    press(page, "/", words)
    assert shown(page) == found
    assert bool(displayed(page, "#nothing")) is not bool(found)


def test_everything_can_be_shown_again(page):
    press(page, "/", "nowhere")
    find(page, "#reset").click()
    assert shown(page) == EVERYTHING
    assert not displayed(page, "#nothing")


def test_filters_go_together(page):
    press(page, "/", "axis")
    find(page, "[value=breaking]").click()
    assert shown(page) == ["mean.dim"]


def test_escape_empties_the_search(page):
    press(page, "/", "axis", Keys.ESCAPE)
    assert find(page, "#search").get_attribute("value") == ""
    assert shown(page) == EVERYTHING
    press(page, "j")
    assert focused(page) == "sum.dim", "the keys work again"


def test_keys_move_between_operators(page):
    press(page, "j", "j")
    assert focused(page) == "exp2"
    press(page, "k", "k")
    assert focused(page) == "sum.dim", "and stop at the first"
    press(page, *["j"] * 10)
    assert focused(page) == "split", "and at the last"


def test_keys_pass_over_what_is_hidden(page):
    find(page, "[value=breaking]").click()
    press(page, "j")
    assert focused(page) == "clip"


def test_enter_opens_and_closes(page):
    press(page, "j", Keys.ENTER)
    assert "sum.dim" not in opened(page)
    press(page, Keys.ENTER)
    assert "sum.dim" in opened(page)


def test_letters_can_be_searched_for(page):
    press(page, "/", "j", "k", "?", "/")
    assert find(page, "#search").get_attribute("value") == "jk?/"
    assert not displayed(page, "dialog")


def test_help_lists_the_keys(page):
    press(page, "?")
    assert {key.text for key in displayed(page, "dialog kbd")} == {"/", "j", "k", "Enter", "?", "Esc"}
    press(page, "j")
    assert focused(page) is None, "keys belong to the dialog while it is open"
    press(page, Keys.ESCAPE)
    assert not displayed(page, "dialog")
    find(page, "#show-help").click()
    assert displayed(page, "dialog")
    find(page, "dialog button").click()
    assert not displayed(page, "dialog")


def test_all_can_be_opened_and_closed(page):
    find(page, "#close-all").click()
    assert opened(page) == []
    find(page, "#open-all").click()
    assert opened(page) == EVERYTHING


def test_an_operator_can_be_linked_to(page):
    page.execute_script("location.hash = '#fft_zoom'")
    assert "fft_zoom" in opened(page)
    page.refresh()
    assert "fft_zoom" in opened(page)


def background(browser):
    return browser.execute_script("return getComputedStyle(document.body).backgroundColor")


LIGHT, DARK = "rgb(247, 247, 245)", "rgb(20, 22, 26)"


def test_dark_mode_follows_the_system_until_it_is_switched(page):
    address = page.current_url
    assert background(page) == LIGHT
    show(page, address, dark=True)
    assert background(page) == DARK
    assert find(page, "#theme").get_attribute("aria-pressed") == "true"
    find(page, "#theme").click()
    assert background(page) == LIGHT
    show(page, address, dark=True)
    assert background(page) == LIGHT, "the choice is remembered"
    find(page, "#theme").click()
    assert background(page) == DARK


@pytest.mark.parametrize("width", [NARROW, 700, WIDE])
@pytest.mark.parametrize("report", [reports.ordinary, reports.wicked, reports.nothing])
def test_the_page_fits_every_window(browser, write, width, report):
    show(browser, write(report()), width=width)
    browser.execute_script("document.querySelectorAll('.op').forEach((card) => { card.open = true })")
    assert not scrolls_sideways(browser)
    assert console_errors(browser) == []


def test_schemas_are_side_by_side_where_there_is_room(page):
    before, after = displayed(page, "[id='sum.dim'] figure")
    assert before.location["y"] == after.location["y"]
    show(page, page.current_url, width=NARROW)
    before, after = displayed(page, "[id='sum.dim'] figure")
    assert before.location["y"] < after.location["y"]


def test_without_a_script_everything_can_be_seen(browser, write):
    path = write(reports.ordinary())
    with without_javascript(browser):
        show(browser, path)
        assert shown(browser) == opened(browser) == EVERYTHING
        assert not displayed(browser, ".needs-script, input, button, dialog, #nothing")
        assert [tile.text.split() for tile in displayed(browser, ".tile")] == [
            ["3", "breaking"], ["1", "forward-only"], ["3", "compatible"], ["1", "text"],
        ]  # fmt: skip


def test_on_paper_everything_is_open_and_light(page):
    show(page, page.current_url, dark=True)
    page.execute_script("dispatchEvent(new Event('beforeprint'))")
    assert opened(page) == EVERYTHING
    page.execute_script("dispatchEvent(new Event('afterprint'))")
    assert opened(page) == EVERYTHING[:4]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not displayed(page, ".needs-script, button, input")
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_everything_that_can_be_operated_has_a_name(page):
    """What a screen reader says of a control must not be empty."""
    unnamed = """return [...document.querySelectorAll("button, input, select, summary, fieldset, form[role]")].filter(
        (control) => !(control.ariaLabel || control.labels?.[0]?.textContent || control.textContent).trim())"""
    assert page.execute_script(unnamed) == []


def test_texts_cannot_run_scripts(browser, write):
    page = write(reports.ordinary())
    text = page.read_text(encoding="utf-8").replace("</body>", "<script>document.title = 'taken over'</script></body>")
    page.write_text(text, encoding="utf-8")
    show(browser, page)
    assert browser.title == "Schema diff: v0.1.0 → the working tree"
    assert "Content Security Policy" in console_errors(browser)[0]
