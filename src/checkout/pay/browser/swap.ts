// Updates the page from fresh HTML: replaces only what the server rendered differently, so that focus, typed text, open details and the
// selected tab stay. The HTML is our own, and scripts in DOMParser's output never run.
import { currentMain, say } from "./page.ts";

type Outlines = ReadonlyMap<string, string>;

/**
 * Call this before the script changes the page, because new HTML is compared with the server's earlier HTML, not with the changed page. The returned
 * function takes HTML with a fresh `<main>` and a callback, which it calls after the update; it returns whether the HTML had a `<main>`.
 */
export function startSwap(): (html: string, dress: () => void) => boolean {
  let known = outlinesOf(currentMain());

  return (html, dress) => {
    const fresh = new DOMParser().parseFromString(html, "text/html").querySelector<HTMLElement>("main#checkout");
    const main = currentMain();
    if (fresh === null || main === null) return false;
    const next = outlinesOf(fresh);
    const { stage, stageText, claimText } = main.dataset;
    const focused = document.activeElement;
    const refocus: (() => void)[] = [];
    const replace = (old: HTMLElement, part: HTMLElement) => {
      for (const each of old.querySelectorAll("input, textarea, details")) keepState(each, twinOf(each, old, part));
      if (focused !== null && old.contains(focused))
        refocus.push(() => twinOf(focused, old, part)?.focus({ preventScroll: true }));
      old.replaceWith(part);
    };
    if (fresh.dataset.stage !== stage || fresh.dataset.stageText !== stageText) {
      // The stage or its heading changed: moves the focus to the new heading, unless an element outside `main` has it.
      if (focused === null || focused === document.body || main.contains(focused))
        refocus.push(() => fresh.querySelector("h1")?.focus());
      main.replaceWith(fresh);
    } else if ([...next.keys()].join() !== [...known.keys()].join()) replace(main, fresh);
    else {
      for (const [name, outline] of next) {
        if (outline === known.get(name)) continue;
        // A part inside a replaced part is replaced with it.
        const part = partNamed(fresh, name);
        const old = partNamed(main, name);
        if (part !== null && old !== null) replace(old, part);
      }
      for (const { name, value } of fresh.attributes) main.setAttribute(name, value);
    }
    known = next;
    const { title, stageText: newText, claimText: newClaim } = fresh.dataset;
    if (title !== undefined) document.title = title;
    dress();
    // Restores the focus last: hidden elements and elements made by the script could not take it before.
    for (const each of refocus) each();
    const news = [newText === stageText ? "" : newText, newClaim === claimText ? "" : newClaim];
    say(news.join(" ").trim());
    return true;
  };
}

/** The HTML of each part by its name, without nested parts and without `noscript` content. */
function outlinesOf(main: HTMLElement | null): Outlines {
  const outlines = new Map<string, string>();
  for (const part of main?.querySelectorAll<HTMLElement>("[data-part]") ?? []) {
    const copy = part.cloneNode(true);
    if (!(copy instanceof Element)) continue;
    for (const inner of copy.querySelectorAll("[data-part], noscript")) inner.replaceWith();
    outlines.set(part.dataset.part ?? "", copy.outerHTML);
  }
  return outlines;
}

function partNamed(main: HTMLElement, name: string): HTMLElement | null {
  return main.querySelector<HTMLElement>(`[data-part="${CSS.escape(name)}"]`);
}

/** The element in the new part that corresponds to `element` in the old one. */
function twinOf(element: Element, old: HTMLElement, fresh: HTMLElement): HTMLElement | undefined {
  if (element === old) return fresh;
  const { id, tagName } = element;
  const byId = id === "" ? null : fresh.querySelector<HTMLElement>(`#${CSS.escape(id)}`);
  return byId ?? fresh.querySelectorAll<HTMLElement>(tagName)[[...old.querySelectorAll(tagName)].indexOf(element)];
}

/** Keeps only what the payer changed; the rest comes from the server. */
function keepState(old: Element, fresh: Element | undefined): void {
  if (old instanceof HTMLInputElement && fresh instanceof HTMLInputElement) {
    if (old.checked !== old.defaultChecked) fresh.checked = old.checked;
    if (old.value !== old.defaultValue) fresh.value = old.value;
  } else if (old instanceof HTMLTextAreaElement && fresh instanceof HTMLTextAreaElement) {
    if (old.value !== old.defaultValue) fresh.value = old.value;
  } else if (old instanceof HTMLDetailsElement && fresh instanceof HTMLDetailsElement) fresh.open = old.open;
}
