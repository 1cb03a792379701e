// The Workers of an account, with their assets, secrets and crons (account.ts). wrangler's uploads are stored unchanged.
import { randomUUID } from "node:crypto";
import * as z from "zod";
import {
  type Answer,
  type Asked,
  deploymentsText,
  formOf,
  hex,
  type KeptWorker,
  listed,
  METADATA,
  NO_WORKER,
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
  withInherited,
} from "./account-kept.ts";
import { jsonIn } from "./json.ts";

const SCRIPT = "/workers/scripts/([^/]+)";
const DEPLOYMENT = z.looseObject({ versions: z.array(z.object({ version_id: z.string() })) });
const SCHEDULES = z.array(z.object({ cron: z.string() }));
const MANIFEST = z.record(z.string(), z.object({ hash: z.string() }));
const ASSETS = z.object({ manifest: MANIFEST });

export class AccountWorkers {
  readonly byName = new Map<string, KeptWorker>();
  /** The strategy for switching objects to new code, for each deployed upload, oldest first. */
  readonly strategies: string[] = [];
  /** Asset contents by hash, and manifests by session token. */
  readonly #contents = new Map<string, Buffer>();
  readonly #manifests = new Map<string, z.infer<typeof MANIFEST>>();

  /** `of` returns the pattern for a path below the account. */
  routes(of: (path: string) => RegExp): readonly Route[] {
    return [...this.#reads(of), ...this.#settings(of), ...this.#uploads(of), ...this.#assets(of)];
  }

  #reads(of: (path: string) => RegExp): readonly Route[] {
    return [
      ["GET", of("/workers/subdomain"), () => ({ result: { subdomain: "example" } })],
      ["GET", of("/workers/services/([^/]+)"), this.#existing((worker) => ({ result: serviceText(worker) }))],
      [
        "GET",
        of("/workers/workers/([^/]+)"),
        this.#existing(({ name }) => ({ result: { id: name, name, subdomain: SUBDOMAIN } })),
      ],
      [
        "GET",
        of(`${SCRIPT}/deployments`),
        this.#existing((worker) => ({ result: { deployments: deploymentsText(worker) } })),
      ],
      [
        "GET",
        of(`${SCRIPT}/versions`),
        this.#existing(({ versions }) => ({ result: { items: [...versions.keys()].map(versionText) } })),
      ],
      ["GET", of(`${SCRIPT}/versions/([^/]+)`), ({ parts: [, id = ""] }) => ({ result: versionText(id) })],
      ["GET", of(`${SCRIPT}/settings`), this.#existing((worker) => ({ result: settingsText(worker) }))],
      ["GET", of(`${SCRIPT}/secrets`), this.#existing((worker) => listed(secretsOf(worker)))],
      ["GET", of(`${SCRIPT}/subdomain`), this.#existing(() => ({ result: SUBDOMAIN }))],
    ];
  }

  #settings(of: (path: string) => RegExp): readonly Route[] {
    return [
      ["PATCH", of(`${SCRIPT}/script-settings`), this.#existing(() => ({ result: {} }))],
      ["DELETE", of(`${SCRIPT}/secrets/([^/]+)`), this.#existing(() => ({ result: null }))],
      ["PUT", of(`${SCRIPT}/secrets`), this.#existing(() => ({ result: null }))],
      ["POST", of(`${SCRIPT}/subdomain`), this.#existing(() => ({ result: SUBDOMAIN }))],
      [
        "PUT",
        of(`${SCRIPT}/schedules`),
        this.#existing((worker, { body }) => {
          worker.crons = jsonIn(SCHEDULES, body).map(({ cron }) => cron);
          return { result: { schedules: worker.crons.map((cron) => ({ cron })) } };
        }),
      ],
    ];
  }

  #uploads(of: (path: string) => RegExp): readonly Route[] {
    return [
      [
        "PUT",
        of(SCRIPT),
        async (asked) => {
          const [name = ""] = asked.parts;
          const upload = await this.#read(await formOf(asked), this.byName.get(name));
          const refusal = refusalOf(upload, this.byName.get(name));
          if (refusal !== undefined) return refusal;
          const fresh = {
            name,
            uploads: [],
            strategies: [],
            versions: new Map<string, Upload>(),
            deployed: [],
            crons: [],
          };
          const worker = this.byName.get(name) ?? fresh;
          this.byName.set(name, worker);
          const id = randomUUID();
          worker.versions.set(id, upload);
          this.#deploy(worker, { id, upload, strategy: strategyIn(upload.metadata) });
          return { result: { id: name, etag: tokenText(), startup_time_ms: 1, deployment_id: hex() } };
        },
      ],
      // An upgrade without an object migration: a version is uploaded, then deployed.
      [
        "POST",
        of(`${SCRIPT}/versions`),
        async (asked) => {
          const worker = this.byName.get(asked.parts[0] ?? "");
          if (worker === undefined) return NO_WORKER;
          const id = randomUUID();
          worker.versions.set(id, await this.#read(await formOf(asked), worker));
          const resources = { script: { etag: tokenText() } };
          return { result: { id, number: worker.versions.size, metadata: {}, resources, startup_time_ms: 1 } };
        },
      ],
      [
        "POST",
        of(`${SCRIPT}/deployments`),
        this.#existing((worker, { body }) => {
          const asked = jsonIn(DEPLOYMENT, body);
          const { version_id: id = "" } = asked.versions[0] ?? {};
          const upload = worker.versions.get(id);
          if (upload === undefined) return { status: 404, code: 10064, message: "This version does not exist." };
          const refusal = refusalOf(upload, worker);
          if (refusal !== undefined) return refusal;
          this.#deploy(worker, { id, upload, strategy: strategyIn(asked) });
          return { result: { id: randomUUID() } };
        }),
      ],
    ];
  }

  #deploy(
    worker: KeptWorker,
    { id, upload, strategy }: { readonly id: string; readonly upload: Upload; readonly strategy: string },
  ): void {
    worker.deployed.push(id);
    worker.uploads.push(upload);
    worker.strategies.push(strategy);
    this.strategies.push(strategy);
  }

  #assets(of: (path: string) => RegExp): readonly Route[] {
    return [
      [
        "POST",
        of("/workers/scripts/[^/]+/assets-upload-session"),
        ({ body }) => {
          const { manifest } = jsonIn(ASSETS, body);
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

  #existing(answer: (worker: KeptWorker, asked: Asked) => Answer): (asked: Asked) => Answer {
    return (asked) => {
      const worker = this.byName.get(asked.parts[0] ?? "");
      return worker === undefined ? NO_WORKER : answer(worker, asked);
    };
  }

  async #read(form: FormData, worker: KeptWorker | undefined): Promise<Upload> {
    const metadata = jsonIn(METADATA, String(form.get("metadata")));
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
