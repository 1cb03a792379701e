// The catalogues. All but English are imported as text (`rules` in wrangler.toml) and parsed when first needed, because V8 would parse code on
// every cold start. The files write no-break spaces as escapes, so that they are visible; French has one before `:` `;` `?` `!`.
import { lazily } from "../../lib/lazily.ts";
import { parseJson } from "../../lib/typed-json.ts";
import ar from "./ar.jsonc";
import de from "./de.jsonc";
import { en, type Texts } from "./en.ts";
import es from "./es.jsonc";
import fr from "./fr.jsonc";
import ja from "./ja.jsonc";
import type { Language } from "./languages.ts";
import pt from "./pt.jsonc";
import ru from "./ru.jsonc";
import tr from "./tr.jsonc";
import zh from "./zh.jsonc";

const CATALOGUES: Readonly<Record<Language, () => Texts>> = {
  en: () => en,
  es: catalogue(es),
  pt: catalogue(pt),
  fr: catalogue(fr),
  de: catalogue(de),
  tr: catalogue(tr),
  ru: catalogue(ru),
  ar: catalogue(ar),
  zh: catalogue(zh),
  ja: catalogue(ja),
};

/** A test checks that every file has exactly the keys of English. */
function catalogue(text: string): () => Texts {
  return lazily(() => parseJson<Texts>(text));
}

export function textsOf(language: Language): Texts {
  return CATALOGUES[language]();
}

/** `text` with each `{name}` replaced by its value. A name without a value stays in the text, so that a test finds it. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
