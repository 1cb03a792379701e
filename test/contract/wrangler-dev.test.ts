// `npx wrangler dev` in a fresh clone after `npm ci`.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { experimental_readRawConfig } from "wrangler";
import type { Answers } from "../../scripts/deploy/answers.ts";
import { configurationOf, configurationText, type RawConfiguration } from "../../scripts/deploy/configuration.ts";
import { deploymentOf } from "../../scripts/deploy/deployment.ts";
import { findFreePort } from "../../scripts/free-port.ts";

/** The environment without the settings of this machine or of another test, because the clone must work without them. */
const {
  WRANGLER_COMMAND: _,
  EDGETILL_STARTED: __,
  CLOUDFLARE_ENV: ___,
  WRANGLER_LOG: ____,
  ...inherited
} = process.env;
const ENVIRONMENT = {
  ...inherited,
  // The PATH of a terminal, without the folders that npm adds for its scripts: npx must find wrangler by itself.
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

/** The tracked files as they are now, committed in a new repository. */
function makeClone(): void {
  clone = mkdtempSync(join(tmpdir(), "edgetill-clone-"));
  const tracked = execFileSync("git", ["ls-files", "-z"], { encoding: "utf8" }).split("\0").filter(existsSync);
  for (const file of tracked.filter((each) => each !== "")) cpSync(file, join(clone, file));
  symlinkSync(resolve("node_modules"), join(clone, "node_modules"));
  git("init", "--quiet");
  // The pattern in .gitignore matches only a folder, and node_modules is a link here.
  writeFileSync(join(clone, ".git/info/exclude"), "node_modules\n");
  git("add", "--all");
  git("-c", "user.name=Test", "-c", "user.email=test@example.com", "commit", "--quiet", "--message", "all");
}

/** A process group of its own, so that all of it can be ended by its id. */
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

/** The configuration that `npm run deploy` writes for a deployment of this name. */
function writeConfiguration(name: string): string {
  const { rawConfig } = experimental_readRawConfig({ config: join(clone, "wrangler.toml") });
  const shop = {
    location: "weur",
    domain: "pay.example.com",
    mail: "none",
    mailFrom: "",
    exportsBucket: null,
    variables: {},
  } as const;
  const answers: Answers = { name, ...shop };
  const places = { accountId: "0".repeat(32), databaseId: "11111111-2222-4333-8444-555555555555" };
  const deployment = deploymentOf(name);
  const text = configurationText(configurationOf(rawConfig as RawConfiguration, answers, places), deployment);
  writeFileSync(join(clone, deployment.configuration), text);
  return deployment.configuration;
}

describe("in a fresh clone", () => {
  it.each([
    ["an unedited wrangler.toml", () => "wrangler.toml"],
    ["a deployment's own configuration", () => writeConfiguration("shop")],
  ])("%s can be deployed, and a deploy creates neither settings nor a database", async (_, configuration) => {
    const dryRun = wrangler(["deploy", "--dry-run", "--config", configuration(), "--outdir", `${clone}-out`]);
    expect(await ended(dryRun), printed).toBe(0);
    expect(printed).not.toMatch(/WARNING|Unexpected fields/);
    rmSync(`${clone}-out`, { recursive: true, force: true });
    expect(existsSync(join(clone, ".dev.vars"))).toBe(false);
    expect(existsSync(join(clone, ".wrangler/state"))).toBe(false);
    expect(git("status", "--porcelain")).toBe("");
  });

  it("`npx wrangler dev` serves with settings that git ignores, and prints what `npm start` does in addition", async () => {
    const origin = await start();
    const health = await (await fetch(`${origin}/healthz`)).json();
    expect(health).toMatchObject({ status: "ok", database: "ok" });
    expect(JSON.stringify(health)).not.toMatch(/INVALID|MISSING/);
    expect(await (await fetch(`${origin}/openapi.json`)).json()).toMatchObject({ openapi: expect.any(String) });
    const refused = await fetch(`${origin}/api/v1/merchants/merchant/mer_1/invoices`);
    expect(await refused.json()).toMatchObject({ statusCode: 401, code: "UNAUTHORIZED" });
    // Only a development server shows emails here instead of sending them.
    expect((await fetch(`${origin}/dev/mail`)).status).toBe(200);

    expect(settings()).toMatch(/^MASTER_KEY=dev1:[\w+/]{43}=$/m);
    expect(settings()).toContain("ENVIRONMENT='development'\n");
    expect((statSync(join(clone, ".dev.vars")).mode & 0o777).toString(8)).toBe("600");
    expect(git("status", "--porcelain")).toBe("");
    expect(printed).toContain("`npm start` also makes a demo merchant");
  });

  it("a second start keeps edited settings and adds only those that were removed", async () => {
    if (server !== undefined) await end(server);
    const before = settings();
    const masterKey = /^MASTER_KEY=.*\n/m;
    writeFileSync(join(clone, ".dev.vars"), before.replace(masterKey, "").replace("'fixed'", "'coinbase,kraken'"));
    await start();
    const after = settings();
    expect(after.replace(masterKey, "")).toBe(before.replace(masterKey, "").replace("'fixed'", "'coinbase,kraken'"));
    expect(after).toMatch(masterKey);
    expect(after).not.toBe(before);
  });
});
