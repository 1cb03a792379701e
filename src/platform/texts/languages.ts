// The languages of the payer's pages, and the choice of one for a browser.

/** Keyed by the value of `<html lang>`; each has its name in its own language. English, the fallback, comes first. */
export const LANGUAGES = {
  en: { name: "English", direction: "ltr", locale: "en-US" },
  es: { name: "Español", direction: "ltr", locale: "es" },
  pt: { name: "Português", direction: "ltr", locale: "pt-BR" },
  fr: { name: "Français", direction: "ltr", locale: "fr" },
  de: { name: "Deutsch", direction: "ltr", locale: "de" },
  tr: { name: "Türkçe", direction: "ltr", locale: "tr" },
  ru: { name: "Русский", direction: "ltr", locale: "ru" },
  // ASCII digits, because amounts are copied into wallets.
  ar: { name: "العربية", direction: "rtl", locale: "ar-u-nu-latn" },
  zh: { name: "简体中文", direction: "ltr", locale: "zh-Hans" },
  ja: { name: "日本語", direction: "ltr", locale: "ja" },
} as const satisfies Readonly<Record<string, Readonly<{ name: string; direction: "ltr" | "rtl"; locale: string }>>>;

export type Language = keyof typeof LANGUAGES;

export const DEFAULT_LANGUAGE: Language = "en";

export function isLanguage(text: string): text is Language {
  return Object.hasOwn(LANGUAGES, text);
}

/** The browser's preferred language among ours (RFC 9110, 12.5.4): by weight, then in the order of the header. For `de-AT` only `de` counts. */
export function negotiateLanguage(acceptLanguage: string | undefined): Language {
  const wanted = (acceptLanguage ?? "")
    .slice(0, 500)
    .split(",")
    .map((part) => {
      const [, tag = "", weight = "1"] =
        /^\s*([A-Za-z]{1,8})(?:-[A-Za-z0-9-]*)?\s*(?:;\s*q=([01](?:\.\d{0,3})?))?\s*$/.exec(part) ?? [];
      return { language: tag.toLowerCase(), weight: Number(weight) };
    })
    .filter(({ language, weight }) => isLanguage(language) && weight > 0)
    .toSorted((a, b) => b.weight - a.weight);
  const [best] = wanted;
  return best !== undefined && isLanguage(best.language) ? best.language : DEFAULT_LANGUAGE;
}
