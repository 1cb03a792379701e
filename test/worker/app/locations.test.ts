// Every object of a deployment is opened with the deployment's location hint, which counts only when an object is opened for the first time.
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { fixedRateTable } from "../../../src/rates/fixed-rates.ts";
import { type Ask, seedKey, seedMerchant, sendWith } from "../../support/access.ts";
import { importLost, restoredEnv } from "../../support/restores.ts";
import { directWallet, xpubWallet } from "../../support/wallet-bodies.ts";

type Open = (name: string, options?: unknown) => unknown;

/** Stand-ins for objects that would call other hosts. */
const STAND_INS: Readonly<Record<string, object>> = {
  RATE_BOOK: { table: async () => fixedRateTable(Date.now()) },
  NETWORK_WATCHER: { wake: async () => {} },
};

/** All namespaces of the deployment, wrapped so that they record how their objects are opened. */
function recordedNamespaces() {
  const opened = new Map<string, unknown[]>();
  const namespaces = Object.entries(env).flatMap(([binding, value]) => {
    // A service stub appears to have every method, so the presence of a method proves nothing.
    if (value?.constructor?.name !== "DurableObjectNamespace") return [];
    const namespace = value as { readonly getByName: Open };
    opened.set(binding, []);
    const getByName: Open = (name, ...options) => {
      opened.get(binding)?.push(options);
      return STAND_INS[binding] ?? namespace.getByName(name, ...options);
    };
    return [[binding, { getByName }] as const];
  });
  return { opened, bindings: Object.fromEntries(namespaces) as Partial<Env> };
}

/** Requests that together use an object of every class. */
async function useAllObjects(bindings: Partial<Env>): Promise<void> {
  const merchantId = await seedMerchant();
  const key = await seedKey(merchantId);
  const send = async (path: string, ask: Ask, expected: number) => {
    const answer = await sendWith(bindings, path, ask);
    expect([path, answer.status, answer.text]).toEqual([path, expected, expect.any(String)]);
    return answer;
  };
  const own = (rest: string) => `/api/v1/merchants/merchant/${merchantId}${rest}`;
  for (const body of [xpubWallet(), directWallet()]) await send(own("/wallets"), { method: "POST", key, body }, 201);
  const paymentMethods = [xpubWallet(), directWallet()].map(({ cryptocurrency, network }) => ({
    cryptocurrency,
    network,
  }));
  const order = { name: "Order", rawAmount: 10, paymentMethods };
  const headers = { "idempotency-key": crypto.randomUUID() };
  const { json } = await send(own("/invoices"), { method: "POST", key, body: order, headers }, 201);
  await send(`/pay/${json?.id}/live`, { headers: { upgrade: "websocket" } }, 101);
  await send(own(`/invoices/${json?.id}`), { method: "PATCH", key, body: { description: "Two of them" } }, 200);
  const email = { email: `${crypto.randomUUID()}@example.com` };
  await send("/api/v1/auth/email/start", { method: "POST", body: email }, 202);
  // Objects register in the directory, which the import after a restore reads.
  await importLost({ ...restoredEnv(Date.now()), ...bindings });
}

const CHAIN_SOURCES = JSON.stringify({ BTC: [{ kind: "esplora", url: "https://btc.example.com" }] });

it.each([
  ["weur", [{ locationHint: "weur" }]],
  ["", []],
])("with LOCATION_HINT %j every object is opened with the options %j", async (LOCATION_HINT, options) => {
  const { opened, bindings } = recordedNamespaces();
  await useAllObjects({ ...bindings, LOCATION_HINT, CHAIN_SOURCES, RATE_SOURCE: "coinbase,kraken" });
  expect(opened.size).toBeGreaterThan(5);
  expect([...opened].filter(([, calls]) => calls.length === 0)).toEqual([]);
  for (const [binding, calls] of opened) expect([binding, calls]).toEqual([binding, calls.map(() => options)]);
});
