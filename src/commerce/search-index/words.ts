// The search words of invoices and customers. Stored and typed text is split in the same way: a row matches if each typed word is the beginning of
// one of its words.

/** How many words of one field are indexed; each is a row in the index. */
const MOST_WORDS = 16;
/** How many letters of a word are indexed. */
const MOST_LETTERS = 32;

/** Letters that Unicode normalization does not replace with plainer ones. */
const LATIN: Readonly<Record<string, string>> = {
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  ħ: "h",
  ł: "l",
  ŧ: "t",
  þ: "th",
  ς: "σ",
};
const IN_LATIN = new RegExp(`[${Object.keys(LATIN).join("")}]`, "g");

/** Scripts that put no space between words. */
const UNSPACED = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+/gu;

/** Removes case, accents and character widths: `Ｓtraße`, `STRASSE` and `straße` become the same, and so do `ı` and `i`. */
export function folded(text: string): string {
  // Converts to upper case first, because `ß` and `ı` then become `SS` and `I`. A capital letter may have marks of its own.
  const plain = text.normalize("NFKD").toUpperCase().normalize("NFKD").toLowerCase().normalize("NFKD");
  return plain.replace(/\p{M}/gu, "").replace(IN_LATIN, (letter) => LATIN[letter] ?? letter);
}

/** The distinct words of a text, in order: runs of letters and digits. */
export function wordsOf(text: string): readonly string[] {
  const runs = folded(text).match(/[\p{L}\p{N}]+/gu) ?? [];
  const words = runs.flatMap((run) => run.replace(UNSPACED, (signs) => ` ${pairsOf(signs)} `).match(/[^ ]+/g) ?? []);
  return [...new Set(words.map(firstLetters))].slice(0, MOST_WORDS);
}

/** Pairs of adjacent characters, so that text without spaces is also found by a part from its middle. */
function pairsOf(text: string): string {
  const signs = [...text];
  return signs.map((sign, at) => sign + (signs[at + 1] ?? "")).join(" ");
}

function firstLetters(word: string): string {
  return word.length <= MOST_LETTERS ? word : [...word].slice(0, MOST_LETTERS).join("");
}

/** The search words of a stored text. A number with a prefix is also found without it: `INV00123` by `00123` and `123`. */
function storedWords(text: string | null): readonly string[] {
  const words = wordsOf(text ?? "").flatMap((word) => {
    const [, number = word] = /^\p{L}+(\p{N}+)$/u.exec(word) ?? [];
    return [word, number, number.replace(/^0+(?=\p{N})/u, "")];
  });
  return [...new Set(words)];
}

/** The search text of two fields: each word of the first field follows a space, each word of the second a `#`. */
function searchText(first: string | null, second: string | null): string {
  return [...storedWords(first).map((word) => ` ${word}`), ...storedWords(second).map((word) => `#${word}`)].join("");
}

export function invoiceText(invoice: { readonly name: string; readonly externalId: string | null }): string {
  return searchText(invoice.name, invoice.externalId);
}

export function customerText(customer: { readonly name: string | null; readonly email: string | null }): string {
  return searchText(customer.name, customer.email);
}

/** The words of a search text, each once. */
export function wordsIn(text: string): readonly string[] {
  return [...new Set(text.match(/[^ #]+/g) ?? [])];
}
