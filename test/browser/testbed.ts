// Many shops on one server. Each test uses a new shop, so that its addresses, settings and invoices are its own.
import { closeSync, openSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { seedInvoices } from "../../bench/seed-invoices.ts";
import { type EvmChain, startEvmChain } from "../../scripts/demo-story/evm-chain.ts";
import { startShop } from "../../scripts/demo-story/shop.ts";
import { findFreePort } from "../../scripts/free-port.ts";
import { apiKeyMacKeys, type Home } from "../../scripts/home.ts";
import { insertSql, newKey, newMember, newMerchant, newTeam } from "../../scripts/seed.ts";
import { databaseFile, executeSqlFile } from "../../scripts/wrangler.ts";
import { ROLES, type Role } from "../../src/accounts/roles/roles.ts";
import { assetOn } from "../../src/chains/registry/networks.ts";
import { builtServer } from "../support/built-worker.ts";
import { network } from "../support/named-network.ts";

/** The tokens that customers pay with, in addition to ETH. */
const TOKENS = ["USDT", "USDC", "DAI"] as const;
const SHOPS = 110;
/** Short enough that a payer sees changes within a second. */
const POLL_SECONDS = 0.25;
/**
 * A network whose newest block is 5 minutes old is not offered to payers. A block is mined if the newest one is older than this, and only then,
 * because some tests count blocks.
 */
const OLDEST_TIP_MS = 3 * 60_000;
const LOOKS_EVERY_MS = 10_000;

/** The number of invoices in the shop that has many. */
const MANY = 100_000;

/** The server's configuration of Google: a port on which a test may start a stand-in for it. */
interface ProviderPlace {
  readonly port: number;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The value of `inject("testbed")`. */
export interface Testbed {
  readonly baseUrl: string;
  /** The URL of the node for the network ETH. */
  readonly chainUrl: string;
  /** The folder with the server's state; its output is in `server.log` there. */
  readonly home: string;
  readonly shops: readonly { readonly merchantId: string; readonly key: string }[];
  /** A shop with very many invoices, named "Order 0" and so on; every tenth is EXPIRED. */
  readonly many: { readonly merchantId: string; readonly count: number; readonly firstAtMs: number };
  readonly google: ProviderPlace;
}

export async function openTestbed(): Promise<{ readonly testbed: Testbed; readonly close: () => Promise<void> }> {
  const chain = await startEvmChain(TOKENS.flatMap((code) => assetOn(network("ETH"), code)?.contract ?? []));
  const youth = keepYoung(chain);
  try {
    await chain.mine();
    let shops: Testbed["shops"] = [];
    let many: Testbed["many"] | undefined;
    const google = { port: await findFreePort(), clientId: "client-google", clientSecret: "secret-of-google" };
    const server = await startShop({
      wrangler: builtServer(),
      sources: { ETH: [{ kind: "evm-rpc", url: chain.url }] },
      pollSeconds: POLL_SECONDS,
      signInProviders: {
        google: { clientId: google.clientId, clientSecret: google.clientSecret, issuer: issuerOf(google) },
      },
      seedMore: async (home) => {
        const [first, ...others] = await seedShops(home);
        if (first === undefined) throw new Error("there is no shop");
        shops = others;
        many = { merchantId: first.merchantId, count: MANY, firstAtMs: await seedMany(home, first.merchantId) };
      },
    });
    if (many === undefined) throw new Error("the server started without its seed");
    const close = async () => {
      clearInterval(youth);
      await server.stop();
      await chain.stop();
    };
    const testbed = {
      baseUrl: server.baseUrl,
      chainUrl: chain.url,
      home: dirname(server.logFile),
      shops,
      many,
      google,
    };
    return { testbed, close };
  } catch (error) {
    clearInterval(youth);
    await chain.stop();
    throw error;
  }
}

/** Mines a block if no test has for a while, so that the network is still offered to a test that starts late. */
function keepYoung({ mine, newestAtMs }: Pick<EvmChain, "mine" | "newestAtMs">): NodeJS.Timeout {
  const look = async () => {
    if (Date.now() - (await newestAtMs()) > OLDEST_TIP_MS) await mine();
  };
  return setInterval(() => void look().catch(() => {}), LOOKS_EVERY_MS);
}

async function seedShops(home: Home): Promise<Testbed["shops"]> {
  const nowMs = Date.now();
  const macKeys = apiKeyMacKeys(home);
  const made = Array.from({ length: SHOPS }, (_, place) => {
    const merchant = newMerchant(`Corner shop ${place + 1}`, nowMs);
    const team = ROLES.map((role) => newMember(merchant.id, { role, email: emailOf(merchant.id, role) }, nowMs));
    return { merchant, team, key: newKey(macKeys, { merchantId: merchant.id, kind: "SECRET", nowMs }) };
  });
  const people = made.flatMap(({ team }) => team);
  const file = join(home.path, "testbed.sql");
  writeFileSync(
    file,
    insertSql({
      merchants: made.map(({ merchant }) => merchant),
      teams: made.map(({ merchant }) => newTeam(merchant)),
      users: people.flatMap(({ users }) => users),
      members: people.flatMap(({ members }) => members),
      apiKeys: made.map(({ key }) => key.row),
    }),
  );
  executeSqlFile(home, file);
  return made.map(({ merchant, key }) => ({ merchantId: merchant.id, key: key.secret }));
}

/** Returns when the oldest invoice was created; each later invoice is a second younger. */
async function seedMany(home: Home, merchantId: string): Promise<number> {
  const database = new DatabaseSync(databaseFile(home));
  try {
    // `seedInvoices` of the benchmarks takes a D1 database, but uses only these methods.
    const asD1 = {
      prepare: (sql: string) => ({
        bind: (...given: readonly (string | number)[]) => {
          // Node binds a number as a float, which SQLite would write with a fraction: "Order 7.0".
          const values = given.map((value) => (typeof value === "number" ? BigInt(value) : value));
          return {
            run: () => database.prepare(sql).run(...values),
            first: async () => database.prepare(sql).get(...values),
          };
        },
      }),
      batch: async (statements: readonly { readonly run: () => unknown }[]) => {
        database.exec("BEGIN");
        for (const { run } of statements) run();
        database.exec("COMMIT");
        // D1 also returns the database's size, which is not needed here.
        return statements.map(() => ({ meta: {} }));
      },
    };
    const asked = asD1 as unknown as Parameters<typeof seedInvoices>[0];
    return (await seedInvoices(asked, merchantId, MANY, () => {})).positionOf(0).createdAtMs;
  } finally {
    database.close();
  }
}

export function issuerOf({ port }: ProviderPlace): string {
  return `http://127.0.0.1:${port}`;
}

/** Each shop has a member of each role, who signs in with this address. */
export function emailOf(merchantId: string, role: Role): string {
  return `${role.toLowerCase()}-${merchantId.toLowerCase().replace("_", "-")}@example.com`;
}

/** A shop that no test of any file has taken; throws if none is left. */
export function takeShop({ home, shops }: Testbed): Testbed["shops"][number] {
  for (const [place, shop] of shops.entries()) {
    try {
      closeSync(openSync(join(home, `taken-${place}`), "wx"));
      return shop;
    } catch {
      // Another test took the shop first.
    }
  }
  throw new Error(`all ${shops.length} shops are taken: raise SHOPS`);
}

/**
 * Makes an invoice end `inMs` from now, because no invoice lasts less than a minute, and no test should wait that long. Writes to the server's
 * database from this process.
 */
export function endInvoiceIn(testbed: Pick<Testbed, "home">, invoiceId: string, inMs: number): void {
  changeDatabase(testbed, (database) => {
    const endMs = Date.now() + inMs;
    const { changes } = database.prepare("UPDATE invoices SET expires_at_ms = ? WHERE id = ?").run(endMs, invoiceId);
    if (changes !== 1) throw new Error(`no invoice ${invoiceId}`);
  });
}

/** Makes a shop's owner an operator of the deployment, as a set-up link does. */
export function makeOperator(testbed: Pick<Testbed, "home">, email: string): void {
  changeDatabase(testbed, (database) => {
    const { changes } = database
      .prepare("UPDATE users SET operator_since_ms = ? WHERE email = ?")
      .run(Date.now(), email);
    if (changes !== 1) throw new Error(`no user ${email}`);
  });
}

/** Writes to the server's database from this process, for changes that no API makes. */
export function changeDatabase({ home }: Pick<Testbed, "home">, change: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(databaseFile({ state: join(home, "state") }));
  try {
    database.exec("PRAGMA busy_timeout = 5000");
    change(database);
  } finally {
    database.close();
  }
}
