// `npm run import-export`: reads nightly exports back into a new deployment, or into the database of `npm start` (docs/operations/export.md).
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { deploymentOf } from "./deploy/deployment.ts";
import { readSecrets } from "./deploy/look.ts";
import { processOf, wranglerFor } from "./deploy/wrangler-command.ts";
import { openHome } from "./home.ts";
import { download } from "./import-export/download.ts";
import { ImportError } from "./import-export/import-error.ts";
import { importMerchants } from "./import-export/import-merchants.ts";
import { localTarget, remoteTarget, type Target } from "./import-export/target.ts";
import { readSettings, StartError } from "./settings.ts";
import { databaseFile, migrate, WRANGLER } from "./wrangler.ts";

const USAGE = `npm run import-export -- --from <folder> [flags]                     from a night's folder, with merchants.json in it
npm run import-export -- --from r2://<bucket> --date 2026-11-22 [flags]    from the bucket itself

  --merchant <id>          only this merchant; may be repeated
  --name <deployment>      into the new deployment of this name; without it into the database of npm start (EDGETILL_HOME)
  --skip-addresses <n>     how many addresses of each extended key to pass over (1000): more than were shown since the export`;

const text = { type: "string" } as const;
const OPTIONS = {
  from: text,
  date: text,
  merchant: { type: "string", multiple: true },
  name: text,
  "skip-addresses": text,
} as const;
const MOST_SKIPPED = 1_000_000;
const PROGRESS = ".edgetill/imports";

const root = resolve(import.meta.dirname, "..");

function flags() {
  let values: ReturnType<typeof parse>;
  try {
    values = parse();
  } catch (error) {
    throw new ImportError(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  }
  const { from, date, merchant = [], name } = values;
  const skipAddresses = Number(values["skip-addresses"] ?? "1000");
  if (from === undefined) throw new ImportError(USAGE);
  if (!Number.isInteger(skipAddresses) || skipAddresses < 0 || skipAddresses > MOST_SKIPPED)
    throw new ImportError(`--skip-addresses must be a whole number up to ${MOST_SKIPPED}.`);
  if (merchant.some((id) => !/^mer_[0-9A-Za-z]+$/.test(id))) throw new ImportError("--merchant must be an id: mer_…");
  return { from, date, merchants: merchant, name, skipAddresses };
}

function parse() {
  return parseArgs({ options: OPTIONS, strict: true }).values;
}

const print = (line: string) => void process.stdout.write(`${line}\n`);

function wranglerOf(name: string | undefined) {
  const notInherited = () =>
    name === undefined ? [] : ["MASTER_KEY", ...Object.keys(readSecrets(root, deploymentOf(name)))];
  const program = processOf(process.execPath, [WRANGLER]);
  return wranglerFor({ root, program, environment: process.env, print: () => {}, notInherited, accountId: undefined });
}

async function folderOf({ from, date, merchants, name }: ReturnType<typeof flags>): Promise<string> {
  const [, bucket] = /^r2:\/\/([a-z0-9-]+)\/?$/.exec(from) ?? [];
  if (bucket === undefined) return from;
  if (date === undefined) throw new ImportError("A bucket needs --date, the night to read.");
  const folder = `${PROGRESS}/${bucket}-${date}`;
  await download(wranglerOf(name), { bucket, date, merchants, folder });
  print(`Brought the export of ${date} into ${folder}. It holds personal data: delete it afterwards.`);
  return folder;
}

async function withTarget(name: string | undefined, work: (target: Target) => Promise<void>): Promise<void> {
  if (name !== undefined) {
    const { configuration } = deploymentOf(name);
    if (!existsSync(resolve(root, configuration)))
      throw new ImportError(`There is no ${configuration}: deploy first, with npm run deploy -- --name ${name}.`);
    return work(remoteTarget(wranglerOf(name), name, configuration));
  }
  const home = openHome(readSettings(process.env).home);
  try {
    await migrate(home);
    const database = new DatabaseSync(databaseFile(home), { timeout: 5_000 });
    await work(localTarget(database)).finally(() => database.close());
  } finally {
    home.release();
  }
}

async function main(): Promise<void> {
  const given = flags();
  const folder = await folderOf(given);
  const { merchants, skipAddresses, name } = given;
  await withTarget(name, (target) =>
    importMerchants(target, { folder, merchants, skipAddresses, progressFolder: PROGRESS, print }),
  );
  print(`
Next:
- The merchants' secrets open only with the MASTER_KEY of the old deployment: check that this one has it.
- The old deployment must not serve any more, or both show the same addresses.
- ${name === undefined ? "Start the server: npm start." : "Open the set-up link that the deploy printed."} Then look at /healthz: networks are read on from the night of the export.
- Look at the payments to review: money for invoices that were made after the export shows up there, if at all.
- ${skipAddresses} addresses of each extended key were passed over: wallet software needs the gap limit that the wallet's recovery file names.`);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof ImportError || error instanceof StartError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
