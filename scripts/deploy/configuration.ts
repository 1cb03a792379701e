// A deployment's own configuration for wrangler: wrangler.toml with the deployment's names, ids and places. Made anew by every deploy, so that
// it has what a new release needs; what the operator decided is kept beside the secrets, not in it.
import { experimental_readRawConfig } from "wrangler";
import * as z from "zod";
import { type Answers, LOCATIONS, type Location } from "./answers.ts";
import { type Deployment, deploymentOf, rateLimitNamespace } from "./deployment.ts";

/** The part of wrangler's configuration that differs from deployment to deployment; everything else is passed on. */
export interface RawConfiguration {
  readonly vars?: Readonly<Record<string, unknown>>;
  readonly d1_databases?: readonly Readonly<Record<string, unknown>>[];
  readonly queues?: {
    readonly producers?: readonly { readonly binding: string; readonly queue: string }[];
    readonly consumers?: readonly { readonly queue: string }[];
  };
  readonly ratelimits?: readonly Readonly<Record<string, unknown>>[];
  readonly [field: string]: unknown;
}

const FIELDS = z.record(z.string(), z.unknown());
const QUEUE = z.looseObject({ queue: z.string() });
const RAW = z.looseObject({
  vars: FIELDS.optional(),
  d1_databases: z.array(FIELDS).optional(),
  queues: z
    .looseObject({
      producers: z.array(QUEUE.extend({ binding: z.string() })).optional(),
      consumers: z.array(QUEUE).optional(),
    })
    .optional(),
  ratelimits: z.array(FIELDS).optional(),
});

/** As the file has it; throws if what differs from deployment to deployment is not as wrangler takes it. */
export function readConfiguration(file: string): RawConfiguration {
  const raw: unknown = experimental_readRawConfig({ config: file }).rawConfig;
  if (!isConfiguration(raw)) throw new Error(`${file} is no configuration of wrangler: ${RAW.safeParse(raw).error}`);
  return raw;
}

function isConfiguration(raw: unknown): raw is RawConfiguration {
  return RAW.safeParse(raw).success;
}

/**
 * A place of the clouds in the middle of each location: the Worker runs in the data centre that is nearest to it, and so beside the database.
 * `mode = "smart"` would find that by itself, but only once there is steady traffic from several continents.
 */
const REGIONS: Readonly<Record<Location, string>> = {
  weur: "aws:eu-central-1",
  eeur: "gcp:europe-central2",
  wnam: "aws:us-west-2",
  enam: "aws:us-east-1",
  apac: "aws:ap-southeast-1",
  oc: "aws:ap-southeast-2",
};

/** Secrets without which a deployment cannot serve; wrangler refuses a deploy without them. The others may be left out. */
const REQUIRED_SECRETS = ["MASTER_KEY"];

interface Places {
  readonly accountId: string;
  readonly databaseId: string;
}

export function configurationOf(base: RawConfiguration, answers: Answers, places: Places): RawConfiguration {
  const deployment = deploymentOf(answers.name);
  const { domain } = answers;
  return {
    ...base,
    name: deployment.name,
    account_id: places.accountId,
    workers_dev: domain === null,
    ...(domain === null ? {} : { routes: [{ pattern: domain, custom_domain: true }] }),
    placement: { region: REGIONS[answers.location] },
    secrets: { required: REQUIRED_SECRETS },
    vars: {
      ...base.vars,
      PUBLIC_URL: domain === null ? "" : `https://${domain}`,
      MAIL_FROM: answers.mailFrom,
      LOCATION_HINT: answers.location,
      ...answers.variables,
    },
    d1_databases: (base.d1_databases ?? []).map((each) => ({
      ...each,
      database_name: deployment.name,
      database_id: places.databaseId,
    })),
    queues: queuesOf(base.queues, deployment),
    ...analyticsOf(answers),
    ...(answers.exportsBucket === null
      ? {}
      : { r2_buckets: [{ binding: "EXPORTS", bucket_name: answers.exportsBucket }] }),
    ratelimits: (base.ratelimits ?? []).map((each) => ({
      ...each,
      namespace_id: rateLimitNamespace(deployment.name, String(each.namespace_id)),
    })),
  };
}

/** Only where it is asked for: an account must have Analytics Engine switched on. */
function analyticsOf({ variables }: Answers): Partial<RawConfiguration> {
  const dataset = (variables.ANALYTICS_DATASET ?? "").trim();
  return dataset === "" ? {} : { analytics_engine_datasets: [{ binding: "ANALYTICS", dataset }] };
}

/** wrangler.toml's queues end in `-webhooks` and `-jobs`, and so do the deployment's. */
function queuesOf(base: RawConfiguration["queues"], { queues }: Deployment): NonNullable<RawConfiguration["queues"]> {
  const named = <Entry extends { readonly queue: string }>(entry: Entry): Entry => {
    const ending = entry.queue.slice(entry.queue.lastIndexOf("-"));
    return { ...entry, queue: queues.find((name) => name.endsWith(ending)) ?? entry.queue };
  };
  return { producers: base?.producers?.map(named) ?? [], consumers: base?.consumers?.map(named) ?? [] };
}

/** Names in `--var` that no variable of wrangler.toml has: misspelt, most likely. */
export function unknownVariables(base: RawConfiguration, { variables }: Answers): readonly string[] {
  return Object.keys(variables).filter((name) => !(name in (base.vars ?? {})));
}

export function configurationText(configuration: RawConfiguration, { name }: Deployment): string {
  return `// Written by \`npm run deploy -- --name ${name}\` from wrangler.toml, anew each time: what you change here is lost. Variables: --var.
${JSON.stringify(configuration, null, 2)}
`;
}

export function locationText(location: Location): string {
  return `${location} (${LOCATIONS[location]})`;
}
