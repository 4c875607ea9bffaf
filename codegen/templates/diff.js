"use strict";

const page = document.documentElement;
const find = (id) => document.getElementById(id);
const cards = [...document.querySelectorAll(".op")];
const sections = [...document.querySelectorAll(".group")];
const verdicts = [...document.querySelectorAll("[name=verdict]")];
const texts = new Map(cards.map((card) => [card, card.textContent.toLowerCase()]));
const isShown = (card) => !card.hidden && !card.parentElement.hidden;

// ---- filter and search ----

function filter() {
  const words = find("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const family = find("family").value;
  const wanted = new Set(verdicts.filter((box) => box.checked).map((box) => box.value));
  for (const card of cards) {
    const isFamily = !family || card.dataset.family === family;
    card.hidden = !isFamily || !words.every((word) => texts.get(card).includes(word));
  }
  for (const section of sections) {
    section.hidden = !wanted.has(section.dataset.verdict) || !section.querySelector(".op:not([hidden])");
  }
  report();
}

function report() {
  const count = cards.filter(isShown).length;
  find("shown").textContent = cards.length ? `${count} of ${cards.length} shown` : "";
  find("nothing").hidden = count > 0 || cards.length === 0;
}

function reset() {
  find("filter").reset();
  filter();
}

find("filter").addEventListener("input", filter);
find("filter").addEventListener("change", filter); // some ways of choosing an option are no input
find("filter").addEventListener("submit", (event) => event.preventDefault());
find("reset").addEventListener("click", reset);

// ---- open and close ----

function openAll(open) {
  for (const card of cards.filter(isShown)) card.open = open;
}

function openLinked() {
  const card = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (card && card.matches(".op")) card.open = true;
}

find("open-all").addEventListener("click", () => openAll(true));
find("close-all").addEventListener("click", () => openAll(false));
window.addEventListener("hashchange", openLinked);

// On paper everything is open; afterwards the page is as it was.
window.addEventListener("beforeprint", () => {
  for (const card of cards.filter((each) => !each.open)) {
    card.open = true;
    window.addEventListener("afterprint", () => (card.open = false), { once: true });
  }
});

// ---- keys ----

function move(step) {
  const shown = cards.filter(isShown);
  const place = shown.indexOf(document.activeElement.closest(".op"));
  const next = shown[place < 0 ? 0 : Math.min(Math.max(place + step, 0), shown.length - 1)];
  if (next) {
    next.querySelector("summary").focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }
}

const keys = {
  "/": () => find("search").focus(),
  "?": () => find("help").showModal(),
  j: () => move(1),
  k: () => move(-1),
};

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.matches("input[type=search], select") || find("help").open;
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});

find("search").addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  find("search").value = "";
  find("search").blur();
  filter();
});

find("show-help").addEventListener("click", keys["?"]);

// ---- light and dark ----

const system = matchMedia("(prefers-color-scheme: dark)");

// Pages without an origin of their own have no storage.
function remember(theme) {
  try {
    if (theme) localStorage.setItem("theme", theme);
    return localStorage.getItem("theme");
  } catch {
    return theme;
  }
}

function isDark() {
  return page.dataset.theme ? page.dataset.theme === "dark" : system.matches;
}

function setTheme(theme) {
  if (theme) page.dataset.theme = theme;
  find("theme").setAttribute("aria-pressed", isDark());
}

find("theme").addEventListener("click", () => {
  const theme = isDark() ? "light" : "dark";
  remember(theme);
  setTheme(theme);
});
system.addEventListener("change", () => setTheme());

// ---- the page as it is first seen: what breaks is open, unless that is much, and the rest is a list ----

const mostOpen = 12;
const bad = cards.filter((card) => card.matches(".breaking, .forward-only"));

page.classList.add("has-script");
for (const card of cards) card.open = bad.length <= mostOpen && bad.includes(card);
setTheme(remember());
openLinked();
filter();
