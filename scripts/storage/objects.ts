// What each class of Durable Objects stores: its own tables, in the form in which its files create them, and values by key. A test compares the
// list with the classes of wrangler.toml and with every `CREATE TABLE` in the sources, and inserts the examples into the tables.
import { HOUR_MS, MINUTE_MS } from "../../src/lib/time.ts";
import { ADDRESS, HASH, invoiceId, merchantId, NOW_MS, OPERATION, walletId } from "./example-row.ts";
import type { Kept } from "./kept.ts";

type Stored = string | number | null;

export interface ObjectTable extends Kept {
  readonly name: string;
  /** The file that creates the table. */
  readonly madeIn: string;
  readonly holds: string;
  /** By column name; absent values are null, or filled in by SQLite. */
  readonly example: Readonly<Record<string, Stored>>;
}

interface StoringObject {
  /** What one instance represents. */
  readonly one: string;
  readonly tables: readonly ObjectTable[];
  /** What the object stores in addition to tables; empty if nothing. */
  readonly besides: string;
}

const ENTRY: ObjectTable = {
  name: "own_entry",
  madeIn: "src/platform/directory/own-entry.ts",
  holds: "One row once the object's name is in the directory; before that it gives nothing.",
  example: { made_at_ms: NOW_MS },
  kept: "without end",
};
/** 49.905 USDT as stored: padded, so that texts sort like numbers. */
const UNITS = "49905000".padStart(78, "0");
const PRICE = "49900000".padStart(78, "0");
const ALLOCATIONS = "src/commerce/wallets/allocations.ts";
const AMOUNTS = { madeIn: "src/commerce/amounts/amount-tables.ts" } as const;
const RELEASE = {
  kept: "until the amount is released, or an hour after its end if the database has no row of it",
  decidedIn: "src/commerce/amounts/amount-allocations.ts",
} as const;
const TERMS = JSON.stringify({ name: "Brass lamp", amountMicros: "49900000", currency: "USD" });

const ADDRESS_ALLOCATOR: StoringObject = {
  one: "extended key and network",
  tables: [
    {
      name: "allocations",
      madeIn: ALLOCATIONS,
      holds: "An address that was given, with the invoice that has it: an index is given once.",
      example: { address_index: 17, invoice_id: invoiceId, merchant_id: merchantId, address: ADDRESS },
      kept: "without end",
    },
    {
      name: "public_allocations",
      madeIn: ALLOCATIONS,
      holds:
        "An address that was given to a browser, for the limits of strangers; `networks` is JSON of hashed IP networks.",
      example: {
        address_index: 17,
        invoice_id: invoiceId,
        merchant_id: merchantId,
        given_at_ms: NOW_MS,
        networks: JSON.stringify([HASH]),
      },
      kept: "1 hour",
      decidedIn: "src/commerce/wallets/public-hold.ts",
    },
    {
      name: "shown",
      madeIn: ALLOCATIONS,
      holds: "The terms that the payer saw with an address, for the import after a restore.",
      example: { address_index: 17, terms: TERMS, at_ms: NOW_MS },
      kept: "31 days, then until others are given",
      decidedIn: ALLOCATIONS,
    },
    {
      name: "beginning",
      madeIn: ALLOCATIONS,
      holds: "One row: where the allocations of this storage begin, if the key was used before.",
      example: { next_index: 12 },
      kept: "without end",
    },
    ENTRY,
  ],
  besides: "",
};

const AMOUNT_ALLOCATOR: StoringObject = {
  one: "asset at an address of a network",
  tables: [
    {
      ...AMOUNTS,
      ...RELEASE,
      name: "amounts",
      holds: "An amount that an invoice asks for: of one rank, nobody else has it.",
      example: {
        units: UNITS,
        rank: 2,
        invoice_id: invoiceId,
        merchant_id: merchantId,
        is_public: 0,
        is_counted: 1,
        held_until_ms: NOW_MS + 25 * HOUR_MS,
        check_after_ms: NOW_MS + 26 * HOUR_MS,
      },
    },
    {
      ...AMOUNTS,
      ...RELEASE,
      name: "prices",
      holds: "The price for which an amount was given, with its number among the candidates of that price.",
      example: {
        invoice_id: invoiceId,
        price_units: PRICE,
        units: UNITS,
        rank: 2,
        merchant_id: merchantId,
        salt: 5,
      },
    },
    {
      name: "shown",
      madeIn: "src/commerce/amounts/shown-amounts.ts",
      holds: "The terms that the payer saw with an amount, for the import after a restore.",
      example: {
        place: 1,
        invoice_id: invoiceId,
        units: UNITS,
        merchant_id: merchantId,
        price_units: PRICE,
        rank: 2,
        held_until_ms: NOW_MS + 25 * HOUR_MS,
        terms: TERMS,
        at_ms: NOW_MS,
      },
      kept: "31 days, then until others are given",
      decidedIn: "src/commerce/amounts/shown-amounts.ts",
    },
    {
      ...AMOUNTS,
      name: "beginning",
      holds: "One row once it is known what was asked for at the address before this storage.",
      example: { began: 1 },
      kept: "without end",
    },
    ENTRY,
  ],
  besides: "an alarm, at the time of the first amount that must be looked up",
};

const MERCHANT_OBJECT: StoringObject = {
  one: "merchant, or user where no merchant is named",
  tables: [
    {
      name: "claims",
      madeIn: "src/platform/idempotency/key-reservations.ts",
      holds: "An `Idempotency-Key`, hashed, with the request that used it first and the operation that it began.",
      example: {
        key_hash: HASH,
        fingerprint: HASH,
        operation_id: OPERATION,
        attempt: 1,
        lease_until_ms: NOW_MS + MINUTE_MS / 2,
        incarnation: OPERATION,
        expires_at_ms: NOW_MS + 24 * HOUR_MS,
      },
      kept: "1 day",
      decidedIn: "src/platform/idempotency/key-reservations.ts",
    },
    {
      name: "revocations",
      madeIn: "src/platform/revocations/revocation-copies.ts",
      holds: "The copy of what took a right away, for the import after a restore.",
      example: {
        place: 1,
        kind: "WALLET",
        target: walletId,
        columns: JSON.stringify({ is_enabled: 0 }),
        at_ms: NOW_MS,
      },
      kept: "31 days, then until the next one",
      decidedIn: "src/platform/revocations/revocation-copies.ts",
    },
    ENTRY,
  ],
  besides: "an alarm, while there are keys",
};

export const OBJECTS: Readonly<Record<string, StoringObject>> = {
  AddressAllocator: ADDRESS_ALLOCATOR,
  AmountAllocator: AMOUNT_ALLOCATOR,
  MerchantObject: MERCHANT_OBJECT,
  Directory: {
    one: "kind of the three objects above",
    tables: [
      {
        name: "entries",
        madeIn: "src/platform/directory/directory-entries.ts",
        holds: "The name of an object of the kind: the platform lists none, and an import must find all.",
        example: { name: merchantId, entered_at_ms: NOW_MS },
        kept: "without end",
      },
    ],
    besides: "",
  },
  RateBook: {
    one: "deployment",
    tables: [
      {
        name: "book",
        madeIn: "src/rates/rate-refresh.ts",
        holds: "One row: JSON of the last prices of each source, and of the pauses of those that failed.",
        example: {
          id: 1,
          state: JSON.stringify({
            refreshedAtMs: NOW_MS,
            known: ["ETH"],
            prices: [{ source: "kraken", asset: "ETH", usd: "3105.2", atMs: NOW_MS }],
            fiat: [],
            pauses: {},
          }),
        },
        kept: "until the next refresh",
        decidedIn: "src/rates/rate-refresh.ts",
      },
    ],
    besides: "",
  },
  RateLimiter: {
    one: "key, user, or address and act",
    tables: [],
    besides:
      'under the key `hour` the count of a limit by the hour, such as `{ "startMs": 1795262400000, "count": 3 }`, until an alarm at the end of that hour, and nothing of a limit by the minute',
  },
  NetworkWatcher: {
    one: "network",
    tables: [],
    besides:
      "an alarm, at the time of the next pass, and under the key `trials` when its sources were last tried, such as `[1795262400000]`, at most four times; what it has read is in D1",
  },
  CheckoutRoom: {
    one: "merchant",
    tables: [],
    besides: "an alarm, while one of the merchant's people looks; the platform keeps the sockets with their tags",
  },
  DevMailbox: {
    one: "deployment, in development",
    tables: [
      {
        name: "mails",
        madeIn: "src/platform/mail/dev-mailbox.ts",
        holds: "A mail that would have been sent.",
        example: {
          n: 1,
          recipient: "ada@shop.example",
          mail: JSON.stringify({ to: "Ada@shop.example", subject: "Your code", at: "2026-11-21T12:00:00Z" }),
        },
        kept: "the last 500",
        decidedIn: "src/platform/mail/dev-mailbox.ts",
      },
    ],
    besides: "",
  },
};
