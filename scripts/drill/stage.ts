// The deployment of the drill: a development server in its own folder, its database, which is copied and restored, and its merchants.

import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { HDKey } from "@scure/bip32";
import { parseId } from "../../src/lib/ids.ts";
import { buildAssets } from "../build-assets.ts";
import { findFreePort } from "../free-port.ts";
import { apiKeyMacKeys, type Home } from "../home.ts";
import { DEMO_OWNER, insertSql, newKey, newMember, newMerchant, newTeam } from "../seed.ts";
import { type Server, startServer } from "../server.ts";
import { readSettings } from "../settings.ts";
import { databaseFile, executeSqlFile } from "../wrangler.ts";
import { type Safeguard, type Variant, writeVariant } from "./safeguards.ts";
import { DrillShop } from "./shop.ts";

/** An address from public test vectors. */
const SHARED_ADDRESS = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
const MEMBER = "member@example.com";

export interface Stage {
  readonly baseUrl: string;
  readonly logFile: string;
  /** The shop with one address per invoice, and the one with a shared address and distinct amounts. */
  readonly own: DrillShop;
  readonly shared: DrillShop;
  /** A key and a member of the first shop, both of which are revoked in the lost period. */
  readonly revoked: {
    readonly shop: DrillShop;
    readonly keyId: string;
    readonly memberId: string;
    readonly memberEmail: string;
  };
  readonly ownerEmail: string;
  start(epoch?: string): Promise<void>;
  stop(): Promise<void>;
  /** Copies the current database while the server runs. */
  copyDatabase(): Promise<void>;
  /** Restores the copy; the server must be stopped. */
  putBack(): void;
  /** Reads rows from the database, which is open only during this statement. */
  rows(sql: string): readonly Record<string, unknown>[];
  /** Ends the server and removes its folder. */
  end(): Promise<void>;
}

export async function openStage(chainUrl: string, without: Safeguard | undefined): Promise<Stage> {
  const path = mkdtempSync(join(tmpdir(), "edgetill-drill-"));
  // The copy contains generated sources only if they already exist, which they do not in a fresh clone.
  if (without !== undefined) await buildAssets();
  const deployment = new Deployment(path, { chainUrl, port: await findFreePort(), without });
  try {
    await deployment.start();
    return await stageOf(deployment);
  } catch (error) {
    await deployment.end();
    throw error;
  }
}

async function stageOf(deployment: Deployment): Promise<Stage> {
  const { demo, seeded } = deployment;
  const { baseUrl, merchantId, secretKey } = demo;
  const own = new DrillShop({ name: "own addresses", baseUrl, merchantId, key: secretKey });
  const shared = new DrillShop({ name: "shared address", baseUrl, ...seeded.shared });
  await registerWallets(own, shared);
  const { keyId, memberId } = seeded;
  const shop = new DrillShop({ name: "revoked key", baseUrl, merchantId, key: seeded.revokedKey });
  return {
    baseUrl,
    logFile: deployment.logFile,
    own,
    shared,
    ownerEmail: DEMO_OWNER,
    revoked: { shop, keyId, memberId, memberEmail: MEMBER },
    start: (epoch) => deployment.start(epoch),
    stop: () => deployment.stop(),
    copyDatabase: () => deployment.copyDatabase(),
    putBack: () => deployment.putBack(),
    rows: (sql) => deployment.rows(sql),
    end: () => deployment.end(),
  };
}

interface Setting {
  readonly chainUrl: string;
  readonly port: number;
  readonly without: Safeguard | undefined;
}

/** The server and its folder, which is deleted after the drill. */
class Deployment {
  readonly logFile: string;
  readonly #path: string;
  readonly #setting: Setting;
  readonly #variant: Variant | undefined;
  readonly #remove: () => void;
  #server: Server | undefined;
  #seeded: Seeded | undefined;

  constructor(path: string, setting: Setting) {
    this.#path = path;
    this.#setting = setting;
    this.logFile = join(path, "server.log");
    this.#variant = setting.without === undefined ? undefined : writeVariant(setting.without);
    this.#remove = () => {
      rmSync(path, { recursive: true, force: true });
      this.#variant?.remove();
    };
    process.once("exit", this.#remove);
  }

  get demo(): Server["demo"] {
    if (this.#server === undefined) throw new Error("the server was not started");
    return this.#server.demo;
  }

  get seeded(): Seeded {
    if (this.#seeded === undefined) throw new Error("nothing was seeded");
    return this.#seeded;
  }

  async start(epoch = ""): Promise<void> {
    const settings = readSettings({
      PORT: String(this.#setting.port),
      EDGETILL_HOME: this.#path,
      EDGETILL_NAME: "drill",
      RESTORE_EPOCH: epoch,
      POLL_SECONDS: "1",
      RATE_LIMIT_PER_MINUTE: "1000000",
      CHAIN_SOURCES: JSON.stringify({ BTC: [{ kind: "core-rpc", url: this.#setting.chainUrl }] }),
    });
    this.#server = await startServer(settings, {
      logFile: this.logFile,
      main: this.#variant?.main,
      seedMore: async (home, demo) => this.#seed(home, demo.merchantId),
    });
  }

  /** Inserts rows only once, because a restored database must not regain what was lost. */
  #seed(home: Home, merchantId: string): void {
    if (this.#seeded !== undefined) return;
    this.#seeded = seedRows(merchantId, apiKeyMacKeys(home));
    const file = join(this.#path, "drill.sql");
    writeFileSync(file, this.#seeded.sql, { mode: 0o600 });
    executeSqlFile(home, file);
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  async copyDatabase(): Promise<void> {
    const database = this.#open();
    await backup(database, this.#copy);
    database.close();
  }

  putBack(): void {
    const file = databaseFile({ state: this.#state });
    for (const suffix of ["-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true });
    copyFileSync(this.#copy, file);
  }

  rows(sql: string): readonly Record<string, unknown>[] {
    const database = this.#open();
    try {
      return database.prepare(sql).all();
    } finally {
      database.close();
    }
  }

  async end(): Promise<void> {
    await this.stop();
    process.removeListener("exit", this.#remove);
    this.#remove();
  }

  get #state(): string {
    return join(this.#path, "state");
  }

  get #copy(): string {
    return join(this.#path, "copy.sqlite");
  }

  #open(): DatabaseSync {
    return new DatabaseSync(databaseFile({ state: this.#state }), { readOnly: true, timeout: 5_000 });
  }
}

/** The end of the server's log, for a drill that failed. */
export function logEnd({ logFile }: Pick<Stage, "logFile">): string {
  return readFileSync(logFile, "utf8").slice(-4_000);
}

type Seeded = ReturnType<typeof seedRows>;

function seedRows(demoMerchantId: string, macKeys: Parameters<typeof newKey>[0]) {
  const nowMs = Date.now();
  const merchant = newMerchant("Drill shop", nowMs);
  const key = newKey(macKeys, { merchantId: merchant.id, kind: "SECRET", nowMs });
  const merchantId = parseId("mer", demoMerchantId);
  if (merchantId === undefined) throw new Error(`${demoMerchantId} is no id of a merchant`);
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
