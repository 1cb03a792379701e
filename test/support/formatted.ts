// Amounts and times as each language writes them, character by character. A page must be the same no matter whether Node's ICU or workerd's formatted
// it.
import type { Language } from "../../src/platform/texts/languages.ts";

/** In the order of a row's texts; the last text is the time. */
export const FORMATTED_MONEY = [
  { micros: 1_234_567_500_000n, currency: "EUR" },
  { micros: 980_000_000n, currency: "JPY" },
  // CLDR uses no decimals here, while ISO 4217 has two.
  { micros: 2_500_000_000n, currency: "HUF" },
  { micros: 1n, currency: "USD" },
  { micros: 500_000n, currency: "BTC" },
] as const;

export const FORMATTED_MS = Date.UTC(2026, 9, 3, 4);

/** Stand-ins for invisible characters: `_` is a no-break space, `'` a narrow one, `>` the mark that makes Arabic run from right to left. */
export function visible(text: string): string {
  return text.replaceAll("\u00a0", "_").replaceAll("\u202f", "'").replaceAll("\u200f", ">");
}

export const FORMATTED: readonly (readonly [Language, string, string, string, string, string, string])[] = [
  ["en", "€1,234,567.50", "¥980", "HUF_2,500", "$0.000001", "0.5_BTC", "Oct 3, 2026, 4:00 AM UTC"],
  ["es", "1.234.567,50_€", "980_JPY", "2500_HUF", "0,000001_US$", "0,5_BTC", "3 oct 2026, 4:00 UTC"],
  ["pt", "€_1.234.567,50", "JP¥_980", "HUF_2.500", "US$_0,000001", "0,5_BTC", "3 de out. de 2026, 04:00 UTC"],
  ["fr", "1'234'567,50_€", "980_JPY", "2'500_HUF", "0,000001_$US", "0,5_BTC", "3 oct. 2026, 04:00 UTC"],
  ["de", "1.234.567,50_€", "980_¥", "2.500_HUF", "0,000001_$", "0,5_BTC", "03.10.2026, 04:00 UTC"],
  ["tr", "€1.234.567,50", "¥980", "HUF_2.500", "$0,000001", "0,5_BTC", "3 Eki 2026 04:00 UTC"],
  ["ru", "1_234_567,50_€", "980_¥", "2_500_HUF", "0,000001_$", "0,5_BTC", "3 окт. 2026 г., 04:00 UTC"],
  ["ar", "1,234,567.50_€", "980_JP¥", "2,500_HUF", "0.000001_US$", "0.5_BTC", "03>/10>/2026، 4:00 ص UTC"],
  ["zh", "€1,234,567.50", "JP¥980", "HUF_2,500", "US$0.000001", "0.5_BTC", "2026年10月3日 04:00 UTC"],
  ["ja", "€1,234,567.50", "￥980", "HUF_2,500", "$0.000001", "0.5_BTC", "2026/10/03 4:00 UTC"],
];
