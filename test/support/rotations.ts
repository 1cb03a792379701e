// A deployment with the test's own MASTER_KEY, whose keys are rotated.
import { env } from "cloudflare:workers";
import { base64 } from "@scure/base";
import { eq, sql } from "drizzle-orm";
import * as z from "zod";
import { newKey } from "../../scripts/seed.ts";
import { rotateDependencies } from "../../src/app/keys/dependencies.ts";
import { keyUseBody } from "../../src/app/keys/routes.ts";
import { isRowIntact } from "../../src/commerce/wallet-records/row-mac.ts";
import { isWalletIntact } from "../../src/commerce/wallet-records/wallet.ts";
import type { MerchantId } from "../../src/lib/ids.ts";
import { unseal } from "../../src/lib/seal.ts";
import { secretContext } from "../../src/notifications/webhooks/webhook.ts";
import { apiKeys } from "../../src/platform/db/schema/api-keys.ts";
import { paymentMethods } from "../../src/platform/db/schema/invoices.ts";
import { wallets } from "../../src/platform/db/schema/wallets.ts";
import { webhookSecrets } from "../../src/platform/db/schema/webhooks.ts";
import { KEYRING_NAMES, keyringOf } from "../../src/platform/keys/keyrings.ts";
import { type RotateDependencies, rotateKeys } from "../../src/platform/keys/rotate-keys.ts";
import { type Ask, deploymentWith, seedMerchant } from "./access.ts";
import { seedUser } from "./people.ts";
import { testDb } from "./worker-merchant.ts";

/** A new key in MASTER_KEY's form: its id and its text. */
export function newMasterKey(): { readonly id: string; readonly text: string } {
  const id = `r${crypto.randomUUID().slice(0, 8)}`;
  return { id, text: `${id}:${base64.encode(crypto.getRandomValues(new Uint8Array(32)))}` };
}

/** The Worker with only these keys, newest first. */
export function deploymentOf(keys: readonly { readonly text: string }[], changes: Partial<Env> = {}) {
  const explicit = Object.fromEntries(KEYRING_NAMES.map((name) => [name, ""]));
  const settings = { ...explicit, ...changes, MASTER_KEY: keys.map(({ text }) => text).join(",") };
  const world: Env = { ...env, ...settings };
  const send = deploymentWith(settings);
  const given = () => ({ db: testDb, nowMs: Date.now() });
  return {
    world,
    send,
    /** Runs the job until nothing is left; returns what it reports. */
    rotate: async (more: Partial<RotateDependencies> = {}) => {
      const reports: Readonly<Record<string, unknown>>[] = [];
      const report: RotateDependencies["report"] = (alert, facts) => void reports.push({ alert, ...facts });
      for (;;) {
        const left = await rotateKeys({ ...rotateDependencies(world, given()), report, ...more });
        if (left === "nothing") return reports;
      }
    },
    /** The keys as an operator sees them. */
    keyUses: async () => {
      const { headers } = await seedUser({ operatorSinceMs: Date.now() });
      const told = await send("/api/v1/operator/keys", { headers });
      if (told.status !== 200) throw new Error(told.text);
      return z.array(keyUseBody()).parse(told.json?.data);
    },
  };
}

export type Deployment = ReturnType<typeof deploymentOf>;

/** A merchant with a secret key created by the deployment; `post` and `get` take any deployment. */
export async function shopOf({ world }: Deployment) {
  const merchantId: MerchantId = await seedMerchant();
  const macKeys = keyringOf(world, "API_KEY_MAC_KEY");
  if (!macKeys.ok) throw new Error(macKeys.error);
  const { secret: key, row } = newKey(macKeys.value, { merchantId, kind: "SECRET", nowMs: Date.now() }, {});
  await testDb.insert(apiKeys).values(row);
  const path = (rest: string) => `/api/v1/merchants/merchant/${merchantId}${rest}`;
  return {
    merchantId,
    key,
    get: (at: Deployment, rest: string) => at.send(path(rest), { key }),
    post: (at: Deployment, rest: string, body: unknown, headers: Ask["headers"] = {}) =>
      at.send(path(rest), { method: "POST", key, body, headers }),
  };
}

export type RotatedShop = Awaited<ReturnType<typeof shopOf>>;

/** Which of a shop's HMACs and seals a deployment can verify: the kinds and key ids of those that it can, and of those that it cannot. */
export async function verdictsOn({ world }: Deployment, shop: Pick<RotatedShop, "merchantId">, webhookId?: string) {
  const [macKeys, sealKeys] = [keyringOf(world, "ROW_MAC_KEY"), keyringOf(world, "SECRETS_AES_KEY")];
  if (!macKeys.ok || !sealKeys.ok) throw new Error("no keys");
  const own = await testDb.select().from(wallets).where(eq(wallets.merchantId, shop.merchantId));
  const methods = await testDb.select().from(paymentMethods).where(eq(paymentMethods.merchantId, shop.merchantId));
  const secrets = await testDb
    .select()
    .from(webhookSecrets)
    .where(sql`webhook_id = ${webhookId ?? ""}`);
  const verdict = (kind: string, isGood: boolean, keyId: string | null | undefined) =>
    `${kind} ${isGood ? "verifies" : "fails"} under ${keyId}`;
  const opened = await Promise.all(
    secrets.map(async ({ id, sealed }) => {
      const text = await unseal(sealKeys.value, secretContext(id), sealed);
      return verdict("secret", text !== undefined, sealed.split(".")[1]);
    }),
  );
  return [
    ...own.map((row) => verdict("wallet", isWalletIntact(macKeys.value, row), row.macKeyId)),
    ...methods.map((row) => {
      const subject = { kind: "method", row: row.invoiceId, target: row.address ?? "", ...row } as const;
      return verdict("method", isRowIntact(macKeys.value, subject, row), row.macKeyId);
    }),
    ...opened,
  ];
}
