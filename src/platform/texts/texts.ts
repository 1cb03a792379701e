import { ar } from "./ar.ts";
import { de } from "./de.ts";
import { en, type Texts } from "./en.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import { ja } from "./ja.ts";
import type { Language } from "./languages.ts";
import { pt } from "./pt.ts";
import { ru } from "./ru.ts";
import { tr } from "./tr.ts";
import { zh } from "./zh.ts";

const CATALOGUES: Readonly<Record<Language, Texts>> = { en, es, pt, fr, de, tr, ru, ar, zh, ja };

export function textsOf(language: Language): Texts {
  return CATALOGUES[language];
}

/** `text` with each `{name}` replaced by its value; one without a value stays, for a test to find. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
