// News as HTML: of the page only what the server wrote differently is replaced, so that focus, typed text, open details and the chosen code
// stay where they are. The fragment is our own, and scripts in what DOMParser made never run.
import { currentMain, say } from "./page.ts";

type Outlines = ReadonlyMap<string, string>;

/**
 * To be called before anything of the page is changed: what the server wrote is compared with what it wrote before, not with what became of it.
 * The result takes a fresh `<main>` and says whether there was one.
 */
export function startSwap(): (html: string) => boolean {
  let known = outlinesOf(currentMain());

  return (html) => {
    const fresh = new DOMParser().parseFromString(html, "text/html").querySelector<HTMLElement>("main#checkout");
    const main = currentMain();
    if (fresh === null || main === null) return false;
    const next = outlinesOf(fresh);
    const { stage, stageText } = main.dataset;
    if (fresh.dataset.stage !== stage) replaceMain(main, fresh);
    else if ([...next.keys()].join() !== [...known.keys()].join()) replaceKeeping(main, fresh);
    else {
      for (const [name, outline] of next) {
        if (outline === known.get(name)) continue;
        // One that stands in another comes with it.
        const part = partNamed(fresh, name);
        const old = partNamed(main, name);
        if (part !== null && old !== null) replaceKeeping(old, part);
      }
      for (const { name, value } of fresh.attributes) main.setAttribute(name, value);
    }
    known = next;
    const { title, stageText: newText } = fresh.dataset;
    if (title !== undefined) document.title = title;
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

/** The payer is at another point of the way: whoever was in the old one goes on at the heading of the new one. */
function replaceMain(main: HTMLElement, fresh: HTMLElement): void {
  const focused = document.activeElement;
  const isElsewhere = focused !== null && focused !== document.body && !main.contains(focused);
  main.replaceWith(fresh);
  if (!isElsewhere) fresh.querySelector("h1")?.focus();
}

function replaceKeeping(old: HTMLElement, fresh: HTMLElement): void {
  const focused = document.activeElement;
  const twin = focused !== null && old.contains(focused) ? twinOf(focused, old, fresh) : undefined;
  for (const each of old.querySelectorAll("input, textarea, details")) keepState(each, twinOf(each, old, fresh));
  old.replaceWith(fresh);
  if (twin instanceof HTMLElement) twin.focus({ preventScroll: true });
}

/** What stands in the new part where `element` stands in the old one. */
function twinOf(element: Element, old: HTMLElement, fresh: HTMLElement): Element | undefined {
  if (element === old) return fresh;
  const { id, tagName } = element;
  const byId = id === "" ? null : fresh.querySelector(`#${CSS.escape(id)}`);
  return byId ?? fresh.querySelectorAll(tagName)[[...old.querySelectorAll(tagName)].indexOf(element)];
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
