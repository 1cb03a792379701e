// Data points for the Analytics Engine, written to a stand-in for its binding.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it, test, vi } from "vitest";
import { watchDependencies } from "../../../src/detection/watchers/dependencies.ts";
import { networkCursors } from "../../../src/platform/db/schema/network-cursors.ts";
import { deploymentWith, seedShop } from "../../support/access.ts";
import { takeMessage } from "../../support/queue-messages.ts";
import { watchMethod } from "../../support/watched.ts";
import { networkOf } from "../../support/watcher.ts";
import { testDb } from "../../support/worker-merchant.ts";
import { invoiceOf, shopAt, transferTo } from "../detection/transfers-harness.ts";

const points: AnalyticsEngineDataPoint[] = [];
const ANALYTICS: AnalyticsEngineDataset = { writeDataPoint: (point) => void points.push(point ?? {}) };
const named = () => points.map(({ indexes, blobs, doubles }) => ({ indexes, blobs, value: doubles?.[0] }));

beforeEach(async () => {
  points.length = 0;
  await testDb.delete(networkCursors);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const create = { method: "POST", body: { name: "Order", rawAmount: 10 } };
const pathOf = (merchantId: string) => `/api/v1/merchants/merchant/${merchantId}/invoices`;

test("creating an invoice writes one data point with the rows read and written, a replay writes none, and a refusal writes one with its code", async () => {
  const { merchantId, secretKey: key } = await seedShop();
  const ask = deploymentWith({ ANALYTICS });
  const headers = { "idempotency-key": "once" };
  const first = await ask(pathOf(merchantId), { ...create, key, headers });
  const again = await ask(pathOf(merchantId), { ...create, key, headers });
  expect([first.status, again.status]).toEqual([201, 201]);
  expect(named()).toEqual([{ indexes: [merchantId], blobs: ["create", "", merchantId], value: 1 }]);
  const [, , calls = 0, read = 0, written = 0] = points[0]?.doubles ?? [];
  expect(calls).toBeGreaterThanOrEqual(2);
  expect(read).toBeGreaterThan(0);
  expect(written).toBeGreaterThan(10);
  points.length = 0;
  await ask(pathOf(merchantId), { ...create, key, body: {} });
  await ask("/api/v1/nothing-here");
  expect(named()).toEqual([{ indexes: [merchantId], blobs: ["refusal", "VALIDATION_FAILED", merchantId], value: 1 }]);
});

test("the lag of watched networks, the oldest due work and the database's size are recorded each minute", async () => {
  const nowMs = Date.now();
  const late = {
    network: "ETH",
    cryptocurrency: "ETH",
    address: "0x1",
    nowMs: nowMs - 90_000,
    expiresAtMs: nowMs - 30_000,
  };
  await watchMethod(testDb, late);
  await testDb.update(networkCursors).set({ height: 1 });
  await takeMessage({ job: "watch-deployment", minuteMs: nowMs, runs: 0 }, { ANALYTICS });
  const value = expect.any(Number);
  expect(named()).toEqual([
    { indexes: ["lag"], blobs: ["lag", "ETH", ""], value },
    ...["invoices", "deliveries", "receipts", "mails"].map((queue) => {
      return { indexes: ["oldest_due"], blobs: ["oldest_due", queue, ""], value };
    }),
    { indexes: ["database"], blobs: ["database", "bytes", ""], value },
  ]);
  const [lag, oldest] = points.map(({ doubles }) => doubles?.[0] ?? 0);
  expect([Math.floor((lag ?? 0) / 60), Math.floor((oldest ?? 0) / 60)]).toEqual([1, 0]);
  expect(lag).toBeGreaterThanOrEqual(90);
  expect(oldest).toBeGreaterThanOrEqual(30);
});

test("the seconds from a payment's block until the invoice became PAID are recorded once", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { merchant, address } = await shopAt();
  const { units } = await invoiceOf(merchant, 25);
  const transfers = [transferTo(address, units)];
  vi.setSystemTime(Date.now() + 40_000);
  const { apply } = watchDependencies({ ...env, ANALYTICS }, networkOf("ETH"));
  const heights = { tipHeight: 100, finalizedHeight: null };
  for (let time = 0; time < 2; time++)
    expect(await apply({ network: networkOf("ETH"), heights, transfers, seen: [] })).toMatchObject({ ok: true });
  const { merchantId } = merchant;
  expect(named()).toEqual([{ indexes: [merchantId], blobs: ["paid", "ETH", merchantId], value: 40 }]);
});

it("no response changes if the ANALYTICS binding is missing or throws", async () => {
  const logged = vi.spyOn(console, "error").mockReturnValue();
  const { merchantId, secretKey: key } = await seedShop();
  const broken: AnalyticsEngineDataset = {
    writeDataPoint: () => {
      throw new Error("too many");
    },
  };
  for (const changes of [{}, { ANALYTICS: broken }])
    expect((await deploymentWith(changes)(pathOf(merchantId), { ...create, key })).status).toBe(201);
  expect(logged).toHaveBeenCalledTimes(1);
  expect(logged.mock.calls[0]?.[0]).toContain("a data point was lost");
});
