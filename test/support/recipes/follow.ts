// Follows recipes in a copy of the repository. The compiler and the unit tests that check their steps find what the recipes forget.
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import * as z from "zod";
import { type Recipe, stepsOf, withAdditions } from "./recipe.ts";

const execute = promisify(execFile);

const COPIED = [".ci", "src", "scripts", "test", "client", "dashboard", "docs", "static", "migrations", "bench"];
const PAGES = ["*.md", "*.json", "*.ts", "*.toml", ".gitignore"];
/** Not copied: installed, built, or irrelevant to a recipe. */
const LEFT = /(^|\/)(node_modules|dist|screenshots|assets|\.next|\.wrangler)$/;

/** The tests that check the steps: all pass on a fresh copy. */
const HELD_BY = [
  "test/unit/chains/networks.test.ts",
  "test/unit/guides.test.ts",
  "test/unit/docs/registry-pages.test.ts",
  "test/unit/docs/recipes.test.ts",
  "test/unit/rates/quote.test.ts",
  "test/unit/rates/rate-client.test.ts",
  "test/unit/scripts/deploy/public-sources.test.ts",
  "test/unit/scripts/public-sources-page.test.ts",
];

const KEPT_VARIABLES: readonly string[] = ["PATH", "HOME", "TMPDIR", "LANG"];

/** Files that depend on the type of network names or on the coin lists. They are compiled together with their imports. */
const COMPILED = /\b(NetworkName|CRYPTO_CODES|CryptoCode)\b/;

const report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      message: z.string(),
      assertionResults: z.array(
        z.object({ status: z.string(), fullName: z.string(), failureMessages: z.array(z.string()).nullish() }),
      ),
    }),
  ),
});

/** A copy of the repository in which recipes are followed. */
export class Scratch {
  readonly folder: string;

  constructor(root: string) {
    this.folder = mkdtempSync(join(tmpdir(), "edgetill-recipe-"));
    for (const name of COPIED)
      cpSync(join(root, name), join(this.folder, name), { recursive: true, filter: (path) => !LEFT.test(path) });
    for (const page of globSync(PAGES, { cwd: root })) cpSync(join(root, page), join(this.folder, page));
    for (const linked of ["node_modules", "client/node_modules", "docs/screenshots"])
      if (existsSync(join(root, linked))) symlinkSync(join(root, linked), join(this.folder, linked));
  }

  leave(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Makes the changes of each step on the page and runs the step's scripts. */
  async follow(page: string, recipe: Recipe): Promise<void> {
    const steps = stepsOf(page, recipe.title);
    const files = steps.flatMap((step) => step.files);
    const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(this.#read("package.json"));
    for (const file of files) {
      const additions = recipe.additions[file] ?? [];
      if (additions.length > 0) this.#write(file, withAdditions(file, this.#read(file), additions));
    }
    for (const script of steps.flatMap((step) => step.scripts))
      await this.#node((scripts[script] ?? "").split(" ").slice(1));
  }

  /** The compiler's errors, one per line. With one thread it takes half the time that it takes with all threads. */
  async compile(): Promise<readonly string[]> {
    const sources = globSync("{src,scripts,client,test/unit,test/support}/**/*.ts", { cwd: this.folder });
    const files = sources.filter((path) => !path.includes("/browser/") && COMPILED.test(this.#read(path)));
    const types = globSync("src/**/*.d.ts", { cwd: this.folder });
    this.#write(
      "tsconfig.recipe.json",
      JSON.stringify({ extends: "./tsconfig.json", include: [], files: [...types, ...files] }),
    );
    const { stdout } = await this.#node(
      ["node_modules/.bin/tsc", "--singleThreaded", "--project", "tsconfig.recipe.json"],
      true,
    );
    return stdout.split("\n").filter((line) => line.includes("error TS"));
  }

  /** Failing tests, each with the start of its message. */
  async test(): Promise<readonly string[]> {
    const files = HELD_BY.filter((path) => existsSync(join(this.folder, path)));
    const flags = ["--reporter=json", "--outputFile=recipe.json", "--project", "unit"];
    await this.#node(["node_modules/vitest/vitest.mjs", "run", ...flags, ...files], true);
    const { testResults } = report.parse(JSON.parse(this.#read("recipe.json")));
    return testResults.flatMap(({ name, message, assertionResults }) => {
      const file = name.replace(/^.*\/(?=test\/)/, "");
      if (assertionResults.length === 0) return [`${file}: ${message}`];
      const failed = assertionResults.filter(({ status }) => status === "failed");
      return failed.map(
        ({ fullName, failureMessages }) => `${file}: ${fullName}: ${failureMessages?.[0]?.split("\n")[0] ?? ""}`,
      );
    });
  }

  #read(path: string): string {
    return readFileSync(join(this.folder, path), "utf8");
  }

  #write(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }

  /** The environment without this test run's own settings. */
  async #node(args: readonly string[], mayFail = false): Promise<{ readonly stdout: string }> {
    const env = { ...process.env };
    for (const name of Object.keys(env)) if (!KEPT_VARIABLES.includes(name)) Reflect.deleteProperty(env, name);
    const running = execute(process.execPath, [...args], { cwd: this.folder, env, maxBuffer: 2 ** 26 });
    if (!mayFail) return running;
    return running.catch((error: unknown) => ({ stdout: String(Object(error).stdout ?? "") }));
  }
}
