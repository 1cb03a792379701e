// Stands in for wrangler in tests of the deploy. It knows the commands that a deploy runs, prints what wrangler 4.156 prints for them, and stores the
// account in a file. `failAt` makes one command fail, before or after it has done its work.
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs, parseEnv } from "node:util";
import type { Environment, Program } from "../../scripts/deploy/wrangler-command.ts";

export interface AccountState {
  readonly accounts: readonly { readonly id: string; readonly name: string }[];
  readonly isSignedIn: boolean;
  readonly databases: readonly { readonly uuid: string; readonly name: string; readonly location: string }[];
  readonly queues: readonly string[];
  readonly workers: Readonly<Record<string, StandInWorker>>;
  /** Applied migrations by database id. */
  readonly migrated: Readonly<Record<string, readonly string[]>>;
  readonly executed: readonly string[];
  /** All commands, oldest first. */
  readonly commands: readonly string[];
  /** Variables for which wrangler would have used the environment's value instead of the one in the secrets file. */
  readonly overridden: readonly string[];
  readonly failAt?:
    | { readonly command: string; readonly when: "before" | "after"; readonly message: string }
    | undefined;
}

interface StandInWorker {
  readonly secrets: Readonly<Record<string, string | undefined>>;
  readonly configuration: Configuration;
}

interface Configuration {
  readonly name: string;
  readonly account_id?: string;
  readonly workers_dev: boolean;
  readonly routes?: readonly { readonly pattern: string }[];
  readonly secrets: { readonly required: readonly string[] };
  readonly vars: Readonly<Record<string, string>>;
  readonly d1_databases: readonly { readonly binding: string; readonly database_id: string }[];
  readonly queues: { readonly producers: readonly { readonly queue: string }[] };
}

export const EMPTY_ACCOUNT: AccountState = {
  accounts: [{ id: "0123456789abcdef0123456789abcdef", name: "Example" }],
  isSignedIn: true,
  databases: [],
  queues: [],
  workers: {},
  migrated: {},
  executed: [],
  commands: [],
  overridden: [],
};

const MIGRATIONS = ["0000_schema.sql", "0001_deployment_keys.sql", "0002_set_up.sql"];
const NOT_SIGNED_IN =
  "In a non-interactive environment, it's necessary to set a CLOUDFLARE_API_TOKEN environment variable for wrangler to work. Please go to https://developers.cloudflare.com/fundamentals/api/get-started/create-token/ for instructions on how to create an api token, and assign its value to CLOUDFLARE_API_TOKEN.";

class UserError extends Error {}

/** Applies the command to the state; returns the new state and the output. */
type Command = (state: AccountState, of: Called) => { readonly state: AccountState; readonly output: string };

interface Called {
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly folder: string;
  readonly environment: Environment;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  whoami: (state) => ({
    state,
    output: json({ loggedIn: true, authType: "OAuth Token", email: "operator@example.com", accounts: state.accounts }),
  }),
  "d1 list": (state) => ({
    state,
    output: json(state.databases.map(({ uuid, name }) => ({ uuid, name, version: "production", num_tables: 0 }))),
  }),
  "d1 create": createDatabase,
  "d1 migrations apply": applyMigrations,
  "d1 execute": execute,
  "queues info": (state, { words: [name = ""] }) => {
    if (!state.queues.includes(name))
      throw new UserError(`Queue "${name}" does not exist. To create it, run: wrangler queues create ${name}`);
    return {
      state,
      output: `Queue Name: ${name}\nQueue ID: ${uuidOf(name)}\nNumber of Producers: 0\nNumber of Consumers: 0`,
    };
  },
  "queues create": (state, { words: [name = ""] }) => {
    if (state.queues.includes(name)) throw new UserError(`Queue name '${name}' is already taken. [code: 11009]`);
    const output = `🌀 Creating queue '${name}'\n✅ Created queue '${name}'`;
    return { state: { ...state, queues: [...state.queues, name] }, output };
  },
  "secret list": (state, { options }) => {
    const worker = state.workers[String(options.name)];
    if (worker === undefined)
      throw new UserError(
        `Worker "${options.name}" not found.\n\nIf this is a new Worker, run \`wrangler deploy\` first to create it.\nOtherwise, check that the Worker name is correct and you're logged into the right account.`,
      );
    return { state, output: json(Object.keys(worker.secrets).map((name) => ({ name, type: "secret_text" }))) };
  },
  deploy: deployWorker,
};

function createDatabase(state: AccountState, { words: [name = ""], options }: Called): ReturnType<Command> {
  if (state.databases.some((each) => each.name === name))
    throw new UserError("A database with that name already exists");
  const database = { uuid: uuidOf(name), name, location: String(options.location) };
  return {
    state: { ...state, databases: [...state.databases, database] },
    output: `✅ Successfully created DB '${name}' in region ${database.location.toUpperCase()}\nCreated your new D1 database.\n`,
  };
}

function databaseIdOf(state: AccountState, called: Called): string {
  const id = configurationOf(called).d1_databases.find(({ binding }) => binding === "DB")?.database_id ?? "";
  if (!state.databases.some(({ uuid }) => uuid === id))
    throw new UserError(`The database ${id} could not be found [code: 7404]`);
  return id;
}

function applyMigrations(state: AccountState, called: Called): ReturnType<Command> {
  const id = databaseIdOf(state, called);
  const applied = state.migrated[id] ?? [];
  const open = MIGRATIONS.filter((name) => !applied.includes(name));
  const migrated = { ...state.migrated, [id]: [...applied, ...open] };
  if (open.length === 0) return { state, output: "✅ No migrations to apply!" };
  // The real wrangler prints the whole table again after each migration.
  const tables = open.flatMap((_, done) => [
    "┌─────────────────┬────────┐",
    ...open.map((name, at) => `│ ${name} │ ${at <= done ? "✅" : "🕒️"}     │`),
    "└─────────────────┴────────┘",
  ]);
  return { state: { ...state, migrated }, output: ["Migrations to be applied:", ...tables].join("\n") };
}

function execute(state: AccountState, called: Called): ReturnType<Command> {
  databaseIdOf(state, called);
  const sql = String(called.options.command);
  const links = state.executed.filter((each) => each.includes("INSERT INTO set_up_links")).length;
  if (called.options.json === true) return { state, output: json([{ results: [{ links }], success: true }]) };
  return { state: { ...state, executed: [...state.executed, sql] }, output: "🚣 Executed 1 command in 0.34ms" };
}

function deployWorker(state: AccountState, called: Called): ReturnType<Command> {
  const { options, folder, environment } = called;
  const configuration = configurationOf(called);
  const { name } = configuration;
  const before = state.workers[name];
  const file = options["secrets-file"];
  const given = file === undefined ? {} : parseEnv(readFileSync(join(folder, String(file)), "utf8"));
  const secrets = { ...before?.secrets, ...given };
  const missing = configuration.secrets.required.filter((each) => secrets[each] === undefined);
  if (missing.length > 0)
    throw new UserError(
      `The following required secrets have not been set: ${missing.join(", ")}\nThis Worker does not exist yet.`,
    );
  for (const { queue } of configuration.queues.producers)
    if (!state.queues.includes(queue)) throw new UserError(`Queue "${queue}" does not exist.`);
  const overridden = Object.keys(given).filter((each) => environment[each] !== undefined);
  const targets = configuration.workers_dev
    ? [`https://${name}.example.workers.dev`]
    : (configuration.routes ?? []).map(({ pattern }) => `${pattern} (custom domain)`);
  reportDeploy(environment, targets);
  return {
    state: {
      ...state,
      workers: { ...state.workers, [name]: { secrets, configuration } },
      overridden: [...state.overridden, ...overridden],
    },
    output: `Total Upload: 1450.21 KiB / gzip: 412.37 KiB
Uploaded ${name} (5.21 sec)
Deployed ${name} triggers (1.87 sec)
${targets.map((target) => `  ${target}`).join("\n")}
  schedule: * * * * *
Current Version ID: 00000000-0000-0000-0000-000000000001`,
  };
}

/** wrangler writes this if WRANGLER_OUTPUT_FILE_PATH is set. */
function reportDeploy(environment: Environment, targets: readonly string[]): void {
  const file = environment.WRANGLER_OUTPUT_FILE_PATH;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ type: "deploy", version: 1, targets })}\n`);
}

/** The file that stands in for wrangler.toml if --config is not given. */
function configurationOf({ folder, options: { config = "wrangler-toml.json" } }: Called): Configuration {
  return JSON.parse(readFileSync(join(folder, String(config)), "utf8").replace(/^\/\/.*\n/, ""));
}

function uuidOf(name: string): string {
  const hex = createHash("sha256").update(name).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function stateFile(folder: string): string {
  return join(folder, "account.json");
}

export function readAccount(folder: string): AccountState {
  return existsSync(stateFile(folder)) ? JSON.parse(readFileSync(stateFile(folder), "utf8")) : EMPTY_ACCOUNT;
}

export function writeAccount(folder: string, state: AccountState): void {
  writeFileSync(stateFile(folder), json(state));
}

/** Behaves like the real program: output and errors go to their streams, and the exit status is set. */
export const standIn: Program = async (args, { root, environment, onOutput }) => {
  try {
    onOutput(`${perform(root, environment, args)}\n`, "stdout");
    return true;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    onOutput(`\n✘ [ERROR] ${error.message}\n\n`, "stderr");
    return false;
  }
};

/** Runs a command; returns its output. */
function perform(folder: string, environment: Environment, args: readonly string[]): string {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: flag,
      remote: flag,
      minify: flag,
      location: text,
      name: text,
      config: text,
      command: text,
      "secrets-file": text,
    },
  });
  const line = positionals.join(" ");
  const name = Object.keys(COMMANDS).find((each) => line === each || line.startsWith(`${each} `));
  const command = name === undefined ? undefined : COMMANDS[name];
  if (name === undefined || command === undefined) throw new UserError(`Unknown command: ${line}`);
  let state: AccountState = readAccount(folder);
  state = { ...state, commands: [...state.commands, args.join(" ")] };
  writeAccount(folder, state);
  if (!state.isSignedIn) throw new UserError(NOT_SIGNED_IN);
  const failAt = state.failAt?.command === name ? state.failAt : undefined;
  if (failAt !== undefined) state = { ...state, failAt: undefined };
  if (failAt?.when === "before") {
    writeAccount(folder, state);
    throw new UserError(failAt.message);
  }
  const words = line.slice(name.length).trim().split(" ");
  const done = command(state, { words, options: values, folder, environment });
  writeAccount(folder, done.state);
  if (failAt !== undefined) throw new UserError(failAt.message);
  return done.output;
}
