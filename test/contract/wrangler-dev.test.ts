// `npx wrangler dev` in a fresh clone after `npm ci`.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFreePort } from "../../scripts/free-port.ts";

const SECRETS = ["ROW_MAC_KEY", "CODE_PEPPER", "SECRETS_AES_KEY", "SIGNING_KEY", "API_KEY_MAC_KEY"];
/** Settings of this machine or of another test must not do what the clone has to do by itself. */
const {
  WRANGLER_COMMAND: _,
  EDGETILL_STARTED: __,
  CLOUDFLARE_ENV: ___,
  WRANGLER_LOG: ____,
  ...inherited
} = process.env;
const ENVIRONMENT = {
  ...inherited,
  // As in a terminal: what npm puts in front of it for its scripts is for npx to find.
  PATH: (process.env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => !folder.includes("node_modules"))
    .join(delimiter),
  CI: "true",
  NO_COLOR: "1",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
};

let clone: string;
let server: ChildProcess | undefined;
let printed = "";

const git = (...args: string[]) => execFileSync("git", args, { cwd: clone, encoding: "utf8" });
const settings = () => readFileSync(join(clone, ".dev.vars"), "utf8");

/** The tracked files as they are now, as a repository of its own with everything committed. */
function makeClone(): void {
  clone = mkdtempSync(join(tmpdir(), "edgetill-clone-"));
  const tracked = execFileSync("git", ["ls-files", "-z"], { encoding: "utf8" }).split("\0").filter(existsSync);
  for (const file of tracked.filter((each) => each !== "")) cpSync(file, join(clone, file));
  symlinkSync(resolve("node_modules"), join(clone, "node_modules"));
  git("init", "--quiet");
  // A link is no folder, which is what .gitignore names.
  writeFileSync(join(clone, ".git/info/exclude"), "node_modules\n");
  git("add", "--all");
  git("-c", "user.name=Test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message", "all");
}

/** Its own group, so that all of it can be ended by its id. */
function wrangler(args: readonly string[]): ChildProcess {
  const child = spawn("npx", ["wrangler", ...args], { cwd: clone, env: ENVIRONMENT, detached: true });
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (printed += chunk));
  return child;
}

const ended = (child: ChildProcess) =>
  new Promise<number | null>((done) => {
    if (child.exitCode !== null || child.signalCode !== null) done(child.exitCode);
    child.once("close", done);
  });

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const over = ended(child);
  process.kill(-child.pid, "SIGTERM");
  await over;
}

async function start(): Promise<string> {
  const port = await findFreePort();
  printed = "";
  server = wrangler(["dev", "--port", String(port), "--inspector-port", "0"]);
  const origin = `http://localhost:${port}`;
  const status = async () => {
    if (server?.exitCode !== null) throw new Error(`wrangler dev ended:\n${printed}`);
    return (await fetch(`${origin}/healthz`).catch(() => undefined))?.status;
  };
  await expect.poll(status, { message: "healthz", interval: 200 }).toBe(200);
  return origin;
}

beforeAll(makeClone);
afterAll(async () => {
  if (server !== undefined) await end(server);
  rmSync(clone, { recursive: true, force: true });
});

describe("in a fresh clone", () => {
  it("a deploy creates neither settings nor a database", async () => {
    const dryRun = wrangler(["deploy", "--dry-run", "--outdir", join(dirname(clone), `${clone}-out`)]);
    expect(await ended(dryRun), printed).toBe(0);
    rmSync(`${clone}-out`, { recursive: true, force: true });
    expect(existsSync(join(clone, ".dev.vars"))).toBe(false);
    expect(existsSync(join(clone, ".wrangler/state"))).toBe(false);
    expect(git("status", "--porcelain")).toBe("");
  });

  it("`npx wrangler dev` serves with settings that git ignores, and says what `npm start` does in addition", async () => {
    const origin = await start();
    const health = await (await fetch(`${origin}/healthz`)).json();
    expect(health).toMatchObject({ status: "ok", database: "ok" });
    expect(JSON.stringify(health)).not.toMatch(/INVALID|MISSING/);
    expect(await (await fetch(`${origin}/openapi.json`)).json()).toMatchObject({ openapi: expect.any(String) });
    const refused = await fetch(`${origin}/api/v1/merchants/merchant/mer_1/invoices`);
    expect(await refused.json()).toMatchObject({ statusCode: 401, code: "UNAUTHORIZED" });
    // Sends nothing, and shows it: that is development.
    expect((await fetch(`${origin}/dev/mail`)).status).toBe(200);

    for (const name of SECRETS) expect(settings()).toMatch(new RegExp(`^${name}=dev1:[\\w+/]{43}=$`, "m"));
    expect(settings()).toContain("ENVIRONMENT='development'\n");
    expect((statSync(join(clone, ".dev.vars")).mode & 0o777).toString(8)).toBe("600");
    expect(git("status", "--porcelain")).toBe("");
    expect(printed).toContain("`npm start` also makes a demo merchant");
  });

  it("a second start keeps edited settings and adds only those that were removed", async () => {
    if (server !== undefined) await end(server);
    const before = settings();
    const signingKey = /^SIGNING_KEY=.*\n/m;
    writeFileSync(join(clone, ".dev.vars"), before.replace(signingKey, "").replace("'fixed'", "'coinbase,kraken'"));
    await start();
    const after = settings();
    expect(after.replace(signingKey, "")).toBe(before.replace(signingKey, "").replace("'fixed'", "'coinbase,kraken'"));
    expect(after).toMatch(signingKey);
    expect(after).not.toBe(before);
  });
});
