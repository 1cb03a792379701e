// A Cloudflare account on loopback, as far as `npm run deploy` and the commands of our runbooks ask for it: databases, queues, Workers with
// their assets, secrets and crons. Real wrangler talks to it (CLOUDFLARE_API_BASE_URL); what it uploads is kept as it came.
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type Answer,
  type Asked,
  type Database,
  databaseText,
  deploymentsText,
  formOf,
  hex,
  jsonOf,
  type KeptWorker,
  listed,
  type Metadata,
  NO_WORKER,
  noDatabase,
  type QueryDatabase,
  type Queue,
  queueText,
  type Route,
  refusalOf,
  SUBDOMAIN,
  secretsOf,
  serviceText,
  settingsText,
  strategyIn,
  tokenText,
  type Upload,
  type UploadedModule,
  versionText,
  type WorkerOfAccount,
  withInherited,
} from "./account-kept.ts";

export interface Account {
  readonly id: string;
  /** For CLOUDFLARE_API_BASE_URL. */
  readonly url: string;
  readonly databases: readonly Database[];
  readonly queues: readonly Queue[];
  worker(name: string): WorkerOfAccount | undefined;
  /** What was asked of databases beyond statements, as "<action> <id>", oldest first. */
  readonly acts: readonly string[];
  /** How objects were to take the code of each upload that was deployed, oldest first. */
  readonly strategies: readonly string[];
  /** Requests that it knew no answer to, as "GET /path"; they got a 404. */
  readonly unknown: readonly string[];
  stop(): Promise<void>;
}
/** Listens on a free port of loopback. */
export async function startAccount(query: QueryDatabase): Promise<Account> {
  const state = new AccountState(query);
  const server = createServer((request, response) => void state.serve(request, response));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    id: state.id,
    url: `http://127.0.0.1:${port}/client/v4`,
    databases: state.databases,
    queues: state.queues,
    worker: (name) => state.workers.get(name),
    strategies: state.strategies,
    acts: state.acts,
    unknown: state.unknown,
    stop: () => ended(server),
  };
}

function ended(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((done) => server.close(() => done()));
}

class AccountState {
  readonly id = hex();
  readonly databases: Database[] = [];
  readonly queues: Queue[] = [];
  readonly workers = new Map<string, KeptWorker>();
  readonly unknown: string[] = [];
  readonly strategies: string[] = [];
  readonly acts: string[] = [];
  readonly #query: QueryDatabase;
  /** Contents by their hash, and manifests by the token of their session. */
  readonly #contents = new Map<string, Buffer>();
  readonly #manifests = new Map<string, Readonly<Record<string, { readonly hash: string }>>>();
  readonly #routes: readonly Route[];

  constructor(query: QueryDatabase) {
    this.#query = query;
    const of = (path: string) => new RegExp(`^/accounts/${this.id}${path}$`);
    this.#routes = [
      ["GET", /^\/user\/tokens\/verify$/, () => ({ result: { id: "token", status: "active" } })],
      ["GET", /^\/user$/, () => ({ result: { email: "operator@example.com" } })],
      ["GET", /^\/accounts$/, () => listed([{ id: this.id, name: "Example" }])],
      ["GET", /^\/memberships$/, () => listed([{ account: { id: this.id, name: "Example" } }])],
      // Figures of what a database did lately, which `d1 info` shows.
      ["POST", /^\/graphql$/, () => ({ result: null, data: { viewer: { accounts: [] } } })],
      ["POST", of("/r2/buckets"), ({ body }) => ({ result: { name: jsonOf<{ name: string }>(body).name } })],
      ...this.#databaseRoutes(of),
      ...this.#timeTravelRoutes(of),
      ...this.#queueRoutes(of),
      ...this.#workerRoutes(of),
      ...this.#assetRoutes(of),
    ];
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? "", "http://account");
    const path = url.pathname.replace(/^\/client\/v4/, "");
    const { method = "" } = request;
    const answer = await this.#answer(method, path, {
      query: url.searchParams,
      type: request.headers["content-type"] ?? "",
      body: Buffer.concat(chunks),
    }).catch((error: unknown): Answer => ({ status: 500, code: 10013, message: String(error) }));
    const isGood = "result" in answer;
    const { status = 200 } = answer;
    response.writeHead(status, { "content-type": "application/json" });
    const rest = isGood
      ? { errors: [], result: answer.result, result_info: answer.info, data: answer.data }
      : { errors: [{ code: answer.code, message: answer.message }], result: null };
    response.end(JSON.stringify({ success: isGood, messages: [], ...rest }));
  }

  async #answer(method: string, path: string, asked: Omit<Asked, "parts">): Promise<Answer> {
    for (const [of, pattern, answer] of this.#routes) {
      const found = of === method ? pattern.exec(path) : null;
      if (found !== null) return answer({ ...asked, parts: found.slice(1).map(decodeURIComponent) });
    }
    this.unknown.push(`${method} ${path}`);
    return { status: 404, code: 7003, message: `The account has nothing at ${method} ${path}` };
  }

  #databaseRoutes(of: (path: string) => RegExp): readonly Route[] {
    return [
      ["GET", of("/d1/database"), ({ query }) => this.#databasesNamed(query.get("name"))],
      ["POST", of("/d1/database"), ({ body }) => this.#makeDatabase(jsonOf<{ name: string }>(body).name)],
      ["GET", of("/d1/database/([^/]+)"), ({ parts: [id = ""] }) => this.#database(id)],
      [
        "POST",
        of("/d1/database/([^/]+)/query"),
        async ({ parts: [id = ""], body }) => {
          if (!this.databases.some(({ uuid }) => uuid === id)) return noDatabase(id);
          const { sql, params = [] } = jsonOf<{ sql: string; params?: readonly unknown[] }>(body);
          const answers = await this.#query(id, sql, params);
          const failed = answers.find(({ success }) => !success);
          if (failed !== undefined) return { status: 400, code: 7500, message: failed.error ?? "the query failed" };
          return { result: answers };
        },
      ],
    ];
  }

  #timeTravelRoutes(of: (path: string) => RegExp): readonly Route[] {
    const onDatabase =
      (act: string, result: unknown) =>
      ({ parts: [id = ""] }: Asked): Answer => {
        if (!this.databases.some(({ uuid }) => uuid === id)) return noDatabase(id);
        this.acts.push(`${act} ${id}`);
        return { result };
      };
    const bookmark = "00000001-00000002-00000003-0123456789abcdef0123456789abcdef";
    return [
      ["GET", of("/d1/database/([^/]+)/time_travel/bookmark"), onDatabase("bookmark", { bookmark })],
      [
        "POST",
        of("/d1/database/([^/]+)/time_travel/restore"),
        onDatabase("restore", { bookmark, previous_bookmark: bookmark, message: "restored" }),
      ],
    ];
  }

  #queueRoutes(of: (path: string) => RegExp): readonly Route[] {
    return [
      [
        "GET",
        of("/queues"),
        ({ query }) => {
          const names = query.getAll("name");
          const found = this.queues.filter(({ name }) => names.length === 0 || names.includes(name));
          return listed(found.map(queueText));
        },
      ],
      [
        "POST",
        of("/queues"),
        ({ body }) => {
          const { queue_name: name } = jsonOf<{ queue_name: string }>(body);
          const queue: Queue = { id: hex(), name, consumer: undefined };
          this.queues.push(queue);
          return { result: queueText(queue) };
        },
      ],
      [
        "GET",
        of("/queues/([^/]+)/consumers"),
        ({ parts: [id = ""] }) => this.#withQueue(id, (queue) => listed(queueText(queue).consumers)),
      ],
      [
        "POST",
        of("/queues/([^/]+)/consumers"),
        ({ parts: [id = ""], body }) => this.#withQueue(id, (queue) => this.#consume(queue, body)),
      ],
      [
        "PUT",
        of("/queues/([^/]+)/consumers/[^/]+"),
        ({ parts: [id = ""], body }) => this.#withQueue(id, (queue) => this.#consume(queue, body)),
      ],
    ];
  }

  #workerRoutes(of: (path: string) => RegExp): readonly Route[] {
    const script = "/workers/scripts/([^/]+)";
    const existing = (answer: (worker: KeptWorker, asked: Asked) => Answer) => (asked: Asked) => {
      const worker = this.workers.get(asked.parts[0] ?? "");
      return worker === undefined ? NO_WORKER : answer(worker, asked);
    };
    return [
      ["GET", of("/workers/subdomain"), () => ({ result: { subdomain: "example" } })],
      ["GET", of("/workers/services/([^/]+)"), existing((worker) => ({ result: serviceText(worker) }))],
      [
        "GET",
        of("/workers/workers/([^/]+)"),
        existing(({ name }) => ({ result: { id: name, name, subdomain: SUBDOMAIN } })),
      ],
      [
        "GET",
        of(`${script}/deployments`),
        existing((worker) => ({ result: { deployments: deploymentsText(worker) } })),
      ],
      [
        "GET",
        of(`${script}/versions`),
        existing(({ versions }) => ({ result: { items: [...versions.keys()].map(versionText) } })),
      ],
      ["GET", of(`${script}/versions/([^/]+)`), ({ parts: [, id = ""] }) => ({ result: versionText(id) })],
      ["GET", of(`${script}/settings`), existing((worker) => ({ result: settingsText(worker) }))],
      ["PATCH", of(`${script}/script-settings`), existing(() => ({ result: {} }))],
      ["DELETE", of(`${script}/secrets/([^/]+)`), existing(() => ({ result: null }))],
      ["PUT", of(`${script}/secrets`), existing(() => ({ result: null }))],
      ["GET", of(`${script}/secrets`), existing((worker) => listed(secretsOf(worker)))],
      ["GET", of(`${script}/subdomain`), existing(() => ({ result: SUBDOMAIN }))],
      ["POST", of(`${script}/subdomain`), existing(() => ({ result: SUBDOMAIN }))],
      [
        "PUT",
        of(script),
        async (asked) => {
          const [name = ""] = asked.parts;
          const upload = await this.#read(await formOf(asked), this.workers.get(name));
          const refusal = refusalOf(upload, this.workers.get(name));
          if (refusal !== undefined) return refusal;
          const fresh = { name, uploads: [], versions: new Map<string, Upload>(), deployed: [], crons: [] };
          const worker = this.workers.get(name) ?? fresh;
          this.workers.set(name, worker);
          const id = randomUUID();
          worker.versions.set(id, upload);
          worker.deployed.push(id);
          worker.uploads.push(upload);
          this.strategies.push(strategyIn(upload.metadata));
          return { result: { id: name, etag: tokenText(), startup_time_ms: 1, deployment_id: hex() } };
        },
      ],
      // An upgrade without a migration of objects: a version is uploaded, and then deployed.
      [
        "POST",
        of(`${script}/versions`),
        async (asked) => {
          const worker = this.workers.get(asked.parts[0] ?? "");
          if (worker === undefined) return NO_WORKER;
          const id = randomUUID();
          worker.versions.set(id, await this.#read(await formOf(asked), worker));
          const resources = { script: { etag: tokenText() } };
          return { result: { id, number: worker.versions.size, metadata: {}, resources, startup_time_ms: 1 } };
        },
      ],
      [
        "POST",
        of(`${script}/deployments`),
        existing((worker, { body }) => {
          const asked = jsonOf<{ versions: readonly { readonly version_id: string }[] }>(body);
          const [version] = asked.versions;
          const upload = worker.versions.get(version?.version_id ?? "");
          if (upload === undefined) return { status: 404, code: 10064, message: "This version does not exist." };
          const refusal = refusalOf(upload, worker);
          if (refusal !== undefined) return refusal;
          worker.deployed.push(version?.version_id ?? "");
          worker.uploads.push(upload);
          this.strategies.push(strategyIn(asked));
          return { result: { id: randomUUID() } };
        }),
      ],
      [
        "PUT",
        of(`${script}/schedules`),
        existing((worker, { body }) => {
          worker.crons = jsonOf<readonly { cron: string }[]>(body).map(({ cron }) => cron);
          return { result: { schedules: worker.crons.map((cron) => ({ cron })) } };
        }),
      ],
    ];
  }

  #assetRoutes(of: (path: string) => RegExp): readonly Route[] {
    return [
      [
        "POST",
        of("/workers/scripts/[^/]+/assets-upload-session"),
        ({ body }) => {
          const { manifest } = jsonOf<{ manifest: Readonly<Record<string, { readonly hash: string }>> }>(body);
          const token = tokenText();
          this.#manifests.set(token, manifest);
          const missing = Object.values(manifest).map(({ hash }) => hash);
          const bucket = [...new Set(missing)].filter((hash) => !this.#contents.has(hash));
          return { result: { jwt: token, buckets: bucket.length === 0 ? [] : [bucket] } };
        },
      ],
      [
        "POST",
        of("/workers/assets/upload"),
        async (asked) => {
          for (const [hash, value] of await formOf(asked)) {
            const text = typeof value === "string" ? value : await value.text();
            this.#contents.set(hash, Buffer.from(text, "base64"));
          }
          const manifest = [...this.#manifests.values()].at(-1) ?? {};
          const token = tokenText();
          this.#manifests.set(token, manifest);
          return { status: 201, result: { jwt: token } };
        },
      ],
    ];
  }

  #databasesNamed(name: string | null): Answer {
    return listed(this.databases.filter((each) => name === null || each.name === name).map(databaseText));
  }

  #makeDatabase(name: string): Answer {
    if (this.databases.some((each) => each.name === name))
      return { status: 400, code: 7502, message: "A database with this name already exists" };
    const database = { uuid: randomUUID(), name };
    this.databases.push(database);
    return { result: databaseText(database) };
  }

  #database(id: string): Answer {
    const found = this.databases.find(({ uuid }) => uuid === id);
    return found === undefined ? noDatabase(id) : { result: databaseText(found) };
  }

  #withQueue(id: string, answer: (queue: Queue) => Answer): Answer {
    const queue = this.queues.find((each) => each.id === id);
    return queue === undefined ? { status: 404, code: 11000, message: "Queue not found" } : answer(queue);
  }

  #consume(queue: Queue, body: Buffer): Answer {
    const asked = jsonOf<{
      readonly script_name: string;
      readonly settings?: { readonly batch_size?: number; readonly max_retries?: number };
    }>(body);
    const { batch_size: batchSize = 10, max_retries: maxRetries = 3 } = asked.settings ?? {};
    queue.consumer = { script: asked.script_name, batchSize, maxRetries };
    return { result: queueText(queue).consumers[0] };
  }

  async #read(form: FormData, worker: KeptWorker | undefined): Promise<Upload> {
    const metadata = JSON.parse(String(form.get("metadata"))) as Metadata;
    const modules: UploadedModule[] = [];
    for (const [part, value] of form) {
      if (part === "metadata" || typeof value === "string") continue;
      modules.push({ name: value.name, type: value.type, content: Buffer.from(await value.arrayBuffer()) });
    }
    const manifest = this.#manifests.get(metadata.assets?.jwt ?? "") ?? {};
    const assets = new Map<string, Buffer>();
    for (const [path, { hash }] of Object.entries(manifest)) {
      const content = this.#contents.get(hash);
      if (content === undefined) throw new Error(`the asset ${path} was not uploaded`);
      assets.set(path, content);
    }
    return {
      mainModule: metadata.main_module,
      modules,
      bindings: withInherited(metadata, worker?.uploads.at(-1)),
      compatibilityDate: metadata.compatibility_date,
      compatibilityFlags: metadata.compatibility_flags ?? [],
      metadata,
      assets,
    };
  }
}
