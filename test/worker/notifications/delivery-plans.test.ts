// Query plans of deliveries: each query must use an index of pending deliveries, however many were ever made.
import { describe, expect, it } from "vitest";
import {
  leaseBatch,
  recordOutcomes,
  selectDueEndpoints,
  selectWaiting,
  updateHealth,
} from "../../../src/notifications/deliveries/store.ts";
import { HEALTHY } from "../../../src/notifications/webhooks/retry-schedule.ts";
import { planOf } from "../../support/query-plan.ts";
import { testDb } from "../../support/worker-merchant.ts";

const webhookId = "whk_00000000000000000000000000";
const [claim, holdProbe, claimed, endpoint] = leaseBatch(testDb, { webhookId, token: "t".repeat(26), nowMs: 1 });
const [insertAttempts, settle] = recordOutcomes(testDb, [], { nowMs: 1 });
const verdict = { health: HEALTHY, disable: null, hasSuccess: true };

const DUE = "INDEX deliveries_due (webhook_id=? AND next_attempt_ms";
const LEASED = "leased USING INDEX deliveries_leased (merchant_id=? AND next_attempt_ms>?)";

describe("an index finds without a scan:", () => {
  it.each([
    ["deliveries to claim", claim, [`due USING ${DUE}<?)`, `held USING ${DUE}>? AND next_attempt_ms<?)`, LEASED]],
    ["a probe to hold back", holdProbe, [`held USING ${DUE}>? AND next_attempt_ms<?)`]],
    ["claimed deliveries", claimed, [`held USING ${DUE}>? AND next_attempt_ms<?)`, "event USING INDEX"]],
    ["the endpoint with its secrets", endpoint, ["webhook_secrets USING INDEX webhook_secrets_webhook"]],
    [
      "the merchant's other waiting endpoints",
      selectWaiting(testDb, { webhookId, dueMs: 1, nowMs: 1 }),
      ["hook USING INDEX webhooks_merchant", "deliveries USING COVERING INDEX deliveries_due", LEASED],
    ],
    ["the delivery of an attempt", insertAttempts, ["own USING INDEX sqlite_autoindex_deliveries_1 (id=?)"]],
    ["the delivery to settle", settle, ["deliveries USING INDEX sqlite_autoindex_deliveries_1 (id=?)"]],
    ["the endpoint whose health changes", updateHealth(testDb, webhookId, HEALTHY, verdict), ["webhooks USING INDEX"]],
    [
      "endpoints with something due",
      selectDueEndpoints(testDb, { after: "", limit: 10, nowMs: 1 }),
      ["deliveries USING COVERING INDEX deliveries_due (webhook_id>?)", "hook USING INDEX"],
    ],
  ] as const)("%s", async (_, query, searches) => {
    const plan = await planOf(query);
    for (const search of searches) expect(plan).toContain(`SEARCH ${search}`);
    expect(plan).not.toMatch(/SCAN (due|held|leased|deliveries|event|hook|webhooks|webhook_secrets)\b/);
  });
});
