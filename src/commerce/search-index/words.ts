// The words by which invoices and customers are found. One rule for what is stored and for what is typed: a text finds what has, for each of its
// words, a word that begins with it.

/** Words of one field that count. Each is a row of the index. */
const MOST_WORDS = 16;
/** Letters of a word that count. */
const MOST_LETTERS = 32;

/** Letters that Unicode does not take apart into a Latin letter and a mark. */
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

/** Without case, accents and widths: `Ｓtraße`, `STRASSE` and `straße` are the same, and so are `ı` and `i`. */
export function folded(text: string): string {
  // By way of capitals, which `ß` and `ı` have in common with `ss` and `i`. A capital may have marks of its own.
  const plain = text.normalize("NFKD").toUpperCase().normalize("NFKD").toLowerCase().normalize("NFKD");
  return plain.replace(/\p{M}/gu, "").replace(IN_LATIN, (letter) => LATIN[letter] ?? letter);
}

/** The distinct words of a text in their order: runs of letters and digits. What is typed is searched for by these. */
export function wordsOf(text: string): readonly string[] {
  const runs = folded(text).match(/[\p{L}\p{N}]+/gu) ?? [];
  const words = runs.flatMap((run) => run.replace(UNSPACED, (signs) => ` ${pairsOf(signs)} `).match(/[^ ]+/g) ?? []);
  return [...new Set(words.map(firstLetters))].slice(0, MOST_WORDS);
}

/** Each sign with the next one, so that a text is found in the middle. */
function pairsOf(text: string): string {
  const signs = [...text];
  return signs.map((sign, at) => sign + (signs[at + 1] ?? "")).join(" ");
}

function firstLetters(word: string): string {
  return word.length <= MOST_LETTERS ? word : [...word].slice(0, MOST_LETTERS).join("");
}

/** The words by which a stored text is found. A number is also found without what is before it: `INV00123` by `00123` and `123`. */
function storedWords(text: string | null): readonly string[] {
  const words = wordsOf(text ?? "").flatMap((word) => {
    const [, number = word] = /^\p{L}+(\p{N}+)$/u.exec(word) ?? [];
    return [word, number, number.replace(/^0+(?=\p{N})/u, "")];
  });
  return [...new Set(words)];
}

/** Two fields as the text in which a search looks for its words: each word of the first behind a space, each of the second behind a `#`. */
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
