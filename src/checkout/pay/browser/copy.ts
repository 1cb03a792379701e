import { onPress, say, unhide } from "./page.ts";

const SHOWN_MS = 2_000;
/** The failure message is a sentence, which takes longer to read. */
const FAILURE_SHOWN_MS = 6_000;

/** Call the returned function when the page has changed. */
export function startCopy(): () => void {
  const restoring = new WeakMap<HTMLElement, () => void>();

  const show = (button: HTMLElement, text: string, of: { readonly keepsWidth: boolean; readonly ms: number }) => {
    restoring.get(button)?.();
    const before = [...button.childNodes];
    // Fixes the width, so that a longer word does not move the button's neighbours.
    if (of.keepsWidth) button.style.width = `${button.getBoundingClientRect().width}px`;
    button.replaceChildren(text);
    const restore = () => {
      clearTimeout(timer);
      restoring.delete(button);
      button.style.width = "";
      button.replaceChildren(...before);
    };
    const timer = setTimeout(restore, of.ms);
    restoring.set(button, restore);
  };

  onPress("[data-copy]", async (button) => {
    const { copy = "", copied = "", say: said, failed = "" } = button.dataset;
    if (await write(copy)) {
      show(button, copied, { keepsWidth: true, ms: SHOWN_MS });
      say(said ?? copied);
    } else {
      show(button, failed, { keepsWidth: false, ms: FAILURE_SHOWN_MS });
      say(failed);
    }
  });
  return () => unhide("[data-copy]");
}

async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // The clipboard refused, or is missing: pages loaded over plain HTTP have none.
    return writeBySelection(text);
  }
}

function writeBySelection(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.readOnly = true;
  area.style.position = "fixed";
  area.style.opacity = "0";
  document.body.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return isDone;
}
