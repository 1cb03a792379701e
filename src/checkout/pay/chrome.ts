import type { Texts } from "../../platform/texts/en.ts";
import type { Language } from "../../platform/texts/languages.ts";

export interface Chrome {
  readonly language: Language;
  /** Whether the URL names the language. Links on the page must then keep it. */
  readonly isLanguageNamed: boolean;
  /** Whether the URL or the browser named a language. Programs that preview links name none. */
  readonly isLanguageKnown: boolean;
  readonly texts: Texts;
  /** Whether the page is in the frame that /modal/btcpay.js puts over a shop. Then it can be closed, and its links must stay in that frame. */
  readonly isModal: boolean;
  /** For the page's script and style. */
  readonly nonce: string;
  /** Path of this page, without a query. */
  readonly path: string;
  readonly nowMs: number;
}

export function keptView({ isModal }: Chrome): Readonly<Record<string, string>> {
  return isModal ? { view: "modal" } : {};
}

/** A link to our own path with its query, which keeps a named language and the frame over a shop. */
export function linkTo(chrome: Chrome, path: string, query: Readonly<Record<string, string>> = {}): string {
  const all = { ...query, ...keptView(chrome), ...(chrome.isLanguageNamed ? { lang: chrome.language } : {}) };
  const text = new URLSearchParams(all).toString();
  return text === "" ? path : `${path}?${text}`;
}
