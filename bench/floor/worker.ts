// The floor as a worker: POST /setup once, then POST /full, /full2, /fulld, /fullm; /echo and /select1 are the baselines below it.
import { DurableObject } from "cloudflare:workers";
import { create, type FloorEnv, type ReservationCalls, SHAPES, sha256Hex } from "./create.ts";
import { floorDerivation, ZPUB } from "./derive.ts";
import { AddressIndex, KeyReservations } from "./objects.ts";
import { D1, TABLES } from "./sql.ts";

interface Bindings {
  readonly DB: D1Database;
  readonly RESERVATIONS: DurableObjectNamespace<ReservationsObject>;
  readonly WALLETS: DurableObjectNamespace<WalletObject>;
}

export class ReservationsObject extends DurableObject<Bindings> {
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

export class WalletObject extends DurableObject<Bindings> {
  readonly #index: AddressIndex;

  constructor(state: DurableObjectState, env: Bindings) {
    super(state, env);
    this.#index = new AddressIndex(state.storage.sql);
  }

  allocate(invoiceId: string): number {
    return this.#index.allocate(invoiceId);
  }
}

// The one cache of the floor: its chain node, parsed on first use.
let derive: ((index: number) => string) | undefined;

function floorEnv(bindings: Bindings): FloorEnv {
  return {
    db: bindings.DB,
    reservationsOf: (name): ReservationCalls => bindings.RESERVATIONS.get(bindings.RESERVATIONS.idFromName(name)),
    allocate: (walletName, invoiceId) =>
      bindings.WALLETS.get(bindings.WALLETS.idFromName(walletName)).allocate(invoiceId),
    addressAt: (index) => {
      derive ??= floorDerivation(ZPUB);
      return derive(index);
    },
    nowMs: () => Date.now(),
  };
}

export default {
  async fetch(request: Request, bindings: Bindings): Promise<Response> {
    const path = new URL(request.url).pathname.slice(1);
    const shape = SHAPES.find((each) => each.toLowerCase() === path);
    const apiKey = request.headers.get("x-api-key") ?? "";
    if (shape !== undefined) {
      const rawBody = await request.text();
      const idempotencyKey = request.headers.get("idempotency-key") ?? "";
      const [status, body] = await create(shape, floorEnv(bindings), { apiKey, idempotencyKey, rawBody });
      return json(status, body);
    }
    switch (path) {
      case "setup":
        await bindings.DB.batch(TABLES.map((table) => bindings.DB.prepare(table)));
        await bindings.DB.prepare(D1.insertKey)
          .bind("key_1", "mer_1", await sha256Hex(apiKey), "sk", "INVOICE_CREATE")
          .run();
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

function json(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });
}
