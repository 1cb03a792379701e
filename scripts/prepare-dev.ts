// wrangler runs this before each build (wrangler.toml), so it skips work that is already done: it builds the static assets, and for a plain
// `wrangler dev` also writes development settings to .dev.vars, which git ignores and no deploy reads, and migrates the local database. npm runs it
// in the repository's folder.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { buildAssets } from "./build-assets.ts";
import { addMissingSettings, SECRETS, setsAny } from "./home.ts";
import { readSettings, StartError } from "./settings.ts";
import { migrate } from "./wrangler.ts";

const SETTINGS_FILE = ".dev.vars";
/** Files that wrangler reads if there is no .dev.vars. */
const OTHER_FILES = [".env", ".env.local"];
/** Where wrangler keeps local state by default. */
const HOME = { path: ".wrangler", state: ".wrangler/state" };
const DATABASE_FOLDER = `${HOME.state}/v3/d1`;
/** Stores the names of the migrations that were last applied, so that no process is started if there are no new migrations. */
const APPLIED_FILE = `${DATABASE_FOLDER}/edgetill-migrations`;
const SENTENCE =
  "Serving with the development settings of .dev.vars and the database in .wrangler/state; " +
  "`npm start` also makes a demo merchant with its keys and runs the cron.";

/** Whether another file already contains our secrets: wrangler then keeps reading that file. */
function hasOtherSettings(): boolean {
  return !existsSync(SETTINGS_FILE) && OTHER_FILES.some((file) => setsAny(file, Object.keys(SECRETS)));
}

function addSettings(): void {
  // Without the shell's environment, whose values must not stay in the file.
  const settings = Object.entries(readSettings({}).variables).filter(([, value]) => value !== "");
  const makers = settings.map(([name, value]) => [name, () => `'${value}'`] as const);
  addMissingSettings(SETTINGS_FILE, { ...Object.fromEntries(makers), ...SECRETS });
}

async function applyMigrations(): Promise<void> {
  const present = readdirSync("migrations").filter((name) => name.endsWith(".sql"));
  const wanted = present.sort().join("\n");
  if (existsSync(APPLIED_FILE) && readFileSync(APPLIED_FILE, "utf8") === wanted) return;
  await migrate(HOME);
  writeFileSync(APPLIED_FILE, wanted);
}

await buildAssets();

// A deploy runs the same command, and so does `npm start`, which has already prepared its own home.
if (process.env.WRANGLER_COMMAND === "dev" && process.env.EDGETILL_STARTED !== "yes") {
  try {
    if (!hasOtherSettings()) addSettings();
    await applyMigrations();
    console.log(SENTENCE);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
