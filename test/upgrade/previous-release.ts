// The previous release, which must run on this release's tables because a deploy applies the migrations before it replaces the Worker.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** A tag once versions are tagged (docs/operations/releasing.md). Until then it is the last commit with a single migration. */
export const PREVIOUS_RELEASE = "422941335cd746a7f98d1ab84167629979547d47";

const ROOT = resolve(import.meta.dirname, "../..");

const git = (...args: readonly string[]) =>
  execFileSync("git", args, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28 });

/** Why the release is missing; undefined if it is available. */
export function whyMissing(revision: string): string | undefined {
  try {
    git("cat-file", "-e", `${revision}^{commit}`);
    return undefined;
  } catch {
    return `${revision} is not in this clone: fetch it (git fetch --unshallow --tags)`;
  }
}

/** The text of a file in the release; an undefined revision means the working tree. */
function textOf(revision: string | undefined, path: string): string {
  return revision === undefined ? readFileSync(join(ROOT, path), "utf8") : git("show", `${revision}:${path}`);
}

/**
 * The callable methods of a release's objects, as `BINDING.method`, sorted. `fetch`, alarms and sockets are left out, because the platform calls
 * them.
 */
export function methodsOfObjects(revision: string | undefined): readonly string[] {
  const at = revision === undefined ? [] : [revision];
  const found = git("grep", "-lE", "^export class \\w+ extends DurableObject", ...at, "--", "src")
    .trim()
    .split("\n");
  const classes = found.map((line) => textOf(revision, line.slice(line.indexOf(":") + 1)));
  const bindings = textOf(revision, "wrangler.toml").matchAll(/\{ name = "(\w+)", class_name = "(\w+)" \}/g);
  return [...bindings]
    .flatMap(([, binding, name]) => methodsOf(classes, name ?? "").map((method) => `${binding}.${method}`))
    .sort();
}

function methodsOf(texts: readonly string[], name: string): readonly string[] {
  const bodies = texts.flatMap((text) => new RegExp(`^export class ${name} extends[^]*?^}`, "m").exec(text) ?? []);
  if (bodies.length !== 1) throw new Error(`${bodies.length} classes ${name}`);
  return [...(bodies[0] ?? "").matchAll(/^ {2}(?:async )?([a-z]\w*)\(/gm)].flatMap(([, method = ""]) =>
    method === "constructor" ? [] : [method],
  );
}

export interface Checkout {
  readonly folder: string;
  remove(): void;
}

/** A checkout, and the environment in which its tests run. */
interface Mixed extends Checkout {
  readonly environment: Readonly<Record<string, string>>;
}

/** The files of the release, with our packages. */
export function checkOut(revision: string): Checkout {
  const input = execFileSync("git", ["archive", revision], { cwd: ROOT, maxBuffer: 1 << 29 });
  return folderWith((folder) => execFileSync("tar", ["-x", "-C", folder], { input }));
}

/** These files are built by scripts/build-assets.ts and are not in the repository. Without them a server would end before it could build them. */
const MADE = ["static", "src/app/mcp/library.generated.js"];

/** A copy of the working tree: tracked files, files that would be tracked, and generated files. */
export function copyOurs(): Checkout {
  execFileSync(process.execPath, ["scripts/build-assets.ts"], { cwd: ROOT, stdio: "inherit" });
  return folderWith((folder) => {
    for (const file of git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")) {
      // The file was deleted, or was created by a test that has removed it again.
      if (file === "" || !existsSync(join(ROOT, file))) continue;
      cpSync(join(ROOT, file), join(folder, file), { recursive: true });
    }
    for (const path of MADE) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  });
}

/** A folder with our packages and with what `fill` adds; removed again if `fill` fails. */
function folderWith(fill: (folder: string) => void): Checkout {
  const folder = mkdtempSync(join(tmpdir(), "edgetill-previous-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    fill(folder);
    return { folder, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** A checkout with our migrations instead of its own, which its tests and its server then use. */
export function checkOutOnOurTables(revision: string): Checkout {
  const checkout = checkOut(revision);
  const { folder, remove } = checkout;
  try {
    rmSync(join(folder, "migrations"), { recursive: true });
    cpSync(join(ROOT, "migrations"), join(folder, "migrations"), { recursive: true });
    if (!existsSync(join(folder, "test/contract"))) throw new Error(`${revision} has no contract tests`);
    return checkout;
  } catch (error) {
    remove();
    throw error;
  }
}

/** The files in which a release names its server program. Only this release has the second one, which serves its contract tests. */
const SERVING = [
  { file: "scripts/wrangler.ts", program: '"node_modules/wrangler/bin/wrangler.js"' },
  { file: "test/support/built-worker.ts", program: 'resolve("test/support/serve-built.ts")' },
] as const;

/**
 * A folder of the release `edge`, whose server uses the objects of the release `objects` (mixed-wrangler.ts), both on our tables. Undefined means
 * this release, as in the working tree.
 */
export function checkOutMixed(of: { readonly edge: string | undefined; readonly objects: string | undefined }): Mixed {
  const made: Checkout[] = [];
  const remove = () => {
    for (const checkout of made) checkout.remove();
  };
  const folderOf = (revision: string | undefined) => {
    const checkout = revision === undefined ? copyOurs() : checkOutOnOurTables(revision);
    made.push(checkout);
    return checkout.folder;
  };
  try {
    const folder = folderOf(of.edge);
    const mixed = JSON.stringify(join(import.meta.dirname, "mixed-wrangler.ts"));
    for (const { file, program } of of.edge === undefined ? SERVING : SERVING.slice(0, 1)) {
      const path = join(folder, file);
      const text = readFileSync(path, "utf8");
      if (text.split(program).length !== 2) throw new Error(`${path} does not name ${program} once`);
      writeFileSync(path, text.replace(program, mixed));
    }
    return { folder, environment: { OBJECTS_FOLDER: folderOf(of.objects) }, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Runs contract tests of a checkout. `files` are files or options for vitest; without them all tests run. `output` is what vitest printed. */
export async function runContract(
  { folder, environment: added = {} }: Pick<Mixed, "folder"> & Partial<Pick<Mixed, "environment">>,
  files: readonly string[],
): Promise<{ readonly isGood: boolean; readonly output: string }> {
  // TESTS selects a part of the tests for the enclosing run, and would exclude files that are named here.
  const { VITEST: _, VITEST_POOL_ID: __, VITEST_WORKER_ID: ___, TESTS: ____, ...environment } = process.env;
  // Each vitest worker starts its own server, so a single file needs only one.
  const workers = files.length === 1 ? "1" : "2";
  const arguments_ = ["run", "--project", "contract", "--maxWorkers", workers, ...files];
  const child = spawn(process.execPath, [join(folder, "node_modules/vitest/vitest.mjs"), ...arguments_], {
    cwd: folder,
    env: { ...environment, ...added, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const status = await new Promise<number | null>((end) => child.on("close", end));
  return { isGood: status === 0, output };
}
