// A deployment's parameters, decided by its operator through flags, answers or an earlier deploy. There is no I/O here, so each rule is a
// pure function.
import { parseArgs } from "node:util";
import * as z from "zod";
import type { NetworkName } from "../../src/chains/registry/networks.ts";
import { err, ok, type Result } from "../../src/lib/result.ts";
import { parseSender } from "../../src/platform/mail/provider.ts";
import { keysOf } from "../keys-of.ts";
import { readPublicSources } from "./public-sources.ts";

/** Where D1 can be located, by the names of `wrangler d1 create --location`. Each is also a location of Durable Objects. */
export const LOCATIONS = {
  weur: "Western Europe",
  eeur: "Eastern Europe",
  wnam: "Western North America",
  enam: "Eastern North America",
  apac: "Asia-Pacific",
  oc: "Oceania",
} as const;
export type Location = keyof typeof LOCATIONS;

export const MAIL_KINDS = ["none", "cloudflare", "resend"] as const;

export const DEFAULT_NAME = "edgetill";
/** The longest name of a queue is 63 characters, and ours end in `-webhooks`. */
export const NAME = /^[a-z]([a-z0-9-]{0,48}[a-z0-9])?$/;
const DOMAIN = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/;
/** R2's bucket names. */
const BUCKET = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/;
const VARIABLE = /^([A-Z][A-Z0-9_]*)=(.*)$/s;

const locationNames = keysOf(LOCATIONS);

const answersSchema = z.strictObject({
  name: z.string().regex(NAME),
  location: z.enum(locationNames),
  /** Null: the account's address at workers.dev. */
  domain: z.string().regex(DOMAIN).nullable(),
  mail: z.enum(MAIL_KINDS),
  /** Empty if no email is sent. */
  mailFrom: z.string(),
  /** The R2 bucket for nightly exports; null without exports. Answers that an earlier release stored lack it. */
  exportsBucket: z.string().regex(BUCKET).nullable().default(null),
  /** Variables whose values differ from those in wrangler.toml. */
  variables: z.record(z.string(), z.string()),
});
export type Answers = z.output<typeof answersSchema>;

/** The data that is stored about a deployment between two deploys. */
const rememberedSchema = z.strictObject({
  answers: answersSchema,
  accountId: z.string(),
  /** Whether a first set-up link has been created. */
  isLinkMade: z.boolean(),
});
export type Remembered = z.output<typeof rememberedSchema>;

export function parseRemembered(text: string): Result<Remembered, string> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return err("it is not JSON");
  }
  const parsed = rememberedSchema.safeParse(value);
  if (parsed.success) return ok(parsed.data);
  const [issue] = parsed.error.issues;
  return err(`${issue?.path.join(".") ?? ""}: ${issue?.message ?? "invalid"}`);
}

/** The answers given so far. */
export type Given = { readonly [Name in keyof Answers]?: Answers[Name] | undefined };

export interface Flags {
  readonly given: Given;
  readonly accountId: string | undefined;
  /** Networks to watch with public sources; undefined if no flag says which. */
  readonly publicSources: readonly NetworkName[] | undefined;
  /** Deploys without the secrets file: the Worker keeps its secrets. */
  readonly keepsSecrets: boolean;
  /** Whether an existing DNS record of the domain may be replaced. */
  readonly replacesRecord: boolean;
  readonly isConfirmed: boolean;
  readonly asksForHelp: boolean;
}

export const HELP = `npm run deploy -- [flags]     makes a deployment, or upgrades the one of this name

  --name <name>               of the Worker, its database and its queues (${DEFAULT_NAME})
  --location <location>       where the database and the objects are: ${locationNames.join(", ")}
  --domain <host>             a domain of a zone in your account, such as pay.example.com
  --workers-dev               instead of a domain: <name>.<your subdomain>.workers.dev
  --mail <kind>               how mail is sent: ${MAIL_KINDS.join(", ")} (resend: its key is in RESEND_API_KEY)
  --mail-from <sender>        such as "Shop payments <pay@example.com>"
  --exports-bucket <bucket>   an R2 bucket of the account, to which merchants are exported every night; none: no exports
  --var NAME=value            a variable of the Worker; may be repeated, and is remembered; NAME= forgets it
  --public-sources <list>     networks to watch with public sources, such as ETH,BTC, if the deployment has no sources yet; all: all main
                              networks that have any; none: none (docs/operations/public-sources.md)
  --account <id>              which account, if you have several
  --keep-secrets              upgrade without the file of secrets; the Worker keeps those that it has
  --replace-record            let the domain replace a DNS record or another Worker's domain
  --yes                       do not ask before anything is made

What was answered is remembered: an upgrade needs --name, and --yes where there is no terminal.`;

const OPTIONS = {
  name: { type: "string" },
  location: { type: "string" },
  domain: { type: "string" },
  "workers-dev": { type: "boolean" },
  mail: { type: "string" },
  "mail-from": { type: "string" },
  "exports-bucket": { type: "string" },
  "public-sources": { type: "string" },
  var: { type: "string", multiple: true },
  account: { type: "string" },
  "keep-secrets": { type: "boolean" },
  "replace-record": { type: "boolean" },
  yes: { type: "boolean" },
  help: { type: "boolean" },
} as const;

/** The error is a sentence for the operator. */
export function parseFlags(args: readonly string[]): Result<Flags, string> {
  let values: ReturnType<typeof parse>;
  try {
    values = parse(args);
  } catch (error) {
    return err(error instanceof Error ? error.message : String(error));
  }
  if (values.domain !== undefined && values["workers-dev"] === true) {
    return err("--domain and --workers-dev exclude each other");
  }
  const variables: Record<string, string> = {};
  for (const text of values.var ?? []) {
    const [, name, value] = VARIABLE.exec(text) ?? [];
    if (name === undefined || value === undefined) return err(`--var must be NAME=value, not "${text}"`);
    variables[name] = value;
  }
  const texts = [
    ["name", values.name],
    ["location", values.location],
    ["domain", values["workers-dev"] === true ? "" : values.domain],
    ["mail", values.mail],
    ["mailFrom", values["mail-from"]],
  ] as const;
  const bucket = values["exports-bucket"];
  if (bucket !== undefined && !BUCKET.test(bucket)) return err(`--exports-bucket: "${bucket}" is no name of a bucket`);
  const networks = readPublicSources(values["public-sources"] ?? "");
  if (!networks.ok) return err(`--public-sources: ${networks.error}`);
  if (networks.value.length > 0 && values["keep-secrets"] === true)
    return err("--public-sources and --keep-secrets exclude each other: sources are in the file of secrets");
  let given: Given = {
    ...(values.var === undefined ? {} : { variables }),
    ...(bucket === undefined ? {} : { exportsBucket: bucket === "none" ? null : bucket }),
  };
  for (const [question, text] of texts) {
    if (text === undefined) continue;
    const answer = readAnswer(question, text);
    if (!answer.ok) return err(`--${question === "mailFrom" ? "mail-from" : question}: ${answer.error}`);
    given = { ...given, ...answer.value };
  }
  return ok({
    given,
    accountId: values.account,
    publicSources: values["public-sources"] === undefined ? undefined : networks.value,
    keepsSecrets: values["keep-secrets"] === true,
    replacesRecord: values["replace-record"] === true,
    isConfirmed: values.yes === true,
    asksForHelp: values.help === true,
  });
}

function parse(args: readonly string[]) {
  return parseArgs({ args: [...args], options: OPTIONS, strict: true }).values;
}

export type Question = "name" | "location" | "domain" | "mail" | "mailFrom";

/** The operator's text as an answer. An empty domain means the address at workers.dev. The error is a sentence. */
export function readAnswer(question: Question, text: string): Result<Given, string> {
  const value = text.trim();
  switch (question) {
    case "name":
      if (NAME.test(value)) return ok({ name: value });
      return err("use 1 to 50 lower-case letters, digits and hyphens, beginning with a letter");
    case "location": {
      const location = locationNames.find((each) => each === value);
      return location === undefined ? err(`use one of ${locationNames.join(", ")}`) : ok({ location });
    }
    case "domain":
      if (value === "") return ok({ domain: null });
      if (DOMAIN.test(value)) return ok({ domain: value });
      return err("use a host name such as pay.example.com, without https:// and in lower case");
    case "mail": {
      const mail = MAIL_KINDS.find((each) => each === value);
      return mail === undefined ? err(`use one of ${MAIL_KINDS.join(", ")}`) : ok({ mail });
    }
    case "mailFrom":
      return parseSender(value).ok
        ? ok({ mailFrom: value })
        : err('use a form such as "Shop payments <pay@example.com>"');
  }
}

/** Merges the new answers with those of an earlier deploy. A database cannot be moved, so its location cannot change. */
export function combine(given: Given, remembered: Answers | undefined): Result<Given, string> {
  if (remembered !== undefined && given.location !== undefined && given.location !== remembered.location) {
    return err(
      `${remembered.name} is in ${remembered.location}, and neither its database nor its objects can move. ` +
        "Leave --location out, or make another deployment with another --name.",
    );
  }
  const all = { ...remembered, ...given };
  const variables = { ...remembered?.variables, ...given.variables };
  const kept = Object.entries(variables).filter(([, value]) => value !== "");
  return ok({ ...all, ...(all.mail === "none" ? { mailFrom: "" } : {}), variables: Object.fromEntries(kept) });
}

/** The unanswered questions, in the order in which they are asked. */
export function openQuestions(given: Given): readonly Question[] {
  const questions: Question[] = [];
  if (given.name === undefined) questions.push("name");
  if (given.location === undefined) questions.push("location");
  if (given.domain === undefined) questions.push("domain");
  if (given.mail === undefined) questions.push("mail");
  if (given.mail !== "none" && (given.mailFrom ?? "") === "") questions.push("mailFrom");
  return questions;
}

/** The flags that would answer these questions. Without `--mail` it is not known whether a sender is needed. */
export function flagsFor(questions: readonly Question[]): readonly string[] {
  const flags = { name: "--name", location: "--location", domain: "--domain or --workers-dev", mail: "--mail" };
  return questions.map((each) => (each === "mailFrom" ? "--mail-from (not with --mail none)" : flags[each]));
}

/** Throws if a question is still unanswered. */
export function settled(given: Given): Answers {
  return answersSchema.parse({ ...given, variables: given.variables ?? {} });
}
