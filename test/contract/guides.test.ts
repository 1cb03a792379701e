// Runs the commands of each guide in a shell of its own and compares their output with what the guide shows.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { findFreePort } from "../../scripts/free-port.ts";
import { expectOk, service, shop } from "./client.ts";
import { signedIn } from "./people.ts";

const FOLDER = "docs/guides";
const INDEX = "README.md";
/** The README of the repository, relative to the folder of the guides. */
const ROOT = "../../README.md";
const GUIDES = readdirSync(FOLDER).filter((name) => name.endsWith(".md") && name !== INDEX);
/** Makes the users of this run different from those of earlier runs. */
const RUN = `g${Date.now()}`;
/** Printed on a line of its own after the output of each block. */
const END = "=== end of block ===";

interface Block {
  readonly commands: string;
  /** Whether the block keeps running in a terminal of its own until the guide is done. */
  readonly isTerminal: boolean;
  /** What the guide shows after the commands: the answer to the last one, or what a terminal prints when it is ready. */
  readonly shown: { readonly kind: string; readonly text: string } | undefined;
}

/** The environment in which a guide's commands run. */
interface Place {
  /** The folder used instead of `.edgetill`. */
  readonly home: string;
  readonly ports: { readonly server: number; readonly chain: number; readonly receiver: number; readonly shop: number };
}

/** A guide's blocks in order. */
function blocksOf(name: string): readonly Block[] {
  const path = join(FOLDER, name);
  const fences = [...readFileSync(path, "utf8").matchAll(/^```(.*?)\n(.*?)^```$/gms)];
  const parts = fences.map(([, kind = "", text = ""]) => ({ kind, text }));
  return parts.flatMap(({ kind, text }, at) => {
    if (kind !== "sh" && kind !== "sh terminal") return [];
    const next = parts[at + 1];
    const shown = next?.kind === "json" || next?.kind === "text" ? next : undefined;
    return [{ commands: text, isTerminal: kind === "sh terminal", shown }];
  });
}

/** A guide's text with the ports, folders and addresses of an environment. */
function at({ home, ports }: Place, text: string): string {
  return text
    .replaceAll("localhost:8787", `localhost:${ports.server}`)
    .replaceAll("127.0.0.1:8545", `127.0.0.1:${ports.chain}`)
    .replaceAll("127.0.0.1:4242", `127.0.0.1:${ports.receiver}`)
    .replaceAll(/(127\.0\.0\.1:|PORT=)3000/g, `$1${ports.shop}`)
    .replaceAll(/(?:\.\/)?\.edgetill\//g, `${home}/`)
    .replaceAll("@example.com", `@${RUN}.example`);
}

function environmentOf({ home, ports }: Place, port: number): NodeJS.ProcessEnv {
  return {
    ...process.env,
    EDGETILL_HOME: home,
    PORT: String(port),
    CHAIN_PORT: String(ports.chain),
    RECEIVER_STATE: join(home, "receiver.ids"),
    // Without this, npm would first run scripts that install packages.
    npm_config_ignore_scripts: "true",
  };
}

/** The commands' output as JSON values, one after another with at most a line end between them. */
function valuesIn(output: string): readonly unknown[] {
  return output
    .split(/(?<=[}\]])\n?(?=[{[])/)
    .filter((text) => text.trim() !== "")
    .map((text): unknown => JSON.parse(text));
}

/** A shown answer as a pattern: `, …` omits members, `…` in a string is any string. */
function patternOf(shown: string): unknown {
  return JSON.parse(shown.replace(/,\s*…/g, ""), (_, value: unknown) =>
    typeof value === "string" && value.includes("…") ? expect.stringMatching(wholeText(value)) : value,
  );
}

function wholeText(shown: string): RegExp {
  const parts = shown.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s");
}

function check({ commands, shown }: Block, output: string, place: Place): void {
  const printed = `${commands}\n${output}`;
  if (shown?.kind === "text") {
    expect(output.trim(), printed).toMatch(wholeText(at(place, shown.text).trim()));
    return;
  }
  const values = valuesIn(output);
  const last = shown === undefined ? undefined : values.at(-1);
  if (shown !== undefined) expect(last, printed).toMatchObject(patternOf(at(place, shown.text)) as object);
  // Outputs that the guide does not show must not be refusals.
  for (const value of values) if (value !== last) expect(value, printed).not.toHaveProperty("statusCode");
}

/** Runs the blocks in one shell and compares what each prints. */
async function run(blocks: readonly Block[], place: Place): Promise<void> {
  const script = blocks.map(({ commands }) => `${at(place, commands)}\nprintf '\\n${END}\\n'\n`).join("");
  const shell = start(`set -e\n${script}`, environmentOf(place, place.ports.receiver));
  const [status] = await once(shell.process, "close");
  // Ends what a failed command left running in the background.
  endGroup(shell.process);
  const outputs = shell.printed().split(`\n${END}\n`).slice(0, -1);
  for (const [n, block] of blocks.entries()) {
    const output = outputs[n];
    if (output !== undefined) check(block, output, place);
  }
  expect(status, shell.failed()).toBe(0);
  expect(outputs).toHaveLength(blocks.length);
}

interface Started {
  readonly process: ChildProcess;
  readonly printed: () => string;
  readonly failed: () => string;
}

/** A shell in a process group of its own, so that everything it starts can be ended by its id. */
function start(commands: string, env: NodeJS.ProcessEnv): Started {
  const shell = spawn("sh", ["-c", commands], { detached: true, env, stdio: ["ignore", "pipe", "pipe"] });
  let [printed, failed] = ["", ""];
  shell.stdout.setEncoding("utf8").on("data", (text) => (printed += text));
  shell.stderr.setEncoding("utf8").on("data", (text) => (failed += text));
  return { process: shell, printed: () => printed, failed: () => failed };
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGTERM");
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || error.code !== "ESRCH") throw error;
  }
}

/**
 * Creates a merchant like that of a fresh `npm start`, with a secret key with all permissions, a public key and no wallets, and writes its
 * `demo.json`.
 */
async function freshMerchant(home: string): Promise<void> {
  const owner = await signedIn("guides");
  const { body: merchant } = await owner.post("/api/v1/merchants", { name: "Demo shop" });
  const keys = expectOk(await shop.get<{ data: { kind: string; permissions: string[] }[] }>("/api-keys"), 200).data;
  const secretOf = async (kind: string) => {
    // The tests' merchant also has keys with fewer permissions.
    const held = keys.filter((key) => key.kind === kind).map(({ permissions }) => permissions);
    const [permissions] = held.toSorted((one, other) => other.length - one.length);
    const path = `/api/v1/merchants/merchant/${merchant.id}/api-keys`;
    const { status, body } = await owner.post(path, { name: "Demo key", kind, permissions });
    expect(status).toBe(201);
    return body.secret;
  };
  const [secretKey, publicKey] = [await secretOf("SECRET"), await secretOf("PUBLIC")];
  const demo = { baseUrl: service.baseUrl, merchantId: merchant.id, secretKey, publicKey };
  writeFileSync(join(home, "demo.json"), JSON.stringify(demo));
}

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

describe.skipIf(!hasCurl)("the commands print the output shown in", () => {
  const folder = mkdtempSync(join(tmpdir(), "edgetill-guides-"));
  const terminals = new Map<string, ChildProcess>();
  /** The environment with the server of this test worker, and the one with a server that a guide starts. */
  let onService: Place;
  let onOwn: Place;

  beforeAll(async () => {
    const [receiver, shopPort] = [await findFreePort(), await findFreePort()];
    const ports = { server: Number(new URL(service.baseUrl).port), chain: 0, receiver, shop: shopPort };
    onService = { home: join(folder, "service"), ports };
    const ownPorts = { ...ports, server: await findFreePort(), chain: await findFreePort() };
    onOwn = { home: join(folder, "own"), ports: ownPorts };
    for (const { home } of [onService, onOwn]) mkdirSync(home);
  });
  afterAll(async () => {
    for (const terminal of [...terminals.values()].reverse()) {
      const hasEnded = terminal.exitCode !== null || terminal.signalCode !== null;
      const ended = hasEnded ? undefined : once(terminal, "close");
      endGroup(terminal);
      await ended;
    }
    rmSync(folder, { recursive: true });
  });

  /** Guides that need the same terminal share it. */
  async function openTerminal({ commands, shown }: Block): Promise<void> {
    if (terminals.has(commands)) return;
    const terminal = start(at(onOwn, commands), environmentOf(onOwn, onOwn.ports.server));
    terminals.set(commands, terminal.process);
    const ready = at(onOwn, shown?.text ?? "").trim();
    const within = { timeout: 100_000, interval: 50 };
    await vi.waitFor(() => expect(terminal.printed(), terminal.failed()).toContain(ready), within);
  }

  // Some of these guides first start a chain and a server.
  test.each(GUIDES)("%s", { timeout: 300_000 }, async (guide) => {
    const blocks = blocksOf(guide);
    const opened = blocks.filter(({ isTerminal }) => isTerminal);
    for (const block of opened) await openTerminal(block);
    const place = opened.length === 0 ? onService : onOwn;
    if (place === onService) await freshMerchant(place.home);
    await run([...blocksOf(INDEX).slice(0, 1), ...blocks.filter(({ isTerminal }) => !isTerminal)], place);
  });

  test("the guides' index", async () => {
    await freshMerchant(onService.home);
    await run(blocksOf(INDEX), onService);
  });

  // This guide runs last, because it uses an address of the key whose first two addresses the wallets guide shows.
  test("the README", async () => {
    await freshMerchant(onService.home);
    await run(blocksOf(ROOT), onService);
  });
});
