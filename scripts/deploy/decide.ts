// Decides what is to be deployed, and to which account, before anything is created.
import {
  type Answers,
  combine,
  type Flags,
  flagsFor,
  type Given,
  openQuestions,
  parseRemembered,
  type Remembered,
  settled,
} from "./answers.ts";
import { askName, askOpenQuestions } from "./ask.ts";
import { DeployError } from "./deploy-error.ts";
import { deploymentOf } from "./deployment.ts";
import { readAccounts, readRememberedText, readSecrets } from "./look.ts";
import type { Surroundings } from "./surroundings.ts";
import { wranglerOf } from "./surroundings.ts";

/** The answers from flags, the previous deploy and the user at the terminal. */
export async function decide(
  flags: Flags,
  surroundings: Surroundings,
): Promise<{
  readonly answers: Answers;
  readonly remembered: Remembered | undefined;
  readonly resendKey: string | undefined;
}> {
  const { ask } = surroundings;
  const name = flags.given.name ?? (ask === undefined ? undefined : await askName(ask));
  const remembered = name === undefined ? undefined : recall(surroundings.root, name);
  const given = combine({ ...flags.given, name }, remembered?.answers);
  if (!given.ok) throw new DeployError(given.error);
  const missing = [...flagsFor(openQuestions(given.value)), ...(flags.isConfirmed ? [] : ["--yes"])];
  if (ask === undefined && needsResendKey(given.value, flags, surroundings))
    missing.push("the variable RESEND_API_KEY");
  if (ask === undefined && missing.length > 0) {
    throw new DeployError(
      `Nothing was made: there is no terminal to ask at, so these are needed: ${missing.join(", ")}.\nTo take payments it also needs sources: --public-sources names public ones. npm run deploy -- --help lists all flags.`,
    );
  }
  const answers = settled(ask === undefined ? given.value : await askOpenQuestions(given.value, ask));
  const isKeyAsked = ask !== undefined && needsResendKey(answers, flags, surroundings);
  const resendKey = isKeyAsked ? (await ask("Key of Resend: ")).trim() : surroundings.environment.RESEND_API_KEY;
  return { answers, remembered, resendKey };
}

/** Whether Resend's key must be entered. No flag contains it, because every user of the machine can read a command line. */
function needsResendKey({ name, mail }: Given, { keepsSecrets }: Flags, { root, environment }: Surroundings): boolean {
  if (mail !== "resend" || keepsSecrets || (environment.RESEND_API_KEY ?? "") !== "") return false;
  return name === undefined || readSecrets(root, deploymentOf(name)).MAIL_PROVIDER === undefined;
}

function recall(root: string, name: string): Remembered | undefined {
  const deployment = deploymentOf(name);
  const text = readRememberedText(root, deployment);
  if (text === undefined) return undefined;
  const remembered = parseRemembered(text);
  if (remembered.ok) return remembered.value;
  throw new DeployError(
    `${deployment.rememberedFile} cannot be read: ${remembered.error}. Put a copy back, or delete it and answer again.`,
  );
}

/** A deployment stays in its account. Otherwise, after a sign-in to another account, a deploy would create everything again there. */
export async function chooseAccount(
  flags: Flags,
  surroundings: Surroundings,
  remembered: Remembered | undefined,
): Promise<string> {
  const asked = flags.accountId ?? surroundings.environment.CLOUDFLARE_ACCOUNT_ID;
  const accounts = await readAccounts(wranglerOf(surroundings, undefined, asked));
  const known = accounts.map(({ id, name }) => `${id} (${name})`).join(", ");
  const wanted = remembered?.accountId ?? asked;
  if (remembered !== undefined && flags.accountId !== undefined && flags.accountId !== remembered.accountId) {
    throw new DeployError(
      `${remembered.answers.name} is in the account ${remembered.accountId}. Leave --account out, or choose another --name.`,
    );
  }
  if (wanted !== undefined) {
    if (accounts.length === 0 || accounts.some(({ id }) => id === wanted)) return wanted;
    throw new DeployError(
      `The account ${wanted} is not among those of this sign-in: ${known}. Sign in with \`npm run wrangler -- login\` as a member of it.`,
    );
  }
  const [only, ...others] = accounts;
  if (only !== undefined && others.length === 0) return only.id;
  throw new DeployError(
    only === undefined
      ? "This token does not say which account it belongs to. Say it: --account <id>."
      : `There are several accounts: ${known}. Say which: --account <id>.`,
  );
}

/** At a terminal, wrangler asks before it replaces a record. Without a terminal it replaces the record, so we check first. */
export async function demandFreeDomain(
  flags: Flags,
  { ask, isTaken }: Surroundings,
  { answers, remembered }: { readonly answers: Answers; readonly remembered: Remembered | undefined },
): Promise<void> {
  const { domain } = answers;
  if (domain === null || ask !== undefined || flags.replacesRecord || remembered?.answers.domain === domain) return;
  if (!(await isTaken(domain))) return;
  throw new DeployError(
    `Nothing was made: ${domain} already leads somewhere, and without a terminal wrangler would replace its record without asking. ` +
      "Remove the record, run this at a terminal, or add --replace-record.",
  );
}
