// The deployment of the drill: a development server in a folder of its own, its database that is copied and put back, and its merchants.

import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { HDKey } from "@scure/bip32";
import type { Safeguard } from "../../src/lib/safeguards.ts";

import { findFreePort } from "../free-port.ts";
import { apiKeyMacKeys } from "../home.ts";
import { DEMO_OWNER, insertSql, newKey, newMember, newMerchant, newTeam } from "../seed.ts";
import { type Server, startServer } from "../server.ts";
import { readSettings } from "../settings.ts";
import { databaseFile, executeSqlFile } from "../wrangler.ts";
import { DrillShop } from "./shop.ts";

/** An address of public test vectors. */
const SHARED_ADDRESS = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
const MEMBER = "member@example.com";

export interface Stage {
  readonly baseUrl: string;
  readonly logFile: string;
  /** The shop with addresses of its own, and the one with a shared address and distinct amounts. */
  readonly own: DrillShop;
  readonly shared: DrillShop;
  /** A key and a member of the first shop that are revoked in the lost time. */
  readonly revoked: {
    readonly shop: DrillShop;
    readonly keyId: string;
    readonly memberId: string;
    readonly memberEmail: string;
  };
  readonly ownerEmail: string;
  start(epoch?: string): Promise<void>;
  stop(): Promise<void>;
  /** Copies the database as it is, while the server runs. */
  copyDatabase(): Promise<void>;
  /** Puts the copy back; the server must be stopped. */
  putBack(): void;
  /** Rows of the database, which is open for this statement only. */
  rows(sql: string): readonly Record<string, unknown>[];
  /** Ends the server and removes its folder. */
  end(): Promise<void>;
}

export async function openStage(chainUrl: string, without: Safeguard | undefined): Promise<Stage> {
  const path = mkdtempSync(join(tmpdir(), "edgetill-drill-"));
  const [state, copy, logFile] = [join(path, "state"), join(path, "copy.sqlite"), join(path, "server.log")];
  const remove = () => rmSync(path, { recursive: true, force: true });
  process.once("exit", remove);
  const port = await findFreePort();
  let server: Server | undefined;
  let seeded: ReturnType<typeof seedRows> | undefined;
  const start = async (epoch = "") => {
    const settings = readSettings({
      PORT: String(port),
      EDGETILL_HOME: path,
      EDGETILL_NAME: "drill",
      RESTORE_EPOCH: epoch,
      POLL_SECONDS: "1",
      RATE_LIMIT_PER_MINUTE: "1000000",
      CHAIN_SOURCES: JSON.stringify({ BTC: [{ kind: "core-rpc", url: chainUrl }] }),
    });
    const variables = { ...settings.variables, DRILL_WITHOUT: without ?? "" };
    server = await startServer(
      { ...settings, variables },
      {
        logFile,
        // A restored database must not get again what was taken from it.
        seedMore: async (home, demo) => {
          if (seeded !== undefined) return;
          seeded = seedRows(demo.merchantId, apiKeyMacKeys(home));
          writeFileSync(join(path, "drill.sql"), seeded.sql, { mode: 0o600 });
          executeSqlFile(home, join(path, "drill.sql"));
        },
      },
    );
  };
  const stop = async () => server?.stop();
  await start().catch((error: unknown) => {
    remove();
    throw error;
  });
  if (server === undefined || seeded === undefined) throw new Error("the server was not started");
  const { baseUrl, merchantId, secretKey } = server.demo;
  const own = new DrillShop({ name: "own addresses", baseUrl, merchantId, key: secretKey });
  const shared = new DrillShop({ name: "shared address", baseUrl, ...seeded.shared });
  await registerWallets(own, shared);
  const { keyId, memberId } = seeded;
  const shop = new DrillShop({ name: "revoked key", baseUrl, merchantId, key: seeded.revokedKey });
  return {
    baseUrl,
    logFile,
    own,
    shared,
    ownerEmail: DEMO_OWNER,
    start,
    revoked: { shop, keyId, memberId, memberEmail: MEMBER },
    stop: async () => {
      await stop();
    },
    copyDatabase: async () => {
      const database = new DatabaseSync(databaseFile({ state }), { readOnly: true, timeout: 5_000 });
      await backup(database, copy);
      database.close();
    },
    putBack: () => {
      const file = databaseFile({ state });
      for (const suffix of ["-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true });
      copyFileSync(copy, file);
    },
    rows: (sql) => {
      const database = new DatabaseSync(databaseFile({ state }), { readOnly: true, timeout: 5_000 });
      try {
        return database.prepare(sql).all();
      } finally {
        database.close();
      }
    },
    end: async () => {
      await stop();
      process.removeListener("exit", remove);
      remove();
    },
  };
}

/** The end of the server's log, for a drill that broke off. */
export function logEnd({ logFile }: Pick<Stage, "logFile">): string {
  return readFileSync(logFile, "utf8").slice(-4_000);
}

function seedRows(demoMerchantId: string, macKeys: Parameters<typeof newKey>[0]) {
  const nowMs = Date.now();
  const merchant = newMerchant("Drill shop", nowMs);
  const key = newKey(macKeys, { merchantId: merchant.id, kind: "SECRET", nowMs });
  const merchantId = demoMerchantId as typeof merchant.id;
  const revoked = newKey(macKeys, { merchantId, kind: "SECRET", nowMs });
  const member = newMember(merchantId, { role: "ADMIN", email: MEMBER }, nowMs);
  const owner = newMember(merchant.id, { role: "OWNER", email: "drill@example.com" }, nowMs);
  const sql = insertSql({
    merchants: [merchant],
    teams: [newTeam(merchant)],
    apiKeys: [key.row, revoked.row],
    users: [...member.users, ...owner.users],
    members: [...member.members, ...owner.members],
  });
  const [seat] = member.members;
  if (seat === undefined) throw new Error("a member without a seat");
  return {
    sql,
    shared: { merchantId: merchant.id, key: key.secret },
    revokedKey: revoked.secret,
    keyId: revoked.row.id,
    memberId: seat.id,
  };
}

async function registerWallets(own: DrillShop, shared: DrillShop): Promise<void> {
  const pair = { cryptocurrency: "BTC", network: "BTC", requiredConfirmations: 1 };
  const seed = crypto.getRandomValues(new Uint8Array(32));
  const { publicExtendedKey: xpub } = HDKey.fromMasterSeed(seed).derive("m/44'/0'/0'");
  await own.demand("POST", "/wallets", { ...pair, walletType: "XPUB_WALLET", xpub, derivationPath: "m/44'/0'/0'" });
  await shared.demand("POST", "/wallets", { ...pair, walletType: "DIRECT_WALLET", address: SHARED_ADDRESS });
}
