// Access to the page's elements. The script has no texts of its own: the markup contains every text, in the page's language.

export function all(selector: string): NodeListOf<HTMLElement> {
  return document.querySelectorAll<HTMLElement>(selector);
}

/** The part that changes while the page is open; null on static pages. */
export function currentMain(): HTMLElement | null {
  return document.querySelector<HTMLElement>("main#checkout");
}

/** Listens on the document, so that swapped-in elements need no listeners. */
export function onPress(selector: string, act: (pressed: HTMLElement) => void): void {
  document.addEventListener("click", ({ target }) => {
    const pressed = target instanceof Element ? target.closest<HTMLElement>(selector) : null;
    if (pressed !== null) act(pressed);
  });
}

/** Shows elements that only work with scripts. */
export function unhide(selector: string): void {
  for (const each of all(selector)) each.hidden = false;
}

/** Announces a text to screen readers. If the same text is passed twice, it is announced twice. */
export function say(text: string | undefined): void {
  const announcer = document.getElementById("say");
  if (announcer === null || text === undefined || text === "") return;
  announcer.textContent = announcer.textContent === text ? `${text}\u00a0` : text;
}
