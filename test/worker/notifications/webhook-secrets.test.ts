// Endpoint secrets: shown once, sealed at rest, replaced with a day's overlap (webhooks.md "Secret", security.md 4).
import { env } from "cloudflare:workers";
import { base64 } from "@scure/base";
import { eq } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { parseKeyring } from "../../../src/lib/keyring.ts";
import { seal, unseal } from "../../../src/lib/seal.ts";
import { DAY_MS } from "../../../src/lib/time.ts";
import { newWebhookBody } from "../../../src/notifications/webhooks/contract.ts";
import { openSecrets } from "../../../src/notifications/webhooks/open-secrets.ts";
import { selectWebhookById } from "../../../src/notifications/webhooks/store.ts";
import { liveSecrets, secretContext } from "../../../src/notifications/webhooks/webhook.ts";
import { webhookSecrets } from "../../../src/platform/db/schema/webhooks.ts";
import { expectRefusal, sendWith } from "../../support/access.ts";
import { auditOf, tablesHolding } from "../../support/api-keys.ts";
import { expectDocumented } from "../../support/documented.ts";
import {
  ENDPOINT,
  hookedMerchant,
  hookRow,
  makeHook,
  pathOf,
  type SendHooks,
  type ShownWebhook,
  secretRows,
  shown,
} from "../../support/webhooks.ts";
import { testDb } from "../../support/worker-merchant.ts";
import { POST } from "./webhooks-harness.ts";

const rotate = async (hooks: SendHooks, id: string, headers = {}) =>
  shown(await hooks(`/${id}/rotate-secret`, { ...POST, headers }), 200);

function keyring() {
  const keys = parseKeyring("SECRETS_AES_KEY", env.SECRETS_AES_KEY);
  if (!keys.ok) throw new Error(keys.error);
  return keys.value;
}

/** The unsealed secrets that sign a delivery at that time. */
async function signingAt(id: ShownWebhook["id"], nowMs: number): Promise<readonly string[]> {
  const [webhook] = await selectWebhookById(testDb, id);
  return webhook === undefined ? [] : openSecrets(keyring(), liveSecrets(webhook, nowMs));
}

describe("an endpoint's secret", () => {
  it("is 32 random bytes, sealed under a named key, and can be opened for its own row only", async () => {
    const { hooks } = await hookedMerchant();
    const [one, other] = [await makeHook(hooks), await makeHook(hooks)];
    expect(one.secret).not.toBe(other.secret);
    expect(one.secret).toMatch(/^whsec_/);
    expect(base64.decode(one.secret.slice(6))).toHaveLength(32);
    const [row, ...more] = await secretRows(one.id);
    expect(more).toEqual([]);
    expect(row?.sealed).toMatch(/^v1\.test\.[A-Za-z0-9+/]+=*$/);
    expect(await signingAt(one.id, Date.now())).toEqual([one.secret]);
    const [otherRow] = await secretRows(other.id);
    if (row === undefined || otherRow === undefined) throw new Error("no row");
    expect(await unseal(keyring(), secretContext(otherRow.id), row.sealed)).toBeUndefined();
    await expect(openSecrets(keyring(), [{ ...otherRow, sealed: row.sealed }])).rejects.toThrow(otherRow.id);
  });

  it("is stored nowhere in plain text, and is shown only when it is created or rotated", async () => {
    const { merchantId, hooks } = await hookedMerchant();
    const made = await makeHook(hooks);
    const key = { "idempotency-key": "canary" };
    const kept = shown(await hooks("", { ...POST, body: ENDPOINT, headers: key }), 201);
    const rotated = await rotate(hooks, kept.id, { "idempotency-key": "canary-2" });
    const answers = [
      await hooks(""),
      await hooks(`/${made.id}`),
      await hooks(`/${kept.id}`),
      await hooks(`/${made.id}`, { method: "PATCH", body: { retryCount: 1 } }),
      await hooks(`/${made.id}/ping`, POST),
      await hooks(`/${made.id}`, { method: "DELETE" }),
    ];
    for (const { secret } of [made, kept, rotated]) {
      for (const { text } of answers) expect(text).not.toContain(secret.slice(10, -4));
      expect(await tablesHolding(secret.slice(10, -4))).toEqual([]);
    }
    for (const { text } of answers) expect(text).not.toMatch(/sealed|v1\.test\./);
    expect(JSON.stringify(await auditOf(merchantId))).not.toMatch(/sealed|v1\.test\./);
  });

  it("is the same when its request is repeated under one Idempotency-Key", async () => {
    const { hooks } = await hookedMerchant();
    const headers = { "idempotency-key": "one" };
    const create = () => hooks("", { ...POST, body: ENDPOINT, headers });
    const made = await Promise.all([create(), create(), create()]);
    expect(new Set(made.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    const { id } = shown(await create(), 201);
    const first = await rotate(hooks, id, { "idempotency-key": "two" });
    await rotate(hooks, id);
    expect(await rotate(hooks, id, { "idempotency-key": "two" })).toEqual(first);
    expect(await secretRows(id)).toHaveLength(3);
  });

  it("is not created without a sealing key, while endpoints can still be listed", async () => {
    const { merchantId, key, hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks);
    const without = { SECRETS_AES_KEY: "" };
    for (const [path, body] of [
      [pathOf(merchantId), ENDPOINT],
      [pathOf(merchantId, `/${id}/rotate-secret`), undefined],
    ] as const)
      expectRefusal(await sendWith(without, path, { ...POST, key, body }), 500, "INTERNAL_ERROR");
    expect((await sendWith(without, pathOf(merchantId), { key })).status).toBe(200);
    expect(await secretRows(id)).toHaveLength(1);
  });
});

describe("a rotation", () => {
  it("shows the new secret, which signs at once; the old secret also signs for 24 hours", async () => {
    const { merchantId, hooks } = await hookedMerchant();
    const made = await makeHook(hooks);
    const beforeMs = Date.now();
    const answer = await hooks(`/${made.id}/rotate-secret`, POST);
    const { secret, ...rotated } = shown(answer, 200);
    expectDocumented(newWebhookBody, answer.json);
    const { secret: _, ...rest } = made;
    const [fresh, old, ...more] = rotated.webhookSecrets;
    expect(more).toEqual([]);
    expect(rotated).toEqual({ ...rest, updatedAt: rotated.updatedAt, webhookSecrets: [fresh, old] });
    expect(fresh).toMatchObject({ isActive: true, expiresAt: null, webhookId: made.id });
    expect(fresh?.secretKeyPreview).toBe(`${secret.slice(0, 10)}...${secret.slice(-4)}`);
    expect(old).toEqual({ ...made.webhookSecrets[0], expiresAt: expect.any(String) });
    expect((await hooks(`/${made.id}`)).json).toEqual(rotated);
    const endsMs = Date.parse(old?.expiresAt ?? "");
    expect(endsMs - DAY_MS).toBeGreaterThanOrEqual(beforeMs);
    expect(endsMs - DAY_MS).toBeLessThanOrEqual(Date.now());
    expect(await signingAt(made.id, endsMs - 1)).toEqual([secret, made.secret]);
    expect(await signingAt(made.id, endsMs)).toEqual([secret]);
    const entry = (await auditOf(merchantId)).at(-1);
    expect(entry).toMatchObject({ action: "webhook.secret_rotated", target: made.id });
    expect(JSON.parse(entry?.before ?? "")).toEqual({ secretKeyPreview: old?.secretKeyPreview });
    expect(JSON.parse(entry?.after ?? "")).toEqual({ secretKeyPreview: fresh?.secretKeyPreview });
  });

  it("done twice leaves each old secret its own expiry; an expired secret is shown as inactive, and the next rotation removes it", async () => {
    const { hooks } = await hookedMerchant();
    const { id, secret: first } = await makeHook(hooks);
    const second = await rotate(hooks, id);
    const third = await rotate(hooks, id);
    expect(await signingAt(id, Date.now())).toEqual([third.secret, second.secret, first]);
    expect(third.webhookSecrets[2]).toEqual(second.webhookSecrets[1]);
    const eldest = third.webhookSecrets[2]?.id ?? "whs_";
    await testDb.update(webhookSecrets).set({ expiresAtMs: Date.now() }).where(eq(webhookSecrets.id, eldest));
    const { webhookSecrets: listed } = shown(await hooks(`/${id}`), 200);
    expect(listed.map(({ isActive }) => isActive)).toEqual([true, true, false]);
    const fourth = await rotate(hooks, id);
    expect(await signingAt(id, 0)).toEqual([fourth.secret, third.secret, second.secret]);
  });

  it("requested eight times at once is done one at a time: only the newest secret has no expiry, and at most five sign", async () => {
    const { merchantId, hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks);
    const answers = await Promise.all(Array.from({ length: 8 }, () => hooks(`/${id}/rotate-secret`, POST)));
    const made = answers.filter(({ status }) => status === 200);
    // A request that loses to concurrent ones five times in a row is refused, and changes nothing.
    for (const answer of answers) if (answer.status !== 200) expectRefusal(answer, 503, "CONTENTION");
    expect(made.length).toBeGreaterThanOrEqual(5);
    const rows = await secretRows(id);
    expect(rows).toHaveLength(5);
    expect(rows.map(({ expiresAtMs }) => expiresAtMs === null)).toEqual([false, false, false, false, true]);
    expect(new Set(rows.map(({ createdAtMs }) => createdAtMs)).size).toBe(5);
    const signing = await signingAt(id, Date.now());
    const shownSecrets = made.map(({ json }) => String(json?.secret));
    expect(signing.filter((secret) => shownSecrets.includes(secret))).toEqual(signing);
    const entries = (await auditOf(merchantId)).filter(({ action }) => action === "webhook.secret_rotated");
    expect(entries).toHaveLength(made.length);
    // Each rotation replaced the secret that the previous rotation created, so no rotation was lost.
    const befores = entries.map(({ before }) => JSON.parse(before ?? "").secretKeyPreview);
    expect(new Set(befores).size).toBe(made.length);
  });

  it("leaves a switched-off endpoint off, and its health unchanged", async () => {
    const { hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks, { isActive: false });
    const { updatedAtMs: _, ...before } = (await hookRow(id)) ?? {};
    await rotate(hooks, id);
    expect(await hookRow(id)).toMatchObject(before);
  });

  it("of the deployment's sealing key leaves old secrets readable while the old key is configured", async () => {
    const { hooks } = await hookedMerchant();
    const { id, secret } = await makeHook(hooks);
    const newer = parseKeyring("SECRETS_AES_KEY", `next:${base64.encode(new Uint8Array(32).fill(9))}`);
    if (!newer.ok) throw new Error(newer.error);
    const [row] = await secretRows(id);
    if (row === undefined) throw new Error("no row");
    const both = [...newer.value, ...keyring()] as const;
    const sealed = await seal(both, secretContext(row.id), "whsec_new");
    expect(sealed).toMatch(/^v1\.next\./);
    expect(await openSecrets(both, [{ id: row.id, sealed }, row])).toEqual(["whsec_new", secret]);
    await expect(openSecrets(newer.value, [row])).rejects.toThrow(row.id);
  });

  it("makes an endpoint work again when no key of the deployment can open its older secret", async () => {
    const { hooks } = await hookedMerchant();
    const { id } = await makeHook(hooks);
    const lost = parseKeyring("SECRETS_AES_KEY", `lost:${base64.encode(new Uint8Array(32).fill(8))}`);
    const [row] = await secretRows(id);
    if (!lost.ok || row === undefined) throw new Error("no key, or no row");
    const sealed = await seal(lost.value, secretContext(row.id), "whsec_lost");
    await testDb.update(webhookSecrets).set({ sealed }).where(eq(webhookSecrets.id, row.id));
    await expect(signingAt(id, Date.now())).rejects.toThrow(row.id);
    const { secret } = await rotate(hooks, id);
    expect(await signingAt(id, Date.now())).toEqual([secret]);
  });
});
