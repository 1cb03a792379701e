// After a restore, and until revocations are repeated, every caller who may have been revoked is refused on every route.
import { expect, it } from "vitest";
import { SPECS } from "../../../src/app/app.ts";
import { type Ask, deploymentWith, seedShop } from "../../support/access.ts";
import { nameOf, pathOf } from "../../support/access-attempt.ts";
import { countingEnv } from "../../support/counting-env.ts";
import { seedUser } from "../../support/people.ts";
import { storedRows } from "../../support/production.ts";
import { putPhase, restoredEnv } from "../../support/restores.ts";

/**
 * Routes that stay open because they need no credentials, change nothing, and show no payment details. The console's pages, which are one static
 * file, stay open too.
 */
const OPEN: readonly string[] = [
  "GET /healthz",
  "GET /metrics",
  "GET /openapi.json",
  "GET /greenfield.json",
  "GET /docs",
  "GET /dev/mail",
  "GET /images/:merchantId/:name",
  "GET /api/v1/explorers",
  "GET /.well-known/edgetill-keys.json",
  // A WebSocket that sends no data, only a notice that there is something to read.
  "GET /pay/:invoiceId/live",
];

async function callers(): Promise<readonly Ask[]> {
  const { secretKey, publicKey } = await seedShop();
  const { headers } = await seedUser({ operatorSinceMs: Date.now() });
  return [{}, { key: secretKey }, { key: publicKey }, { headers }];
}

it("before revocations are repeated, every route except those on the list answers 503 to everyone, and nothing is written", {
  timeout: 120_000,
}, async () => {
  const asks = await callers();
  const restored = restoredEnv(Date.now());
  await putPhase(restored, "REVOCATIONS");
  const providers = '{"google":{"clientId":"a","clientSecret":"b","issuer":"http://localhost:9"}}';
  const { bindings, calls } = countingEnv({ RESTORE_EPOCH: restored.RESTORE_EPOCH, SIGN_IN_PROVIDERS: providers });
  const send = deploymentWith(bindings);
  const before = await storedRows();
  const answered: string[] = [];
  for (const spec of SPECS) {
    if (OPEN.includes(nameOf(spec)) || (spec.tag === "Pages" && !spec.isPage)) continue;
    const body = spec.method === "GET" || spec.isPage ? {} : { body: {} };
    for (const ask of asks) {
      const { status, json, text } = await send(pathOf(spec), { method: spec.method, ...body, ...ask });
      const says = spec.isPage ? text.includes("Try again in a minute.") : json?.code === "RESTORING";
      if (status !== 503 || !says) answered.push(`${nameOf(spec)}: ${status} ${json?.code}`);
    }
  }
  expect(answered).toEqual([]);
  expect(await storedRows()).toEqual(before);
  expect(new Set(calls)).toEqual(new Set(["D1 read"]));
});
