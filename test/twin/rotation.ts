// MASTER_KEY is rotated while shops sell, by the steps and commands of docs/operations/deploy.md, "Rotate a key". What was signed or encrypted before
// must be readable afterwards, and nothing may be refused meanwhile.
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as z from "zod";
import { deploymentOf } from "../../scripts/deploy/deployment.ts";
import type { Shop } from "./book.ts";
import type { Twin } from "./deployment.ts";
import { ROOT } from "./deploys.ts";
import { jsonIn } from "./json.ts";
import type { Measured } from "./measured.ts";
import { PASSING, readGood } from "./read-good.ts";
import { argumentsOf, commandsIn, keyStepsIn } from "./runbooks.ts";

const PAGE = join(ROOT, "docs/operations/deploy.md");
/** Matches the page's command that shows whether a key is unused. */
const QUESTION = /deployment_keys/;
const LOOK_EVERY_MS = 3_000;
/** The number of invoices per shop whose addresses are compared. */
const SAMPLE = 5;

interface RotationOptions {
  readonly twin: Pick<Twin, "ask" | "wrangler" | "upgrade" | "settle">;
  readonly name: string;
  readonly shops: readonly Shop[];
  /** The headers of the operator's session. */
  readonly session: Readonly<Record<string, string>>;
  /** The answers of each route so far. */
  readonly routes: () => ReadonlyMap<string, Measured>;
  /** Replaces the page's wait of 5 minutes. */
  readonly waitMs: number;
  /** How long the old key may take to become unused. */
  readonly withinMs: number;
  readonly onProgress?: (line: string) => void;
}

export interface Rotation {
  /** The values of MASTER_KEY as lists of key ids, in order. */
  readonly steps: readonly (readonly string[])[];
  /** The number of answers measured from the first step to the last. */
  readonly answers: number;
  /** The number of addresses, wallets and public keys that were compared with those from before. */
  readonly compared: number;
  readonly wrong: readonly string[];
}

/** Rotates as for a leaked key: the old key is removed as soon as it is unused, without waiting a day. */
export async function rotateMasterKey(options: RotationOptions): Promise<Rotation> {
  const { onProgress = () => {}, session, twin, waitMs } = options;
  const page = readFileSync(PAGE, "utf8");
  const steps = keyStepsIn(page);
  const [behind, front, alone] = steps;
  if (behind === undefined || front === undefined || alone === undefined || steps.length !== 3)
    throw new Error(`${PAGE} has other steps: ${JSON.stringify(steps)}`);
  const before = await snapshotOf(twin.ask, options.shops, session);
  const keys = new Map([
    ["k1", keyNow(options.name)],
    ["k2", `k2:${randomBytes(32).toString("base64")}`],
  ]);
  const startMs = Date.now();
  const deploy = async (ids: readonly string[]) => {
    onProgress(`MASTER_KEY becomes ${ids.join(",")}.`);
    setKeys(
      options.name,
      ids.map((id) => keys.get(id) ?? ""),
    );
    await twin.upgrade();
    await twin.settle();
  };
  await deploy(behind);
  await sleep(waitMs);
  await deploy(front);
  const isUnused = await unusedWithin(options, page, "k1");
  if (!isUnused) return { steps, answers: 0, compared: 0, wrong: ["k1 is still in use, long after its rotation"] };
  await deploy(alone);
  const answers = [...options.routes()].flatMap(([route, measured]) =>
    measured.filter(({ begunMs }) => begunMs >= startMs).map((answer) => ({ ...answer, route })),
  );
  const after = await snapshotOf(twin.ask, options.shops, session);
  return {
    steps,
    answers: answers.length,
    compared: before.size,
    wrong: [...refusedIn(answers), ...lostOf(before, after), ...(await keysLeft(twin.ask, session))],
  };
}

const secretsOf = (name: string) => join(ROOT, deploymentOf(name).secretsFile);
const MASTER_KEY = /^MASTER_KEY=(['"]?)(.*)\1$/m;

function keyNow(name: string): string {
  const [, , key] = MASTER_KEY.exec(readFileSync(secretsOf(name), "utf8")) ?? [];
  if (key === undefined || key.includes(",")) throw new Error("the deployment has no single MASTER_KEY");
  return key;
}

function setKeys(name: string, keys: readonly string[]): void {
  const text = readFileSync(secretsOf(name), "utf8");
  writeFileSync(
    secretsOf(name),
    text.replace(MASTER_KEY, () => `MASTER_KEY=${keys.join(",")}`),
    { mode: 0o600 },
  );
}

/** Runs the page's command until it reports the key as unused; false after `withinMs`. */
async function unusedWithin({ name, twin, withinMs }: RotationOptions, page: string, id: string): Promise<boolean> {
  const command = commandsIn(page, name).find((each) => QUESTION.test(each));
  if (command === undefined) throw new Error(`${PAGE} does not ask whether a key may go`);
  for (const lateMs = Date.now() + withinMs; Date.now() < lateMs; await sleep(LOOK_EVERY_MS)) {
    const { status, output } = await twin.wrangler(argumentsOf(command));
    if (status !== 0) throw new Error(`${command} failed:\n${output}`);
    if (mayGo(output, id)) return true;
  }
  return false;
}

const ANSWER = z.array(z.object({ results: z.array(z.object({ key_id: z.string(), is_unused: z.number() })) }));

/** Whether wrangler's output says that the key is unused. Without a terminal wrangler prints JSON instead of a table. */
export function mayGo(output: string, id: string): boolean {
  const json = /^\[[\s\S]*^\]/m.exec(output)?.[0];
  if (json === undefined) return false;
  return jsonIn(ANSWER, json).some(({ results }) => results.some((row) => row.key_id === id && row.is_unused === 1));
}

/** What must not change, by its name: public keys, and the addresses of wallets and invoices, which are shown only if their signature verifies. */
type Snapshot = ReadonlyMap<string, string>;

const WALLETS = z.array(z.object({ id: z.string(), address: z.string().nullable(), warnings: z.array(z.string()) }));
const FROZEN = "INTEGRITY_CHECK_FAILED";
const INVOICE = z.object({ paymentMethods: z.array(z.object({ address: z.string().nullable() })) });
const PUBLIC_KEYS = z.object({ keys: z.array(z.object({ kid: z.string(), x: z.string() })) });
const KEY_USES = z.object({
  data: z.array(
    z.object({ setting: z.string(), keyId: z.string(), left: z.record(z.string(), z.number()), isNewest: z.boolean() }),
  ),
});

async function snapshotOf(ask: Twin["ask"], shops: readonly Shop[], session: Shop["headers"]): Promise<Snapshot> {
  const seen = new Map<string, string>();
  for (const { x, kid } of jsonIn(PUBLIC_KEYS, await readGood(ask, "/.well-known/edgetill-keys.json", {})).keys)
    seen.set(`the public key ${kid}`, x);
  for (const { merchantId, book } of shops) {
    const root = `/api/v1/merchants/merchant/${merchantId}`;
    for (const { id, address, warnings } of jsonIn(WALLETS, await readGood(ask, `${root}/wallets`, session)))
      seen.set(`the wallet ${id}`, [address, ...warnings.filter((each) => each === FROZEN)].join(" "));
    for (const { id } of book.slice(0, SAMPLE)) {
      const { paymentMethods } = jsonIn(INVOICE, await readGood(ask, `${root}/invoices/${id}`, session));
      const addresses = paymentMethods.flatMap(({ address }) => address ?? []);
      if (addresses.length > 0) seen.set(`the invoice ${id}`, addresses.join(" "));
    }
    await readGood(ask, `${root}/webhooks`, session);
  }
  return seen;
}

/** A sentence for each entry that has changed or is missing. */
export function lostOf(before: Snapshot, after: Snapshot): readonly string[] {
  return [...before]
    .filter(([what, was]) => after.get(what) !== was)
    .map(([what, was]) => `${what} showed ${was} before the rotation of MASTER_KEY, and now ${after.get(what)}`);
}

/** Refusals that a client does not retry. A 401 for the old API key is expected, because that key has been deleted. */
export function refusedIn(answers: readonly { readonly route: string; readonly status: number }[]): readonly string[] {
  return answers
    .filter(
      ({ route, status }) => status >= 300 && !PASSING.includes(status) && !(route === "old key" && status === 401),
    )
    .map(({ route, status }) => `${route} was answered ${status} during the rotation of MASTER_KEY`);
}

/** A finding if k2 is not the newest key, or if the deployment still lists an older key. */
async function keysLeft(ask: Twin["ask"], session: Shop["headers"]): Promise<readonly string[]> {
  const { data } = jsonIn(KEY_USES, await readGood(ask, "/api/v1/operator/keys", session));
  const older = data.filter(({ keyId }) => keyId !== "k2");
  return [
    ...(data.some(({ keyId, isNewest }) => keyId === "k2" && isNewest) ? [] : ["k2 is not the newest MASTER_KEY"]),
    ...older.map(({ keyId, left }) => `${keyId} was removed, and still has ${JSON.stringify(left)}`),
  ];
}
