// The search words of invoices and customers. The same rule applies to stored and typed text: a row matches if, for each typed word, it has a word that begins
// with it.

/** Words of one field that count. Each is a row of the index. */
const MOST_WORDS = 16;
/** Letters of a word that count. */
const MOST_LETTERS = 32;

/** Letters that Unicode does not decompose into a Latin letter and a mark. */
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

/** Removes case, accents and widths: `Ｓtraße`, `STRASSE` and `straße` are the same, and so are `ı` and `i`. */
export function folded(text: string): string {
  // Through upper case, in which `ß` and `ı` equal `ss` and `i`. A capital may have marks of its own.
  const plain = text.normalize("NFKD").toUpperCase().normalize("NFKD").toLowerCase().normalize("NFKD");
  return plain.replace(/\p{M}/gu, "").replace(IN_LATIN, (letter) => LATIN[letter] ?? letter);
}

/** The distinct words of a text in their order: runs of letters and digits. Typed text is searched by these. */
export function wordsOf(text: string): readonly string[] {
  const runs = folded(text).match(/[\p{L}\p{N}]+/gu) ?? [];
  const words = runs.flatMap((run) => run.replace(UNSPACED, (signs) => ` ${pairsOf(signs)} `).match(/[^ ]+/g) ?? []);
  return [...new Set(words.map(firstLetters))].slice(0, MOST_WORDS);
}

/** Each character with the next one, so that a text is also found in the middle. */
function pairsOf(text: string): string {
  const signs = [...text];
  return signs.map((sign, at) => sign + (signs[at + 1] ?? "")).join(" ");
}

function firstLetters(word: string): string {
  return word.length <= MOST_LETTERS ? word : [...word].slice(0, MOST_LETTERS).join("");
}

/** The search words of a stored text. A number is also found without its prefix: `INV00123` by `00123` and `123`. */
function storedWords(text: string | null): readonly string[] {
  const words = wordsOf(text ?? "").flatMap((word) => {
    const [, number = word] = /^\p{L}+(\p{N}+)$/u.exec(word) ?? [];
    return [word, number, number.replace(/^0+(?=\p{N})/u, "")];
  });
  return [...new Set(words)];
}

/** Two fields as the text in which a search looks for its words: each word of the first after a space, each of the second after a `#`. */
function searchText(first: string | null, second: string | null): string {
  return [...storedWords(first).map((word) => ` ${word}`), ...storedWords(second).map((word) => `#${word}`)].join("");
}

export function invoiceText(invoice: { readonly name: string; readonly externalId: string | null }): string {
  return searchText(invoice.name, invoice.externalId);
}

export function customerText(customer: { readonly name: string | null; readonly email: string | null }): string {
  return searchText(customer.name, customer.email);
}

/** The words of such a text, each once. */
export function wordsIn(text: string): readonly string[] {
  return [...new Set(text.match(/[^ #]+/g) ?? [])];
}
