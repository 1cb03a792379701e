// Shared by the tests of a pass over a network: a scripted chain, and the pass over it.
import { eq } from "drizzle-orm";
import { beforeEach } from "vitest";
import type { NetworkName } from "../../../src/chains/registry/networks.ts";
import { events } from "../../../src/platform/db/schema/events.ts";
import { invoices, paymentMethods } from "../../../src/platform/db/schema/invoices.ts";
import { networkCursors, stuckAddresses } from "../../../src/platform/db/schema/network-cursors.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { wallets } from "../../../src/platform/db/schema/wallets.ts";
import { FakeChain, FakeSource, type Sent } from "../../support/fake-chain.ts";
import { watchMethod } from "../../support/watched.ts";
import { TestWatcher } from "../../support/watcher.ts";
import { testDb } from "../../support/worker-merchant.ts";

export const START = 1_800_000_000_000;
export const HOUR = 3_600_000;
export const ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
export const BTC_ADDRESS = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq";

export function pay(txHash: string, of: Partial<Sent> = {}): Sent {
  return { cryptocurrency: "USDT", txHash, toAddress: ADDRESS, amountUnits: 1n, ...of };
}

interface Setting {
  readonly network?: NetworkName;
  readonly cryptocurrency?: string;
  readonly address?: string;
  readonly sources?: number;
  readonly costsBy?: "blocks" | "recipients";
}

/** A chain of 300 blocks, its sources, a watcher, and one payment method watched from the tip on. */
export async function watching(setting: Setting = {}) {
  const { network = "ETH", cryptocurrency = "USDT", address = ADDRESS, sources: count = 1, costsBy } = setting;
  const blockMs = network === "BTC" ? 600_000 : 12_000;
  const chain = new FakeChain({ startMs: START - 299 * blockMs, blockMs, blocks: 300 });
  const kind = network === "BTC" ? "core-rpc" : "evm-rpc";
  const sources = Array.from(
    { length: count },
    () => new FakeSource(chain, { kind, ...(costsBy === undefined ? {} : { costsBy }) }),
  );
  const watcher = new TestWatcher(testDb, network, sources, START + 1_000);
  const expiresAtMs = START + 100 * HOUR;
  const invoiceId = await watchMethod(testDb, { network, cryptocurrency, address, nowMs: START, expiresAtMs });
  const [source] = sources;
  if (source === undefined) throw new Error("no source");
  /** Runs a pass, one second after the newest block. */
  const pass = () => {
    watcher.nowMs = Math.max(watcher.nowMs, chain.tip.timeMs) + 1_000;
    return watcher.pass();
  };
  return { chain, source, sources, watcher, invoiceId, pass };
}

export const READ = { kind: "read", isBehind: false };

export const paymentRow = async (txHash: string) =>
  (await testDb.select().from(payments).where(eq(payments.txHash, txHash)))[0];

/** A pass reads every watched row, so the rows of other tests are deleted first. */
export function useEmptyTables(): void {
  beforeEach(async () => {
    for (const table of [networkCursors, stuckAddresses, payments, invoices, paymentMethods, wallets, events])
      await testDb.delete(table);
  });
}
