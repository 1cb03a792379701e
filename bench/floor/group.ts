// The minimum work of creates that share their D1 calls: one object collects the creates of a merchant, and while the calls of one group are in
// progress, the next group forms. Each group has one batch of reads and one of writes, with one statement per table.
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
  /** Reserves `count` address indices, and returns the first. */
  takeIndices(count: number): number;
  addressAt(index: number): string;
  nowMs(): number;
  /** Waits for creates that are about to arrive. */
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

  /** If one create of a group fails, for example because two have equal keys, all creates of the group fail. */
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
