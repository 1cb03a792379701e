// Checks of the translations that need no reader: every text exists, none is left in English, and none breaks a page.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { en } from "../../../../src/platform/texts/en.ts";
import { LANGUAGES, type Language } from "../../../../src/platform/texts/languages.ts";
import { fill, textsOf } from "../../../../src/platform/texts/texts.ts";
import { RUNS } from "../../../support/property-runs.ts";

type Key = keyof typeof en;

const KEYS = Object.keys(en) as Key[];
const ALL = Object.keys(LANGUAGES) as Language[];
const TRANSLATED = ALL.filter((language) => language !== "en");
const EVERY = ALL.flatMap((language) => KEYS.map((key) => ({ language, key, text: textsOf(language)[key] })));

/** The texts, in the languages `among`, for which `isWrong` is true. Tests expect none. */
function wrong(isWrong: (text: string, key: Key) => boolean, among: readonly Language[] = ALL): readonly string[] {
  return EVERY.filter(({ language, key, text }) => among.includes(language) && isWrong(text, key)).map(
    ({ language, key, text }) => `${language}.${key}: ${text}`,
  );
}

function placeholders(text: string): readonly string[] {
  return [...text.matchAll(/\{[^}]*\}/g)].map(([name]) => name).toSorted();
}

/** The text without its placeholders, and without names that are the same in every language. */
function ownWords(text: string): string {
  return text.replaceAll(/\{\w+\}|Edgetill|\bQR\b|TxID|\bhash\b|\bmemo\b|\btag\b|[a-z]+@example\.com/g, "");
}

describe("the catalogue of texts", () => {
  it.each(TRANSLATED)("in %s has the keys of the English one, in the same order", (language) => {
    expect(Object.keys(textsOf(language))).toEqual(KEYS);
  });

  it("has the placeholders of the English one in every text", () => {
    expect(wrong((text, key) => placeholders(text).join() !== placeholders(en[key]).join())).toEqual([]);
    expect(wrong((text) => placeholders(text).some((name) => !/^\{[a-z]+\}$/.test(name)))).toEqual([]);
  });

  it("has no text that is empty, begins or ends with a space, or has two spaces in a row", () => {
    expect(wrong((text) => text === "" || text.trim() !== text || /\s{2}/.test(text))).toEqual([]);
  });

  it("has no English text left, except for words that the languages share", () => {
    const shared = [
      "es.total: Total",
      "pt.total: Total",
      "fr.total: Total",
      "fr.transaction: Transaction",
      "de.receiptStatus: Status",
      "de.buyName: Name",
    ];
    expect(wrong((text, key) => text === en[key], TRANSLATED)).toEqual(shared);
  });

  it("has no HTML, double quotation mark, backslash, line break or invisible character, and is in NFC", () => {
    expect(wrong((text) => /[<>&"`\\]/.test(text))).toEqual([]);
    expect(wrong((text) => /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\u2028\u2029]/u.test(text))).toEqual([]);
    expect(wrong((text) => text.normalize("NFC") !== text)).toEqual([]);
  });

  it("ends each text with the same punctuation as the English one", () => {
    const ends: Readonly<Record<string, string>> = { "。": ".", "？": "?", "؟": "?", "：": ":" };
    const endOf = (text: string) => {
      const last = text.at(-1) ?? "";
      return ends[last] ?? (/[.?:]/.test(last) ? last : "");
    };
    const known = [
      // The address comes last, and a full stop would look like part of it in a right-to-left line.
      /^ar\.buyEmailInvalid:/,
      // These texts are requests, while the English text is a question.
      /^(zh|ja)\.chooseTitle:/,
    ];
    const differing = wrong((text, key) => endOf(text) !== endOf(en[key]), TRANSLATED);
    expect(differing.filter((each) => !known.some((pattern) => pattern.test(each)))).toEqual([]);
  });

  it("has each sentence about a claimed transaction once", () => {
    for (const language of ALL) {
      const about = KEYS.filter((key) => key.startsWith("claim"));
      const sentences = about.flatMap((key) => textsOf(language)[key].match(/[^.。?？]+[.。?？]/g) ?? []);
      expect(sentences.length, language).toBeGreaterThan(10);
      expect(new Set(sentences.map((each) => each.trim())).size, language).toBe(sentences.length);
    }
  });

  it("names the coin and the network, the exact amount and the shop in the texts that need them", () => {
    for (const language of ALL) {
      const texts = textsOf(language);
      expect(texts.warnNetwork.match(/\{(coin|network)\}/g), language).toHaveLength(2);
      expect(texts.exchangeArrive, language).toMatch(/\{amount\} \{coin\}/);
      for (const key of ["payTo", "poweredBy", "paid", "cancelled", "expired", "underpaidReview"] as const)
        expect(texts[key], `${language}.${key}`).toContain("{shop}");
    }
  });
});

describe("the texts of a language", () => {
  const scripts: Readonly<Record<Language, RegExp>> = {
    en: /\p{Script=Latin}/u,
    es: /\p{Script=Latin}/u,
    pt: /\p{Script=Latin}/u,
    fr: /\p{Script=Latin}/u,
    de: /\p{Script=Latin}/u,
    tr: /\p{Script=Latin}/u,
    ru: /\p{Script=Cyrillic}/u,
    ar: /\p{Script=Arabic}/u,
    zh: /\p{Script=Han}/u,
    ja: /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u,
  };

  it.each(ALL)("in %s use the script of the language", (language) => {
    expect(wrong((text) => !scripts[language].test(text), [language])).toEqual([]);
  });

  it("have no letters of another script, so that no lookalike hides in a word", () => {
    const foreign: Readonly<Record<Language, RegExp>> = {
      en: /[^\p{Script=Latin}\P{L}]/u,
      es: /[^\p{Script=Latin}\P{L}]/u,
      pt: /[^\p{Script=Latin}\P{L}]/u,
      fr: /[^\p{Script=Latin}\P{L}]/u,
      de: /[^\p{Script=Latin}\P{L}]/u,
      tr: /[^\p{Script=Latin}\P{L}]/u,
      ru: /[^\p{Script=Cyrillic}\P{L}]/u,
      ar: /[^\p{Script=Arabic}\P{L}]/u,
      zh: /[^\p{Script=Han}\P{L}]/u,
      // The long vowel mark is used in both hiragana and katakana, so it identifies neither.
      ja: /[^\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}ー\P{L}]/u,
    };
    for (const language of ALL) {
      // The hexadecimal digits a to f, and the x before them, are the same in every language.
      const isForeign = (text: string, key: Key) =>
        foreign[language].test(key === "claimHashHint" ? ownWords(text).replaceAll(/[afx]/g, "") : ownWords(text));
      expect(wrong(isForeign, [language])).toEqual([]);
    }
  });

  it.each([
    // Letters that this language has and related languages do not.
    ["es", /¿|ñ|ción/],
    ["pt", /[ãõ]/],
    ["fr", /[èêœù]/],
    ["de", /[äöüß]/],
    ["tr", /[ğış]/],
    ["ru", /[ёыэъ]/],
    ["ar", /[ةىئ]/],
    ["ja", /[ぁ-ん]/],
  ] as const)("in %s have the letters that distinguish the language from related ones", (language, letters) => {
    const share = KEYS.filter((key) => letters.test(textsOf(language)[key])).length;
    expect(share).toBeGreaterThan(KEYS.length / 20);
  });

  it.each([
    ["de", /(^|[^\p{L}])(du|dich|dir|dein\p{L}*|euch|euer|eure\p{L}*)($|[^\p{L}])/iu],
    ["fr", /(^|[^\p{L}])(tu|toi|te|ton|ta|tes)($|[^\p{L}])/iu],
    ["es", /(^|[^\p{L}])(tú|tu|tus|ti|contigo|vosotr\w+|vuestr\w+)($|[^\p{L}])/iu],
    ["pt", /(^|[^\p{L}])(tu|teu|tua|teus|tuas|ti)($|[^\p{L}])/iu],
    ["ru", /(^|[^\p{L}])(ты|тебя|тебе|тво\p{L}+)($|[^\p{L}])/iu],
    ["zh", /你/],
  ] as const)("in %s address a payer formally", (language, familiar) => {
    expect(wrong((text) => familiar.test(text), [language])).toEqual([]);
  });

  it("follow the typography of the language", () => {
    // French puts a no-break space before these signs, so that no line begins with one.
    expect(wrong((text) => /(^|[^\u00a0])[:;?!]/.test(text), ["fr"])).toEqual([]);
    expect(wrong((text) => (text.match(/\?/g) ?? []).length !== (text.match(/¿/g) ?? []).length, ["es"])).toEqual([]);
    expect(wrong((text) => /[?;]|,(?!\d)/.test(text), ["ar"])).toEqual([]);
    expect(
      wrong(
        (text) => /[?;:!]|,(?!\d)|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]\./u.test(text),
        ["zh", "ja"],
      ),
    ).toEqual([]);
    expect(wrong((text) => /'/.test(text), TRANSLATED)).toEqual([]);
  });
});

it("the warnings about a wrong coin or network say only that the money may be lost, because the shop finds most of what comes to its address", () => {
  const may: Readonly<Record<Language, RegExp>> = {
    en: /\bmay\b/,
    es: /puede/,
    pt: /pode/,
    fr: /peut/,
    de: /kann/,
    tr: /bilir/,
    ru: /может/,
    ar: /(^| )قد /,
    zh: /可能/,
    ja: /可能性/,
  };
  for (const language of ALL)
    for (const key of ["warnCoin", "warnNetwork"] as const)
      expect(textsOf(language)[key], `${language}.${key}`).toMatch(may[language]);
});

describe("a button's text", () => {
  /** The width in Latin letters; Chinese and Japanese characters count as two. */
  function width(text: string): number {
    const shown = text.replaceAll(/\{\w+\}/g, "");
    return [...shown].reduce((sum, letter) => sum + (/[\u3000-\uffef]/.test(letter) ? 2 : 1), 0);
  }

  it.each([
    // A small button next to an amount, with a fixed position.
    [12, ["copy", "copied"]],
    // Two buttons side by side.
    [15, ["qrAddress", "qrUri"]],
    [12, ["changeLanguage", "receiptPrint", "receiptBack", "showReceipt", "claimSend"]],
    [20, ["changeMethod", "stay"]],
    // Each of these is followed by a name, which is shortened or wrapped.
    [15, ["payWith", "returnToShop"]],
    // Each of these has its own line on a 320 px screen.
    [26, ["openInWallet", "buyGo"]],
    [36, ["copyFailed"]],
  ] as const satisfies readonly (readonly [number, readonly Key[]])[])(
    "is at most %d characters wide: %j",
    (most, keys) => {
      expect(wrong((text, key) => keys.some((each) => each === key) && width(text) > most)).toEqual([]);
    },
  );
});

it.each(ALL)(
  "in %s, the labels of the copy buttons contain the word that is shown on them, for people who use voice control",
  (language) => {
    // WCAG 2.2, success criterion 2.5.3 "Label in Name".
    const { copy, copyAmount, copyAddress } = textsOf(language);
    const word = copy.toLocaleLowerCase(language);
    expect(copyAmount.toLocaleLowerCase(language)).toContain(word);
    expect(copyAddress.toLocaleLowerCase(language)).toContain(word);
  },
);

describe("fill", () => {
  it("replaces every occurrence of a placeholder that has a value", () => {
    expect(fill("{a} of {b}, {a}", { a: 1, b: "two" })).toBe("1 of two, 1");
  });

  it("leaves a placeholder without a value unchanged", () => {
    expect(fill("{a} {b}", { a: 0 })).toBe("0 {b}");
  });

  it("inserts a value unchanged, even if it looks like a placeholder or a replacement pattern", () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom("$&", "{b}", "$1", "$$", ""), (text, sign) => {
        const value = `${text}${sign}`;
        expect(fill("<{a}> <{b}>", { a: value, b: "b" })).toBe(`<${value}> <b>`);
      }),
      { numRuns: RUNS },
    );
  });

  it.each(ALL)("leaves no placeholder in %s when all values are given", (language) => {
    const names = [...new Set(KEYS.flatMap((key) => placeholders(en[key])))];
    const values = Object.fromEntries(names.map((name) => [name.slice(1, -1), "x"]));
    for (const key of KEYS) expect(fill(textsOf(language)[key], values)).not.toMatch(/[{}]/);
  });
});
