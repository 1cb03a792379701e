// The walk through a merchant's operations on its shop, its team and its keys, in an order in which each can succeed.

import { base64 } from "@scure/base";
import type { MerchantId } from "../../../src/lib/ids.ts";
import { askedPage } from "../../support/application-questions.ts";
import { png } from "../../support/images.ts";
import { seedPayment } from "../../support/payments.ts";
import { seedMember } from "../../support/people.ts";
import { directWallet, randomHex, USDT, xpubWallet } from "../../support/wallet-bodies.ts";
import type { Caller, Walk } from "./walk-harness.ts";
import { linkToken, type Person, type World } from "./walk-world.ts";

/** The ids for the paths of read operations. */
type Ids = Readonly<Record<string, string>>;

export interface Shop {
  readonly owner: Person;
  readonly key: Caller;
  readonly ids: Ids;
}

const idOf = async (made: Promise<Readonly<Record<string, unknown>>>) => String((await made).id);
const ORDER = { name: "Order 1001", rawAmount: 49.9, customerEmail: "ada@shop.example" };

/** Opens a shop and sells, so that there is something to read. */
export async function walkShop(walk: Walk, world: World): Promise<Shop> {
  const owner = await world.person();
  const merchantId = await idOf(walk.call("createMerchant", owner.as, { body: { name: "Walk" } }));
  const key = await world.keyOf(merchantId);
  const shop = { owner, key, ids: { merchantId } };
  const call = (operationId: string, body?: object, params: Ids = {}, as = key) =>
    walk.call(operationId, as, { params: { merchantId, ...params }, ...(body === undefined ? {} : { body }) });
  await call("updateMerchant", { name: "Walk & Sons" });
  await call("updateSettings", { rateLockSeconds: 600, mailReceiptsToMerchant: true });
  const { name } = await call("uploadImage", { contentType: "image/png", data: base64.encode(png()) });
  const wallets = await walkWallets(walk, world, shop);
  const productId = await idOf(call("createProduct", { name: "Tea", price: 4.5, currency: "USD" }));
  await call("updateProduct", { description: "Green" }, { productId });
  await call("deleteProduct", undefined, { productId: await idOf(call("createProduct", { name: "Salt", price: 1 })) });
  const customerId = await idOf(call("upsertCustomer", { email: "ada@shop.example", name: "Ada" }));
  await call("updateCustomer", { name: "Ada L." }, { customerId });
  await call("deleteCustomer", undefined, { customerId: await idOf(call("upsertCustomer", { name: "Bob" })) });
  const sold = await walkInvoices(walk, world, shop);
  const hooks = await walkWebhooks(walk, shop);
  await walk.call("buyProduct", world.anybody, {
    params: { productId },
    form: { token: "t", email: "eve@shop.example" },
  });
  const ids = { merchantId, name: String(name), productId, customerId, ...wallets, ...sold, ...hooks };
  return { ...shop, ids: { ...ids, ...(await walkKeys(walk, shop)) } };
}

async function walkWallets(walk: Walk, world: World, { owner, key, ids }: Shop): Promise<Ids> {
  await walk.call("registerWallet", key, { params: ids, body: directWallet() });
  const walletId = await idOf(walk.call("registerWallet", owner.as, { params: ids, body: xpubWallet() }));
  const one = { ...ids, walletId };
  const token = await linkToken(owner.email, "/wallets/disable");
  await walk.call("disableWalletByLink", world.anybody, { body: { token } });
  await walk.call("updateWallet", key, { params: one, body: { isEnabled: true } });
  const spare = await idOf(
    walk.call("registerWallet", key, { params: ids, body: { ...directWallet(), cryptocurrency: "USDC" } }),
  );
  await walk.call("deleteWallet", key, { params: { ...ids, walletId: spare } });
  return { walletId };
}

async function walkInvoices(walk: Walk, world: World, { key, ids }: Shop): Promise<Ids> {
  const make = (body: object) => idOf(walk.call("createInvoice", key, { params: ids, body }));
  const on = (operationId: string, invoiceId: string, body?: object) =>
    walk.call(operationId, key, { params: { ...ids, invoiceId }, ...(body === undefined ? {} : { body }) });
  const invoiceId = await make({ ...ORDER, paymentMethods: [USDT], redirectUrl: "https://shop.example/thanks" });
  await on("updateInvoice", invoiceId, { description: "Two bags" });
  const open = await make({ ...ORDER, paymentMethods: [] });
  await on("activatePaymentMethod", open, USDT);
  const shown = await make({ ...ORDER, paymentMethods: [] });
  const params = { invoiceId: shown };
  await walk.call("pickPaymentMethod", world.anybody, { params, body: USDT });
  await walk.call("pickOnCheckout", world.anybody, { params, form: { method: "USDT_ETH" } });
  const txHash = `0x${randomHex(32)}`;
  await walk.call("claimPayment", world.anybody, { params, body: { network: "ETH", txHash } });
  await walk.call("claimOnCheckout", world.anybody, { params, form: { network: "ETH", txHash } });
  await on("cancelInvoice", open);
  const merchantId = ids.merchantId as MerchantId;
  const stray = await seedPayment(merchantId);
  const resolve = (body: object, paymentId: string) =>
    walk.call("resolvePayment", key, { params: { ...ids, paymentId }, body: { reason: "Not ours", ...body } });
  await resolve({ action: "IGNORE" }, stray.id);
  await resolve({ action: "REOPEN" }, stray.id);
  const { id: paymentId } = await seedPayment(merchantId);
  await resolve({ action: "ASSIGN", invoiceId }, paymentId);
  await walk.call("lookUpPayment", key, { params: ids, body: { network: "ETH", txHash } });
  await on("resolveInvoice", shown, { action: "ACCEPT", reason: "Cash" });
  return { invoiceId, paymentId };
}

async function walkWebhooks(walk: Walk, { owner, key, ids }: Shop): Promise<Ids> {
  const make = (as: Caller) =>
    idOf(walk.call("createWebhook", as, { params: ids, body: { url: "http://127.0.0.1:9/", events: ["ping"] } }));
  const webhookId = await make(owner.as);
  const params = { ...ids, webhookId };
  await walk.call("updateWebhook", key, { params, body: { events: ["ping", "invoice.paid"] } });
  const ping = await walk.call("pingWebhook", key, { params });
  const sent = { ...params, eventId: String(ping.eventId), deliveryId: String(ping.id) };
  await walk.call("redeliver", key, { params: sent });
  const [minuteAgo, now] = [60_000, 0].map((ms) => new Date(Date.now() - ms).toISOString());
  await walk.call("replayEvents", key, { params, body: { from: minuteAgo, to: now } });
  await walk.call("rotateWebhookSecret", key, { params });
  await walk.call("deleteWebhook", key, { params: { ...ids, webhookId: await make(key) } });
  return sent;
}

async function walkKeys(walk: Walk, { owner, ids }: Shop): Promise<Ids> {
  const body = { name: "Till", kind: "SECRET", permissions: ["INVOICE_CREATE"] };
  const apiKeyId = await idOf(walk.call("createApiKey", owner.as, { params: ids, body }));
  const params = { ...ids, apiKeyId };
  await walk.call("updateApiKey", owner.as, { params, body: { name: "Till 2" } });
  await walk.call("rotateApiKey", owner.as, { params, body: { overlapHours: 1 } });
  const spare = await idOf(walk.call("createApiKey", owner.as, { params: ids, body }));
  await walk.call("deleteApiKey", owner.as, { params: { ...ids, apiKeyId: spare } });
  const rights = ["btcpay.store.canviewinvoices"];
  const { token: question } = await askedPage(`permissions=${rights}`);
  const answer = { question, application: "Plugin", redirect: null, rights };
  await walk.call("authorizeApplication", owner.as, { params: ids, body: answer });
  return { apiKeyId };
}

/** Fills the team and empties it; at the end the last owner deletes the merchant. */
export async function walkTeam(walk: Walk, world: World, { owner, ids }: Shop): Promise<void> {
  const merchantId = ids.merchantId as MerchantId;
  const [ben, cat, dan] = [await world.person(), await world.person(), await world.person()];
  const invite = (email: string, role = "VIEWER") =>
    idOf(walk.call("inviteMember", owner.as, { params: ids, body: { email, role } }));
  const invitationId = await invite(ben.email);
  await invite(cat.email);
  const token = await linkToken(cat.email, "/invitations");
  const cats = await idOf(walk.call("acceptInvitation", cat.as, { body: { token } }));
  const lost = await invite("nobody@shop.example");
  await walk.call("resendInvitation", owner.as, { params: { ...ids, invitationId: lost } });
  await walk.call("revokeInvitation", owner.as, { params: { ...ids, invitationId: lost } });
  const bens = await idOf(walk.call("acceptInvitationById", ben.as, { params: { invitationId } }));
  await walk.call("changeRole", owner.as, { params: { ...ids, memberId: bens }, body: { role: "MEMBER" } });
  await walk.call("removeMember", owner.as, { params: { ...ids, memberId: cats } });
  await seedMember(merchantId, dan.userId, "ADMIN");
  await walk.call("leaveTeam", dan.as, { params: ids });
  await walk.call("updateTeamSecurity", owner.as, { params: ids, body: { enforceEmailVerified: true } });
  await walk.call("transferOwnership", owner.as, { params: { ...ids, memberId: bens } });
  await walk.call("deleteMerchant", ben.as, { params: ids, body: { name: "Walk & Sons" } });
}
