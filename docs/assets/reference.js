/* Search and filters of the index and of the coverage table. They work from file://, and the address keeps their state. */
"use strict";

const TYPING = new Set(["INPUT", "SELECT", "TEXTAREA"]);

function startFilter(form) {
  const rows = [...document.querySelectorAll("tr[data-row]")];
  const none = document.querySelector(".mt-none");
  const count = form.querySelector(".mt-count");
  const search = form.elements.q;
  const fields = [...form.querySelectorAll("[name]")];

  const fits = (row) =>
    fields.every(({ name, value }) => {
      if (!value) return true;
      if (name !== "q") return row.dataset[name].split(" ").includes(value);
      return value.toLowerCase().split(/\s+/).every((word) => row.dataset.row.includes(word));
    });

  function filter() {
    let shown = 0;
    for (const row of rows) {
      row.hidden = !fits(row);
      shown += !row.hidden;
    }
    count.textContent = `${shown} of ${rows.length}`;
    none.hidden = shown > 0;
  }

  function remember() {
    const state = new URLSearchParams(fields.filter(({ value }) => value).map(({ name, value }) => [name, value]));
    history.replaceState(null, "", state.size ? `#${state}` : location.pathname + location.search);
  }

  function recall() {
    const state = new URLSearchParams(location.hash.slice(1));
    for (const field of fields) field.value = state.get(field.name) || "";
    filter();
  }

  function clear() {
    for (const field of fields) field.value = "";
    change();
    search.focus();
  }

  function change() {
    filter();
    remember();
  }

  /* Down and up walk from the search field through the links of the rows that are shown. */
  function walk(step) {
    const links = rows.filter((row) => !row.hidden).map((row) => row.querySelector("a")).filter(Boolean);
    const stops = [search, ...links];
    const next = stops[stops.indexOf(document.activeElement) + step];
    if (next) next.focus();
    return Boolean(next);
  }

  function onKey(event) {
    const focused = document.activeElement;
    const walking = focused === search || focused.closest("tr[data-row]");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/" && !TYPING.has(focused.tagName)) search.focus();
    else if (event.key === "ArrowDown" && walking) walk(1);
    else if (event.key === "ArrowUp" && walking) walk(-1);
    else if (event.key === "Escape" && walking) clear();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  for (const event of ["input", "change"]) form.addEventListener(event, change);
  form.addEventListener("submit", (event) => event.preventDefault());
  document.querySelector(".mt-clear").addEventListener("click", clear);
  document.addEventListener("keydown", onKey, true);
  window.addEventListener("hashchange", recall);
  recall();
}

for (const form of document.querySelectorAll(".mt-filter")) startFilter(form);
