import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../../../src/lib/time.ts";
import {
  changedColumns,
  liveSecrets,
  rotatedSecrets,
  type SettingsUpdate,
  type Webhook,
  type WebhookSecret,
  webhookFacts,
} from "../../../../src/notifications/webhooks/webhook.ts";
import { RUNS } from "../../../support/property-runs.ts";

const NOW_MS = 1_000 * DAY_MS;

const secretOf = (n: number, expiresAtMs: number | null): WebhookSecret => ({
  id: `whs_${n}`,
  webhookId: "whk_1",
  sealed: `v1.k.${n}`,
  preview: `whsec_${n}`,
  expiresAtMs,
  createdAtMs: n,
});

const WEBHOOK: Webhook = {
  id: "whk_1",
  merchantId: "mer_1",
  url: "https://hooks.example.com/",
  events: '["*"]',
  description: null,
  format: "STANDARD",
  isActive: true,
  retryCount: 9,
  timeoutMs: 15_000,
  failuresInRow: 25,
  failingSinceMs: 5,
  probeAtMs: 9,
  disabledReason: null,
  disabledAtMs: null,
  createdAtMs: 1,
  updatedAtMs: 1,
  secrets: [secretOf(1, null)],
};
const OFF: Webhook = { ...WEBHOOK, isActive: false, disabledReason: "GONE", disabledAtMs: 7 };
const WELL = { failuresInRow: 0, failingSinceMs: null, probeAtMs: null };

describe("the columns that a settings change writes", () => {
  it.each<[string, Webhook, SettingsUpdate, object | undefined]>([
    ["nothing named", WEBHOOK, {}, undefined],
    ["only values that are already set", WEBHOOK, { url: WEBHOOK.url, isActive: true, description: null }, undefined],
    ["only undefined values", WEBHOOK, { url: undefined, description: undefined, isActive: undefined }, undefined],
    ["a different description", WEBHOOK, { description: "x" }, { description: "x" }],
    ["switching off", WEBHOOK, { isActive: false }, { isActive: false, disabledAtMs: 70 }],
    ["switching off an endpoint that is off", OFF, { isActive: false }, undefined],
    ["switching on", OFF, { isActive: true }, { isActive: true, ...WELL, disabledReason: null, disabledAtMs: null }],
    ["a different URL", WEBHOOK, { url: "https://b.example/" }, { url: "https://b.example/", ...WELL }],
    [
      "a different URL for an endpoint that is off",
      OFF,
      { url: "https://b.example/" },
      { url: "https://b.example/", ...WELL },
    ],
    ["fewer retries for an endpoint that is off", OFF, { retryCount: 8 }, { retryCount: 8 }],
  ])("are exactly those that the change affects: %s", (_, read, wanted, expected) => {
    const columns = changedColumns(read, wanted, 70);
    if (expected === undefined) expect(columns).toBeUndefined();
    else expect({ ...read, ...columns }).toEqual({ ...read, ...expected });
  });

  it("are not written again when the same change is repeated", () => {
    const update = fc.record(
      {
        url: fc.constantFrom(WEBHOOK.url, "https://b.example/"),
        events: fc.constantFrom('["*"]', '["ping"]'),
        description: fc.constantFrom(null, "x"),
        isActive: fc.boolean(),
        retryCount: fc.integer({ min: 0, max: 9 }),
        timeoutMs: fc.constantFrom(1_000, 15_000),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.constantFrom(WEBHOOK, OFF), update, (read, wanted) => {
        const after = { ...read, ...changedColumns(read, wanted, 70) };
        expect(after).toMatchObject(wanted);
        expect(changedColumns(after, wanted, 71)).toBeUndefined();
      }),
      { numRuns: RUNS },
    );
  });
});

describe("a rotation", () => {
  const fresh = secretOf(99, null);

  it("lets the previous secret expire in a day, and keeps the other secrets' expiry", () => {
    const secrets = [secretOf(3, null), secretOf(2, NOW_MS + 5), secretOf(1, NOW_MS)];
    const ends = rotatedSecrets({ secrets }, fresh, NOW_MS).map(({ id, expiresAtMs }) => [id, expiresAtMs]);
    expect(ends).toEqual([
      ["whs_99", null],
      ["whs_3", NOW_MS + DAY_MS],
      ["whs_2", NOW_MS + 5],
    ]);
  });

  it("repeated any number of times leaves at most five secrets; only the newest has no expiry, and the others expire within a day", () => {
    const pauses = fc.array(fc.integer({ min: 0, max: DAY_MS }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(pauses, (gaps) => {
        let nowMs = NOW_MS;
        let secrets: readonly WebhookSecret[] = [secretOf(0, null)];
        for (const [n, gap] of gaps.entries()) {
          nowMs += gap;
          const live = liveSecrets({ secrets }, nowMs);
          secrets = rotatedSecrets({ secrets }, secretOf(n + 1, null), nowMs);
          const [newest, ...older] = secrets;
          expect(newest).toEqual(secretOf(n + 1, null));
          expect(older.map(({ id }) => id)).toEqual(live.slice(0, 4).map(({ id }) => id));
          for (const { expiresAtMs } of older) {
            expect(expiresAtMs).toBeGreaterThan(nowMs);
            expect(expiresAtMs).toBeLessThanOrEqual(nowMs + DAY_MS);
          }
        }
      }),
      { numRuns: RUNS },
    );
  });
});

it("the audit log contains a URL without its query", () => {
  expect(webhookFacts({ ...WEBHOOK, url: "https://a.example/p?token=t&x=?y" }).url).toBe("https://a.example/p?...");
  expect(webhookFacts(WEBHOOK).url).toBe(WEBHOOK.url);
});
