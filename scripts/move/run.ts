// Runs a move from its command line to its end: reads, prints the plan, asks, writes, and checks that everything exists.
import { Edgetill, EdgetillConnectionError, EdgetillError, type EdgetillOptions } from "../../client/edgetill.ts";
import { plainText } from "../../src/lib/plain-text.ts";
import { type Flags, readFlags } from "./flags.ts";
import { wantedOfStore } from "./from-btcpay.ts";
import { wantedOfMerchant } from "./from-interface.ts";
import { type BtcpayExport, readBtcpay } from "./greenfield.ts";
import { readMerchant } from "./interface-source.ts";
import { MoveError } from "./move-error.ts";
import { type Present, readPresent } from "./present.ts";
import { baseUrlOf, folderReader, type Reader, readerOf } from "./reader.ts";
import { lineOf, NOTHING, permissionsOf, type Step, type Work, workOf } from "./steps.ts";
import type { Wanted } from "./wanted.ts";
import { writeSteps } from "./write-steps.ts";

interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly print: (line: string) => void;
  /** Undefined without a terminal. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Like `ask`, but without echoing what is typed. */
  readonly askSecret: ((question: string) => Promise<string>) | undefined;
  /** The retry settings of Edgetill's client. */
  readonly client?: Pick<EdgetillOptions, "maxRetries" | "backoff">;
}

/** The exit status. 0: everything matches the plan, or only the plan was requested. */
export async function move(args: readonly string[], around: Surroundings): Promise<number> {
  try {
    return await runMove(readFlags(args), around);
  } catch (error) {
    if (error instanceof MoveError) around.print(error.message);
    else if (error instanceof EdgetillError || error instanceof EdgetillConnectionError)
      around.print(`Edgetill: ${plainText(error.message)} (${error.route})`);
    else throw error;
    return 1;
  }
}

async function runMove(flags: Flags, around: Surroundings): Promise<number> {
  const { print } = around;
  const plans = await readSource(flags, around);
  const [wanted] = plans;
  if (wanted === undefined) throw new MoveError("There is no store.");
  if (plans.length > 1) return printEach(plans, flags, print);
  const edgetill = await targetOf(flags, around);
  const present = edgetill === undefined ? NOTHING : await readPresent(edgetill, wanted);
  const work = workOf(wanted, present);
  printPlan(wanted, work, edgetill === undefined ? undefined : `${present.merchantName} (${flags.merchant})`, print);
  if (flags.isPlanOnly) return 0;
  if (edgetill === undefined) throw new MoveError("Nothing was written: --to and --merchant say where to.");
  if (work.steps.length === 0) return ended("There is nothing to write.", work, print);
  assertPermitted(work.steps, present);
  if (!(await isAgreed(flags, around))) return 1;
  const { made, refused } = await writeSteps(edgetill, work.steps, print);
  for (const line of refused) print(`refused ${line}`);
  if (refused.length > 0) return incomplete(`${made} made, ${refused.length} refused.`, print);
  const lost = workOf(wanted, await readPresent(edgetill, wanted)).steps.map(lineOf);
  if (lost.length === 0) return ended(`${made} made.`, work, print);
  return incomplete(
    `Not there after all: ${lost.join("; ")}. Edgetill remembers an answer for 24 hours, so what was deleted meanwhile can be made again after that.`,
    print,
  );
}

/** A conflict with existing data counts as a failure, so that scripts notice it. */
function ended(line: string, { blocked }: Work, print: (line: string) => void): number {
  print(line);
  return blocked.length === 0 ? 0 : 1;
}

function incomplete(line: string, print: (line: string) => void): number {
  print(line);
  return 1;
}

/** The data to move: that of the chosen store, or of every store if none is chosen. */
async function readSource(flags: Flags, around: Surroundings): Promise<readonly Wanted[]> {
  const plugin = flags.isPlugin ? secretsOf(around.environment.MOVE_WEBHOOK_SECRETS ?? "") : undefined;
  const choices = { keys: flags.keys, unused: flags.unused, plugin };
  const read = await readerFor(flags, around);
  if (flags.source === "interface")
    return [wantedOfMerchant(await readMerchant(read, flags.fromMerchant ?? ""), choices)];
  const all = await readBtcpay(read, flags.unused);
  const known = all.flatMap(({ webhooks = [] }) => webhooks.map(({ id }) => id));
  const unknown = [...(plugin?.keys() ?? [])].filter((id) => !known.includes(id));
  if (unknown.length > 0)
    throw new MoveError(`MOVE_WEBHOOK_SECRETS names webhooks that are not there: ${unknown.join(", ")}.`);
  return chosen(all, flags.store).map((each) => wantedOfStore(all, each, choices));
}

function chosen(all: readonly BtcpayExport[], id: string | undefined): readonly BtcpayExport[] {
  if (id === undefined) return all;
  const found = all.filter(({ store }) => store.id === id);
  if (found.length > 0) return found;
  throw new MoveError(`There is no store ${id}; there are ${all.map(({ store }) => store.id).join(", ") || "none"}.`);
}

async function readerFor(flags: Flags, around: Surroundings): Promise<Reader> {
  if (flags.folder !== undefined) return folderReader(flags.folder);
  const baseUrl = baseUrlOf("--from", flags.from ?? "");
  const key = await secretOf("MOVE_FROM_KEY", `API key of ${baseUrl}: `, around);
  return readerOf({ baseUrl, key: flags.source === "btcpay" ? ["authorization", `token ${key}`] : ["x-api-key", key] });
}

async function targetOf({ to, merchant }: Flags, around: Surroundings): Promise<Edgetill | undefined> {
  if (to === undefined || merchant === undefined) return undefined;
  const baseUrl = baseUrlOf("--to", to);
  const apiKey = await secretOf("MOVE_TO_KEY", `API key of ${merchant} at ${baseUrl}: `, around);
  return new Edgetill({ baseUrl, merchantId: merchant, apiKey, ...around.client });
}

async function secretOf(name: string, question: string, { environment, askSecret }: Surroundings): Promise<string> {
  const given = (environment[name] ?? (await askSecret?.(question)) ?? "").trim();
  if (given === "") throw new MoveError(`Set ${name} to the API key, or run this at a terminal, which asks for it.`);
  if (!/^[\x21-\x7e]+$/.test(given)) throw new MoveError(`${name} holds a character that no API key has.`);
  return given;
}

/** Parses `W1=secret W2=other`. An empty text is allowed, because a webhook may get a new secret. */
function secretsOf(text: string): ReadonlyMap<string, string> {
  const pairs = text.split(/\s+/).filter((pair) => pair !== "");
  return new Map(
    pairs.map((pair) => {
      const [, id, secret] = /^([\w-]+)=(.+)$/.exec(pair) ?? [];
      if (id === undefined || secret === undefined)
        throw new MoveError(
          'MOVE_WEBHOOK_SECRETS must be webhooks and their secrets, such as "<id>=<secret>", without spaces in a secret.',
        );
      return [id, secret];
    }),
  );
}

async function isAgreed({ isYes }: Flags, { ask, print }: Surroundings): Promise<boolean> {
  if (isYes) return true;
  if (ask === undefined) print("Nothing was written: there is no terminal to ask at. Repeat with --yes to write.");
  const answer = (await ask?.("Write this? [y/N] ")) ?? "";
  if (/^(y|yes)$/i.test(answer.trim())) return true;
  if (ask !== undefined) print("Nothing was written.");
  return false;
}

function assertPermitted(steps: readonly Step[], { permissions }: Present): void {
  const missing = [...new Set(steps.flatMap(permissionsOf))].filter((each) => !permissions.includes(each));
  const names = missing.map((each) => each.replace(":", "_").toUpperCase());
  if (names.length > 0) throw new MoveError(`Nothing was written: the key of Edgetill lacks ${names.join(", ")}.`);
}

function printEach(plans: readonly Wanted[], flags: Flags, print: (line: string) => void): number {
  for (const wanted of plans) printPlan(wanted, workOf(wanted, NOTHING), undefined, print);
  print("Each store moves to a merchant of its own: choose one with --store, and its merchant with --merchant.");
  return flags.isPlanOnly ? 0 : 1;
}

function printPlan(wanted: Wanted, work: Work, to: string | undefined, print: (line: string) => void): void {
  print(
    `From ${wanted.title} to ${to === undefined ? "a merchant that has nothing yet" : `the merchant ${plainText(to)}`}`,
  );
  const parts: readonly (readonly [string, readonly string[]])[] = [
    ["To be made:", work.steps.map(lineOf)],
    ["There already:", work.there],
    ["Does not move:", [...wanted.left, ...work.blocked]],
    ["To know:", wanted.notes],
  ];
  for (const [title, lines] of parts) {
    if (lines.length === 0) continue;
    print(`\n${title}`);
    for (const line of lines) print(`  - ${line}`);
  }
  print("");
}
