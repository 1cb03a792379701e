// A merchant with one of every entity that has an id. Its owner has one of everything that a user can have.
import { eq } from "drizzle-orm";
import { sha256Hex } from "../../src/lib/bytes.ts";
import type { MerchantId, UserId, WebhookId } from "../../src/lib/ids.ts";
import { HOUR_MS } from "../../src/lib/time.ts";
import { identities, passkeys, sessions } from "../../src/platform/db/schema/users.ts";
import { deliveries } from "../../src/platform/db/schema/webhooks.ts";
import { type Answer, type Ask, seedKey } from "./access.ts";
import { recordNews } from "./endpoints.ts";
import { idIn } from "./id-in.ts";
import { seedPayment } from "./payments.ts";
import { seedSession } from "./people.ts";
import { freshTeam } from "./teams.ts";
import { directWallet, USDT } from "./wallet-bodies.ts";
import { ENDPOINT } from "./webhooks.ts";
import { freshId, testDb } from "./worker-merchant.ts";

export interface FullShop {
  readonly merchantId: MerchantId;
  readonly key: string;
  /** Headers of the owner, who has just passed a second factor. */
  readonly headers: Readonly<Record<string, string>>;
  readonly email: string;
  /** One id of each kind, by its name in paths. */
  readonly ids: Readonly<Record<string, string>>;
  /** An endpoint that is not in `ids` and has no deliveries. */
  readonly otherWebhookId: string;
}

type Send = (path: string, ask: Ask) => Promise<Answer>;

export async function fullShop(send: Send): Promise<FullShop> {
  const { team, owner } = await freshTeam();
  const { merchantId } = team;
  const { headers, userId, email } = owner;
  // Last used in the future, so that no use is recorded.
  const key = await seedKey(merchantId, { lastUsedAtMs: Date.now() + HOUR_MS });
  const made = async (rest: string, body: object) => {
    const answer = await send(`${team.merchant}${rest}`, { method: "POST", headers, body });
    if (answer.status !== 201) throw new Error(`${rest} was answered ${answer.status} ${answer.text}`);
    return String(answer.json?.id);
  };
  const walletId = await made("/wallets", directWallet());
  const customerId = await made("/customers", { email: `payer-${crypto.randomUUID()}@example.com` });
  const productId = await made("/products", { name: "Coffee", price: 5 });
  const invoiceId = await made("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [USDT] });
  const apiKeyId = await made("/api-keys", { name: "Spare", kind: "SECRET", permissions: ["INVOICE_VIEW"] });
  const invitationId = await made("/team/invitations", { email: `${crypto.randomUUID()}@example.com`, role: "VIEWER" });
  const otherWebhookId = await made("/webhooks", { ...ENDPOINT, events: ["invoice.paid"] });
  const webhookId = await made("/webhooks", ENDPOINT);
  const [eventId = ""] = await recordNews(testDb, merchantId);
  const { id: paymentId } = await seedPayment(merchantId);
  const { memberId } = await team.join("MEMBER");
  const ofUser = await personalIds(userId);
  const deliveryId = await deliveryTo(idIn("whk", webhookId));
  return {
    merchantId,
    key,
    email,
    otherWebhookId,
    // An emailed code does not step up a user who has a passkey.
    headers: await seedSession(userId, { signedInWith: "PASSKEY", factor: "PASSKEY" }),
    ids: {
      walletId,
      customerId,
      productId,
      invoiceId,
      apiKeyId,
      invitationId,
      webhookId,
      eventId,
      paymentId,
      memberId,
      deliveryId,
      ...ofUser,
    },
  };
}

async function deliveryTo(webhookId: WebhookId): Promise<string> {
  const [row] = await testDb.select().from(deliveries).where(eq(deliveries.webhookId, webhookId));
  if (row === undefined) throw new Error("the event has no delivery");
  return row.id;
}

/** The user's other session, passkey and linked account. */
async function personalIds(userId: UserId): Promise<Readonly<Record<string, string>>> {
  const { cookie = "" } = await seedSession(userId);
  const [session] = await testDb
    .select()
    .from(sessions)
    .where(eq(sessions.tokenHash, sha256Hex(cookie.replace("session=", ""))));
  const [passkeyId, subject] = [freshId("pky"), crypto.randomUUID()];
  await testDb.insert(passkeys).values({
    id: passkeyId,
    userId,
    credentialId: passkeyId,
    publicKey: "",
    counter: 0,
    transports: "[]",
    name: "Laptop",
    isBackedUp: false,
    createdAtMs: 1,
  });
  await testDb.insert(identities).values({ provider: "google", subject, userId, createdAtMs: 1 });
  return { sessionId: session?.id ?? "", passkeyId, subject };
}
