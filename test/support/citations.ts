// Citations of the project's own pages, in comments, strings and documents, and whether each resolves. Forms:
//
//   decisions 4 "Closed"       a section of docs/design/decisions.md by its number, and a heading in it
//   Interface 4.3 and 7        sections of docs/interface.md
//   walks.md, docs/limits.md   any other page, alone or with section and heading: by its name or its path
//   [text](limits.md#anchor)   in a document: a link, from where the document is
//
// A page whose name is a word (chains, security) is cited with its ending, so that prose is never taken for a citation.
import { posix } from "node:path";

/** Texts by their path below the root, with `/`. */
type Texts = ReadonlyMap<string, string>;

interface Citation {
  /** The citation as written. */
  readonly text: string;
  /** The page's path, or the end of the path. */
  readonly page: string;
  readonly numbers: readonly string[];
  readonly headings: readonly string[];
}

interface Heading {
  readonly level: number;
  /** The number, such as `4.3` for `## 4.3 Delete a wallet` and `## 4.3. Delete a wallet`; undefined if there is none. */
  readonly number: string | undefined;
  readonly title: string;
  /** GitHub's anchor for the heading. */
  readonly anchor: string;
}

/** The two pages that are cited most. Citations name them with a word, without the file extension, and always with a section number. */
const SHORT_NAMES: Readonly<Record<string, string>> = {
  decisions: "docs/design/decisions.md",
  interface: "docs/interface.md",
};
/** The folders in which a page is looked for. A document's citations are first looked for next to the document. */
const FOLDERS = ["docs/design/", "docs/", ""];

const NUMBER = String.raw`\d+(?:\.\d+)*[a-z]?(?![\w-])`;
const NUMBERS = `(?<numbers>${NUMBER}(?:(?:,| and|, and) ${NUMBER})*)`;
const HEADINGS = String.raw`(?<headings>"[^"\n]+"(?:(?:,| and|, and) "[^"\n]+")*)`;
const SHORT = new RegExp(String.raw`\b(?<page>[Dd]ecisions|[Ii]nterface) ${NUMBERS}(?:,? ${HEADINGS})?`, "g");
const LONG = new RegExp(
  String.raw`(?<![\w./*>-]|\]\()(?<page>[A-Za-z][\w./-]*\.md)\b(?: ${NUMBERS})?(?:,? ${HEADINGS})?`,
  "g",
);
/** A page cited by a bare word, which does not resolve. */
const UNENDED =
  /\b(?:(?:reliability|security|chains|webhooks|performance|platform|architecture) "[A-Z][^"\n]*"|(?:ARCHITECTURE|STYLE|README) (?:"[^"\n]*"|\d+))/g;
/** Sources and documents that a document names in code by the end of their path, such as `wallets/store.ts`. */
const FILE = /`(?<file>[\w.-]+(?:\/[\w.-]+)+\.(?:tsx?|mjs|md|sh|css|jsonc))`/g;
const LINK = /\]\((?<target>[^)\s]+)\)/g;

interface Repository {
  readonly pages: Texts;
  /** Paths of all files that a document may name. */
  readonly files: readonly string[];
}

/** Citations that do not resolve, as `path: citation (why)`. */
export function brokenCitations(texts: Texts, { pages, files }: Repository): readonly string[] {
  const headings = new Map([...pages].map(([path, text]) => [path, headingsOf(text)]));
  const known = { headings, files };
  return [...texts].flatMap(([path, text]) =>
    [
      ...citationsIn(text).flatMap((citation) => citationProblems(citation, path, known)),
      ...[...joined(text).matchAll(UNENDED)].map(([cited]) => `${cited} (without the ending of the page)`),
      ...(path.endsWith(".md") ? [...linkProblems(text, path, known), ...fileProblems(text, known)] : []),
    ].map((problem) => `${path}: ${problem}`),
  );
}

/** Joins a text's lines: a citation may continue on the next line of a comment. */
function joined(text: string): string {
  return text.replaceAll(/\s*\n\s*(?:\/\/|\*(?!\/)|#)?\s*/g, " ");
}

/** Citations of a source text or a document. */
export function citationsIn(text: string): readonly Citation[] {
  const line = joined(text);
  return [SHORT, LONG].flatMap((form) =>
    [...line.matchAll(form)].map(({ 0: matched, groups = {} }) => {
      const { page = "", numbers = "", headings = "" } = groups;
      return {
        text: matched,
        page: SHORT_NAMES[page.toLowerCase()] ?? page,
        numbers: numbers.match(/[\d.]+[a-z]?/g) ?? [],
        headings: [...headings.matchAll(/"([^"]+)"/g)].map(([, heading = ""]) => heading),
      };
    }),
  );
}

/** A page's headings in order, ignoring lookalikes in fenced code. */
export function headingsOf(page: string): readonly Heading[] {
  const prose = page.replaceAll(/^ *```.*?^ *```/gms, "");
  const seen = new Map<string, number>();
  return [...prose.matchAll(/^(#{1,6}) +(.+?) *$/gm)].map(([, marks = "", text = ""]) => {
    const [, number, title = text] = /^(\d+(?:\.\d+)*[a-z]?)\.? +(.+)$/.exec(text) ?? [];
    const slug = anchorOf(text);
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    return { level: marks.length, number, title, anchor: times === 0 ? slug : `${slug}-${times}` };
  });
}

/** GitHub's anchor of a heading: lower case, without punctuation, hyphens for spaces. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

interface Known extends Omit<Repository, "pages"> {
  /** The headings of each existing page. */
  readonly headings: ReadonlyMap<string, readonly Heading[]>;
}

/** `from` is the path of the text that cites. */
function citationProblems(citation: Citation, from: string, known: Known): readonly string[] {
  const { text, numbers } = citation;
  const page = pathsOf(citation.page, from).find((each) => known.headings.has(each));
  if (page === undefined) return [`${text} (no such page)`];
  const headings = known.headings.get(page) ?? [];
  const unknown = numbers.filter((number) => !headings.some((each) => each.number === number));
  // A heading cited with one section is looked for in that section only.
  const [only, ...others] = numbers;
  const among = only === undefined || others.length > 0 ? headings : sectionOf(headings, only);
  const untitled = citation.headings.filter((title) => !among.some((each) => each.title === title));
  return [
    ...unknown.map((number) => `${text} (no section ${number})`),
    ...untitled.map((title) => `${text} (no heading "${title}")`),
  ];
}

/** The heading with this number and those below it. */
function sectionOf(headings: readonly Heading[], number: string): readonly Heading[] {
  const start = headings.findIndex((each) => each.number === number);
  const first = headings[start];
  if (first === undefined) return [];
  const length = headings.slice(start + 1).findIndex(({ level }) => level <= first.level);
  return headings.slice(start, length === -1 ? undefined : start + 1 + length);
}

/** Candidate paths for a page; the first that exists wins. */
function pathsOf(page: string, from: string): readonly string[] {
  const beside = from.endsWith(".md") ? [posix.join(posix.dirname(from), page)] : [];
  return [...beside, ...FOLDERS.map((folder) => `${folder}${page}`)];
}

/** Problems of a document's links within the repository. */
function linkProblems(text: string, from: string, { headings, files }: Known): readonly string[] {
  const links = [...text.matchAll(LINK)].map(({ groups }) => groups?.target ?? "");
  return links.flatMap((link) => {
    if (/^[a-z]+:/.test(link)) return [];
    const [file = "", anchor] = link.split("#");
    const target = file === "" ? from : posix.join(posix.dirname(from), file);
    const page = headings.get(target);
    if (page === undefined && !files.includes(target)) return [`${link} (no such file)`];
    const hasAnchor = anchor === undefined || page === undefined || page.some((each) => each.anchor === anchor);
    return hasAnchor ? [] : [`${link} (no such heading)`];
  });
}

function fileProblems(text: string, { files }: Known): readonly string[] {
  const named = [...text.matchAll(FILE)].map(({ groups }) => groups?.file ?? "");
  const isThere = (name: string) => files.some((path) => `/${path}`.endsWith(`/${name}`));
  return named.filter((name) => !isThere(name)).map((name) => `${name} (no such file)`);
}
