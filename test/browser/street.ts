// Many shops on one server: each test takes one that no other test has used, so that its addresses, settings and invoices are its own.
import { closeSync, openSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { startEvmChain } from "../../scripts/demo-story/evm-chain.ts";
import { startShop } from "../../scripts/demo-story/shop.ts";
import { apiKeyMacKeys, type Home } from "../../scripts/home.ts";
import { insertSql, newKey, newMerchant, newTeam } from "../../scripts/seed.ts";
import { databaseFile, executeSqlFile } from "../../scripts/wrangler.ts";
import { assetOn } from "../../src/chains/networks.ts";
import { network } from "../support/named-network.ts";

/** Tokens that customers pay with, beside ETH itself. */
export const TOKENS = ["USDT", "USDC", "DAI"] as const;
const SHOPS = 80;
/** Often enough that a payer sees changes within a second. */
const POLL_SECONDS = 0.25;

/** The value of `inject("street")`. */
export interface Street {
  readonly baseUrl: string;
  /** The node of network ETH. */
  readonly chainUrl: string;
  /** Where the server keeps its state; all that it prints is in `server.log` there. */
  readonly home: string;
  readonly shops: readonly { readonly merchantId: string; readonly key: string }[];
}

export async function openStreet(): Promise<{ readonly street: Street; readonly close: () => Promise<void> }> {
  const chain = await startEvmChain(TOKENS.flatMap((code) => assetOn(network("ETH"), code)?.contract ?? []));
  try {
    await chain.mine();
    let shops: Street["shops"] = [];
    const server = await startShop({
      sources: { ETH: [{ kind: "evm-rpc", url: chain.url }] },
      pollSeconds: POLL_SECONDS,
      seedMore: async (home) => {
        shops = await seedShops(home);
      },
    });
    const close = async () => {
      await server.stop();
      await chain.stop();
    };
    const street = { baseUrl: server.baseUrl, chainUrl: chain.url, home: dirname(server.logFile), shops };
    return { street, close };
  } catch (error) {
    await chain.stop();
    throw error;
  }
}

async function seedShops(home: Home): Promise<Street["shops"]> {
  const nowMs = Date.now();
  const macKeys = apiKeyMacKeys(home);
  const made = Array.from({ length: SHOPS }, (_, place) => {
    const merchant = newMerchant(`Corner shop ${place + 1}`, nowMs);
    return { merchant, key: newKey(macKeys, { merchantId: merchant.id, kind: "SECRET", nowMs }) };
  });
  const file = join(home.path, "street.sql");
  writeFileSync(
    file,
    insertSql({
      merchants: made.map(({ merchant }) => merchant),
      teams: made.map(({ merchant }) => newTeam(merchant)),
      apiKeys: made.map(({ key }) => key.row),
    }),
  );
  executeSqlFile(home, file);
  return made.map(({ merchant, key }) => ({ merchantId: merchant.id, key: key.secret }));
}

/** A shop that no test of any file has taken; throws when none is left. */
export function takeShop({ home, shops }: Street): Street["shops"][number] {
  for (const [place, shop] of shops.entries()) {
    try {
      closeSync(openSync(join(home, `taken-${place}`), "wx"));
      return shop;
    } catch {
      // Another test was faster.
    }
  }
  throw new Error(`all ${shops.length} shops are taken: raise SHOPS`);
}

/**
 * Moves the end of an invoice to `inMs` from now: no invoice lives less than a minute, and no test waits that long. It writes to
 * the database from this process, and the server sees the change.
 */
export function endInvoiceIn({ home }: Street, invoiceId: string, inMs: number): void {
  const database = new DatabaseSync(databaseFile({ state: join(home, "state") }));
  try {
    database.exec("PRAGMA busy_timeout = 5000");
    const endMs = Date.now() + inMs;
    const { changes } = database.prepare("UPDATE invoices SET expires_at_ms = ? WHERE id = ?").run(endMs, invoiceId);
    if (changes !== 1) throw new Error(`no invoice ${invoiceId}`);
  } finally {
    database.close();
  }
}
