// What an account keeps, and how Cloudflare's API writes it (account.ts).
import { randomBytes } from "node:crypto";

export interface Database {
  readonly uuid: string;
  readonly name: string;
}

export interface Queue {
  readonly id: string;
  readonly name: string;
  consumer: Consumer | undefined;
}

/** As `queues.consumers` of a configuration says. */
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

/** A binding as it was uploaded; further members are those of its type. */
export interface UploadedBinding {
  readonly name: string;
  readonly type: string;
  readonly [member: string]: unknown;
}

export interface Upload {
  readonly mainModule: string;
  readonly modules: readonly UploadedModule[];
  readonly bindings: readonly UploadedBinding[];
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  /** All that wrangler said of the upload. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The content of each asset by its path. */
  readonly assets: ReadonlyMap<string, Buffer>;
}

export interface WorkerOfAccount {
  readonly name: string;
  /** Newest last. */
  readonly uploads: readonly Upload[];
  readonly crons: readonly string[];
}

/** Runs statements on a database, one after the other, and answers as D1's API does: an object of columns for each row. */
export type QueryDatabase = (
  databaseId: string,
  sql: string,
  params: readonly unknown[],
) => Promise<readonly QueryAnswer[]>;

export interface QueryAnswer {
  readonly success: boolean;
  readonly results?: readonly Readonly<Record<string, unknown>>[];
  readonly error?: string;
  readonly meta?: Readonly<Record<string, unknown>>;
}
export interface KeptWorker {
  readonly name: string;
  readonly uploads: Upload[];
  /** Uploaded, and perhaps never deployed; by their ids. */
  readonly versions: Map<string, Upload>;
  /** The ids of the versions that were, oldest first. */
  readonly deployed: string[];
  crons: string[];
}

/** An answer of the API: the status, and the result or an error with its code. */
export type Answer =
  | {
      readonly status?: number;
      readonly result: unknown;
      readonly info?: Readonly<Record<string, unknown>>;
      /** Of GraphQL. */
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

/** What an upload or a deployment of a version says of how objects take its code; wrangler gives them five minutes unless it is told otherwise. */
export function strategyIn(of: object): string {
  const { code_update_strategy: strategy } = of as { readonly code_update_strategy?: { readonly mode?: string } };
  return strategy?.mode ?? "none";
}

export interface Metadata extends Record<string, unknown> {
  readonly main_module: string;
  readonly bindings: readonly UploadedBinding[];
  readonly compatibility_date: string;
  readonly compatibility_flags?: readonly string[];
  readonly keep_bindings?: readonly string[];
  readonly assets?: { readonly jwt?: string };
}

/**
 * Those of the upload before stay where the new one names them to be inherited, as wrangler does with queues, and where it keeps all of their type: secrets,
 * if no file of them was given.
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

/** Newest first, as the API has them. */
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

interface MigrationOfObjects {
  readonly new_tag?: string;
  readonly steps?: readonly {
    readonly new_classes?: readonly string[];
    readonly new_sqlite_classes?: readonly string[];
  }[];
}

const migrationIn = ({ metadata }: Upload) => metadata.migrations as MigrationOfObjects | undefined;
/** Up to which migration its objects are: wrangler uploads those alone that come after it. */
const tagOf = (uploads: readonly Upload[]) => uploads.map((each) => migrationIn(each)?.new_tag).findLast(Boolean);

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
 * Why the platform refuses a deploy; undefined where it does not. A class that has objects stays, and no version of before a class was added comes back
 * (developers.cloudflare.com/workers/configuration/versions-and-deployments/rollbacks). The code of the second is not published.
 */
export function refusalOf(upload: Upload, worker: KeptWorker | undefined): Answer | undefined {
  const uploads = worker?.uploads ?? [];
  const before = uploads.lastIndexOf(upload);
  if (before !== -1 && tagOf(uploads.slice(0, before + 1)) !== tagOf(uploads))
    return { status: 400, code: 10023, message: "A Durable Object migration has occurred since this version." };
  const steps = uploads.flatMap((each) => migrationIn(each)?.steps ?? []);
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

/** Of the shape of a JSON Web Token, which wrangler looks into for the time at which it ends. */
export function tokenText(): string {
  const part = (of: unknown) => Buffer.from(JSON.stringify(of)).toString("base64url");
  const endS = Math.floor(Date.now() / 1_000) + 3_600;
  return [part({ alg: "none" }), part({ exp: endS, of: randomBytes(8).toString("hex") }), "none"].join(".");
}

export function jsonOf<T>(body: Buffer): T {
  return JSON.parse(body.toString());
}

export function formOf({ type, body }: Asked): Promise<FormData> {
  return new Response(body, { headers: { "content-type": type } }).formData();
}
