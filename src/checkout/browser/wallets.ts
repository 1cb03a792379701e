// A button for each wallet in the browser. No wallet is asked for anything before its button is pressed.
import { all, currentMain, onPress, say } from "./page.ts";
import { type Outcome, sendTransfer, transferOf, type Wallet, walletOf } from "./wallet.ts";

const PLACE = "[data-wallets]";
const MOST_WALLETS = 12;

/** The result is to be called when the page changed. */
export function startWallets(): () => void {
  const wallets = new Map<string, Wallet>();
  /** The wallet that is being asked, and the stage that was sent from: one payment from one stage. */
  let busy: Wallet | undefined;
  let sentFrom: string | undefined;
  let isAwaited = false;

  const isLocked = () => busy !== undefined || (sentFrom !== undefined && sentFrom === currentMain()?.dataset.stage);

  const dress = () => {
    const places = all(PLACE);
    if (places.length > 0 && !isAwaited) {
      isAwaited = true;
      // Those who are there announce themselves at once; those who come later do so by themselves.
      window.dispatchEvent(new Event("eip6963:requestProvider"));
    }
    for (const place of places) {
      for (const wallet of wallets.values()) {
        if (place.querySelector(`[data-wallet="${CSS.escape(wallet.id)}"]`) !== null) continue;
        const button = buttonOf(wallet, place.dataset.payWith ?? "");
        const status = place.querySelector("[data-wallet-status]");
        if (status === null) place.append(button);
        else status.before(button);
      }
      if (wallets.size > 0) place.hidden = false;
    }
    // Not disabled: that would take the focus away.
    for (const button of all("[data-wallet]")) button.setAttribute("aria-disabled", String(isLocked()));
  };

  /** Looked up each time: the page may have been swapped since the button was pressed. */
  const tell = (what: "waiting" | Outcome, wallet: Wallet) => {
    const text = document.querySelector<HTMLElement>(PLACE)?.dataset[what]?.replace("{wallet}", () => wallet.name);
    if (text === undefined) return;
    for (const status of all("[data-wallet-status]")) status.textContent = text;
    say(text);
  };

  window.addEventListener("eip6963:announceProvider", (event) => {
    const wallet = event instanceof CustomEvent ? walletOf(event.detail) : undefined;
    if (wallet === undefined || wallets.has(wallet.id) || wallets.size >= MOST_WALLETS) return;
    wallets.set(wallet.id, wallet);
    dress();
  });

  onPress("[data-wallet]", async (button) => {
    const wallet = wallets.get(button.dataset.wallet ?? "");
    if (wallet === undefined || isLocked()) return;
    busy = wallet;
    dress();
    tell("waiting", wallet);
    const stage = currentMain()?.dataset.stage;
    const outcome = await sendTransfer(wallet, () =>
      transferOf(document.querySelector<HTMLElement>(PLACE)?.dataset.wallets),
    );
    busy = undefined;
    if (outcome === "sent") sentFrom = stage;
    tell(outcome, wallet);
    dress();
  });

  return dress;
}

function buttonOf(wallet: Wallet, payWith: string): HTMLElement {
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
  name.textContent = payWith.replace("{wallet}", () => wallet.name);
  button.append(name);
  return button;
}
