// `npm run setup-link`: creates a link that makes the user who opens it an operator of the deployment, once, within 24 hours. Without flags, the link
// is for this machine's server (`npm start`). With `--remote`, it is for a deployment, and is created through wrangler, which must be allowed to
// change its database.
import { spawnSync } from "node:child_process";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { isOriginSafe } from "../src/lib/ip-network.ts";
import { newSetUpLink } from "./new-setup-link.ts";
import { readSettings, StartError } from "./settings.ts";
import { databaseFile, WRANGLER } from "./wrangler.ts";

const USAGE = `Usage: npm run setup-link                                  for the server of this machine
       npm run setup-link -- --remote --origin https://…  for a deployment; --config FILE names its wrangler configuration`;

interface Target {
  readonly remote?: boolean | undefined;
  readonly origin?: string | undefined;
  readonly config?: string | undefined;
}

function main(): void {
  const { remote, origin, config } = targetOf(process.argv.slice(2));
  if (remote) {
    if (origin === undefined)
      throw new StartError(`--remote needs --origin, where the deployment is served.\n${USAGE}`);
    const { link, sql } = newSetUpLink(originOf(origin));
    executeRemotely(sql, config);
    print(link);
    return;
  }
  const { home, baseUrl } = readSettings(process.env);
  const { link, sql } = newSetUpLink(origin === undefined ? baseUrl : originOf(origin));
  executeLocally(sql, `${home}/state`);
  print(link);
}

function targetOf(args: readonly string[]): Target {
  try {
    const text = { type: "string" } as const;
    return parseArgs({ args: [...args], options: { remote: { type: "boolean" }, origin: text, config: text } }).values;
  } catch (error) {
    throw new StartError(`${error instanceof Error ? error.message : error}\n${USAGE}`);
  }
}

function originOf(text: string): string {
  if (!isOriginSafe(text)) throw new StartError(`--origin must be https://…, not "${text}".`);
  return new URL(text).origin;
}

function executeLocally(sql: string, state: string): void {
  const database = new DatabaseSync(databaseFile({ state }), { timeout: 5_000 });
  try {
    database.exec(`BEGIN; ${sql}; COMMIT`);
  } catch (error) {
    throw new StartError(`The link could not be stored; start the server once, then try again:\n${String(error)}`);
  } finally {
    database.close();
  }
}

/** Runs the SQL in one command, and thus in one batch. The command does not contain the token, so a log of commands does not reveal it. */
function executeRemotely(sql: string, config: string | undefined): void {
  const own = config === undefined ? [] : ["--config", config];
  const args = [WRANGLER, "d1", "execute", "DB", "--remote", "--yes", ...own, "--command", sql];
  const { status } = spawnSync(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0)
    throw new StartError(
      "wrangler could not store the link: see its message above. Are you logged in (`npm run wrangler -- login`), and were the migrations applied?",
    );
}

function print(link: string): void {
  console.log(`Open this link in the browser of the operator to be. It works once, within 24 hours; keep it secret until then.

  ${link}
`);
}

try {
  main();
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
