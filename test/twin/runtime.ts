// The uploaded code, running on workerd as in production, with its bindings under their uploaded names. Its objects have a separate Worker and
// process, so that they can run other code than the edge and do not share its CPU time. All its internet requests go to `internet`.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  convertV4MiniflareOptions,
  Miniflare,
  type Request,
  Response,
  type V4ModuleDefinition,
  type V4WorkerOptions,
} from "miniflare";
import * as z from "zod";
import type { Upload, UploadedBinding } from "./account-kept.ts";
import {
  clockModule,
  type EdgeLimit,
  edgeModule,
  GATEWAY,
  type OlderObjects,
  objectsModule,
  TIMERS_MODULE,
  type Ways,
} from "./entry.ts";
import { heapBytes } from "./heap.ts";
import type { Consume } from "./queues.ts";

export type Internet = (request: Request) => Promise<Response>;

export interface RuntimeOptions {
  readonly name: string;
  /** The upload whose code serves requests, jobs and messages. */
  readonly edge: Upload;
  /** The upload whose code runs the objects, except older ones. */
  readonly objects: Upload;
  /**
   * For some minutes after an upgrade: the objects that were awake before it, with their old code. An object created meanwhile has the newer code.
   */
  readonly older?: { readonly upload: Upload; readonly ids: ReadonlySet<string> } | undefined;
  readonly folder: string;
  readonly gate: URL;
  readonly ways: Ways;
  readonly internet: Internet;
  readonly onMessage: (queue: string, body: unknown) => void;
  /** Called when an object exceeds its previous maximum of concurrent timers. */
  readonly onTimers: (object: string, most: number) => void;
  /** Called with the id of an object that was created or woken. */
  readonly onMade: (id: string) => void;
  /** Called with the number of object calls, and the time that objects were awake, since the previous call. */
  readonly onCalls: (calls: number, awakeMs: number) => void;
  /** Called when an injected fault, as set in `ways`, makes an object call fail. */
  readonly onFault: (kind: string) => void;
  readonly onLog: (line: string) => void;
}

/** Each part runs in its own process. */
export type Part = "edge" | "objects";

/** These two names never change, so that objects keep their storage when other code runs. */
const objectsName = (name: string) => `${name}-objects`;
const edgeName = (name: string) => `${name}-edge`;

type Handlers = Awaited<ReturnType<Miniflare["getWorker"]>>;

export class Runtime {
  readonly #options: RuntimeOptions;
  readonly #objects: Miniflare;
  readonly #edge: Miniflare;
  readonly #atWork = new Set<Promise<unknown>>();
  #changing: Promise<void> = Promise.resolve();

  constructor(options: RuntimeOptions) {
    this.#options = options;
    this.#objects = new Miniflare(objectsProcess(options));
    this.#edge = new Miniflare(edgeProcess(options));
  }

  /** Like `fetch` from outside. The URL must be the deployment's own. */
  async fetch(url: string, init?: Parameters<Miniflare["dispatchFetch"]>[1]) {
    await this.#objects.ready;
    return this.#edge.dispatchFetch(url, init);
  }

  consume(queue: string, messages: Parameters<Consume>[1]): ReturnType<Consume> {
    return this.#inEdge(async (worker) => {
      const { outcome, retryBatch } = await worker.queue(queue, [...messages]);
      return outcome === "ok" && !retryBatch.retry ? "ok" : "failed";
    });
  }

  cron(cron: string, atMs: number): Promise<boolean> {
    return this.#inEdge(async (worker) => {
      const { outcome } = await worker.scheduled({ cron, scheduledTime: new Date(atMs) });
      return outcome === "ok";
    });
  }

  /**
   * Restarts parts of the deployment, optionally with other code, as when a machine is replaced; requests to them are cut. Running messages and crons
   * finish first, because the connection to their handlers would stay broken.
   */
  async change(parts: readonly Part[], code: Partial<Pick<RuntimeOptions, Part | "older">> = {}): Promise<void> {
    const before = this.#changing;
    this.#changing = (async () => {
      await before;
      await Promise.allSettled(this.#atWork);
      const options = Object.assign(this.#options, code);
      if (parts.includes("objects")) await this.#objects.setOptions(objectsProcess(options));
      if (parts.includes("edge")) await this.#edge.setOptions(edgeProcess(options));
    })();
    await this.#changing;
  }

  async #inEdge<T>(work: (worker: Handlers) => Promise<T>): Promise<T> {
    await this.#changing;
    const running = this.#edge.getWorker(edgeName(this.#options.name)).then(work);
    this.#atWork.add(running);
    try {
      return await running;
    } finally {
      this.#atWork.delete(running);
    }
  }

  /** The change takes effect from the next call to an object. */
  async setWays(ways: Partial<Omit<Ways, "clockMs">>): Promise<void> {
    await this.#changing;
    Object.assign(this.#options, { ways: { ...this.#options.ways, ...ways } });
    const worker = await this.#objects.getWorker(objectsName(this.#options.name));
    await worker.fetch("http://twin/", { method: "POST", body: JSON.stringify(ways) });
  }

  /** The inspector URL of the part's isolate. */
  async inspector(part: Part): Promise<URL> {
    await this.#changing;
    const { name } = this.#options;
    const [process, of] = part === "edge" ? [this.#edge, edgeName(name)] : [this.#objects, objectsName(name)];
    return new URL(`/core:user:${of}`, await process.getInspectorURL());
  }

  /** Heap sizes in bytes, by part. */
  async heaps(): Promise<ReadonlyMap<string, number>> {
    const parts = ["edge", "objects"] as const;
    return new Map(
      await Promise.all(parts.map(async (part) => [part, await heapBytes(await this.inspector(part))] as const)),
    );
  }

  async stop(): Promise<void> {
    await this.#edge.dispose();
    await this.#objects.dispose();
  }
}

/** The processes find each other through files in a folder. In each process, a second Worker takes the messages that the first one sends. */
function processOf(options: RuntimeOptions, worker: V4WorkerOptions) {
  return convertV4MiniflareOptions({
    defaultPersistRoot: join(options.folder, "objects"),
    unsafeDevRegistryPath: join(options.folder, "processes"),
    cf: false,
    inspectorPort: 0,
    handleStructuredLogs: ({ message }: { readonly message: string }) => options.onLog(message),
    workers: [worker, takerOf(options, `${worker.name}-taker`)],
  });
}

const objectsProcess = (options: RuntimeOptions) => processOf(options, objectsWorker(options));

function edgeProcess(options: RuntimeOptions) {
  const { name, edge } = options;
  const bindings = objectsOf(edge).map((binding) => binding.name);
  const entry = edgeModule(mainOf(edge), bindings, limitsOf(edge));
  const { durableObjects: _, ...worker } = workerOf(options, edgeName(name), edge, [entry, clockModule(0)]);
  const gateway = { [GATEWAY]: { name: objectsName(name), entrypoint: GATEWAY } };
  return processOf(options, { ...worker, serviceBindings: { ...worker.serviceBindings, ...gateway } });
}

const ofType = (upload: Upload, type: string): readonly UploadedBinding[] =>
  upload.bindings.filter((binding) => binding.type === type);

const objectsOf = (upload: Upload) => ofType(upload, "durable_object_namespace");
const classesOf = (upload: Upload) => objectsOf(upload).map(({ class_name: className }) => String(className));
const mainOf = ({ mainModule }: Upload) => `./${mainModule}`;

/** During an upgrade the Worker has objects of two releases, and the bindings of both. */
function objectsWorker(options: RuntimeOptions): V4WorkerOptions {
  const { name, objects, older, ways } = options;
  const upload = older === undefined ? objects : withBindingsOf(objects, older.upload);
  const entry = objectsModule(mainOf(upload), classesOf(upload), ways, older && olderObjects(older));
  const worker = workerOf(options, objectsName(name), upload, [entry, clockModule(ways.clockMs)]);
  const others = (older?.upload.modules ?? []).flatMap((module) => moduleOf(module, OLDER));
  return { ...worker, modules: [...worker.modules, ...others] };
}

const BRAND = { __brand: "RemoteProxyConnectionString" } as const;
const RATE_LIMIT = z.object({
  namespace_id: z.string(),
  simple: z.object({ limit: z.number(), period: z.literal([10, 60]) }),
});

const limitsOf = (upload: Upload): Readonly<Record<string, EdgeLimit>> =>
  Object.fromEntries(
    ofType(upload, "ratelimit").map((each) => {
      const { namespace_id: namespace, simple } = RATE_LIMIT.parse(each);
      return [each.name, { ...simple, namespace }];
    }),
  );

function workerOf(
  options: RuntimeOptions,
  name: string,
  upload: Upload,
  [entry, clock]: readonly [string, string],
): V4WorkerOptions & { readonly modules: readonly V4ModuleDefinition[] } {
  const { gate, internet, onTimers, onFault } = options;
  const objects = objectsOf(upload);
  const values = [...ofType(upload, "plain_text"), ...ofType(upload, "secret_text")];
  // wrangler marks the type of such URLs with a brand.
  const remote = { remoteProxyConnectionString: Object.assign(new URL(gate), BRAND) };
  return {
    name,
    modulesRoot: "/",
    modules: [
      { type: "ESModule", path: "/twin-entry.js", contents: entry },
      { type: "ESModule", path: "/twin-clock.js", contents: clock },
      { type: "ESModule", path: "/twin-timers.js", contents: TIMERS_MODULE },
      ...upload.modules.flatMap((module) => moduleOf(module, "/")),
    ],
    compatibilityDate: upload.compatibilityDate,
    compatibilityFlags: [...upload.compatibilityFlags],
    bindings: Object.fromEntries(values.map(({ name: of, text }) => [of, String(text)])),
    d1Databases: Object.fromEntries(
      ofType(upload, "d1").map(({ name: of, id }) => [of, { id: String(id), ...remote }]),
    ),
    queueProducers: Object.fromEntries(
      ofType(upload, "queue").map(({ name: of, queue_name: queue }) => [of, { queueName: String(queue) }]),
    ),
    durableObjects: Object.fromEntries(
      objects.map(({ name: of, class_name: className }) => [
        of,
        { className: String(className), scriptName: objectsName(options.name), useSQLite: true },
      ]),
    ),
    ratelimits: Object.fromEntries(
      ofType(upload, "ratelimit").map((binding) => [binding.name, RATE_LIMIT.parse(binding)]),
    ),
    serviceBindings: {
      TWIN: async (request: Request) => {
        const asked = new URL(request.url).searchParams;
        const fault = asked.get("fault");
        if (fault !== null) onFault(fault);
        else if (asked.has("made")) options.onMade(String(asked.get("made")));
        else if (asked.has("n")) options.onCalls(Number(asked.get("n")), Number(asked.get("awake")));
        else onTimers(`${asked.get("name")} ${asked.get("id")}`, Number(asked.get("most")));
        return new Response("");
      },
    },
    assets: { directory: assetsFolder(options, upload), binding: "ASSETS", ...routingOf(upload) },
    outboundService: internet,
  };
}

const TAKEN = z.object({ queue: z.string(), bodies: z.array(z.unknown()) });
const TAKER = `export default {
  async queue({ queue, messages }, env) {
    await env.TAKEN.fetch("http://taken/", { method: "POST", body: JSON.stringify({ queue, bodies: messages.map(({ body }) => body) }) });
  }
}`;

/** Takes every message as soon as it is sent, so that the twin decides when and how often a consumer gets it. */
function takerOf({ edge, onMessage }: RuntimeOptions, name: string): V4WorkerOptions {
  const queues = ofType(edge, "queue").map(({ queue_name: queue }) => String(queue));
  return {
    name,
    modules: true,
    script: TAKER,
    compatibilityDate: edge.compatibilityDate,
    queueConsumers: Object.fromEntries(queues.map((queue) => [queue, { maxBatchSize: 100, maxBatchTimeout: 0 }])),
    serviceBindings: {
      TAKEN: async (request: Request) => {
        const { queue, bodies } = TAKEN.parse(await request.json());
        for (const body of bodies) onMessage(queue, body);
        return new Response("");
      },
    },
  };
}

const MODULE_TYPES: Readonly<Record<string, V4ModuleDefinition["type"]>> = {
  "application/javascript+module": "ESModule",
  "text/plain": "Text",
};

function moduleOf({ name, type, content }: Upload["modules"][number], folder: string): readonly V4ModuleDefinition[] {
  const kind = MODULE_TYPES[type];
  return kind === undefined ? [] : [{ type: kind, path: join(folder, name), contents: content.toString() }];
}

/** The folder of the older objects' modules, next to the others. */
const OLDER = "/older";

function olderObjects({ upload, ids }: NonNullable<RuntimeOptions["older"]>): OlderObjects {
  const texts = [...ofType(upload, "plain_text"), ...ofType(upload, "secret_text")];
  return {
    uploaded: `.${OLDER}/${upload.mainModule}`,
    ids: [...ids],
    bindings: upload.bindings.map(({ name }) => name),
    texts: Object.fromEntries(texts.map(({ name, text }) => [name, String(text)])),
  };
}

function withBindingsOf(upload: Upload, older: Upload): Upload {
  const own = new Set(upload.bindings.map(({ name }) => name));
  return { ...upload, bindings: [...upload.bindings, ...older.bindings.filter(({ name }) => !own.has(name))] };
}

/** Assets are written once per upload, each to its own folder, because the runtime serves files from a folder, and may serve two releases at once. */
const folders = new WeakMap<Upload, string>();
function assetsFolder({ folder }: RuntimeOptions, upload: Upload): string {
  const known = folders.get(upload);
  if (known !== undefined) return known;
  mkdirSync(folder, { recursive: true });
  const root = mkdtempSync(join(folder, "assets-"));
  for (const [path, content] of upload.assets) {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  folders.set(upload, root);
  return root;
}

/** The upload's rules for which requests reach the Worker before the assets. */
function routingOf({ metadata }: Upload) {
  const { run_worker_first: first, html_handling, not_found_handling } = metadata.assets?.config ?? {};
  const rules = Array.isArray(first) ? first : [];
  return {
    routerConfig: {
      has_user_worker: true,
      invoke_user_worker_ahead_of_assets: first === true,
      static_routing: { user_worker: rules.filter((rule) => !rule.startsWith("!")) },
    },
    assetConfig: { html_handling, not_found_handling },
  };
}
