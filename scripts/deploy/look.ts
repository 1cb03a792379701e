// Finds which parts of a deployment already exist, at Cloudflare and in this folder. Only reads.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import type { Answers } from "./answers.ts";
import { DeployError } from "./deploy-error.ts";
import type { Deployment } from "./deployment.ts";
import { COMMANDS, type Found } from "./plan.ts";
import type { Finished, Wrangler } from "./wrangler-command.ts";

interface Account {
  readonly id: string;
  readonly name: string;
}

/** The accounts that the sign-in can access; empty for some tokens. */
export async function readAccounts(wrangler: Wrangler): Promise<readonly Account[]> {
  const { accounts } = jsonIn<{ readonly accounts?: readonly Account[] }>(await look(wrangler, COMMANDS.whoami));
  return accounts ?? [];
}

export async function findDatabase(wrangler: Wrangler, { name }: Pick<Answers, "name">): Promise<string | undefined> {
  const finished = await look(wrangler, COMMANDS.listDatabases);
  const databases = jsonIn<readonly { readonly uuid: string; readonly name: string }[]>(finished);
  return databases.find((each) => each.name === name)?.uuid;
}

export async function findAll(
  wrangler: Wrangler,
  deployment: Deployment,
  here: Pick<Found, "hasKey" | "isRemembered" | "isLinkMade">,
): Promise<Found> {
  const databaseId = await findDatabase(wrangler, deployment);
  const queues: string[] = [];
  for (const queue of deployment.queues) if (await isQueueThere(wrangler, queue)) queues.push(queue);
  return { databaseId, queues, secrets: await findSecrets(wrangler, deployment), ...here };
}

async function isQueueThere(wrangler: Wrangler, queue: string): Promise<boolean> {
  const finished = await wrangler.run(COMMANDS.queueInfo(queue), { isQuiet: true });
  if (!finished.isGood && finished.everything.includes(`Queue "${queue}" does not exist`)) return false;
  demandGood(finished);
  return new RegExp(`^Queue Name: ${queue}$`, "m").test(finished.stdout);
}

/** The names of the Worker's secrets; undefined if there is no Worker. */
async function findSecrets(wrangler: Wrangler, deployment: Deployment): Promise<readonly string[] | undefined> {
  const finished = await wrangler.run(COMMANDS.listSecrets(deployment), { isQuiet: true });
  if (!finished.isGood && finished.everything.includes(`Worker "${deployment.name}" not found`)) return undefined;
  demandGood(finished);
  return jsonIn<readonly { readonly name: string }[]>(finished).map(({ name }) => name);
}

async function look(wrangler: Wrangler, args: readonly string[]): Promise<Finished> {
  const finished = await wrangler.run(args, { isQuiet: true });
  demandGood(finished);
  return finished;
}

function demandGood(finished: Finished): void {
  if (!finished.isGood) throw new DeployError("The account could not be read", finished.everything);
}

/** wrangler may print a warning before its output. */
function jsonIn<T>({ stdout, everything }: Finished): T {
  const begin = stdout.search(/^[[{]/m);
  try {
    return JSON.parse(stdout.slice(begin === -1 ? 0 : begin));
  } catch {
    throw new DeployError("wrangler's answer is not the JSON that was asked for", everything);
  }
}

/** The settings in the deployment's secrets file; empty if there is no file. */
export function readSecrets(root: string, { secretsFile }: Deployment): Readonly<Record<string, string | undefined>> {
  const file = join(root, secretsFile);
  return existsSync(file) ? parseEnv(readFileSync(file, "utf8")) : {};
}

export function readRememberedText(root: string, { rememberedFile }: Deployment): string | undefined {
  const file = join(root, rememberedFile);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}
