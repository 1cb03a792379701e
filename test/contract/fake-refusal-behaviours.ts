// Requests that are invalid in every way we could think of, for both the service and the client's fake. Each field of each operation gets each
// invalid value, so that all messages are compared.
import { expect } from "vitest";
import { ROUTES } from "../../client/api-types.ts";
import { FIELDS } from "../support/fake-requests.ts";
import type { Behaviours } from "./fake-invoice-behaviours.ts";
import { type Stage, USDT } from "./fake-stages.ts";

const QUERY_VALUES: readonly string[] = [
  "",
  "x",
  "x".repeat(41),
  "x".repeat(2_100),
  "0",
  "-1",
  "1.5",
  "01",
  "7",
  "100001",
  "9".repeat(30),
  "true",
  "null",
  "PIAD",
  "2026-13-01",
  "2026-01-01T00:00:00",
  "2026-01-01",
];
const VALUES: readonly unknown[] = [
  ...QUERY_VALUES,
  "ftp://shop.example",
  "https://me@shop.example",
  "https://shop.example/a b",
  "ann@shop",
  "ann@shop.example",
  null,
  true,
  0,
  -1,
  0.5,
  1e-9,
  1_000_001,
  1e9,
  [],
  [7],
  [null],
  ["invoice.payed", "pong"],
  ["INVOICE.PIAD"],
  ["x".repeat(41)],
  ["invoice.paid"],
  Array.from({ length: 51 }, () => "ping"),
  Array.from({ length: 51 }, () => "pong"),
  [{}],
  [{ cryptocurrency: null, network: "", colour: "red" }],
  [{ cryptocurrency: "x".repeat(21), network: 7 }],
  Array.from({ length: 21 }, () => USDT),
  Array.from({ length: 21 }, () => ({ ...USDT, network: "" })),
  Array.from({ length: 21 }, () => 7),
  {},
  { a: 1 },
  { a: null },
  { a: "x".repeat(8_200) },
  Object.fromEntries(Array.from({ length: 51 }, (_, place) => [`k${place}`, "x".repeat(200)])),
];
/** The field that the fake does not support. */
const LEFT_OUT = "image";

/** Bodies that break rules between fields, or are invalid as a whole. */
const BODIES: Readonly<Record<string, readonly unknown[]>> = {
  createInvoice: [
    { productId: "x".repeat(41) },
    { productId: null, name: "" },
    { rawAmount: null, colour: "red" },
    { name: "Order", rawAmount: 1, currency: "x".repeat(21) },
    { name: "Order", rawAmount: 1, paymentMethods: [{ cryptocurrency: "Doge", network: "ethereum" }] },
    { name: "Order", rawAmount: 1, paymentMethods: [USDT, { cryptocurrency: "usdt", network: "ethereum" }] },
    { name: "Order", rawAmount: 1, paymentMethods: [{ cryptocurrency: "btc", network: "bitcoin" }] },
  ],
  resolvePayment: [
    { action: "ASSIGN", reason: "" },
    { action: "ASSIGN" },
    { action: "ASSIGN", reason: "x", colour: "red" },
    { action: "IGNORE", reason: "x", invoiceId: "x".repeat(41) },
    { invoiceId: "inv_none", reason: "x" },
  ],
  upsertCustomer: [{ name: null }, { name: null, colour: null }, { name: "" }],
  updateCustomer: [{ colour: "red" }, { name: null, email: "x" }],
  updateProduct: [{ colour: "red" }, { price: null }, { isActive: null, currency: null }],
  updateWebhook: [{ colour: "red" }, { events: null }],
};
const QUERIES: readonly string[] = [
  "type=pong&cursor=&after=0",
  "limit=0&cursor=&after=0",
  "limit=x&cursor=x&after=x",
  "colour=red&limit=1&invoiceId=none",
];
const URLS: readonly string[] = [
  `https://shop.com/${"x".repeat(2_048)}`,
  "https://shop.com/a b",
  "https://shop.com/\u200b",
  "shop.com",
  "https://?shop.com",
  "http://shop.com",
  "http://localhost.shop.com",
  "https://@shop.com",
  "https://shop.com/#",
  "https://[",
  "https://shop.com:8443",
  "https://example",
  "https://shop.example",
  "https://0x7f.1",
  "https://[::1]",
  "https://shop.com.",
  "https://shop.local",
  "https://shop.TEST",
  "https://shop",
  "https://-shop.com",
  `https://${"shop-".repeat(13)}.com`,
  "https://10.0.0.1.nip.io",
];

/** A request for an operation, with unknown ids. */
function routeOf(operation: string): readonly [string, string] {
  const [method = "", path = ""] = Object.entries(ROUTES)
    .flatMap(([name, route]) => (name === operation ? [route] : []))
    .flatMap((route) => route.replace(/\{\w+\}/g, "none").split(" "));
  return [method, path];
}

/** One request for each value. In each request every field has a different value, and over all requests every field gets every value. */
function wrongRequests(operation: string, values: readonly unknown[]): readonly Readonly<Record<string, unknown>>[] {
  const fields = Object.entries(FIELDS[operation] ?? {}).filter(([field]) => field !== LEFT_OUT);
  return values.map((_, turn) =>
    Object.fromEntries(
      fields.map(([field, { type }], place) => [field, ofOneLength(values[(turn + 7 * place) % values.length], type)]),
    ),
  );
}

/** Makes a value of the wrong type short: the service also checks its length, and the fake does not. */
function ofOneLength(value: unknown, type: string | undefined): unknown {
  if (typeof value === "string") return type === "array" ? "x" : value;
  return Array.isArray(value) && type !== "array" ? value.slice(0, 1) : value;
}

function refusedPaths({ transcript }: Stage): ReadonlySet<string> {
  const details = transcript.flatMap(({ body }) => Object(body).details ?? []);
  return new Set(details.map(({ path }: { readonly path: string }) => path.replace(/\..*/, "")));
}

async function refuseEach(operation: string, stage: Stage): Promise<void> {
  const [method, path] = routeOf(operation);
  if (method === "GET") {
    const queries = wrongRequests(operation, QUERY_VALUES).map((query) => String(new URLSearchParams(Object(query))));
    for (const query of [...queries, ...QUERIES]) await stage.ask(method, `${path}?${query}`);
  } else {
    const whole = [undefined, null, [], "x", 7, true, {}];
    const bodies = [...whole, ...(BODIES[operation] ?? []), ...wrongRequests(operation, VALUES)];
    for (const body of bodies) await stage.ask(method, path, { body });
  }
  const fields = Object.keys(FIELDS[operation] ?? {});
  const wanted = fields.filter((field) => field !== LEFT_OUT);
  expect([...refusedPaths(stage)]).toEqual(expect.arrayContaining(wanted));
}

export const REFUSED: Behaviours = {
  ...Object.fromEntries(
    Object.keys(FIELDS).map((operation) => [
      `each field of ${operation} is refused each wrong value`,
      (stage: Stage) => refuseEach(operation, stage),
    ]),
  ),
  "an invalid URL of an endpoint is refused with the same reason": async ({ ask }) => {
    for (const url of URLS) {
      const { body } = await ask("POST", "/webhooks", { body: { url, events: ["*"] } });
      expect(Object(body).code, url).toBe("WEBHOOK_URL_REFUSED");
    }
  },
  "an unsupported method is refused with the methods that the path supports": async ({ ask }) => {
    for (const path of [
      "/invoices",
      "/invoices/none",
      "/invoices/none/payment-methods",
      "/customers/none",
      "/events",
    ]) {
      const { status } = await ask("PUT", path, { body: {} });
      expect(status, path).toBe(405);
    }
  },
};
