// What an account stores, and how Cloudflare's API shows it (account.ts).
import { randomBytes } from "node:crypto";
import * as z from "zod";

export interface Database {
  readonly uuid: string;
  readonly name: string;
}

export interface Queue {
  readonly id: string;
  readonly name: string;
  consumer: Consumer | undefined;
}

/** A queue's consumer, as in a configuration's `queues.consumers`. */
export interface Consumer {
  readonly script: string;
  readonly batchSize: number;
  readonly maxRetries: number;
}

export interface UploadedModule {
  readonly name: string;
  readonly type: string;
  readonly content: Buffer;
}

/** An uploaded binding; other members depend on its type. */
const BINDING = z.looseObject({ name: z.string(), type: z.string() });
export type UploadedBinding = Readonly<z.infer<typeof BINDING>>;

/** The part of a request that sets when objects switch to the code of an upload or of a deployed version. */
const STRATEGY = z.looseObject({ code_update_strategy: z.object({ mode: z.string().optional() }).optional() });

/** wrangler's metadata about an upload. Members that are not read here are stored too. */
export const METADATA = STRATEGY.extend({
  main_module: z.string(),
  bindings: z.array(BINDING),
  /** Missing for a Worker that was created only to hold a secret. */
  compatibility_date: z.string().default(""),
  compatibility_flags: z.array(z.string()).optional(),
  keep_bindings: z.array(z.string()).optional(),
  assets: z
    .looseObject({
      jwt: z.string().optional(),
      config: z
        .looseObject({
          run_worker_first: z.union([z.boolean(), z.array(z.string())]).optional(),
          html_handling: z.string().optional(),
          not_found_handling: z.string().optional(),
        })
        .optional(),
    })
    .optional(),
  migrations: z
    .looseObject({
      new_tag: z.string().optional(),
      steps: z
        .array(
          z.looseObject({
            new_classes: z.array(z.string()).optional(),
            new_sqlite_classes: z.array(z.string()).optional(),
          }),
        )
        .optional(),
    })
    .optional(),
});
type Metadata = z.infer<typeof METADATA>;

export interface Upload {
  readonly mainModule: string;
  readonly modules: readonly UploadedModule[];
  readonly bindings: readonly UploadedBinding[];
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly metadata: Metadata;
  /** The content of each asset, by path. */
  readonly assets: ReadonlyMap<string, Buffer>;
}

export interface WorkerOfAccount {
  readonly name: string;
  /** Newest last. */
  readonly uploads: readonly Upload[];
  /** How each deploy switches objects to its code, oldest first. */
  readonly strategies: readonly string[];
  readonly crons: readonly string[];
}

/** Runs statements on a database one after another, and answers like D1's API: each row is an object of columns. */
export type QueryDatabase = (
  databaseId: string,
  sql: string,
  params: readonly unknown[],
) => Promise<readonly QueryAnswer[]>;

export const QUERY_ANSWER = z.looseObject({
  success: z.boolean(),
  results: z.array(z.record(z.string(), z.unknown())).optional(),
  error: z.string().optional(),
  meta: z.record(z.string(), z.unknown()).optional(),
});
export type QueryAnswer = z.infer<typeof QUERY_ANSWER>;

export interface KeptWorker {
  readonly name: string;
  readonly uploads: Upload[];
  readonly strategies: string[];
  /** The uploads by id, whether deployed or not. */
  readonly versions: Map<string, Upload>;
  /** Ids of the deployed versions, oldest first. */
  readonly deployed: string[];
  crons: string[];
}

/** An API answer: the status, and a result or an error with its code. */
export type Answer =
  | {
      readonly status?: number;
      readonly result: unknown;
      readonly info?: Readonly<Record<string, unknown>>;
      /** The GraphQL result. */
      readonly data?: unknown;
    }
  | { readonly status: number; readonly code: number; readonly message: string };

export interface Asked {
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
  readonly type: string;
  readonly body: Buffer;
}

export type Route = readonly [method: string, path: RegExp, answer: (asked: Asked) => Answer | Promise<Answer>];

export const hex = () => randomBytes(16).toString("hex");
export const SUBDOMAIN = { enabled: true, previews_enabled: false };
export const NO_WORKER = { status: 404, code: 10007, message: "This Worker does not exist on your account." };

/** How objects that are awake switch to the code of a deploy: at once, or after five minutes at most. */
export type Strategy = "immediate" | "deferred";

/** When an upload or a deployed version lets objects switch to its code; "none" if it leaves that to the platform. */
export function strategyIn(of: object): string {
  return STRATEGY.parse(of).code_update_strategy?.mode ?? "none";
}

/**
 * What the platform does for a strategy in an upload: it defers unless it is asked not to
 * (developers.cloudflare.com/durable-objects/deployments/durable-objects-code-updates).
 */
export const strategyOf = (mode: string | undefined): Strategy => (mode === "immediate" ? "immediate" : "deferred");

/**
 * The new upload's bindings, plus those that it inherits from the previous upload. Inherited bindings are those named as inherited, which wrangler
 * does for queues, and those of a type that the upload keeps, such as secrets if no secrets file was given.
 */
export function withInherited(metadata: Metadata, before: Upload | undefined): readonly UploadedBinding[] {
  const given = metadata.bindings.filter(({ type }) => type !== "inherit");
  const own = new Set(given.map(({ name }) => name));
  const inherited = new Set(metadata.bindings.map(({ name }) => name));
  const isKept = ({ name, type }: UploadedBinding) =>
    !own.has(name) && (inherited.has(name) || metadata.keep_bindings?.includes(type) === true);
  return [...given, ...(before?.bindings.filter(isKept) ?? [])];
}

export const databaseText = ({ uuid, name }: Database) => ({
  uuid,
  name,
  version: "production",
  num_tables: 0,
  file_size: 0,
});

export function queueText({ id, name, consumer }: Queue) {
  const consumers =
    consumer === undefined
      ? []
      : [
          {
            consumer_id: id,
            queue_name: name,
            type: "worker",
            script: consumer.script,
            script_name: consumer.script,
            settings: { batch_size: consumer.batchSize, max_retries: consumer.maxRetries },
          },
        ];
  const counts = { producers_total_count: 0, consumers_total_count: consumers.length };
  return {
    queue_id: id,
    queue_name: name,
    created_on: "",
    modified_on: "",
    producers: [],
    consumers,
    settings: {},
    ...counts,
  };
}

const MADE = { created_on: "2026-11-26T12:00:00.000Z", author_email: "operator@example.com", source: "wrangler" };

/** Newest first, as in the API. */
export const deploymentsText = ({ deployed }: KeptWorker) =>
  deployed
    .map((id, n) => ({
      id: `deployment-${n}`,
      ...MADE,
      strategy: "percentage",
      versions: [{ version_id: id, percentage: 100 }],
    }))
    .toReversed();

export const versionText = (id: string) => ({
  id,
  number: 1,
  metadata: { ...MADE, modified_on: MADE.created_on },
  annotations: {},
  resources: { script: { etag: id, handlers: ["fetch"] }, script_runtime: {}, bindings: [] },
});

/** The tag of the newest object migration: wrangler uploads only later ones. */
const tagOf = (uploads: readonly Upload[]) =>
  uploads.map((each) => each.metadata.migrations?.new_tag).findLast(Boolean);

/** The names in the last export of the main module. */
function exportedBy({ mainModule, modules }: Upload): readonly string[] {
  const code = modules.find(({ name }) => name === mainModule)?.content.toString() ?? "";
  const [, names = ""] = [...code.matchAll(/\bexport\s*\{([^{}]*)\}/g)].at(-1) ?? [];
  return names.split(",").map(
    (each) =>
      each
        .trim()
        .split(/\s+as\s+/)
        .at(-1) ?? "",
  );
}

/**
 * The error with which the platform refuses a deploy; undefined if it accepts it. A class that has objects cannot be removed, and no version from
 * before a class was added can be restored (developers.cloudflare.com/workers/configuration/versions-and-deployments/rollbacks). Cloudflare does not
 * publish the error code of the second refusal.
 */
export function refusalOf(upload: Upload, worker: KeptWorker | undefined): Answer | undefined {
  const uploads = worker?.uploads ?? [];
  const before = uploads.lastIndexOf(upload);
  if (before !== -1 && tagOf(uploads.slice(0, before + 1)) !== tagOf(uploads))
    return { status: 400, code: 10023, message: "A Durable Object migration has occurred since this version." };
  const steps = uploads.flatMap((each) => each.metadata.migrations?.steps ?? []);
  const classes = steps.flatMap(({ new_classes: plain = [], new_sqlite_classes: kept = [] }) => [...plain, ...kept]);
  const exported = exportedBy(upload);
  const missing = classes.find((name) => !exported.includes(name));
  if (missing === undefined) return undefined;
  const message = `New version of script does not export class '${missing}' which is depended on by existing Durable Objects.`;
  return { status: 400, code: 10064, message };
}

export const serviceText = (worker: KeptWorker) => ({
  id: worker.name,
  default_environment: {
    environment: "production",
    script: { id: worker.name, last_deployed_from: "wrangler", migration_tag: tagOf(worker.uploads) },
  },
});

export const settingsText = (worker: KeptWorker) => ({ bindings: worker.uploads.at(-1)?.bindings ?? [] });

export const secretsOf = ({ uploads }: KeptWorker) =>
  (uploads.at(-1)?.bindings ?? [])
    .filter(({ type }) => type === "secret_text")
    .map(({ name }) => ({ name, type: "secret_text" }));

export const noDatabase = (id: string): Answer => ({
  status: 404,
  code: 7404,
  message: `The database ${id} could not be found`,
});

export function listed(result: readonly unknown[]): Answer {
  const count = result.length;
  return { result, info: { page: 1, per_page: 100, count, total_count: count, total_pages: 1 } };
}

/** A token in the form of a JSON Web Token, because wrangler reads its expiry. */
export function tokenText(): string {
  const part = (of: unknown) => Buffer.from(JSON.stringify(of)).toString("base64url");
  const endS = Math.floor(Date.now() / 1_000) + 3_600;
  return [part({ alg: "none" }), part({ exp: endS, of: randomBytes(8).toString("hex") }), "none"].join(".");
}

export function formOf({ type, body }: Asked): Promise<FormData> {
  return new Response(body, { headers: { "content-type": type } }).formData();
}
