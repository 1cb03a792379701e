// Defects that the service had, or could have. They are reintroduced one at a time to show that the twin finds them (put-back.ts). If the twin no
// longer finds one, fix the twin, not the row.
import type { Edit } from "../../scripts/edits.ts";

/** What a short day does besides selling. */
interface Plan {
  /** Many creates at once, and the same while the database is reset (rush.ts). */
  readonly isRushed?: boolean;
  /** Many requests from one address, and then a wrong key (one-address.ts). */
  readonly hasOneAddress?: boolean;
  /** How long shops sell. */
  readonly seconds: number;
  /** The share of calls during which an object restarts. */
  readonly resets?: number;
  /** At the end of the sales the deployment is upgraded, and members of the shops revoke rights (hands.ts). */
  readonly isUpgraded?: boolean;
  /** The time after the last create for the events of paid and expired invoices to arrive. */
  readonly settleSeconds: number;
}

export interface Defect {
  /** The defect, described in a sentence. */
  readonly says: string;
  /** Edits to the working tree, in addition to those that every row has. */
  readonly edits: readonly Edit[];
  readonly plan: Plan;
  /** A pattern that one of the twin's findings must match; undefined if there must be no finding. */
  readonly symptom: RegExp | undefined;
}

/** Not a defect: lets invoices expire after 5 s, because a short day cannot wait for 60 s. */
export const PACE: readonly Edit[] = [
  {
    file: "src/commerce/invoices/contract.ts",
    from: "expiresInSeconds: z.int().min(60)",
    to: "expiresInSeconds: z.int().min(5)",
  },
];

/** Edits that produce the release deployed before an upgrade: its objects store no copies of revocations, and its edge does not ask for them. */
export const RELEASE_BEFORE: readonly Edit[] = [
  {
    file: "src/app/merchant-object.ts",
    from: "async keepRevocations(",
    to: "async keepsNone(",
  },
  {
    file: "src/platform/db/client.ts",
    from: "    keep: (revocations: readonly Revocation[]) => keepRevocations(env, revocations),\n",
    to: "",
  },
];

const WORKER = "src/app/worker.ts";
const RETRY = "src/platform/db/retry.ts";
const GROUPS = "src/platform/db/groups.ts";

/** Each defect except `nothing` must be found within a minute. */
export const DEFECTS = {
  nothing: {
    says: "Nothing: the working tree as it is.",
    edits: [],
    plan: {
      isRushed: true,
      hasOneAddress: true,
      seconds: 20,
      resets: 0.1,
      isUpgraded: true,
      settleSeconds: 200,
    },
    symptom: undefined,
  },
  "one-queue-name": {
    says: "Jobs run only where the deployment is called edgetill, because its queue is known by name.",
    edits: [
      { file: WORKER, from: "async queue({ messages }, env, ctx)", to: "async queue({ messages, queue }, env, ctx)" },
      { file: WORKER, from: "({ body }) => !namesJob(body)", to: '() => queue !== "edgetill-jobs"' },
      { file: WORKER, from: "if (namesJob(body)) await", to: 'if (queue === "edgetill-jobs") await' },
    ],
    plan: { seconds: 12, settleSeconds: 30 },
    symptom: /invoice\.expired came 0 times \(good receiver\)/,
  },
  timers: {
    says: "A sleep that ends earlier sets another timer and leaves the later one, and each that rings sets one more.",
    edits: [
      {
        file: "src/lib/sleep.ts",
        from: "#restart(atMs: number): void {\n    this.#stop();",
        to: "#restart(atMs: number): void {",
      },
    ],
    plan: { isRushed: true, seconds: 40, settleSeconds: 10 },
    symptom: /^MerchantObject .* had \d+ timers at once$/,
  },
  "revocations-in-old-objects": {
    says: "After an upgrade the edge asks objects with the code of before to keep copies of what is revoked, and they cannot.",
    edits: [
      {
        file: RETRY,
        from: "    if (!says(error, [LACKS_METHOD])) throw error;\n    return instead();",
        to: "    throw error;",
      },
      { file: RETRY, from: "    LACKS_METHOD,\n", to: "" },
    ],
    plan: { seconds: 3, isUpgraded: true, settleSeconds: 10 },
    symptom: /could not (delete an API key|remove a member): \d+ times in a row, last 500/,
  },
  "reads-alone": {
    says: "What 64 requests read together is read for each of them alone once it fails, by a database that was just reset.",
    edits: [
      {
        file: GROUPS,
        from: 'if (items.length === 1 || faultKind(error) !== "other") return new Map',
        to: "if (items.length === 1) return new Map",
      },
    ],
    plan: { isRushed: true, seconds: 5, settleSeconds: 10 },
    symptom: /64 creates at once took .* \d+ of them at the same time, while it was reset/,
  },
  "writes-halved": {
    says: "What 64 requests write together is halved down to each of them once it fails, by a database that was just reset.",
    edits: [
      {
        file: GROUPS,
        from: 'const isRefused = outcome.kind === "conflict" || outcome.kind === "failed";',
        to: 'const isRefused = outcome.kind !== "answered";',
      },
    ],
    plan: { isRushed: true, seconds: 5, settleSeconds: 10 },
    symptom: /64 creates at once took .* \d+ different writes were sent while it was reset/,
  },
  "keys-in-memory": {
    says: "Idempotency keys are forgotten with the memory of their object.",
    edits: [
      {
        file: "src/platform/idempotency/key-reservations.ts",
        from: "this.#sql = storage.sql;",
        to: 'this.#sql = storage.sql;\n    this.#sql.exec("DROP TABLE IF EXISTS claims");',
      },
    ],
    plan: { seconds: 40, resets: 0.3, settleSeconds: 10 },
    symptom: /is no invoice of the shop that was told of it/,
  },
  "one-rate-limit": {
    says: "Both outer limits count under one number, so that good requests use up what one address may have of wrong keys.",
    edits: [
      {
        file: "scripts/deploy/configuration.ts",
        from: "rateLimitNamespace(deployment.name, String(each.namespace_id))",
        to: 'rateLimitNamespace(deployment.name, "1001")',
      },
    ],
    plan: { hasOneAddress: true, seconds: 5, settleSeconds: 10 },
    symptom: /good requests of one address a wrong key is answered 429/,
  },
} as const satisfies Readonly<Record<string, Defect>>;

export type DefectName = keyof typeof DEFECTS;

export const DEFECT_NAMES: readonly DefectName[] = Object.keys(DEFECTS).filter(isDefect);

export function isDefect(name: string): name is DefectName {
  return Object.hasOwn(DEFECTS, name);
}
