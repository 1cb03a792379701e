// Requests of one merchant in its object, where they share their storage calls: up to 200 requests, most of them from two clients each. They create
// and change invoices. Some have no key, use one key for two bodies, share a customer or an external id, or have a row that the database refuses.
// Some are sent by the edge, outside the groups. The object, its callers, the database, the allocator and the limiter can fail at every call, and two
// instances of the object may run at once.
import { faultKind } from "../../../src/platform/db/retry.ts";
import { insist, type Scenario } from "../engine/campaign.ts";
import type { Lab } from "../engine/lab.ts";
import type { World } from "../engine/world.ts";
import { CHANGES, type Order } from "./groups-acts.ts";
import { Oracle } from "./groups-oracle.ts";
import { type Parts, System, WHOLE } from "./groups-system.ts";
import { KINDS, sizeName } from "./groups-tally.ts";
import type { Answer } from "./groups-works.ts";

export function groupsScenario(lab: Lab, name: string, parts: Parts = WHOLE): Scenario {
  const system = new System(lab, parts);
  return {
    name,
    lab,
    faultChance: 0.1,
    maxSteps: 20_000,
    kinds: KINDS,
    start(world) {
      system.reset();
      const orders = ordersOf(world);
      world.note(`keys: ${sizeName(orders.length)}`);
      const oracle = new Oracle(lab, system, orders);
      const changes = Map.groupBy(orders, ({ on }) => on);
      const send = (order: Order, invoiceId?: string) => {
        world.note(`sent: ${kindName(order)}`);
        for (const print of order.prints) sendFor(order, print, invoiceId);
      };
      const sendFor = (order: Order, print: string, invoiceId: string | undefined) => {
        const of = { order, print };
        const onDone = (answer: Answer) => {
          oracle.hear(of, answer);
          world.note(`answered: ${order.act} ${answer.kind}`);
          if (order.act !== "create" || answer.kind !== "success") return;
          const due = changes.get(order) ?? [];
          changes.delete(order);
          for (const change of due) send(change, JSON.parse(answer.body).invoiceId);
        };
        const heard = (client: Parameters<System["ask"]>[1]) => {
          const isLate = oracle.begin(of);
          return system.ask(world, client, { ...of, invoiceId, onRepeat: () => oracle.repeat(of) }).then((outcome) => {
            oracle.end(of, outcome, isLate);
            return outcome;
          });
        };
        const isFault = (error: unknown) => faultKind(error) !== "other";
        if (order.isKeyless) sendOnce(world, { heard, onDone, isFault, onBug: (error) => oracle.bugs.push(error) });
        else insist<Answer>({ world, attempt: heard, onDone, onBug: (error) => oracle.bugs.push(error), isFault });
      };
      for (const order of orders) if (order.on === undefined) send(order);
      return () => oracle.verdict(world);
    },
  };
}

/** A client that does not repeat its request. */
function sendOnce(
  world: World,
  of: {
    heard: (client: Parameters<System["ask"]>[1]) => ReturnType<System["ask"]>;
    onDone: (answer: Answer) => void;
    isFault: (error: unknown) => boolean;
    onBug: (error: unknown) => void;
  },
): void {
  let isDone = false;
  const done = (answer: Answer) => {
    if (!isDone) of.onDone(answer);
    isDone = true;
  };
  of.heard(world.client(() => done({ kind: "unknown" }))).then(
    (outcome) => done(outcome.kind === "done" ? outcome.value : { kind: "unknown" }),
    (error: unknown) => (of.isFault(error) ? done({ kind: "unknown" }) : of.onBug(error)),
  );
}

/** The name of an order's kind. A campaign must send every kind at least once. */
function kindName({ act, isKeyless, isBeside, prints, externalId, isPublic }: Order): string {
  const of = [
    ...(isBeside ? ["beside the groups"] : []),
    ...(isKeyless ? ["without a key"] : []),
    ...(new Set(prints).size > 1 ? ["with two bodies"] : []),
    ...(externalId === undefined ? [] : ["with an external id"]),
    ...(isPublic ? ["of a browser"] : []),
  ];
  return [act, of[0]].filter((each) => each !== undefined).join(" ");
}

/**
 * Orders of a schedule: usually a few, sometimes many; with and without rows that the database refuses, browsers, and returning customers. Half of
 * the schedules, and most of the large ones, only create invoices.
 */
function ordersOf(world: World): readonly Order[] {
  const [count, clients] = sizeOf(world);
  const regulars = world.pick([0, 1 + count / 2]);
  const [poison, browsers] = [world.pick([0, 0, 0, 0.2]), world.pick([0, 0.3, 1])];
  const isMixed = world.random() < (count > 8 ? 0.2 : 0.5);
  const room = isMixed ? world.pick([undefined, 1 + Math.floor(count / 3)]) : undefined;
  const orders: Order[] = [];
  for (let n = 0; n < count; n++) {
    const usual: Order = {
      key: `key ${n}`,
      act: "create",
      on: undefined,
      prints: Array.from({ length: clients }, () => "v1"),
      room,
      email: `payer-${regulars === 0 ? n : Math.floor(world.random() * regulars)}@example.com`,
      externalId: undefined,
      credential: "a",
      isKeyless: false,
      isBeside: false,
      isPoison: world.random() < poison,
      isPublic: world.random() < browsers,
    };
    orders.push(isMixed ? varied(world, usual, orders) : usual);
  }
  return orders;
}

function varied(world: World, usual: Order, before: readonly Order[]): Order {
  const credential = world.pick(["a", "a", "b"]);
  const chance = world.random();
  if (chance < 0.16)
    return { ...usual, act: "revoke", credential: "b", isBeside: true, isPoison: false, isPublic: false };
  const made = before.filter(({ act }) => act === "create");
  const on = made[Math.floor(world.random() * made.length)];
  const isBeside = on !== undefined && world.random() < 0.4;
  const isKeyless = world.random() < 0.15;
  const [print = "v1", ...others] = usual.prints;
  const second = world.random() < 0.15 ? "v2" : print;
  const prints = isKeyless ? [print] : [print, ...others.map(() => second)];
  if (on !== undefined && chance < 0.6)
    return {
      ...usual,
      act: world.pick(CHANGES),
      on,
      credential,
      isBeside,
      isKeyless,
      prints,
      isPoison: false,
      isPublic: false,
    };
  const externalId = world.random() < 0.3 ? `order ${Math.floor(world.random() * 2)}` : undefined;
  return { ...usual, credential, isKeyless, prints, externalId };
}

/**
 * The number of keys, and the number of clients for each. In a crowd most clients arrive while the first request reads, so that they form a full
 * group.
 */
function sizeOf(world: World): readonly [keys: number, clients: number] {
  const chance = world.random();
  if (chance < 0.0045) return [200, 1];
  if (chance < 0.0115) return [9 + Math.floor(world.random() * 56), 2];
  return [world.pick([1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5, 8]), 2];
}
