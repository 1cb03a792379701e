// Shows a button for each wallet in the browser. A wallet gets no request before its button is pressed.
import { all, currentMain, onPress, say } from "./page.ts";
import { type Outcome, sendTransfer, type Transfer, transferOf, type Wallet, walletOf } from "./wallet.ts";

const PATIENCE_MS = 15_000;
const PLACE = "[data-wallets]";
const MOST_WALLETS = 12;

interface Message {
  readonly what: "waiting" | Outcome;
  readonly wallet: Wallet;
  readonly stage: string;
}

/** Call the returned function when the page has changed. `ask` requests the current page. */
export function startWallets(ask: () => void): () => void {
  const wallets = new Map<string, Wallet>();
  let isAwaited = false;
  let isBusy = false;
  /** The stage from which a payment was sent. Only one payment is sent from each stage: until the page shows it, a second one would pay twice. */
  let sentFrom: string | undefined;
  let message: Message | undefined;

  const stage = () => currentMain()?.dataset.stage ?? "";
  const isLocked = () => isBusy || sentFrom === stage();

  const dress = () => {
    const places = all(PLACE);
    if (places.length > 0 && !isAwaited) {
      isAwaited = true;
      // Wallets that are already loaded announce themselves at once; others do so when they load.
      window.dispatchEvent(new Event("eip6963:requestProvider"));
    }
    for (const place of places) {
      dressPlace(place, wallets, textIn(place));
      if (wallets.size > 0) place.hidden = false;
    }
    // Does not set `disabled`, which would take the focus away.
    for (const button of all("[data-wallet]")) button.setAttribute("aria-disabled", String(isLocked()));
  };

  /** The page may be swapped before or after this call, so each list of wallets takes the text from its own markup. */
  const show = (what: Message["what"], wallet: Wallet) => {
    message = { what, wallet, stage: stage() };
    dress();
    const place = document.querySelector<HTMLElement>(PLACE);
    if (place !== null) say(textIn(place));
  };

  const textIn = ({ dataset }: HTMLElement): string =>
    message?.stage === stage() ? fill(dataset[message.what], message.wallet) : "";

  window.addEventListener("eip6963:announceProvider", (event) => {
    const wallet = event instanceof CustomEvent ? walletOf(event.detail) : undefined;
    if (wallet === undefined || wallets.has(wallet.id) || wallets.size >= MOST_WALLETS) return;
    wallets.set(wallet.id, wallet);
    dress();
  });

  onPress("[data-wallet]", async (button) => {
    const wallet = wallets.get(button.dataset.wallet ?? "");
    if (wallet === undefined || isLocked()) return;
    isBusy = true;
    const pressedAt = stage();
    show("waiting", wallet);
    const outcome = await sendTransfer(wallet, { shown: () => transferIn(document), read: readTransfer });
    isBusy = false;
    if (outcome === "sent") sentFrom = pressedAt;
    show(outcome, wallet);
    if (outcome === "changed") ask();
  });

  return dress;
}

function transferIn(page: Document): Transfer | undefined {
  return transferOf(page.querySelector<HTMLElement>(PLACE)?.dataset.wallets);
}

/** Asks the server for this page's transfer as of now. */
async function readTransfer(): Promise<Transfer | undefined> {
  const answer = await fetch(currentMain()?.dataset.stateUrl ?? "", {
    cache: "no-store",
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  return answer.ok ? transferIn(new DOMParser().parseFromString(await answer.text(), "text/html")) : undefined;
}

/** Adds to `place` a button for each wallet that has no button there yet, and shows the result of the latest payment. */
function dressPlace(place: HTMLElement, wallets: ReadonlyMap<string, Wallet>, text: string): void {
  const status = place.querySelector("[data-wallet-status]");
  for (const [id, wallet] of wallets) {
    if (place.querySelector(`[data-wallet="${CSS.escape(id)}"]`) !== null) continue;
    const button = buttonOf(wallet, place.dataset.payWith);
    if (status === null) place.append(button);
    else status.before(button);
  }
  if (status !== null) status.textContent = text;
}

function buttonOf(wallet: Wallet, payWith: string | undefined): HTMLElement {
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.wallet = wallet.id;
  if (wallet.icon !== null) {
    const icon = document.createElement("img");
    icon.src = wallet.icon;
    icon.alt = "";
    icon.width = 24;
    icon.height = 24;
    button.append(icon);
  }
  const name = document.createElement("span");
  name.textContent = fill(payWith, wallet);
  button.append(name);
  return button;
}

function fill(text = "", { name }: Wallet): string {
  return text.replace("{wallet}", () => name);
}
