// The floor as a worker: POST /setup once, then POST /full, /full2, /fulld, /fullm, /group, /groupd; /echo and /select1 are the baselines for the
// floor itself.
import { DurableObject } from "cloudflare:workers";
import { create, type FloorEnv, type ReservationCalls, SHAPES, sha256Hex } from "./create.ts";
import { floorDerivation, ZPUB } from "./derive.ts";
import { CreateGroups, type GroupedAnswer, type GroupedCreate } from "./group.ts";
import { AddressIndex, GroupIndices, KeyReservations } from "./objects.ts";
import { D1, TABLES } from "./sql.ts";

interface Bindings {
  readonly DB: D1Database;
  readonly RESERVATIONS: DurableObjectNamespace<ReservationsObject>;
  readonly WALLETS: DurableObjectNamespace<WalletObject>;
  readonly GROUPS: DurableObjectNamespace<GroupObject>;
}

class ReservationsObject extends DurableObject<Bindings> {
  readonly #reservations: KeyReservations;

  constructor(state: DurableObjectState, env: Bindings) {
    super(state, env);
    this.#reservations = new KeyReservations(state.storage.sql);
  }

  reserve(key: string, bodyHash: string): boolean {
    return this.#reservations.reserve(key, bodyHash, Date.now());
  }

  complete(key: string, answer: string): void {
    this.#reservations.complete(key, answer);
  }

  reserveWithIndex(key: string, bodyHash: string): number | undefined {
    return this.#reservations.reserveWithIndex(key, bodyHash, Date.now());
  }
}

class WalletObject extends DurableObject<Bindings> {
  readonly #index: AddressIndex;

  constructor(state: DurableObjectState, env: Bindings) {
    super(state, env);
    this.#index = new AddressIndex(state.storage.sql);
  }

  allocate(invoiceId: string): number {
    return this.#index.allocate(invoiceId);
  }
}

class GroupObject extends DurableObject<Bindings> {
  readonly #groups: CreateGroups;

  constructor(state: DurableObjectState, env: Bindings) {
    super(state, env);
    const indices = new GroupIndices(state.storage.sql);
    this.#groups = new CreateGroups({
      db: env.DB,
      takeIndices: (count) => indices.take(count),
      addressAt,
      nowMs: () => Date.now(),
      nextTurn: () => scheduler.wait(0),
    });
  }

  create(create: GroupedCreate): Promise<GroupedAnswer> {
    return this.#groups.create(create);
  }
}

// The floor's only cache: the BIP32 node of the receiving chain, parsed on first use.
let derive: ((index: number) => string) | undefined;

function addressAt(index: number): string {
  derive ??= floorDerivation(ZPUB);
  return derive(index);
}

function floorEnv(bindings: Bindings): FloorEnv {
  return {
    db: bindings.DB,
    reservationsOf: (name): ReservationCalls => bindings.RESERVATIONS.get(bindings.RESERVATIONS.idFromName(name)),
    allocate: (walletName, invoiceId) =>
      bindings.WALLETS.get(bindings.WALLETS.idFromName(walletName)).allocate(invoiceId),
    addressAt,
    nowMs: () => Date.now(),
  };
}

/** POST /group and /groupd; the object is the merchant's, so the key is looked up there. */
async function createInGroup(bindings: Bindings, request: Request, isDerived: boolean): Promise<Response> {
  const rawBody = await request.text();
  const hashes = await Promise.all([sha256Hex(rawBody), sha256Hex(request.headers.get("x-api-key") ?? "")]);
  const [bodyHash, keyHash] = hashes;
  const idempotencyKey = request.headers.get("idempotency-key") ?? "";
  const object = bindings.GROUPS.get(bindings.GROUPS.idFromName("mer_1"));
  const create = { idempotencyKey, keyHash, bodyHash, body: JSON.parse(rawBody), isDerived };
  const answer = await object.create(create);
  return new Response(answer.json, { status: answer.status, headers: { "content-type": "application/json" } });
}

export default {
  async fetch(request: Request, bindings: Bindings): Promise<Response> {
    const path = new URL(request.url).pathname.slice(1);
    const shape = SHAPES.find((each) => each.toLowerCase() === path);
    if (shape !== undefined) {
      const apiKey = request.headers.get("x-api-key") ?? "";
      const rawBody = await request.text();
      const idempotencyKey = request.headers.get("idempotency-key") ?? "";
      const [status, body] = await create(shape, floorEnv(bindings), { apiKey, idempotencyKey, rawBody });
      return json(status, body);
    }
    switch (path) {
      case "group":
      case "groupd":
        return createInGroup(bindings, request, path === "groupd");
      case "setup":
        await setUp(bindings.DB, await request.json());
        return json(200, { ok: true });
      case "echo":
        return json(200, await request.json());
      case "select1":
        return json(200, { row: await bindings.DB.prepare(D1.selectOne).first() });
      case "count":
        return json(200, (await bindings.DB.prepare(D1.countRows).first<object>()) ?? {});
      default:
        return json(404, {});
    }
  },
};

/** Creates the tables, and a merchant for each key: mer_1, mer_2 ... */
async function setUp(db: D1Database, keys: readonly string[]): Promise<void> {
  await db.batch(TABLES.map((table) => db.prepare(table)));
  const hashes = await Promise.all(keys.map(sha256Hex));
  await db.batch(
    hashes.map((hash, i) =>
      db.prepare(D1.insertKey).bind(`key_${i + 1}`, `mer_${i + 1}`, hash, "sk", "INVOICE_CREATE"),
    ),
  );
}

function json(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
}
