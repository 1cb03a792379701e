// A recipe of CONTRIBUTING.md as it is followed for one example: which text goes where in the files that its table names. The page says which steps
// there are; the text of a step is only written if the page has it.

/** A place in a file, and the text that is there afterwards. */
interface Addition {
  readonly at: string;
  readonly becomes: string;
}

export interface Recipe {
  /** The recipe's heading. */
  readonly title: string;
  /** By the files of the table. Empty where a step has nothing to add for the example. */
  readonly additions: Readonly<Record<string, readonly Addition[]>>;
}

export const behind = (at: string, text: string): Addition => ({ at, becomes: at + text });
export const before = (at: string, text: string): Addition => ({ at, becomes: text + at });
export const inPlaceOf = (at: string, becomes: string): Addition => ({ at, becomes });

interface Step {
  /** Files of the repository that the step names. */
  readonly files: readonly string[];
  /** The npm scripts that it has run. */
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

/** Where the page and the example do not have the same steps. */
export function disagreements(page: string, { title, additions }: Recipe): readonly string[] {
  const files = stepsOf(page, title).flatMap((step) => step.files);
  return [
    ...files.filter((file) => additions[file] === undefined).map((file) => `${file}: the example does not do it`),
    ...Object.keys(additions)
      .filter((file) => !files.includes(file))
      .map((file) => `${file}: the page has no such step`),
  ];
}

/** The text with all of a step's additions. Throws where the place of one is not there: the example has to be written anew. */
export function withAdditions(path: string, text: string, additions: readonly Addition[]): string {
  return additions.reduce((sum, { at, becomes }) => {
    if (sum.split(at).length !== 2) throw new Error(`${path} has not one place of ${JSON.stringify(at)}`);
    return sum.replace(at, () => becomes);
  }, text);
}
