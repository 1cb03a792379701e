// Updates the page from fresh HTML: only what the server wrote differently is replaced, so that focus, typed text, open details and the chosen
// code stay. The fragment is our own, and scripts in what DOMParser made never run.
import { currentMain, say } from "./page.ts";

type Outlines = ReadonlyMap<string, string>;

/**
 * To be called before anything of the page is changed: what the server wrote is compared with what it wrote before, not with what became of it.
 * The result takes a fresh `<main>` and what to do with the page then, and says whether there was one.
 */
export function startSwap(): (html: string, dress: () => void) => boolean {
  let known = outlinesOf(currentMain());

  return (html, dress) => {
    const fresh = new DOMParser().parseFromString(html, "text/html").querySelector<HTMLElement>("main#checkout");
    const main = currentMain();
    if (fresh === null || main === null) return false;
    const next = outlinesOf(fresh);
    const { stage, stageText } = main.dataset;
    const focused = document.activeElement;
    const refocus: (() => void)[] = [];
    const replace = (old: HTMLElement, part: HTMLElement) => {
      for (const each of old.querySelectorAll("input, textarea, details")) keepState(each, twinOf(each, old, part));
      if (focused !== null && old.contains(focused))
        refocus.push(() => twinOf(focused, old, part)?.focus({ preventScroll: true }));
      old.replaceWith(part);
    };
    if (fresh.dataset.stage !== stage) {
      // The stage changed. Unless an element outside `main` has the focus, the focus moves to the heading of the new stage.
      if (focused === null || focused === document.body || main.contains(focused))
        refocus.push(() => fresh.querySelector("h1")?.focus());
      main.replaceWith(fresh);
    } else if ([...next.keys()].join() !== [...known.keys()].join()) replace(main, fresh);
    else {
      for (const [name, outline] of next) {
        if (outline === known.get(name)) continue;
        // A part inside another one comes with it.
        const part = partNamed(fresh, name);
        const old = partNamed(main, name);
        if (part !== null && old !== null) replace(old, part);
      }
      for (const { name, value } of fresh.attributes) main.setAttribute(name, value);
    }
    known = next;
    const { title, stageText: newText } = fresh.dataset;
    if (title !== undefined) document.title = title;
    dress();
    // What was hidden takes no focus, and what the script made was not there.
    for (const each of refocus) each();
    if (newText !== stageText) say(newText);
    return true;
  };
}

/** Parts by name, each without the parts in it and without what is only there where no script runs. */
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

/** The element of the new part that corresponds to `element` in the old one. */
function twinOf(element: Element, old: HTMLElement, fresh: HTMLElement): HTMLElement | undefined {
  if (element === old) return fresh;
  const { id, tagName } = element;
  const byId = id === "" ? null : fresh.querySelector<HTMLElement>(`#${CSS.escape(id)}`);
  return byId ?? fresh.querySelectorAll<HTMLElement>(tagName)[[...old.querySelectorAll(tagName)].indexOf(element)];
}

/** Only what the payer changed: the rest is the server's to say. */
function keepState(old: Element, fresh: Element | undefined): void {
  if (old instanceof HTMLInputElement && fresh instanceof HTMLInputElement) {
    if (old.checked !== old.defaultChecked) fresh.checked = old.checked;
    if (old.value !== old.defaultValue) fresh.value = old.value;
  } else if (old instanceof HTMLTextAreaElement && fresh instanceof HTMLTextAreaElement) {
    if (old.value !== old.defaultValue) fresh.value = old.value;
  } else if (old instanceof HTMLDetailsElement && fresh instanceof HTMLDetailsElement) fresh.open = old.open;
}
