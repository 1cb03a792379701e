// Runs the behaviours of the client's fake twice: on a real server with a chain, and on the fake. Every answer is recorded, and both transcripts
// must be equal except for ids, times and hashes.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { Edgetill, type EdgetillOptions, EdgetillPublic, type Payment, verifyWebhook } from "../../client/edgetill.ts";
import { FakeEdgetill } from "../../client/testing.ts";
import { startEvmChain } from "../../scripts/demo-story/evm-chain.ts";
import { shopApi, startShop } from "../../scripts/demo-story/shop.ts";
import { until } from "../../scripts/demo-story/until.ts";
import { apiKeyMacKeys, type Home } from "../../scripts/home.ts";
import { insertSql, newKey, newMerchant, newTeam } from "../../scripts/seed.ts";
import { executeSqlFile } from "../../scripts/wrangler.ts";
import { assetOn } from "../../src/chains/registry/networks.ts";
import { parseUnits } from "../../src/lib/money.ts";
import { endInvoiceIn } from "../browser/testbed.ts";
import { builtServer } from "../support/built-worker.ts";
import { listen } from "../support/listen.ts";
import { network } from "../support/named-network.ts";
import type { Written } from "./fake-transcript.ts";

export const USDT = { cryptocurrency: "USDT", network: "ETH" } as const;
const WITHIN_MS = 100_000;
/** Two confirmations, so that a payment is seen before it is confirmed. */
const REQUIRED = 2;

/** The answer to one request, as any client sees it. */
interface RawAnswer {
  readonly status: number;
  readonly body: unknown;
}

interface Ask {
  /** Replaces the secret key; null sends none. */
  readonly key?: string | null;
  /** Sends the request with the public key. */
  readonly isOfPage?: boolean;
  readonly merchantId?: string;
  readonly body?: unknown;
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A merchant with a single wallet, USDT on ETH. */
export interface Stage {
  readonly edgetill: Edgetill;
  readonly page: EdgetillPublic;
  /** Any request below the merchant's path. */
  ask(method: string, path: string, ask?: Ask): Promise<RawAnswer>;
  /** Sends coins from a customer and mines a block. Without `invoiceId`, the transfer must match no invoice. */
  pay(invoiceId: string | undefined, coins: string): Promise<Payment>;
  /** Mines blocks until all confirmations are reached. */
  confirm(paymentId: string): Promise<void>;
  /** Makes the invoice expire. */
  end(invoiceId: string): Promise<void>;
  /** The wallet's address. */
  readonly address: string;
  /** The endpoints' URL. */
  readonly hookUrl: string;
  /** The deliveries that arrived at `hookUrl`, verified with the secret: as many as expected, by sequence. */
  delivered(count: number, secret: string): Promise<readonly unknown[]>;
  /** Every answer so far. */
  readonly transcript: readonly Written[];
  /** Adds an entry to the transcript that is not an answer. */
  note(what: string, value: unknown): void;
}

export interface Stages {
  /** Stages on the service, with a new merchant each time. */
  real(): Promise<Stage>;
  fake(of: Stage): Stage;
  close(): Promise<void>;
}

/** `merchants`: how many stages will be used. */
export async function openStages(merchants: number): Promise<Stages> {
  const chain = await startEvmChain([tokenOf("USDT")]);
  await chain.mine();
  const shops: Shop[] = [];
  const server = await startShop({
    wrangler: builtServer(),
    sources: { ETH: [{ kind: "evm-rpc", url: chain.url }] },
    pollSeconds: 0.25,
    webhookSchedule: "0,1,1,1",
    seedMore: async (home) => void shops.push(...seedShops(home, merchants)),
  });
  const hooks: Receiver[] = [];
  const testbed = { chain, baseUrl: server.baseUrl, home: dirname(server.logFile) };
  return {
    real: async () => {
      const hook = await openReceiver();
      hooks.push(hook);
      return realStage(testbed, shops.pop(), hook);
    },
    fake: fakeStage,
    close: async () => {
      for (const hook of hooks) await hook.close();
      await server.stop();
      await chain.stop();
    },
  };
}

interface Shop {
  readonly merchantId: string;
  readonly secretKey: string;
  readonly publicKey: string;
}

function seedShops(home: Home, count: number): readonly Shop[] {
  const nowMs = Date.now();
  const macKeys = apiKeyMacKeys(home);
  const made = Array.from({ length: count }, (_, place) => {
    const merchant = newMerchant(`Stage ${place}`, nowMs);
    const keyOf = (kind: "SECRET" | "PUBLIC") => newKey(macKeys, { merchantId: merchant.id, kind, nowMs });
    return { merchant, secret: keyOf("SECRET"), open: keyOf("PUBLIC") };
  });
  const file = join(home.path, "stages.sql");
  const merchants = made.map(({ merchant }) => merchant);
  const apiKeys = made.flatMap(({ secret, open }) => [secret.row, open.row]);
  writeFileSync(file, insertSql({ merchants, teams: merchants.map(newTeam), apiKeys }));
  executeSqlFile(home, file);
  return made.map(({ merchant, secret, open }) => ({
    merchantId: merchant.id,
    secretKey: secret.secret,
    publicKey: open.secret,
  }));
}

function tokenOf(code: string): string {
  const contract = assetOn(network("ETH"), code)?.contract;
  if (contract == null) throw new Error(`${code} is no token`);
  return contract;
}

interface Testbed {
  readonly chain: Awaited<ReturnType<typeof startEvmChain>>;
  readonly baseUrl: string;
  readonly home: string;
}

async function realStage(testbed: Testbed, shop: Shop | undefined, hooks: Receiver): Promise<Stage> {
  if (shop === undefined) throw new Error("every merchant is taken: open the stages with more");
  const { chain, baseUrl } = testbed;
  const quiet = shopApi(baseUrl, shop.merchantId, shop.secretKey);
  const address = `0x${randomBytes(20).toString("hex")}`;
  const wallet = { walletType: "DIRECT_WALLET", ...USDT, address, requiredConfirmations: REQUIRED };
  const { address: to } = await quiet.registerWallet(wallet);
  const told = writing({ baseUrl, merchantId: shop.merchantId, fetch });
  const mined = async <T>(read: () => Promise<T>, isThere: (value: T) => boolean) =>
    until(
      async () => {
        await chain.mine();
        return read();
      },
      isThere,
      WITHIN_MS,
    );
  return {
    ...clientsOf(told, { ...shop, baseUrl }),
    pay: async (invoiceId, coins) => {
      const units = parseUnits(coins, 6);
      if (!units.ok || to === null) throw new Error(`${coins} is no amount`);
      const hash = await chain.sendToken({ contract: tokenOf("USDT"), to, units: units.value });
      await chain.mine();
      const read = () => quiet.payments(`txHash=${hash}`);
      const [payment] = await until(read, (found) => found.length === 1, WITHIN_MS);
      // An unmatched payment gets enough confirmations here that it is confirmed as soon as it is assigned to an invoice.
      const isDeep = ({ confirmations }: Payment) => confirmations > REQUIRED;
      if (payment !== undefined && invoiceId === undefined) await mined(() => quiet.payment(payment.id), isDeep);
      if (payment === undefined || payment.invoiceId !== (invoiceId ?? null))
        throw new Error("paid to another invoice");
      return payment;
    },
    confirm: async (paymentId) =>
      void (await mined(
        () => quiet.payment(paymentId),
        ({ status }) => status === "CONFIRMED",
      )),
    end: async (invoiceId) => {
      endInvoiceIn(testbed, invoiceId, 0);
      const isOver = ({ status }: { readonly status: string }) => status === "EXPIRED" || status === "UNDERPAID";
      await mined(() => quiet.invoice(invoiceId), isOver);
    },
    address: to ?? "",
    hookUrl: hooks.url,
    delivered: (count, secret) => hooks.arrived(count, secret),
  };
}

/** A fake with the same wallet and the same endpoint. */
function fakeStage({ hookUrl, address }: Stage): Stage {
  const fake = new FakeEdgetill({ wallets: [{ ...USDT, address, requiredConfirmations: REQUIRED }] });
  const { baseUrl, merchantId, apiKey: secretKey } = fake.options;
  const told = writing({ baseUrl, merchantId, fetch: fake.fetch });
  return {
    ...clientsOf(told, { baseUrl, merchantId, secretKey, publicKey: fake.publicOptions.apiKey }),
    pay: async (invoiceId, amount) =>
      invoiceId === undefined
        ? fake.payUnmatched({ ...USDT, amount })
        : fake.pay(invoiceId, { ...USDT, amount, isConfirmed: false }),
    confirm: async (paymentId) => void fake.confirm(paymentId),
    end: async () => fake.advance(3_601_000),
    address,
    hookUrl,
    delivered: async (count, secret) => {
      const events: { readonly sequence: number | null }[] = [];
      const sent = await fake.deliver(async (request) => {
        events.push(
          await verifyWebhook({ payload: await request.text(), headers: request.headers, secret, nowMs: Date.now() }),
        );
        return new Response(null, { status: 204 });
      });
      if (sent.length !== count) throw new Error(`${sent.length} were delivered, not ${count}`);
      return bySequence(events);
    },
  };
}

function clientsOf(told: ReturnType<typeof writing>, of: Shop & { readonly baseUrl: string }) {
  const { baseUrl, merchantId, secretKey, publicKey } = of;
  const at: Omit<EdgetillOptions, "apiKey"> = { baseUrl, merchantId, fetch: told.fetch, maxRetries: 0 };
  return {
    edgetill: new Edgetill({ ...at, apiKey: secretKey }),
    page: new EdgetillPublic({ ...at, apiKey: publicKey }),
    transcript: told.transcript,
    note: (what: string, body: unknown) =>
      void told.transcript.push({ request: what, status: 0, isReplay: false, body, baseUrl }),
    ask: async (method: string, path: string, given: Ask = {}): Promise<RawAnswer> => {
      const { isOfPage = false, merchantId: other = merchantId, body, raw } = given;
      const { key = isOfPage ? publicKey : secretKey } = given;
      const headers = new Headers(given.headers);
      if (key !== null) headers.set("x-api-key", key);
      if (body !== undefined) headers.set("content-type", "application/json");
      const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
      const url = `${baseUrl}/api/v1/merchants/merchant/${other}${path}`;
      const answer = await told.fetch(url, { method, headers, ...(content === undefined ? {} : { body: content }) });
      return { status: answer.status, body: await answer.json() };
    },
  };
}

/** A fetch that records responses. */
function writing(of: Pick<EdgetillOptions, "baseUrl" | "merchantId"> & { fetch: typeof fetch }) {
  const transcript: Written[] = [];
  const fetching: typeof fetch = async (input, init) => {
    const answer = await of.fetch(input, init);
    const { status, headers } = answer;
    const isReplay = headers.get("idempotent-replayed") === "true";
    const request = `${init?.method ?? "GET"} ${String(input).replace(of.baseUrl, "")}`;
    const shown = await answer.clone().text();
    const body: unknown = shown === "" ? undefined : JSON.parse(shown);
    transcript.push({ request, status, isReplay, body, baseUrl: of.baseUrl });
    return answer;
  };
  return { transcript, fetch: fetching };
}

type Receiver = Awaited<ReturnType<typeof openReceiver>>;

async function openReceiver() {
  const requests: { readonly payload: string; readonly headers: Readonly<Record<string, string>> }[] = [];
  const server = createServer(async (request, response) => {
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
    requests.push({ payload: await text(request), headers: Object.fromEntries(headers) });
    response.writeHead(204).end();
  });
  const { origin, close } = await listen(server);
  return {
    close,
    url: `${origin}/hook`,
    arrived: async (count: number, secret: string) => {
      const all = await until(
        async () => requests,
        ({ length }) => length >= count,
        WITHIN_MS,
      );
      const events = await Promise.all(all.map((request) => verifyWebhook({ ...request, secret })));
      return bySequence(events);
    },
  };
}

function bySequence<T extends { readonly sequence: number | null }>(events: readonly T[]): readonly T[] {
  return events.toSorted((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0));
}
