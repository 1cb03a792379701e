// The nightly export on workerd: through the queue's own entry, from real D1 into a real R2 bucket.
import { createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { jobsOf } from "../../../src/app/jobs.ts";
import worker from "../../../src/app/worker.ts";
import type { Manifest, NightIndex } from "../../../src/platform/merchant-exports/manifest.ts";
import { memoryBucket } from "../../support/export-bucket.ts";
import { at, emptyBucket, jsonIn, linesIn, NIGHT, runNight } from "../../support/export-night.ts";
import { freshMerchant } from "../../support/worker-merchant.ts";
import { BTC, freshKey, invoice, xpubBody } from "../commerce/wallets-harness.ts";

const BUCKET = env.TEST_EXPORTS;
beforeAll(() => emptyBucket(BUCKET));

describe("a deployment with a bucket", () => {
  it("exports each merchant completely once a night, with the manifest last, and deletes the exports of old nights", async () => {
    const shop = await freshMerchant();
    await shop.post("/wallets", xpubBody(freshKey()));
    const { body } = await shop.post("/invoices", invoice(BTC));
    await BUCKET.put("exports/2026-11-01/mer_a/invoices-1.jsonl.gz", "old");
    await BUCKET.put("exports/mine/keep.txt", "mine");
    await at(NIGHT, () => runNight(BUCKET));
    const index = await jsonIn<NightIndex>(BUCKET, "exports/2027-01-02/merchants.json");
    const own = index.merchants.find(({ merchantId }) => merchantId === shop.merchantId);
    const manifest = await jsonIn<Manifest>(BUCKET, own?.manifest ?? "");
    expect(manifest.rows).toMatchObject({
      merchants: 1,
      wallets: 1,
      invoices: 1,
      payment_methods: 1,
      api_keys: 1,
      teams: 1,
    });
    const invoices = manifest.parts.filter(({ table }) => table === "invoices");
    expect((await linesIn<{ id: string }>(BUCKET, invoices[0]?.key ?? "")).map(({ id }) => id)).toEqual([body.id]);
    for (const part of manifest.parts) expect(await linesIn(BUCKET, part.key)).toHaveLength(part.rows);
    const left = await BUCKET.list({ prefix: "exports/" });
    const keys = left.objects.map(({ key }) => key);
    expect(keys).toContain("exports/mine/keep.txt");
    expect(keys.filter((key) => key.startsWith("exports/2026-11-01/"))).toEqual([]);
    // The job runs again for the same night, whose export is already complete.
    const written = left.objects.map(({ etag, key }) => `${key} ${etag}`);
    expect(await at(NIGHT + 3_600_000, () => runNight(BUCKET))).toBe(1);
    expect((await BUCKET.list({ prefix: "exports/" })).objects.map(({ etag, key }) => `${key} ${etag}`)).toEqual(
      written,
    );
  });

  it("continues after a fault of the bucket, and deletes nothing while EXPORT_DAYS is invalid", async () => {
    let calls = 0;
    const bucket = memoryBucket(() => {
      calls += 1;
      if (calls % 7 === 0) throw new Error("R2 does not answer");
    });
    await bucket.put("exports/2026-11-01/mer_a/manifest.json", "{}");
    for (let runs = 0; runs < 200 && !bucket.objects.has("exports/2027-01-02/merchants.json"); runs++)
      await at(NIGHT, () => runNight(bucket, { EXPORT_DAYS: "never" })).catch(() => {});
    expect(bucket.objects.has("exports/2027-01-02/merchants.json")).toBe(true);
    expect(bucket.objects.has("exports/2026-11-01/mer_a/manifest.json")).toBe(true);
  });
});

describe("a deployment without a bucket", () => {
  it("has no export job", async () => {
    const sent: { readonly job: string }[] = [];
    const sendBatch = async (messages: Iterable<{ readonly body: unknown }>) => {
      for (const { body } of messages) sent.push(body as { readonly job: string });
    };
    const queue = { sendBatch } as unknown as Env["JOB_QUEUE"];
    for (let tick = 0; tick < 60; tick++)
      await worker.scheduled(createScheduledController({ scheduledTime: new Date(tick * 5_000) }), {
        ...env,
        JOB_QUEUE: queue,
      });
    expect(new Set(sent.map(({ job }) => job))).toEqual(new Set(jobsOf({})));
    expect(jobsOf({})).not.toContain("export-merchants");
    expect(jobsOf({ EXPORTS: BUCKET })).toContain("export-merchants");
  });
});
