// A recipe of CONTRIBUTING.md, followed for one example: which text goes where in the files that its table names. The page defines the steps, so a
// step's text is only written if the page has that step.

/** A text in a file, and the text that replaces it. */
interface Addition {
  readonly at: string;
  readonly becomes: string;
}

export interface Recipe {
  /** The recipe's heading. */
  readonly title: string;
  /** Additions for each file in the table; empty if a step adds nothing for this example. */
  readonly additions: Readonly<Record<string, readonly Addition[]>>;
}

export const behind = (at: string, text: string): Addition => ({ at, becomes: at + text });
export const before = (at: string, text: string): Addition => ({ at, becomes: text + at });
export const inPlaceOf = (at: string, becomes: string): Addition => ({ at, becomes });

interface Step {
  /** Files of the repository that the step names. */
  readonly files: readonly string[];
  /** The npm scripts it runs. */
  readonly scripts: readonly string[];
}

/** The steps of a recipe: the rows of its table. */
export function stepsOf(page: string, title: string): readonly Step[] {
  const [, section = ""] = page.split(`\n### ${title}\n`);
  const [body = ""] = section.split(/\n##/);
  return [...body.matchAll(/^\| `([^|]+)` \| (.*) \|$/gm)].map(([, files = "", what = ""]) => ({
    files: files.split("`, `"),
    scripts: [...what.matchAll(/`npm run ([\w:-]+)`/g)].map(([, script = ""]) => script),
  }));
}

/** Steps that only the page or only the example has. */
export function disagreements(page: string, { title, additions }: Recipe): readonly string[] {
  const files = stepsOf(page, title).flatMap((step) => step.files);
  return [
    ...files.filter((file) => additions[file] === undefined).map((file) => `${file}: the example does not do it`),
    ...Object.keys(additions)
      .filter((file) => !files.includes(file))
      .map((file) => `${file}: the page has no such step`),
  ];
}

/** The text with all of a step's additions. Throws if a text to replace does not occur exactly once; the example must then be rewritten. */
export function withAdditions(path: string, text: string, additions: readonly Addition[]): string {
  return additions.reduce((sum, { at, becomes }) => {
    if (sum.split(at).length !== 2) throw new Error(`${path} has not one place of ${JSON.stringify(at)}`);
    return sum.replace(at, () => becomes);
  }, text);
}
