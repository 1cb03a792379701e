// The payment page, compared with the same page served as a string by a bare worker; and the size of its first view.
import { gzipSync } from "node:zlib";
import { checkoutAssets } from "../../scripts/checkout-assets.ts";
import type { Context } from "../context.ts";
import { interleave, type Target, target } from "../interleave.ts";
import { requestText } from "../load/request.ts";
import type { Merchant, Product } from "../product.ts";
import type { Figure, Listing, Outcome } from "../report.ts";
import { type Served, serve } from "../serve.ts";
import { merchantWithXpub } from "./create-targets.ts";
import { cpu, latency, throughput } from "./figures.ts";

/** Pages opened in turn. */
const INVOICES = 50;
/** A header that the edge adds in production; with it the limiter counts the requests. */
const HEADERS = { "cf-connecting-ip": "203.0.113.9", "accept-language": "en" };
const ADDRESS = "(bc1q[0-9a-z]{38})";
/** Limits for the gzipped size of a first view, which is the page with everything that it loads, and of its only script. */
const MAX_VIEW_BYTES = 15 * 1_024;
const MAX_SCRIPT_BYTES = 13 * 1_024;

export async function pages(context: Context): Promise<Outcome> {
  const product = await context.product();
  const merchant = await context.xpubMerchant(merchantWithXpub);
  const ids = await pendingInvoices(product, merchant);
  const [first = ""] = ids;
  const page = await opened(product, `/pay/${first}`);
  assertWhole(page.text);
  const state = await opened(product, `/pay/${first}/state`);
  const etag = state.headers.get("etag");
  if (etag === null) throw new Error("the fragment has no ETag");
  const still = await context.keep(serveString(page));

  const { served } = product;
  const shapes = (below: string) => ids.map((id) => get(`/pay/${id}${below}`));
  const shown = { pattern: ADDRESS };
  const targets = [
    { ...target("page", served, shape("/"), shown), templates: shapes("") },
    target("the page as a string", still, shape("/"), shown),
    { ...target("fragment", served, shape("/"), shown), templates: shapes("/state") },
    unchanged(target("fragment, unchanged", served, shape(`/pay/${first}/state`, { "if-none-match": etag }))),
    {
      ...target("the facts as JSON", served, shape("/"), shown),
      templates: ids.map((id) => get(`/api/v1/checkout/${id}`)),
    },
  ] as const;
  const figures: Figure[] = [];
  for (const connections of context.plan.connections) {
    const [ours, string, part, same, json] = await interleave(context, targets, { ...context.plan, connections });
    const at = `c = ${connections}`;
    const baseline = "the same page as a string";
    const against = { what: `page of an invoice, ${at}`, ours, baseline, theirs: string };
    figures.push(throughput(against), ...cpu(against));
    figures.push(...cpu({ ...against, baseline: "its facts as JSON", theirs: json }));
    if (connections === 1) figures.push(latency(against));
    figures.push(throughput({ what: `its fragment, ${at}`, ours: part, baseline, theirs: string }));
    figures.push(throughput({ what: `its fragment unchanged (304), ${at}`, ours: same, baseline, theirs: string }));
  }
  const weight = await weightOf(page.text);
  return { figures: [...figures, ...weight.figures], listings: [weight.listing] };
}

function shape(path: string, more: Readonly<Record<string, string>> = {}) {
  return { method: "GET", path, headers: { ...HEADERS, ...more } } as const;
}

function get(path: string): string {
  return requestText(shape(path));
}

/** The same target, answered with 304. That answer has no body, so the pattern accepts any text. */
function unchanged(of: Target): Target {
  return { ...of, expectStatus: 304, pattern: "(^)" };
}

/** Invoices with one method ready to pay. Each page was opened once, so that the payer's language is stored. */
async function pendingInvoices(product: Product, merchant: Merchant): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let n = 0; n < INVOICES; n++) {
    const answer = await product.served.fetch(merchant.path("/invoices"), {
      method: "POST",
      headers: { ...merchant.headers, "content-type": "application/json" },
      body: JSON.stringify({ name: "Order 1001", rawAmount: 25.5, description: "Two notebooks and a pen" }),
    });
    const { id, paymentMethods }: { id: string; paymentMethods: { status: string }[] } = JSON.parse(
      await answer.text(),
    );
    if (paymentMethods[0]?.status !== "ACTIVE") throw new Error("an invoice has no method that is ready to pay");
    await opened(product, `/pay/${id}`);
    ids.push(id);
  }
  return ids;
}

interface Opened {
  readonly headers: Headers;
  readonly text: string;
}

async function opened(product: Product, path: string): Promise<Opened> {
  const answer = await product.served.fetch(path, { headers: HEADERS });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text.slice(0, 300)}`);
  return { headers: answer.headers, text };
}

/** Checks that the page has the address and both QR codes, so that the timed page is the one that a payer sees. */
function assertWhole(html: string): void {
  const codes = html.match(/<svg[^>]* role="img"/g)?.length ?? 0;
  if (!new RegExp(ADDRESS).test(html) || codes !== 2)
    throw new Error(`a page with ${codes} codes is not the whole page`);
}

/** A worker that serves one stored page, with its headers. */
function serveString({ headers, text }: Opened): Promise<Served> {
  const own = [...headers].filter(
    ([name]) => !["content-length", "transfer-encoding", "connection", "date"].includes(name),
  );
  return serve({
    code: `const page = ${JSON.stringify(text)};
const headers = ${JSON.stringify(own)};
export default { fetch: () => new Response(page, { headers }) };`,
    options: { name: "string", compatibilityDate: "2026-11-02" },
  });
}

async function weightOf(html: string): Promise<{ figures: readonly Figure[]; listing: Listing }> {
  // A static asset, which is served without the Worker.
  const { script, scriptPath } = await checkoutAssets();
  const named = [...html.matchAll(/<(?:script|link)[^>]* (?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path);
  if (named.join() !== scriptPath) throw new Error(`a page that loads ${named.join()}`);
  const files = [
    ["HTML with its style", html],
    ["script", script],
  ] as const;
  const rows = files.map(([name, text]) => [name, Buffer.byteLength(text), gzipSync(text).length] as const);
  const total = rows.reduce((sum, [, , zipped]) => sum + zipped, 0);
  return {
    figures: [
      bytes("first view, gzip", total, MAX_VIEW_BYTES),
      bytes("its script, as written", Buffer.byteLength(script), MAX_SCRIPT_BYTES),
    ],
    listing: {
      title: "First view of the page where a customer pays, bytes",
      columns: ["part", "bytes", "gzip"],
      rows: rows.map(([name, raw, zipped]) => [name, raw.toLocaleString("en"), zipped.toLocaleString("en")]),
    },
  };
}

function bytes(what: string, measured: number, bound: number): Figure {
  const ratio = measured / bound;
  return {
    what,
    baseline: `the bound of ${bound / 1_024} KiB`,
    ratio: { median: ratio, low: ratio, high: ratio },
    target: { atMost: 1 },
    measured: `${measured.toLocaleString("en")} bytes`,
  };
}
