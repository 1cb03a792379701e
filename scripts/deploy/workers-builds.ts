// The deploy of Workers Builds: a repository that the "Deploy to Cloudflare" button made, built by Cloudflare at each push. There is no terminal,
// and none of our files is kept between builds. Everything that `npm run deploy` creates elsewhere already exists: the button wrote the names and
// the id of the database into wrangler.toml and gave the Worker its secrets.
import { newSetUpLink } from "../new-setup-link.ts";
import { adviceFor } from "./advice.ts";
import type { RawConfiguration } from "./configuration.ts";
import { DeployError } from "./deploy-error.ts";
import { COMMANDS } from "./plan.ts";
import type { Surroundings } from "./surroundings.ts";
import { type Environment, type Finished, wranglerFor } from "./wrangler-command.ts";

/** The placeholder for the id in a wrangler.toml without a database. */
const NO_DATABASE = "00000000-0000-0000-0000-000000000000";
const COUNT_LINKS = "SELECT count(*) AS links FROM set_up_links";

/** Cloudflare sets this variable in each build: https://developers.cloudflare.com/workers/ci-cd/builds/configuration/ */
export function isWorkersBuild(environment: Environment): boolean {
  return environment.WORKERS_CI === "1";
}

/** The exit status of the process. */
export async function deployInBuild(surroundings: Surroundings): Promise<number> {
  const { print } = surroundings;
  try {
    await deploy(surroundings);
    return 0;
  } catch (error) {
    if (!(error instanceof DeployError)) throw error;
    print(`\n${error.message}\n`);
    if (error.output !== undefined) print(`What to do: ${adviceFor(error.output)}\nThen retry the build.\n`);
    return 1;
  }
}

async function deploy(surroundings: Surroundings): Promise<void> {
  const { base, print, root, environment } = surroundings;
  demandDatabase(base);
  if ((base.vars?.LOCATION_HINT ?? "") === "") {
    print("LOCATION_HINT in wrangler.toml is empty: each object is made near its first caller, and stays there.\n");
  }
  // The documentation says that a build does not run the [build] of wrangler.toml. If it does run, the assets already exist, and this changes
  // nothing.
  await surroundings.buildAssets();
  const setting = { root, program: surroundings.wrangler, environment, print };
  const wrangler = wranglerFor({ ...setting, notInherited: () => [], accountId: undefined });
  const succeed = async (args: readonly string[], isQuiet = false): Promise<Finished> => {
    const finished = await wrangler.run(args, { isQuiet });
    if (!finished.isGood) throw new DeployError("The deploy failed.", finished.everything);
    return finished;
  };
  await succeed(COMMANDS.applyMigrations(undefined));
  const { targets } = await succeed(COMMANDS.deploy(undefined, undefined));
  const origin = originOf(base, targets);
  print(`\nDeployed: ${origin ?? "see above"}\n`);
  const counted = await succeed(COMMANDS.query(undefined, COUNT_LINKS), true);
  if (!/"links":\s*0\b/.test(counted.stdout) || origin === undefined) return;
  const { link, sql } = newSetUpLink(origin);
  await succeed(COMMANDS.execute(undefined, sql));
  print(`
Set it up: open this link within 24 hours. It works once, and whoever opens it owns the deployment: so do it now,
because others who can read this log could.
  ${link}
`);
}

function demandDatabase({ d1_databases: databases = [] }: RawConfiguration): void {
  if (databases.every(({ database_id: id }) => id !== NO_DATABASE)) return;
  throw new DeployError(
    "wrangler.toml names no database yet, and a build creates none. The button writes its id; if you connected the repository yourself, " +
      "run `npm run deploy` on your computer instead, or create the database and the two queues and write the id into wrangler.toml.",
  );
}

function originOf({ routes }: RawConfiguration, targets: readonly string[]): string | undefined {
  const domains = Array.isArray(routes)
    ? routes.flatMap((each) => (each?.custom_domain === true ? [each.pattern] : []))
    : [];
  const [domain] = domains;
  return typeof domain === "string" ? `https://${domain}` : targets.find((target) => target.endsWith(".workers.dev"));
}
