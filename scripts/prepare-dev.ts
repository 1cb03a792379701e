// wrangler runs this before each build (wrangler.toml), so nothing is done twice: makes the static assets, and for a plain `wrangler dev` also
// development settings in .dev.vars, which git ignores and no deploy reads, and its migrated local database. npm runs it in the repository's folder.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { buildAssets } from "./build-assets.ts";
import { addMissingSettings, SECRETS, setsAny } from "./home.ts";
import { readSettings, StartError } from "./settings.ts";
import { migrate } from "./wrangler.ts";

const SETTINGS_FILE = ".dev.vars";
/** wrangler reads these where there is no .dev.vars. */
const OTHER_FILES = [".env", ".env.local"];
/** Where wrangler keeps local state when it is told nothing else. */
const HOME = { path: ".wrangler", state: ".wrangler/state" };
const DATABASE_FOLDER = `${HOME.state}/v3/d1`;
/** Names the migrations that were applied last, so that nothing is started to find out that there is none to apply. */
const APPLIED_FILE = `${DATABASE_FOLDER}/edgetill-migrations`;
const SENTENCE =
  "Serving with the development settings of .dev.vars and the database in .wrangler/state; " +
  "`npm start` also makes a demo merchant with its keys and runs the cron.";

/** Where somebody keeps our secrets in a file of another name, that file stays the one that is read. */
function hasOtherSettings(): boolean {
  return !existsSync(SETTINGS_FILE) && OTHER_FILES.some((file) => setsAny(file, Object.keys(SECRETS)));
}

function addSettings(): void {
  // Of no environment: what a shell holds once must not stand in the file for ever.
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

// A deploy runs the same command. `npm start` does too, with a home of its own that it has prepared by now.
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
