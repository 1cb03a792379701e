// Requests of one merchant in its object, where they share their storage calls: up to 64 keys with two clients each. Some requests are of one
// customer, and some have a row that the database refuses. The object, its callers, the database, the allocator and the limiter fail at every call.
import { faultKind } from "../../../src/platform/db/retry.ts";
import { insist, type Scenario } from "../engine/campaign.ts";
import type { Lab } from "../engine/lab.ts";
import type { Verdict, World } from "../engine/world.ts";
import { House, type Order, type Parts, WHOLE } from "./groups-house.ts";
import { BROWSER_FIRST, KINDS, sizeName, TOO_MANY_BROWSERS } from "./groups-tally.ts";

export function groupsScenario(lab: Lab, name: string, parts: Parts = WHOLE): Scenario {
  const house = new House(lab, parts);
  return {
    name,
    lab,
    faultChance: 0.1,
    maxSteps: 20_000,
    kinds: KINDS,
    start(world) {
      house.reset();
      const orders = ordersOf(world);
      world.note(`keys: ${sizeName(orders.length)}`);
      const bodies = new Map<Order, string[]>(orders.map((order) => [order, []]));
      const bugs: unknown[] = [];
      for (const order of orders) {
        for (let i = 0; i < order.clients; i++) {
          insist<string>({
            world,
            attempt: (client) => house.ask(world, client, order),
            onDone: (body) => bodies.get(order)?.push(body),
            onBug: (error) => bugs.push(error),
            isFault: (error) => faultKind(error) !== "other",
          });
        }
      }
      return () => {
        if (bugs.length > 0) return `a bug: ${bugs[0]}`;
        return invoicesProblem(lab, bodies) ?? customersProblem(lab, bodies) ?? sharedProblem(lab, house, world);
      };
    },
  };
}

/** Mostly a few requests, sometimes many; with and without rows that the database refuses, browsers, and customers who come again. */
function ordersOf(world: World): readonly Order[] {
  const [count, clients] = sizeOf(world);
  const regulars = world.pick([0, 1 + count / 2]);
  const [poison, browsers] = [world.pick([0, 0, 0, 0.2]), world.pick([0, 0.3, 1])];
  return Array.from({ length: count }, (_, n) => ({
    key: `key ${n}`,
    clients,
    email: `payer-${regulars === 0 ? n : Math.floor(world.random() * regulars)}@example.com`,
    isPoison: world.random() < poison,
    isPublic: world.random() < browsers,
  }));
}

/** How many keys, and how many clients each. Of a crowd, most arrive while the first request reads: a whole group. */
function sizeOf(world: World): readonly [keys: number, clients: number] {
  const chance = world.random();
  if (chance < 0.004) return [200, 1];
  if (chance < 0.01) return [9 + Math.floor(world.random() * 56), 2];
  return [world.pick([1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 8]), 2];
}

type Bodies = ReadonlyMap<Order, readonly string[]>;

const healthyOf = (bodies: Bodies) => [...bodies].filter(([{ isPoison }]) => !isPoison);

/** Nothing doubled, nothing lost, one answer for each key, every index used once, and no other request suffers from a refused row. */
function invoicesProblem(lab: Lab, bodies: Bodies): Verdict {
  const healthy = healthyOf(bodies);
  const rows = lab.rows("select data from events");
  if (rows.length !== healthy.length) return `${rows.length} invoices for ${healthy.length} keys`;
  const stored = new Set(rows.map(({ data }) => data));
  for (const [{ key, clients, isPoison }, of] of bodies) {
    if (of.length !== clients) return `${clients - of.length} clients of ${key} without an answer`;
    if (new Set(of).size !== 1) return `${key} was answered in ${new Set(of).size} ways`;
    if (stored.has(of[0] ?? "") === isPoison) return `the answer of ${key} is ${isPoison ? "" : "not "}stored`;
  }
  const indexes = new Set(rows.map(({ data }) => JSON.parse(String(data)).index));
  if (indexes.size !== rows.length) return `${rows.length} invoices share ${indexes.size} addresses`;
  const allocated = lab.storageOf("allocator").sql.exec("select count(*) as n from allocations").toArray()[0]?.n;
  return allocated === bodies.size ? undefined : `${allocated} addresses handed out to ${bodies.size} operations`;
}

/** One customer for each email, named by all of its invoices. */
function customersProblem(lab: Lab, bodies: Bodies): Verdict {
  const ids = new Map(lab.rows("select email, id from customers").map(({ email, id }) => [email, id]));
  const emails = new Set(healthyOf(bodies).map(([{ email }]) => email)).size;
  if (ids.size !== emails) return `${ids.size} customers with ${emails} emails`;
  const strangers = healthyOf(bodies).filter(
    ([{ email }, [body]]) => JSON.parse(body ?? "").customerId !== ids.get(email),
  );
  return strangers.length === 0 ? undefined : `${strangers.length} invoices of another customer`;
}

/** What the requests of a group share is as if each were alone; nothing goes wrong where nothing fails. */
function sharedProblem(lab: Lab, { limiter, queue }: House, world: World): Verdict {
  const numbers = new Set(limiter.passed).size;
  if (numbers !== limiter.passed.length) return `${limiter.passed.length} requests were counted as ${numbers}`;
  const crowding = [TOO_MANY_BROWSERS, BROWSER_FIRST].find((what) => world.notes.has(what));
  if (crowding !== undefined) return crowding;
  if (queue.early.length > 0) return `${queue.early.length} wake-ups before the commit`;
  if (world.hits.size > 0) return undefined;
  world.note("no fault at all");
  const unknown = lab
    .rows("select invoice_id from events")
    .filter(({ invoice_id }) => !queue.woken.has(String(invoice_id)));
  if (unknown.length > 0) return `${unknown.length} invoices without a wake-up`;
  return world.notes.has("a group is refused for a customer that exists") ? "a group with one email twice" : undefined;
}
