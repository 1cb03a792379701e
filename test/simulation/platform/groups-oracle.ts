// Which answer each request may get, and what the database may contain after it. A success is stored permanently by the time it is reported. A
// refusal is not stored, but its reason is. After an unreported outcome both are possible. A repeated key gets the same answer.
import type { Attempt } from "../engine/campaign.ts";
import type { Lab } from "../engine/lab.ts";
import type { Verdict, World } from "../engine/world.ts";
import { credentialPlace, isHistory, namedPlace, OPEN, type Order } from "./groups-acts.ts";
import type { System } from "./groups-system.ts";
import { CROWDING } from "./groups-tally.ts";
import type { Answer, Request } from "./groups-works.ts";

type Sent = Pick<Request, "order" | "print">;
type Heard = { readonly print: string; readonly answer: Answer };

export class Oracle {
  readonly bugs: unknown[] = [];
  readonly #lab: Lab;
  readonly #system: System;
  readonly #answers: ReadonlyMap<Order, Heard[]>;
  /** How many attempts of each order have started, and how many of them got a final answer. */
  readonly #begun = new Map<Order, number>();
  readonly #ended = new Map<Order, number>();
  readonly #revoked = new Set<string>();
  #problem: Verdict;

  constructor(lab: Lab, system: System, orders: readonly Order[]) {
    this.#lab = lab;
    this.#system = system;
    this.#answers = new Map(orders.map((order) => [order, []]));
  }

  /** Records that an attempt starts; returns whether its key was already reported as revoked. */
  begin({ order }: Sent): boolean {
    this.#begun.set(order, (this.#begun.get(order) ?? 0) + 1);
    return this.#revoked.has(order.credential) && order.act !== "revoke";
  }

  /** Records that an attempt arrives a second time, so that its outcome is unknown. */
  repeat({ order }: Sent): void {
    this.#begun.set(order, (this.#begun.get(order) ?? 0) + 1);
  }

  end({ order }: Sent, outcome: Attempt<Answer>, isLate: boolean): void {
    if (outcome.kind !== "done" || outcome.value.kind === "unknown") return;
    this.#ended.set(order, (this.#ended.get(order) ?? 0) + 1);
    if (isLate && outcome.value.kind === "success") this.#find(`a revoked key was used for ${order.key}`);
  }

  /** Records a client's answer. */
  hear({ order, print }: Sent, answer: Answer): void {
    this.#answers.get(order)?.push({ print, answer });
    if (answer.kind === "refused") this.#find(this.#refusalProblem(order, answer.code));
    if (answer.kind === "success") this.#find(this.#successProblem(order, print, answer.body));
    if (order.room === undefined) return;
    const open = Number(this.#lab.rows(`select ${OPEN} as open`)[0]?.open);
    if (open > order.room) this.#find(`${open} open invoices where ${order.room} may be`);
  }

  verdict(world: World): Verdict {
    if (this.bugs.length > 0) return `a bug: ${this.bugs[0]}`;
    const all = this.#storedByKey();
    return (
      this.#problem ??
      this.#answersProblem(all) ??
      this.#rowsProblem() ??
      this.#customersProblem(all) ??
      this.#sharedProblem(world)
    );
  }

  #find(problem: Verdict): void {
    this.#problem ??= problem;
  }

  /** Whether an attempt's outcome is unknown. */
  #isUncertain(order: Order): boolean {
    return (this.#begun.get(order) ?? 0) > (this.#ended.get(order) ?? 0);
  }

  /** Rows are found by their start, which is the key: parsing all rows of a crowd for each answer would take too long. */
  #stored({ key }: Order): readonly string[] {
    const begin = `{"key":${JSON.stringify(key)},`;
    const rows = this.#lab.rows("select data from events where substr(data, 1, ?) = ?", begin.length, begin);
    return rows.map(({ data }) => String(data));
  }

  /** The stored rows of all orders, by key. */
  #storedByKey(): ReadonlyMap<string, readonly string[]> {
    const all = new Map<string, string[]>();
    for (const { data } of this.#lab.rows("select data from events")) {
      const { key } = JSON.parse(String(data));
      if (key !== undefined) all.set(key, [...(all.get(key) ?? []), String(data)]);
    }
    return all;
  }

  #has(place: string): boolean {
    return this.#lab.rows("select 1 from events where invoice_id = ?", place).length > 0;
  }

  #successProblem(order: Order, print: string, body: string): Verdict {
    if (order.act === "revoke") {
      this.#revoked.add(order.credential);
      if (!this.#has(credentialPlace(order.credential))) return "a revocation is answered and not stored";
      return this.#hasCopy(order.credential) ? undefined : "a revocation is answered and has no copy";
    }
    const { print: own } = JSON.parse(body);
    if (own !== print) return `${order.key} was answered as for another body`;
    // Picking a method that is already picked emits no event.
    const isStored = order.isKeyless || this.#lab.rows("select 1 from operations where body = ?", body).length > 0;
    return isStored ? undefined : `the answer of ${order.key} is not stored`;
  }

  #hasCopy(credential: string): boolean {
    const { sql } = this.#lab.storageOf("keys");
    return sql.exec("SELECT 1 FROM revocations WHERE target = ?", credential).toArray().length > 0;
  }

  /** A refusal must have a stored reason, and its operation must not be stored. */
  #refusalProblem(order: Order, code: string): Verdict {
    const { key, externalId, credential, isPoison, room } = order;
    const reasons: Readonly<Record<string, () => boolean>> = {
      poison: () => isPoison,
      UNAUTHORIZED: () => this.#has(credentialPlace(credential)),
      EXTERNAL_ID_EXISTS: () => this.#has(namedPlace(externalId)),
      TOO_MANY_ACTIVE_INVOICES: () =>
        Number(this.#lab.rows("select count(*) as n from events where type = 'invoice.created'")[0]?.n) >=
        (room ?? Infinity),
      IDEMPOTENCY_KEY_REUSED: () => new Set(order.prints).size > 1,
      INVOICE_NOT_PAYABLE: () => this.#isEnded(order),
      INVOICE_NOT_CANCELLABLE: () => this.#isEnded(order),
      INVOICE_NOT_RESOLVABLE: () => this.#isEnded(order),
      NOTHING_TO_REVIEW: () => true,
    };
    if (reasons[code]?.() !== true) return `${key} was refused for no reason: ${code}`;
    if (code === "IDEMPOTENCY_KEY_REUSED" || code === "UNAUTHORIZED" || this.#isUncertain(order)) return undefined;
    const others = this.#answers.get(order)?.some(({ answer }) => answer.kind === "success");
    return others || this.#stored(order).length === 0 ? undefined : `the refused ${key} is stored`;
  }

  #isEnded({ on }: Order): boolean {
    const made = this.#stored(on as Order).map((data) => JSON.parse(data).invoiceId);
    return this.#lab
      .rows("select type from events where invoice_id = ?", made[0] ?? "")
      .some(({ type }) => type === "invoice.cancelled" || type === "invoice.resolved");
  }

  /** Nothing may be duplicated or lost, and each key must have one answer. */
  #answersProblem(all: ReadonlyMap<string, readonly string[]>): Verdict {
    for (const [order, heard] of this.#answers) {
      const { key, prints, act, isKeyless } = order;
      const isSent = this.#begun.has(order);
      if (isSent && heard.length !== prints.length)
        return `${prints.length - heard.length} clients of ${key} without an answer`;
      const bodies = heard.flatMap(({ answer }) => (answer.kind === "success" ? [answer.body] : []));
      if (new Set(bodies).size > 1) return `${key} was answered in ${new Set(bodies).size} ways`;
      if (act === "revoke") continue;
      const stored = all.get(key) ?? [];
      if (stored.length > 1) return `${key} is stored ${stored.length} times`;
      const isReused = heard.some(
        ({ answer }) => answer.kind === "refused" && answer.code === "IDEMPOTENCY_KEY_REUSED",
      );
      const [body] = bodies;
      if (body === undefined && stored.length > 0 && !this.#isUncertain(order) && !isReused)
        return `the refused ${key} is stored`;
      if (body === undefined || act === "pick") continue;
      if (stored[0] !== body) return `the answer of ${key} is not stored${isKeyless ? ", which has no key" : ""}`;
    }
    return undefined;
  }

  /** Each invoice must match its changes, and no address may be used twice. */
  #rowsProblem(): Verdict {
    const rows = this.#lab.rows("select invoice_id, type, sequence, data from events order by invoice_id, sequence");
    const invoices = Map.groupBy(
      rows.filter(({ invoice_id }) => String(invoice_id).startsWith("inv_")),
      ({ invoice_id }) => invoice_id,
    );
    for (const [id, of] of invoices) {
      const types = of.map(({ type }) => String(type));
      if (of.some(({ sequence }, n) => sequence !== n + 1) || !isHistory(types))
        return `${id} has become ${types.join()}`;
    }
    const indexes = rows.flatMap(({ data }) => JSON.parse(String(data)).index ?? []);
    if (new Set(indexes).size !== indexes.length)
      return `${indexes.length} invoices share ${new Set(indexes).size} addresses`;
    const allocated = this.#lab
      .storageOf("allocator")
      .sql.exec("select count(*) as n from allocations")
      .toArray()[0]?.n;
    if (allocated !== this.#system.asked.size) return `${allocated} addresses handed out to ${this.#system.asked.size}`;
    const operations = [...this.#answers.keys()].filter(({ act }) => act === "create" || act === "pick").length;
    return this.#system.asked.size > operations
      ? `addresses handed out for more than ${operations} operations`
      : undefined;
  }

  /** There must be one customer per email, named by all of its invoices, and no batch may be stored in part. */
  #customersProblem(all: ReadonlyMap<string, readonly string[]>): Verdict {
    const ids = new Map(this.#lab.rows("select email, id from customers").map(({ email, id }) => [email, id]));
    const made = [...this.#answers.keys()].flatMap((order) =>
      order.act === "create" ? (all.get(order.key) ?? []).map((data) => [order, JSON.parse(data)] as const) : [],
    );
    const emails = new Set(made.map(([{ email }]) => email)).size;
    if (ids.size !== emails) return `${ids.size} customers with ${emails} emails`;
    if (made.some(([{ email }, { customerId }]) => customerId !== ids.get(email)))
      return "an invoice of another customer";
    const named = made.filter(([{ externalId }]) => externalId !== undefined).length;
    const names = this.#lab.rows("select 1 from events where type = 'external'").length;
    return named === names ? undefined : `${named} invoices with ${names} external ids`;
  }

  /** The shared calls of a group must have the same effect as separate calls. Without faults nothing may go wrong. */
  #sharedProblem(world: World): Verdict {
    const { limiter, queue } = this.#system;
    const numbers = new Set(limiter.passed).size;
    if (numbers !== limiter.passed.length) return `${limiter.passed.length} requests were counted as ${numbers}`;
    const crowding = Object.values(CROWDING).find((what) => world.notes.has(what));
    if (crowding !== undefined) return crowding;
    if (queue.early.length > 0) return `${queue.early.length} wake-ups before the commit`;
    const revoked = this.#lab.rows("select invoice_id from events where type = 'api_key.revoked'");
    if (revoked.length > 0 && !this.#hasCopy("b")) return "a revocation is stored and has no copy";
    if (world.hits.size > 0) return undefined;
    world.note("no fault at all");
    const unknown = this.#lab
      .rows("select invoice_id from events where type = 'invoice.created'")
      .filter(({ invoice_id }) => !queue.woken.has(String(invoice_id)));
    if (unknown.length > 0) return `${unknown.length} invoices without a wake-up`;
    // Each instance knows only its own customers, so two instances may create the same one.
    const isAlone = this.#system.instances === 1;
    const isRefused = world.notes.has("a group is refused for a customer that exists");
    return isAlone && isRefused ? "a group with one email twice" : undefined;
  }
}
