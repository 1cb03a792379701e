// A deploy's steps, decided from what already exists. Each step creates one thing and may be repeated. After an interrupted deploy, the next deploy
// is planned from what the interrupted one created.
import { err, ok, type Result } from "../../src/lib/result.ts";
import type { Location } from "./answers.ts";
import type { Deployment } from "./deployment.ts";

export interface Found {
  readonly databaseId: string | undefined;
  /** The deployment's existing queues. */
  readonly queues: readonly string[];
  /** Names of the Worker's secrets; undefined if there is no Worker of this name. */
  readonly secrets: readonly string[] | undefined;
  /** Whether the local secrets file has a MASTER_KEY. */
  readonly hasKey: boolean;
  /** Whether a deploy of this deployment was started from this folder before. */
  readonly isRemembered: boolean;
  readonly isLinkMade: boolean;
}

export type Step =
  | { readonly kind: "make-key" }
  | { readonly kind: "create-database" }
  | { readonly kind: "write-configuration" }
  | { readonly kind: "create-queue"; readonly queue: string }
  | { readonly kind: "apply-migrations" }
  | { readonly kind: "deploy" }
  | { readonly kind: "make-link" };

/** A Worker with one of these secrets is our deployment. */
const OUR_SECRETS = ["MASTER_KEY", "ROW_MAC_KEY"];

/** The steps of a deploy. The error says what to do. */
export function planOf(
  deployment: Deployment,
  found: Found,
  { keepsSecrets }: { readonly keepsSecrets: boolean },
): Result<readonly Step[], string> {
  const refusal = refusalOf(deployment, found, keepsSecrets);
  if (refusal !== undefined) return err(refusal);
  const isNew = found.secrets === undefined;
  const steps: Step[] = [];
  if (!keepsSecrets && !found.hasKey) steps.push({ kind: "make-key" });
  if (found.databaseId === undefined) steps.push({ kind: "create-database" });
  steps.push({ kind: "write-configuration" });
  for (const queue of deployment.queues) if (!found.queues.includes(queue)) steps.push({ kind: "create-queue", queue });
  steps.push({ kind: "apply-migrations" }, { kind: "deploy" });
  if (!found.isLinkMade && (isNew || found.isRemembered)) steps.push({ kind: "make-link" });
  return ok(steps);
}

function refusalOf(deployment: Deployment, found: Found, keepsSecrets: boolean): string | undefined {
  const { name, secretsFile } = deployment;
  const isWorkerThere = found.secrets !== undefined;
  if (keepsSecrets && !isWorkerThere) {
    return `There is no Worker ${name} in this account whose secrets could be kept. Leave --keep-secrets out.`;
  }
  const isOurs = found.isRemembered || found.secrets?.some((secret) => OUR_SECRETS.includes(secret)) === true;
  if (isWorkerThere && !isOurs) {
    return `The account already has a Worker ${name}, and it is no deployment of Edgetill: a deploy would replace it. Choose another --name.`;
  }
  if (keepsSecrets || found.hasKey || (!isWorkerThere && found.databaseId === undefined)) return undefined;
  const what = isWorkerThere ? `the Worker ${name}` : `the database ${name}`;
  return [
    `${secretsFile} has no MASTER_KEY, and ${what} exists. A new key would make all that is stored unreadable, so none is made.`,
    "- If you have a copy of the file, put it back and run this again.",
    ...(isWorkerThere
      ? ["- If you have not: the Worker still has its key. --keep-secrets upgrades with the secrets that it has."]
      : [`- If the database was never used, delete it: wrangler d1 delete ${name}. Or choose another --name.`]),
  ].join("\n");
}

export function titleOf(step: Step, deployment: Deployment, location: Location): string {
  switch (step.kind) {
    case "make-key":
      return `Make the key of the deployment in ${deployment.secretsFile}`;
    case "create-database":
      return `Create the database ${deployment.name} in ${location}`;
    case "write-configuration":
      return `Write ${deployment.configuration}`;
    case "create-queue":
      return `Create the queue ${step.queue}`;
    case "apply-migrations":
      return "Apply the migrations that the database does not have";
    case "deploy":
      return `Deploy the Worker ${deployment.name}`;
    case "make-link":
      return "Make the set-up link";
  }
}

/** The arguments of `wrangler` for each step. */
export const COMMANDS = {
  whoami: ["whoami", "--json"],
  listDatabases: ["d1", "list", "--json"],
  queueInfo: (queue: string) => ["queues", "info", queue],
  listSecrets: ({ name }: Deployment) => ["secret", "list", "--name", name],
  createDatabase: ({ name }: Deployment, location: Location) => ["d1", "create", name, "--location", location],
  createQueue: (queue: string) => ["queues", "create", queue],
  applyMigrations: (configuration: string | undefined) => [
    "d1",
    "migrations",
    "apply",
    "DB",
    "--remote",
    ...configured(configuration),
  ],
  deploy: (configuration: string | undefined, secretsFile: string | undefined) => [
    "deploy",
    "--minify",
    ...configured(configuration),
    ...(secretsFile === undefined ? [] : ["--secrets-file", secretsFile]),
  ],
  execute: (configuration: string | undefined, sql: string): readonly string[] => [
    "d1",
    "execute",
    "DB",
    "--remote",
    ...configured(configuration),
    "--command",
    sql,
  ],
  executeFile: (configuration: string | undefined, file: string): readonly string[] => [
    "d1",
    "execute",
    "DB",
    "--remote",
    "--yes",
    ...configured(configuration),
    "--file",
    file,
  ],
  getObject: (path: string, file: string): readonly string[] => [
    "r2",
    "object",
    "get",
    path,
    "--file",
    file,
    "--remote",
  ],
  query: (configuration: string | undefined, sql: string): readonly string[] => [
    ...COMMANDS.execute(configuration, sql),
    "--json",
  ],
} as const;

/** The arguments for the deployment's own configuration. Without one, wrangler reads wrangler.toml by default. */
function configured(configuration: string | undefined): readonly string[] {
  return configuration === undefined ? [] : ["--config", configuration];
}
