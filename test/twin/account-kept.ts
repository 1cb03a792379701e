// What an account stores, and how Cloudflare's API represents it (account.ts).
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

/** As in a configuration's `queues.consumers`. */
export interface Consumer {
  readonly script: string;
  readonly batchSize: number;
  readonly maxRetries: number;
}

/** A file of a Worker. */
export interface UploadedModule {
  readonly name: string;
  readonly type: string;
  readonly content: Buffer;
}

/** An uploaded binding; other members depend on its type. */
const BINDING = z.looseObject({ name: z.string(), type: z.string() });
export type UploadedBinding = Readonly<z.infer<typeof BINDING>>;

/** When objects switch to the code of an upload, or of a deployed version. */
const STRATEGY = z.looseObject({ code_update_strategy: z.object({ mode: z.string().optional() }).optional() });

/** wrangler's metadata about an upload; it has more than is read here, and all of it is kept. */
export const METADATA = STRATEGY.extend({
  main_module: z.string(),
  bindings: z.array(BINDING),
  /** A Worker created only to hold a secret comes without. */
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
  readonly crons: readonly string[];
}

/** Runs statements on a database, one after the other, and answers like D1's API: an object of columns for each row. */
export type QueryDatabase = (
  databaseId: string,
  sql: string,
  params: readonly unknown[],
) => Promise<readonly QueryAnswer[]>;

/** A statement's answer. */
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
  /** Uploaded, and perhaps never deployed; by id. */
  readonly versions: Map<string, Upload>;
  /** Ids of the former versions, oldest first. */
  readonly deployed: string[];
  crons: string[];
}

/** An API answer: the status, and the result or an error with its code. */
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

/** When an upload or a version's deployment says that objects switch to its code; wrangler allows five minutes by default. */
export function strategyIn(of: object): string {
  return STRATEGY.parse(of).code_update_strategy?.mode ?? "none";
}

/**
 * The previous upload's bindings stay if the new one names them as inherited, as wrangler does with queues, or keeps all of their type: secrets, if
 * no secrets file was given.
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

/** The newest migration of its objects: wrangler uploads only later ones. */
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
 * Why the platform refuses a deploy; undefined if it does not. A class that has objects stays, and no version from before a class was added can be
 * restored (developers.cloudflare.com/workers/configuration/versions-and-deployments/rollbacks). The code of the second is not published.
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

/** In the form of a JSON Web Token, from which wrangler reads the expiry. */
export function tokenText(): string {
  const part = (of: unknown) => Buffer.from(JSON.stringify(of)).toString("base64url");
  const endS = Math.floor(Date.now() / 1_000) + 3_600;
  return [part({ alg: "none" }), part({ exp: endS, of: randomBytes(8).toString("hex") }), "none"].join(".");
}

export function formOf({ type, body }: Asked): Promise<FormData> {
  return new Response(body, { headers: { "content-type": type } }).formData();
}
