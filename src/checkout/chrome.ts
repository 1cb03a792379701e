import type { Language } from "./languages.ts";
import type { Texts } from "./texts/en.ts";

/** What every page is drawn with. */
export interface Chrome {
  readonly language: Language;
  /** Whether the address names the language, so that links on the page must keep it. */
  readonly isLanguageNamed: boolean;
  /** Whether anybody said which language they read: the address, or the browser. What previews links says nothing. */
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
