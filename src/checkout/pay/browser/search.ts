import { all, unhide } from "./page.ts";

const FIELD = "input[data-search]";

/** Call the returned function when the page has changed. */
export function startSearch(): () => void {
  document.addEventListener("input", ({ target }) => {
    if (target instanceof HTMLInputElement && target.matches(FIELD)) filter(target.value);
  });
  // Enter would submit the surrounding form with the value of its first button.
  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (key !== "Enter" || !(target instanceof HTMLInputElement) || !target.matches(FIELD)) return;
    event.preventDefault();
    for (const item of all("[data-find]")) {
      if (item.hidden) continue;
      const first = item.matches(FOCUSABLE) ? item : item.querySelector<HTMLElement>(FOCUSABLE);
      first?.focus();
      return;
    }
  });
  return () => {
    unhide(FIELD);
    const field = document.querySelector<HTMLInputElement>(FIELD);
    if (field !== null) filter(field.value);
  };
}

const FOCUSABLE = "a[href], button, input:not([type=hidden]), summary";

/** Shows the items whose text contains every typed word. */
function filter(typed: string): void {
  const words = plain(typed)
    .split(/\s+/)
    .filter((word) => word !== "");
  let found = 0;
  for (const item of all("[data-find]")) {
    const text = plain(item.dataset.find ?? "");
    item.hidden = !words.every((word) => text.includes(word));
    if (!item.hidden) found++;
  }
  for (const group of all("[data-find-group]")) {
    group.hidden = group.querySelector("[data-find]:not([hidden])") === null;
  }
  for (const none of all("[data-find-none]")) none.hidden = found > 0;
}

/** The text in lower case and without accents. */
function plain(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
