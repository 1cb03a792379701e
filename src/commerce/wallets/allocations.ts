// Records which invoice has which address of one extended key. The table belongs to the key, not to a wallet or a merchant, and nothing is ever
// deleted from it, so no address is given twice, no matter who registers the key or how often (decisions 3). The storage may be empty although the
// key was already used, in a database that was moved here from another deployment (docs/operations/export.md). A new allocator therefore begins after
// the indexes in D1 (`begin`). Every method is synchronous: no other call can run between its statements, so an index always has the right address.
import { networkNamed } from "../../chains/registry/networks.ts";
import { LIMITS } from "../../lib/limits.ts";
import type { ObjectStorage } from "../../lib/object-storage.ts";
import { DAY_MS } from "../../lib/time.ts";
import { parseJson } from "../../lib/typed-json.ts";
import { addressAt, type ReceiveChain, receiveChain } from "./derive-address.ts";
import { parseExtendedKey } from "./extended-key.ts";
import { type GivenAddress, type PublicHold, type PublicRefusal, publicRefusal, REMEMBERED_MS } from "./public-hold.ts";

export interface AllocateRequest {
  readonly invoiceId: string;
  readonly merchantId: string;
  /** Canonical name of the network. */
  readonly network: string;
  readonly xpub: string;
  readonly derivationPath: string;
  /** Limit for a merchant without proof on a shared key: at most `maxUnpaid` addresses beyond the `paid` ones. Null: no limit. */
  readonly cap: { readonly maxUnpaid: number; readonly paid: number } | null;
  /** Set if a browser asks for the address; otherwise null. */
  readonly publicHold: PublicHold | null;
  /** What the invoice shows with the address, kept for `given`; absent if it need not be kept. */
  readonly shown?: Shown;
}

/** JSON for recovering a lost invoice (commerce/restores), and when it was shown. */
interface Shown {
  readonly terms: string;
  readonly atMs: number;
}

/**
 * Which addresses `given` lists: those shown at or after `sinceMs`. Addresses without terms have no time, so they are listed from index `floor` on.
 */
export interface GivenSince {
  readonly sinceMs: number;
  readonly floor: number;
  /** Lists only addresses after this index. */
  readonly afterIndex: number;
  readonly limit: number;
}

export interface GivenPlace {
  readonly index: number;
  readonly invoiceId: string;
  readonly merchantId: string;
  readonly address: string;
  /** Null if they were not kept. */
  readonly terms: string | null;
}

export type AllocateAnswer =
  | {
      readonly kind: "allocated";
      readonly index: number;
      readonly address: string;
      /** The key's next index after this call, over all merchants. */
      readonly nextIndex: number;
    }
  | { readonly kind: "unpaid_limit" }
  | PublicRefusal;

/** The allocator's interface for operations: the Durable Object's stub or, in the simulator, `Allocations`. */
export interface AllocatorRpc {
  allocate(request: AllocateRequest): Promise<AllocateAnswer>;
  allocateEach(requests: readonly AllocateRequest[]): Promise<AllocateAnswer[]>;
  nextIndex(): Promise<{ nextIndex: number }>;
  given(since: GivenSince): Promise<readonly GivenPlace[]>;
}

/** How long terms are kept: longer than a database can be restored. */
const TERMS_KEPT_MS = 31 * DAY_MS;
/** How many old rows of terms are deleted at each allocation: more than one, so that the table shrinks. */
const TERMS_FORGOTTEN = 2;

interface ParsedKey {
  readonly network: string;
  readonly xpub: string;
  readonly derivationPath: string;
  readonly chain: ReceiveChain;
}

export class Allocations {
  readonly #storage: ObjectStorage;
  readonly #keyHash: string;
  /** The lowest index that may be given; undefined before `begin`. */
  #floor: number | undefined;
  #parsed: ParsedKey | undefined;

  constructor(storage: ObjectStorage, keyHash: string) {
    this.#storage = storage;
    this.#keyHash = keyHash;
    storage.sql.exec(
      `CREATE TABLE IF NOT EXISTS allocations (
        address_index INTEGER PRIMARY KEY, invoice_id TEXT NOT NULL UNIQUE, merchant_id TEXT NOT NULL, address TEXT NOT NULL
      )`,
    );
    storage.sql.exec("CREATE INDEX IF NOT EXISTS allocations_merchant ON allocations (merchant_id)");
    // Addresses given to browsers in the last hour; `networks` is JSON.
    storage.sql.exec(
      `CREATE TABLE IF NOT EXISTS public_allocations (
        address_index INTEGER PRIMARY KEY, invoice_id TEXT NOT NULL, merchant_id TEXT NOT NULL, given_at_ms INTEGER NOT NULL, networks TEXT NOT NULL
      )`,
    );
    storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS shown (address_index INTEGER PRIMARY KEY, terms TEXT NOT NULL, at_ms INTEGER NOT NULL)",
    );
    storage.sql.exec("CREATE TABLE IF NOT EXISTS beginning (next_index INTEGER NOT NULL)");
    const [beginning] = this.#rows("SELECT next_index FROM beginning", []);
    this.#floor = beginning === undefined ? undefined : Number(beginning.next_index);
  }

  /** Whether no address was ever given here and `begin` was never called. */
  isNew(): boolean {
    return this.#floor === undefined && this.nextIndex() === 0;
  }

  /** Sets the first index of a new storage. Does nothing if the storage is no longer new. */
  begin(nextIndex: number): void {
    if (!this.isNew()) return;
    this.#rows("INSERT INTO beginning (next_index) VALUES (?)", [nextIndex]);
    this.#floor = nextIndex;
  }

  /**
   * Allocates the key's next index and its address. The same invoice always gets the same address, even if its cap would now refuse it. A refusal
   * uses no index.
   */
  allocate(request: AllocateRequest): AllocateAnswer {
    return this.#storage.transactionSync(() => {
      const [known] = this.#rows("SELECT address_index, address FROM allocations WHERE invoice_id = ?", [
        request.invoiceId,
      ]);
      const nextIndex = this.nextIndex();
      if (known !== undefined) {
        return { kind: "allocated", index: Number(known.address_index), address: String(known.address), nextIndex };
      }
      if (request.cap !== null && this.#countOf(request.merchantId) >= request.cap.paid + request.cap.maxUnpaid) {
        return { kind: "unpaid_limit" };
      }
      const refusal = this.#refusalOf(request);
      if (refusal !== undefined) return refusal;
      const address = addressAt(this.#chainOf(request), nextIndex);
      this.#rows("INSERT INTO allocations (address_index, invoice_id, merchant_id, address) VALUES (?, ?, ?, ?)", [
        nextIndex,
        request.invoiceId,
        request.merchantId,
        address,
      ]);
      this.#notePublic(request, nextIndex);
      if (request.shown !== undefined) this.#noteShown(request.shown, nextIndex);
      return { kind: "allocated", index: nextIndex, address, nextIndex: nextIndex + 1 };
    });
  }

  #refusalOf({ merchantId, publicHold }: AllocateRequest): PublicRefusal | undefined {
    if (publicHold === null) return undefined;
    const given = this.#rows(
      "SELECT invoice_id, given_at_ms, networks FROM public_allocations WHERE merchant_id = ? AND given_at_ms > ?",
      [merchantId, publicHold.nowMs - REMEMBERED_MS],
    ).map(
      (row): GivenAddress => ({
        invoiceId: String(row.invoice_id),
        givenAtMs: Number(row.given_at_ms),
        networks: parseJson<readonly string[]>(String(row.networks)),
      }),
    );
    return publicRefusal(publicHold, { distance: this.#distanceFrom(publicHold.lastPaidIndex, merchantId), given });
  }

  /** The number of the merchant's addresses after `lastPaidIndex`, counted only up to `LIMITS.publicGapLimit`. */
  #distanceFrom(lastPaidIndex: number, merchantId: string): number {
    const [counted] = this.#rows(
      "SELECT count(*) AS after FROM (SELECT 1 FROM allocations WHERE merchant_id = ? AND address_index > ? LIMIT ?)",
      [merchantId, lastPaidIndex, LIMITS.publicGapLimit],
    );
    return Number(counted?.after);
  }

  #notePublic({ invoiceId, merchantId, publicHold }: AllocateRequest, index: number): void {
    if (publicHold === null) return;
    const { nowMs, networks } = publicHold;
    this.#rows("DELETE FROM public_allocations WHERE given_at_ms <= ?", [nowMs - REMEMBERED_MS]);
    this.#rows(
      "INSERT INTO public_allocations (address_index, invoice_id, merchant_id, given_at_ms, networks) VALUES (?, ?, ?, ?, ?)",
      [index, invoiceId, merchantId, nowMs, JSON.stringify(networks.map(({ hash }) => hash))],
    );
  }

  /** Lists addresses in the order of their indexes, which is also the order in which they were given. */
  given({ sinceMs, floor, afterIndex, limit }: GivenSince): readonly GivenPlace[] {
    const rows = this.#rows(
      `SELECT allocations.address_index, invoice_id, merchant_id, address, terms FROM allocations
      LEFT JOIN shown ON shown.address_index = allocations.address_index
      WHERE allocations.address_index > ? AND (at_ms >= ? OR at_ms IS NULL AND allocations.address_index >= ?)
      ORDER BY allocations.address_index LIMIT ?`,
      [afterIndex, sinceMs, floor, limit],
    );
    return rows.map((row) => ({
      index: Number(row.address_index),
      invoiceId: String(row.invoice_id),
      merchantId: String(row.merchant_id),
      address: String(row.address),
      terms: typeof row.terms === "string" ? row.terms : null,
    }));
  }

  #noteShown({ terms, atMs }: Shown, index: number): void {
    this.#rows("INSERT INTO shown (address_index, terms, at_ms) VALUES (?, ?, ?)", [index, terms, atMs]);
    this.#rows(
      `DELETE FROM shown WHERE address_index IN (SELECT address_index FROM shown ORDER BY address_index LIMIT ?) AND at_ms < ?`,
      [TERMS_FORGOTTEN, atMs - TERMS_KEPT_MS],
    );
  }

  nextIndex(): number {
    const [last] = this.#rows("SELECT max(address_index) AS last_index FROM allocations", []);
    const lastIndex = last?.last_index ?? null;
    return Math.max(lastIndex === null ? 0 : Number(lastIndex) + 1, this.#floor ?? 0);
  }

  /** Keeps the parsed key for the next call. The same key in a different spelling is parsed again, and must have the same `keyHash`. */
  #chainOf({ network: name, xpub, derivationPath }: AllocateRequest): ReceiveChain {
    const parsed = this.#parsed;
    if (parsed?.xpub === xpub && parsed.network === name && parsed.derivationPath === derivationPath)
      return parsed.chain;
    const network = networkNamed(name);
    if (network === undefined) throw new Error(`allocation on an unknown network: ${name}`);
    const key = parseExtendedKey({ network, xpub, derivationPath });
    if (!key.ok) throw new Error(`allocation with a key that does not parse: ${key.error.code}`);
    if (key.value.keyHash !== this.#keyHash) throw new Error("allocation with a key that is not the object's own");
    const chain = receiveChain(key.value, network);
    this.#parsed = { network: name, xpub, derivationPath, chain };
    return chain;
  }

  #countOf(merchantId: string): number {
    return Number(this.#rows("SELECT count(*) AS held FROM allocations WHERE merchant_id = ?", [merchantId])[0]?.held);
  }

  #rows(query: string, bindings: readonly (string | number)[]): Record<string, string | number | null | ArrayBuffer>[] {
    return this.#storage.sql.exec(query, ...bindings).toArray();
  }
}
