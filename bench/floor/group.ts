// The least that creates must spend when they share their D1 calls: one object takes them as they come, and while a group's calls are on
// their way the next group gathers. One read batch and one write batch a group, and one statement a table.
//   GROUP   keys and known idempotency keys in one batch, customers, invoices, timeline items and answers in another
//   GROUPD  GROUP with address indices in one step, the derivations, and payment rows
import { type CreateBody, invoiceRows } from "./invoice.ts";
import { GROUP } from "./sql.ts";

/** A create as the edge passes it to the object. */
export interface GroupedCreate {
  readonly idempotencyKey: string;
  readonly keyHash: string;
  readonly bodyHash: string;
  readonly body: CreateBody;
  readonly isDerived: boolean;
}

/** 401 for an unknown key, 409 for a known idempotency key, else 201 and the invoice as JSON. */
export interface GroupedAnswer {
  readonly status: number;
  readonly json: string;
}

export interface GroupEnv {
  readonly db: Pick<D1Database, "prepare" | "batch">;
  /** The first of `count` address indices. */
  takeIndices(count: number): number;
  addressAt(index: number): string;
  nowMs(): number;
  /** Lets creates arrive that are already in flight. */
  nextTurn(): Promise<void>;
}

interface Waiting {
  readonly create: GroupedCreate;
  resolve(answer: GroupedAnswer): void;
  reject(error: unknown): void;
}

const MOST_IN_GROUP = 64;

export class CreateGroups {
  readonly #env: GroupEnv;
  readonly #waiting: Waiting[] = [];
  #isSending = false;

  constructor(env: GroupEnv) {
    this.#env = env;
  }

  /** Creates do not survive each other's failures: two equal keys fail the whole group. */
  create(create: GroupedCreate): Promise<GroupedAnswer> {
    const answer = new Promise<GroupedAnswer>((resolve, reject) => this.#waiting.push({ create, resolve, reject }));
    if (!this.#isSending) void this.#sendAll();
    return answer;
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    await this.#env.nextTurn();
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, MOST_IN_GROUP);
      try {
        const answers = await createGroup(
          this.#env,
          group.map(({ create }) => create),
        );
        for (const [i, { resolve, reject }] of group.entries()) {
          const answer = answers[i];
          if (answer === undefined) reject(new Error("a create without an answer"));
          else resolve(answer);
        }
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#isSending = false;
  }
}

async function createGroup(env: GroupEnv, group: readonly GroupedCreate[]): Promise<readonly GroupedAnswer[]> {
  const nowMs = env.nowMs();
  const [keys, known] = await env.db.batch<Record<string, string>>([
    env.db.prepare(GROUP.findKeys).bind(JSON.stringify([...new Set(group.map(({ keyHash }) => keyHash))])),
    env.db.prepare(GROUP.findAnswers).bind(JSON.stringify(group.map(({ idempotencyKey }) => idempotencyKey))),
  ]);
  const merchants = new Map(keys?.results.map((row) => [row.hash, row.merchant_id]));
  const knownKeys = new Set(known?.results.map((row) => row.k));
  const isNew = (each: GroupedCreate) => merchants.has(each.keyHash) && !knownKeys.has(each.idempotencyKey);
  const derived = group.filter((each) => each.isDerived && isNew(each)).length;
  let nextIndex = derived > 0 ? env.takeIndices(derived) : 0;

  const rows: Record<Table, unknown[]> = { customers: [], invoices: [], items: [], payments: [], answers: [] };
  const outcomes = group.map((each): GroupedAnswer => {
    const merchantId = merchants.get(each.keyHash);
    if (merchantId === undefined) return { status: 401, json: "{}" };
    if (!isNew(each)) return { status: 409, json: "{}" };
    const { customer, invoice, timeline, answer } = invoiceRows(merchantId, each.body, nowMs);
    const address = each.isDerived ? { address: env.addressAt(nextIndex++) } : {};
    const json = JSON.stringify({ ...answer, ...address });
    rows.customers.push(customer);
    rows.invoices.push(invoice);
    rows.items.push(timeline);
    if (address.address !== undefined) {
      rows.payments.push([`pay_${answer.id}`, answer.id, address.address, null, nowMs]);
    }
    rows.answers.push([merchantId, each.idempotencyKey, each.bodyHash, json, nowMs]);
    return { status: 201, json };
  });
  await env.db.batch(insertsOf(env.db, rows));
  return outcomes;
}

type Table = "customers" | "invoices" | "items" | "payments" | "answers";

function insertsOf(db: GroupEnv["db"], rows: Readonly<Record<Table, unknown[]>>): D1PreparedStatement[] {
  const insert = (sql: string, values: readonly unknown[]) => db.prepare(sql).bind(JSON.stringify(values));
  return [
    insert(GROUP.insertCustomers, rows.customers),
    insert(GROUP.insertInvoices, rows.invoices),
    insert(GROUP.insertTimelines, rows.items),
    ...(rows.payments.length > 0 ? [insert(GROUP.insertPayments, rows.payments)] : []),
    insert(GROUP.insertAnswers, rows.answers),
  ];
}
