// A checkout's page as text: as sent by the server, and as shown by a browser.
import { checkoutPage } from "../../src/checkout/pay/checkout-page.tsx";
import type { Note } from "../../src/checkout/pay/note.ts";
import type { CheckoutView } from "../../src/checkout/pay/view.ts";
import type { Language } from "../../src/platform/texts/languages.ts";
import { chromeOf } from "./checkout-views.ts";

export function page(view: CheckoutView, of: { language?: Language; note?: Note | null } = {}): string {
  return String(checkoutPage({ chrome: chromeOf(of.language), view, note: of.note ?? null }));
}

/** Removes the styles and the values that the script fills in, which are not texts of the page. */
export function texts(html: string): string {
  return html.replaceAll(/<style.*?<\/style>/gs, "").replaceAll(/ data-[a-z-]+="[^"]*"/g, "");
}

/** The page's text as a browser shows it. */
export function shownText(html: string): string {
  const bare = texts(html).replaceAll(/<[^>]*>/g, "");
  const entities = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&" };
  return Object.entries(entities).reduce((text, [entity, sign]) => text.replaceAll(entity, sign), bare);
}

export function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}
