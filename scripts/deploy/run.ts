// `npm run deploy`: asks or reads flags, finds what exists, and creates what is missing. Each step shows its command; a failed deploy is run again
// and continues where it stopped.

import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addMissingSettings, writePrivateFile } from "../home.ts";
import { newSetUpLink } from "../new-setup-link.ts";
import { adviceFor } from "./advice.ts";
import { type Answers, type Flags, HELP, parseFlags, type Remembered } from "./answers.ts";
import { askPublicSources, type ChosenSources, NO_SOURCES, trySources } from "./choose-sources.ts";
import { configurationOf, configurationText, locationText, unknownVariables } from "./configuration.ts";
import { chooseAccount, decide, demandFreeDomain } from "./decide.ts";
import { DeployError } from "./deploy-error.ts";
import { type Deployment, deploymentOf } from "./deployment.ts";
import { findAll, findDatabase, readSecrets } from "./look.ts";
import { COMMANDS, planOf, type Step, titleOf } from "./plan.ts";
import { type Surroundings, wranglerOf } from "./surroundings.ts";
import { type Named, namesSources, paymentsText } from "./takes-payments.ts";
import type { Finished, Wrangler } from "./wrangler-command.ts";

/** Everything a step needs. Earlier steps' results are in `progress`. */
interface Run {
  readonly surroundings: Surroundings;
  readonly flags: Flags;
  readonly answers: Answers;
  readonly resendKey: string | undefined;
  readonly deployment: Deployment;
  readonly accountId: string;
  readonly wrangler: Wrangler;
  readonly chosen: ChosenSources;
  readonly progress: { databaseId: string | undefined; origin: string | undefined; link: string | undefined };
}

/** The exit status of the process. */
export async function deploy(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const flags = parseFlags(args);
  const { print } = surroundings;
  if (!flags.ok) {
    print(`${flags.error}.\n\n${HELP}\n`);
    return 2;
  }
  if (flags.value.asksForHelp) {
    print(`${HELP}\n`);
    return 0;
  }
  try {
    await deployWith(flags.value, surroundings);
    return 0;
  } catch (error) {
    if (!(error instanceof DeployError)) throw error;
    print(`\n${error.message}\n`);
    return 1;
  }
}

async function deployWith(flags: Flags, surroundings: Surroundings): Promise<void> {
  const { print } = surroundings;
  const { answers, remembered, resendKey } = await decide(flags, surroundings);
  const misspelt = unknownVariables(surroundings.base, answers);
  if (misspelt.length > 0) throw new DeployError(`--var: wrangler.toml has no variable ${misspelt.join(", ")}.`);
  const deployment = deploymentOf(answers.name);
  print(`\nLooking at what is there\n`);
  const sameAgain = "the same command again.";
  const accountId = await guarded(sameAgain, () => chooseAccount(flags, surroundings, remembered));
  const wrangler = wranglerOf(surroundings, deployment, accountId);
  const here = {
    hasKey: readSecrets(surroundings.root, deployment).MASTER_KEY !== undefined,
    isRemembered: remembered !== undefined,
    isLinkMade: remembered?.isLinkMade === true,
  };
  const found = await guarded(sameAgain, () => findAll(wrangler, deployment, here));
  const plan = planOf(deployment, found, flags);
  if (!plan.ok) throw new DeployError(plan.error);
  await demandFreeDomain(flags, surroundings, { answers, remembered });
  const named = () => ({
    settings: readSecrets(surroundings.root, deployment),
    ofWorker: found.secrets,
    keepsSecrets: flags.keepsSecrets,
  });
  const run: Run = {
    surroundings,
    flags,
    answers,
    resendKey,
    deployment,
    accountId,
    wrangler,
    chosen: await chooseSources(flags, surroundings, named()),
    progress: { databaseId: found.databaseId, origin: undefined, link: undefined },
  };
  await confirm(run, plan.value, found.secrets === undefined);
  remember(run, here.isLinkMade);
  // Written before the steps, so that a later run with fewer flags still uses the chosen sources.
  if (run.chosen.setting !== undefined)
    setJson(join(surroundings.root, deployment.secretsFile), "CHAIN_SOURCES", run.chosen.setting);
  const goOn = `npm run deploy -- --name ${answers.name}${surroundings.ask === undefined ? " --yes" : ""}\nIt goes on from here: what was made is kept, and nothing is made twice.`;
  for (const [index, step] of plan.value.entries()) {
    const title = titleOf(step, deployment, answers.location);
    print(`\n${index + 1} of ${plan.value.length}  ${title}\n`);
    await guarded(goOn, () => perform(run, step), `Step ${index + 1} of ${plan.value.length} failed: ${title}`);
  }
  print(closing(run, found.secrets === undefined, paymentsText(named(), run.chosen, run.progress.origin ?? "")));
}

/** Never chooses sources for a deployment that already has some, and never unless requested. */
async function chooseSources(
  flags: Flags,
  { ask, print, vendors, nowMs }: Surroundings,
  named: Named,
): Promise<ChosenSources> {
  const { publicSources, isConfirmed, keepsSecrets } = flags;
  if (namesSources(named)) {
    if (publicSources !== undefined && publicSources.length > 0)
      print("\nCHAIN_SOURCES is set, so --public-sources changes nothing.\n");
    return NO_SOURCES;
  }
  const isAsked = ask !== undefined && publicSources === undefined && !isConfirmed && !keepsSecrets;
  const names = isAsked ? await askPublicSources(ask, print) : (publicSources ?? []);
  return trySources(names, vendors, { print, nowMs });
}

function remember({ surroundings, deployment, answers, accountId }: Run, isLinkMade: boolean): void {
  mkdirSync(join(surroundings.root, deployment.folder), { recursive: true, mode: 0o700 });
  const remembered: Remembered = { answers, accountId, isLinkMade };
  writePrivateFile(join(surroundings.root, deployment.rememberedFile), `${JSON.stringify(remembered, null, 2)}\n`);
}

async function confirm(
  { surroundings, flags, answers, deployment, chosen }: Run,
  steps: readonly Step[],
  isNew: boolean,
): Promise<void> {
  const { print, ask } = surroundings;
  const titles = steps.map((step) => `  - ${titleOf(step, deployment, answers.location)}`);
  if (chosen.setting !== undefined)
    titles.push(`  - CHAIN_SOURCES, with the sources that answered, in ${deployment.secretsFile}`);
  const place = answers.domain ?? "workers.dev";
  print(
    `\n${isNew ? "A new deployment" : "An upgrade of the deployment"} ${answers.name} in ${locationText(answers.location)}, at ${place}:\n${titles.join("\n")}\n`,
  );
  if (flags.isConfirmed || ask === undefined) return;
  const answer = await ask("Go on? [y/N] ");
  if (!/^y(es)?$/i.test(answer.trim())) throw new DeployError("Nothing was made.");
}

async function perform(run: Run, step: Step): Promise<void> {
  const { surroundings, deployment, answers, wrangler, progress } = run;
  const { configuration } = deployment;
  switch (step.kind) {
    case "make-key":
      return writeSecrets(run);
    case "create-database":
      await succeed(wrangler, COMMANDS.createDatabase(deployment, answers.location));
      progress.databaseId = await findDatabase(wrangler, deployment);
      return;
    case "write-configuration": {
      if (progress.databaseId === undefined)
        throw new DeployError("The database was created, but it is not listed yet.");
      const places = { accountId: run.accountId, databaseId: progress.databaseId };
      const text = configurationText(configurationOf(surroundings.base, answers, places), deployment);
      writeFileSync(join(surroundings.root, configuration), text);
      return;
    }
    case "create-queue":
      await succeed(wrangler, COMMANDS.createQueue(step.queue));
      return;
    case "apply-migrations":
      await succeed(wrangler, COMMANDS.applyMigrations(configuration));
      return;
    case "deploy": {
      if (!run.flags.keepsSecrets) writeSecrets(run);
      const secretsFile = run.flags.keepsSecrets ? undefined : deployment.secretsFile;
      const hasTerminal = surroundings.ask !== undefined;
      const { targets } = await succeed(wrangler, COMMANDS.deploy(configuration, secretsFile), { hasTerminal });
      const ofAccount = targets.find((target) => target.endsWith(".workers.dev"));
      progress.origin = answers.domain === null ? ofAccount : `https://${answers.domain}`;
      return;
    }
    case "make-link": {
      if (progress.origin === undefined) throw new DeployError("wrangler did not say where the Worker is reachable.");
      const { link, sql } = newSetUpLink(progress.origin);
      await succeed(wrangler, COMMANDS.execute(configuration, sql));
      remember(run, true);
      progress.link = link;
      return;
    }
  }
}

async function succeed(
  wrangler: Wrangler,
  args: readonly string[],
  options: { readonly hasTerminal?: boolean } = {},
): Promise<Finished> {
  const finished = await wrangler.run(args, options);
  if (!finished.isGood) throw new DeployError("wrangler failed", finished.everything);
  return finished;
}

/** Creates MASTER_KEY if there is none, and sets MAIL_PROVIDER as answered. Everything else in the file is the operator's. */
function writeSecrets({ surroundings, deployment, answers, resendKey }: Run): void {
  const file = join(surroundings.root, deployment.secretsFile);
  addMissingSettings(file, { MASTER_KEY: () => `k1:${randomBytes(32).toString("base64")}` });
  const provider = mailProvider(answers, resendKey);
  if (provider !== undefined) setJson(file, "MAIL_PROVIDER", provider);
}

function setJson(file: string, name: "MAIL_PROVIDER" | "CHAIN_SOURCES", json: string): void {
  const text = (existsSync(file) ? readFileSync(file, "utf8") : "").replace(/(?<=[^\n])$/, "\n");
  const others = text.replaceAll(new RegExp(`^${name}=.*\\n`, "gm"), "");
  writePrivateFile(file, `${others}${name}='${json}'\n`);
}

/** The new MAIL_PROVIDER; undefined if the value in the file stays. wrangler expands `$` in values unless it is escaped. */
function mailProvider({ mail }: Answers, apiKey = ""): string | undefined {
  if (mail === "cloudflare") return JSON.stringify({ kind: mail });
  return mail === "none" || apiKey === "" ? undefined : JSON.stringify({ kind: mail, apiKey }).replaceAll("$", "\\$");
}

/** Adds advice to the error of a failed step, or, without a `title`, of the checks before the steps. */
async function guarded<T>(again: string, work: () => Promise<T>, title?: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DeployError)) throw error;
    const { message, output } = error;
    if (output === undefined && title === undefined) throw error;
    // The output of a step has been shown already, that of a check has not.
    const said = title ?? `${message}\n\n${output?.trim()}`;
    const advice = output === undefined ? message : adviceFor(output);
    throw new DeployError(`${said}\n\nWhat to do: ${advice}\nThen run ${again}`);
  }
}

function closing({ answers, deployment, progress }: Run, isNew: boolean, payments: string): string {
  const origin = progress.origin ?? "";
  const done = `\n${isNew ? "Deployed" : "Upgraded"}: ${origin}\n`;
  const link =
    progress.link === undefined
      ? ""
      : `
Set it up: open this link within 24 hours. It works once, and whoever opens it owns the deployment.
  ${progress.link}
`;
  const next = isNew
    ? `
Next:
  1. Keep a copy of ${deployment.folder}/ where you keep other secrets. Without its MASTER_KEY nothing that is stored can be read.
  2. Open ${origin}/healthz: its warnings name what is missing.
  3. Name the sources of the chains that you take payments on, or better ones: CHAIN_SOURCES='{...}' in ${deployment.secretsFile}, then deploy again.
  4. Upgrade with: git pull && npm run deploy -- --name ${answers.name}
`
    : "";
  const health = isNew ? "" : `Its health: ${origin}/healthz\n`;
  return done + health + link + payments + next;
}
