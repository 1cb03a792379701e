// The catalogues. All but English are text and no code (`rules` in wrangler.toml): a Worker's start would read them all, most requests want one.
// In the files, spaces that do not break are written so that they can be seen; French has one before `:` `;` `?` `!`.
import { lazily } from "../../lib/lazily.ts";
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

/** Tests hold every file to have exactly the texts of English. */
function catalogue(text: string): () => Texts {
  return lazily(() => JSON.parse(text));
}

export function textsOf(language: Language): Texts {
  return CATALOGUES[language]();
}

/** `text` with each `{name}` replaced by its value; one without a value stays, for a test to find. */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
