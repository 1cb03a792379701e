// Callers without access to a merchant, each of whom takes as much as possible. Each function returns the refusals, so that a test can check that
// every limit was reached.
import { exports } from "cloudflare:workers";
import { base64 } from "@scure/base";
import { LIMITS } from "../../src/lib/limits.ts";
import { imageFacts } from "../../src/platform/db/schema/products.ts";
import { invitationMails } from "../../src/platform/db/schema/teams.ts";
import { requestOf, type Answer as Sent, seedKey, send, sendWith } from "./access.ts";
import { freshEmail, newBrowser } from "./browser.ts";
import { png } from "./images.ts";
import { countOf, inTens, type OpenShop, several } from "./public-shop.ts";
import { holderOf, type Pair, takeAll } from "./shared-place.ts";
import { standIns } from "./stand-ins.ts";
import { freshTeam, freshUser } from "./teams.ts";
import { randomHex } from "./wallet-bodies.ts";
import { type Answer, freshId, freshMerchant, testDb } from "./worker-merchant.ts";

/** IP addresses that no other test uses, because counts per address outlive a test. */
type Ips = (n: number) => string;

let networks = 0;
export function freshIps(): Ips {
  const network = networks++;
  return (n) => `10.0.${network}.${n}`;
}

/** Refusal counts by kind. */
type Refusals = Readonly<Record<string, number>>;

/** `code`, and `name` for LIMIT_REACHED; empty if the answer is not a refusal. */
function refusalOf({ status, said }: { readonly status: number; readonly said: unknown }): readonly string[] {
  if (status < 400) return [];
  const { code = String(status), name } = Object(said);
  return [name === undefined ? String(code) : `${code} ${name}`];
}

function refusals(whats: readonly string[]): Refusals {
  const counts: Record<string, number> = {};
  for (const what of whats) counts[what] = (counts[what] ?? 0) + 1;
  return counts;
}

const ofSent = (answers: readonly Sent[]) => answers.flatMap(({ status, json }) => refusalOf({ status, said: json }));
const ofAnswers = (answers: readonly Answer[]) =>
  answers.flatMap(({ status, body }) => refusalOf({ status, said: body }));

/**
 * Merchants that register another merchant's address or key, and create as many invoices on it as they are allowed. Returns the invoices that they got, and the refusals
 * of further ones.
 */
export async function squatters(count: number, wallet: object, pair: Pair) {
  const held = await several(count, async () => {
    const stranger = await holderOf(wallet);
    const taken = await takeAll(stranger, pair, 10, 40);
    const { body } = await stranger.post("/invoices", { name: "Order", rawAmount: 10, paymentMethods: [pair] });
    const refused = await stranger.post(`/invoices/${body.id}/payment-methods`, pair);
    return { taken, refused };
  });
  return {
    refused: refusals(ofAnswers(held.map(({ refused }) => refused))),
    taken: held.flatMap(({ taken }) => taken),
  };
}

/** One browser with the public key that requests an address forty times at once. Returns the invoices it got. */
export async function greedyBrowser({ browse }: OpenShop, ip: Ips, pair: Pair) {
  const answers = await several(40, () => browse(ip(7), { paymentMethods: [pair] }));
  const made = answers.flatMap(({ status, json }) => (status === 201 ? [String(json?.id)] : []));
  return { refused: refusals(ofSent(answers)), made };
}

/** Twelve browsers with the public key that make two invoices each, and ask for an amount on each of their invoices. */
export async function manyBrowsers({ browse, pick }: OpenShop, ip: Ips, pair: Pair): Promise<Refusals> {
  const answers = await several(12, async (n) => {
    const own = ip(20 + n);
    const made = [await browse(own), await browse(own)];
    const picks = made.flatMap(({ status, json }) => (status === 201 ? [pick(own, json?.id, pair)] : []));
    return [...made, ...(await Promise.all(picks))];
  });
  return refusals(ofSent(answers.flat()));
}

/** A user who submits the product page's form twelve times at once. */
export async function buyers({ buy }: OpenShop, ip: Ips): Promise<Refusals> {
  const statuses = await several(12, () => buy(ip(60)));
  return refusals(statuses.flatMap((status) => refusalOf({ status, said: undefined })));
}

/**
 * Requests that are refused before they count against anyone: with invented keys, with another merchant's key, with a public key where it is not
 * allowed, or with a body that is too large.
 */
export async function intruders({ shop, key }: OpenShop): Promise<Refusals> {
  const path = `/api/v1/merchants/merchant/${shop.merchantId}`;
  const foreign = await seedKey((await freshMerchant()).merchantId);
  const body = { name: "Order", rawAmount: 10 };
  const order = { amount: "10", currency: "USD" };
  const plugin = (token: string) =>
    send(`/api/v1/stores/${shop.merchantId}/invoices`, {
      method: "POST",
      headers: { authorization: `token ${token}` },
      body: order,
    });
  const answers = await several(180, (n) => {
    if (n % 6 === 0) return send(`${path}/invoices`, { method: "POST", key: `sk_${randomHex(19)}`, body });
    if (n % 6 === 1) return send(`${path}/invoices`, { method: "POST", key: foreign, body });
    if (n % 6 === 2) return send(`${path}/wallets`, { method: "POST", key, body });
    if (n % 6 === 3) return plugin(`sk_${randomHex(19)}`);
    if (n % 6 === 4) return plugin(foreign);
    return send(`${path}/invoices`, { method: "POST", key, body: "x".repeat(LIMITS.bodyBytes + 1) });
  });
  return refusals(ofSent(answers));
}

/** An attacker who has codes emailed to the owner, and another one who can read those emails and guesses the second factor. */
export async function burglars(email: string, ip: Ips, guess: () => Promise<Sent>): Promise<Refusals> {
  const browser = newBrowser({ "cf-connecting-ip": ip(80) });
  const asked = await several(8, () => browser.post("/api/v1/auth/email/start", { email }));
  const guessed = await several(LIMITS.wrongFactorsPerSession + 4, guess);
  return refusals(ofSent([...asked, ...guessed]));
}

/** A watcher that finds nothing, so that lookups do not send requests to a chain. */
const nothingFound = async () => "NOT_FOUND";
const WATCHED = standIns({
  NETWORK_WATCHER: { getByName: () => ({ look: nothingFound, lookUp: nothingFound, wake: async () => {} }) },
  CHAIN_SOURCES: JSON.stringify({ ETH: [{ kind: "evm-rpc", url: "http://127.0.0.1:9" }] }),
});

/** A payer who claims that a shop's invoices are paid: first from one IP address until refused, then for one invoice from other addresses. */
export async function claimants(invoiceIds: readonly string[], ip: Ips): Promise<Refusals> {
  const claim = (id: string, from: string) =>
    sendWith(WATCHED, `/api/v1/checkout/${id}/claims`, {
      method: "POST",
      headers: { "cf-connecting-ip": from },
      body: { network: "ETH", txHash: `0x${randomHex(32)}` },
    });
  const { claimsPerInvoiceAndHour: each, claimsPerIpAndHour: most } = LIMITS;
  const claimed = invoiceIds.slice(0, most / each + 1);
  const byOne = await inTens(claimed.length * each, (n) => claim(claimed[n % claimed.length] ?? "", ip(90)));
  // An invoice that has reached its limit accepts no more claims, from any address.
  const full = claimed[0] ?? "";
  const byOthers = await inTens(each + 1, (n) => claim(full, ip(100 + n)));
  return {
    "claims of one address": ofSent(byOne).length,
    "claims of one invoice": ofSent(byOthers).length,
  };
}

/** Another merchant that requests as many transaction lookups as it can. */
export async function lookers(): Promise<Refusals> {
  const { merchantId } = await freshMerchant();
  const key = await seedKey(merchantId);
  const path = `/api/v1/merchants/merchant/${merchantId}/payments/lookup`;
  const answers = await inTens(LIMITS.lookupsPerMerchantAndHour + 2, () =>
    sendWith(WATCHED, path, { method: "POST", key, body: { network: "ETH", txHash: `0x${randomHex(32)}` } }),
  );
  return refusals(ofSent(answers));
}

/** A visitor who opens more sockets on one invoice's page than allowed, and reads it more often than one IP address may. */
export async function onlookers(invoiceId: string, ip: Ips): Promise<Refusals> {
  const sockets: WebSocket[] = [];
  const opened = await several(LIMITS.checkoutPagesPerInvoice + 3, async (n) => {
    const headers = { upgrade: "websocket", "cf-connecting-ip": ip(120 + (n % 5)) };
    const { status, webSocket } = await exports.default.fetch(requestOf(`/pay/${invoiceId}/live`, { headers }));
    webSocket?.accept();
    if (webSocket !== null) sockets.push(webSocket);
    return status;
  });
  const few = { RATE_LIMIT_PER_MINUTE: "30" };
  const viewed = await several(40, () =>
    sendWith(few, `/pay/${invoiceId}`, { headers: { "cf-connecting-ip": ip(130) } }),
  );
  for (const socket of sockets) socket.close();
  return { socket: opened.filter((status) => status === 429).length, view: countOf(viewed, 429) };
}

/** A user who creates merchants, and a team that uploads images and sends invitations, near their daily limits. */
export async function hoarders(): Promise<Refusals> {
  const user = await freshUser();
  const shops = await several(LIMITS.merchantsMadePerUserAndDay + 2, (n) =>
    user.as.post("/api/v1/merchants", { name: `Shop ${n}` }),
  );
  const { team, owner } = await freshTeam();
  const { merchantId } = team;
  const nowMs = Date.now();
  const images = Array.from({ length: LIMITS.imagesPerMerchant }, () => ({
    merchantId,
    name: freshId("aud"),
    size: 1,
    sweptAtMs: nowMs,
  }));
  for (let at = 0; at < images.length; at += 16) await testDb.insert(imageFacts).values(images.slice(at, at + 16));
  const upload = { contentType: "image/png", data: base64.encode(png()) };
  const uploaded = await several(3, () => owner.as.post(`${team.merchant}/images`, upload));
  const mails = Array.from({ length: LIMITS.invitationMailsPerUserAndDay }, () => ({
    merchantId: freshId("mer"),
    userId: owner.userId,
    atMs: nowMs,
  }));
  for (let at = 0; at < mails.length; at += 30) await testDb.insert(invitationMails).values(mails.slice(at, at + 30));
  const invited = await several(3, () =>
    owner.as.post(`${team.path}/invitations`, { email: freshEmail(), role: "VIEWER" }),
  );
  const waiting = invited.filter(({ status, body }) => status === 201 && body.mailedAt === null);
  return refusals([...ofAnswers([...shops, ...uploaded]), ...waiting.map(() => "mail waits")]);
}
