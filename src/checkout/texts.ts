import type { Language } from "./languages.ts";
import { ar } from "./texts/ar.ts";
import { de } from "./texts/de.ts";
import { en, type Texts } from "./texts/en.ts";
import { es } from "./texts/es.ts";
import { fr } from "./texts/fr.ts";
import { ja } from "./texts/ja.ts";
import { pt } from "./texts/pt.ts";
import { ru } from "./texts/ru.ts";
import { tr } from "./texts/tr.ts";
import { zh } from "./texts/zh.ts";

const CATALOGUES: Readonly<Record<Language, Texts>> = { en, es, pt, fr, de, tr, ru, ar, zh, ja };

export function textsOf(language: Language): Texts {
  return CATALOGUES[language];
}

/** `text` with each `{name}` replaced by its value; one without a value stays, for a test to find. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
