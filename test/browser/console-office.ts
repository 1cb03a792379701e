// Adds what a merchant has besides sales to the month of console-month.ts: named members, invitations, keys, endpoints (one of them failing) and a
// brand.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { shopApi } from "../../scripts/demo-story/shop.ts";
import { until } from "../../scripts/demo-story/until.ts";
import { codeMailedTo } from "./console-entry.ts";
import { changeDatabase, emailOf, type Testbed } from "./testbed.ts";

type Shop = Pick<ReturnType<typeof shopApi>, "call"> & { readonly merchantId: string };
type Role = Parameters<typeof emailOf>[1];

const WITHIN_MS = 120_000;

/** The URLs that the endpoints get once they have received something, because the port of a test server would look odd in a screenshot. */
const URLS = {
  orders: "https://shop.harbour-coffee.example/webhooks/edgetill",
  stock:
    "https://warehouse.harbour-coffee.example/stock/reservations/by-payment/incoming?tenant=harbour-coffee-roasters",
} as const;

const NAMES: Readonly<Partial<Record<Role, string>>> = {
  OWNER: "Ann Miller",
  ADMIN: "Bartholomew Featherstonehaugh",
  MEMBER: "Noor el Khoury",
};

interface Area {
  readonly testbed: Testbed;
  readonly shop: Shop;
}

interface Office {
  /** Waits until the endpoints have received something, and gives them the URLs of a shop. */
  settle(): Promise<void>;
}

export async function openOffice({ testbed, shop }: Area): Promise<Office> {
  await shop.call("PATCH", "/settings", {
    brand: { name: "Harbour Coffee", color: "#0f766e", supportUrl: "https://harbour-coffee.example/help" },
    frameAncestors: ["https://shop.harbour-coffee.example"],
    mailReceiptsToCustomers: true,
  });
  const receiver = await openReceiver();
  await shop.call("POST", "/webhooks", {
    url: `${receiver}/orders`,
    events: ["invoice.*"],
    description: "Marks orders as paid",
  });
  await shop.call("POST", "/webhooks", {
    url: `${receiver}/stock`,
    events: ["payment.confirmed", "payment.unmatched"],
  });
  await hirePeople(testbed, shop.merchantId);
  return { settle: () => settle({ testbed, shop }) };
}

/** A shop's server with an endpoint for orders but none for stock. The server does not keep the process alive. */
async function openReceiver(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    const isTaken = request.url === "/orders";
    response.writeHead(isTaken ? 200 : 503, { "content-type": "text/plain" });
    response.end(isTaken ? "thanks" : "The warehouse is closed for stocktaking. Come back on Monday.");
  });
  server.unref();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

/** Fills the team as an owner does in the console. */
async function hirePeople(testbed: Testbed, merchantId: string): Promise<void> {
  const asOwner = await signedIn(testbed.baseUrl, emailOf(merchantId, "OWNER"));
  const call = (method: string, path: string, body: object) =>
    asOwner(method, `/api/v1/merchants/merchant/${merchantId}${path}`, body);
  await call("POST", "/api-keys", {
    name: "Shop server",
    kind: "SECRET",
    permissions: ["INVOICE_VIEW", "INVOICE_CREATE", "INVOICE_UPDATE", "INVOICE_CANCEL", "PRODUCT_VIEW"],
    allowedIps: ["192.0.2.0/24", "2001:db8:7::/48"],
  });
  await call("POST", "/api-keys", {
    name: "Buy buttons of harbour-coffee.example",
    kind: "PUBLIC",
    permissions: ["INVOICE_CREATE", "INVOICE_VIEW", "PRODUCT_VIEW"],
    expiresAt: new Date(Date.now() + 90 * 24 * 3_600_000).toISOString(),
  });
  await call("POST", "/team/invitations", { email: "priya.raman@example.com", role: "MEMBER" });
  await call("POST", "/team/invitations", {
    email: "maria-elisabeth.von-habsburg-lothringen+bookkeeping@accounting.example-roastery.example.com",
    role: "VIEWER",
  });
  // The other members have never signed in with their address, so they do not meet this requirement.
  await call("PATCH", "/team/security", { enforceEmailVerified: true });
  changeDatabase(testbed, (database) => {
    for (const [role, name] of Object.entries(NAMES))
      database.prepare("UPDATE users SET name = ? WHERE email = ?").run(name, emailOf(merchantId, role as Role));
  });
}

/** Returns a function that sends requests as a user, in a session opened with an emailed code. */
export async function signedIn(baseUrl: string, email: string) {
  let cookie = "";
  const send = async (method: string, path: string, body: object) => {
    const headers = { "content-type": "application/json", origin: baseUrl, cookie };
    const answer = await fetch(`${baseUrl}${path}`, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    const given = answer.headers.getSetCookie().map((each) => each.replace(/;.*/, ""));
    cookie = [cookie, ...given].filter(Boolean).join("; ");
  };
  await send("POST", "/api/v1/auth/email/start", { email });
  await send("POST", "/api/v1/auth/email/verify", { email, code: await codeMailedTo(baseUrl, email) });
  return send;
}

interface Endpoint {
  readonly id: string;
  readonly url: string;
}

async function settle({ testbed, shop }: Area): Promise<void> {
  const endpoints = await shop.call<readonly Endpoint[]>("GET", "/webhooks");
  for (const [name, url] of Object.entries(URLS)) {
    const { id = "" } = endpoints.find((each) => each.url.endsWith(`/${name}`)) ?? {};
    const tried = () => shop.call<{ readonly data: readonly object[] }>("GET", `/webhooks/${id}/deliveries?limit=100`);
    await until(tried, ({ data }) => JSON.stringify(data).includes('"statusCode"'), WITHIN_MS);
    changeDatabase(testbed, (database) => {
      database.prepare("UPDATE webhooks SET url = ? WHERE id = ?").run(url, id);
    });
  }
}
