import type { Texts } from "../../platform/texts/en.ts";
import type { Language } from "../../platform/texts/languages.ts";

/** What every page is drawn with. */
export interface Chrome {
  readonly language: Language;
  /** Whether the address names the language, so that links on the page must keep it. */
  readonly isLanguageNamed: boolean;
  /** Whether the address or the browser named a language. Link previews name none. */
  readonly isLanguageKnown: boolean;
  readonly texts: Texts;
  /** For the one script and the one style. */
  readonly nonce: string;
  /** Of this page, without a query. */
  readonly path: string;
  readonly nowMs: number;
}

/** A path of ours with its query, in the language that was named. */
export function linkTo(chrome: Chrome, path: string, query: Readonly<Record<string, string>> = {}): string {
  const all = { ...query, ...(chrome.isLanguageNamed ? { lang: chrome.language } : {}) };
  const text = new URLSearchParams(all).toString();
  return text === "" ? path : `${path}?${text}`;
}
