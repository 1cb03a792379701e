// The cost of reads: the replay of a stored response, and an invoice with its relations.
import type { Context } from "../context.ts";
import { interleave, type Target, target } from "../interleave.ts";
import { requestText } from "../load/request.ts";
import { type Merchant, memberHeaders, type Product } from "../product.ts";
import type { Figure, Outcome } from "../report.ts";
import { createTarget, merchantWithTwoWallets, merchantWithXpub } from "./create-targets.ts";
import { latency, throughput } from "./figures.ts";

/** Keys replayed in turn. */
const KEYS = 500;
const INVOICES = 300;

export async function replay(context: Context): Promise<Outcome> {
  const product = await context.product();
  const first = createTarget("first create", product, await merchantWithTwoWallets(product));
  const numbers = { from: context.freshNumbers().from, count: KEYS };
  await createOnce(context, first, numbers);
  await assertReplayed(product, first, numbers.from);
  const again = { ...first, label: "replay", numbers, isDistinct: false };
  const figures: Figure[] = [];
  for (const connections of context.plan.connections) {
    const [ours, theirs] = await interleave(context, [again, first] as const, { ...context.plan, connections });
    const target = connections === 16 ? { atLeast: 2 } : undefined;
    figures.push(
      throughput({ what: `replay, c = ${connections}`, ours, baseline: "its own first create", theirs, target }),
    );
  }
  return { figures };
}

/** Sends one create for each number. */
async function createOnce(context: Context, of: Target, numbers: { readonly from: number; readonly count: number }) {
  const { host, port } = of.served;
  const { templates, expectStatus, pattern } = of;
  const bound = { connections: 8, maxSeconds: 60, maxRequests: numbers.count };
  const made = await context.load.run({ host, port, templates, numbers, expectStatus, pattern, ...bound });
  if (made.distinct !== numbers.count) throw new Error(`${made.distinct} of ${numbers.count} creates were made`);
}

/** Checks that two replays are marked as replays and have the same bytes, and that neither adds an invoice. */
async function assertReplayed(product: Product, of: Target, number: number): Promise<void> {
  const rows = async () =>
    (await product.database.prepare("SELECT count(*) AS n FROM invoices").first<{ n: number }>())?.n;
  const before = await rows();
  const answers = [await send(product, of, number), await send(product, of, number)];
  const bodies = new Set(answers.map((answer) => answer.body));
  if (bodies.size !== 1 || answers.some((answer) => answer.status !== 201 || answer.replayed !== "true")) {
    throw new Error("a replay is not the first answer, marked as replayed");
  }
  if ((await rows()) !== before) throw new Error("a replay wrote an invoice");
}

/** Sends one request of a target's template through fetch, to read the headers of the answer. */
async function send(product: Product, of: Target, number: number) {
  const text = (of.templates[0] ?? "").replace(/#{9}/g, String(number).padStart(9, "0"));
  const [head = "", body = ""] = text.split("\r\n\r\n");
  const [first = "", ...lines] = head.split("\r\n");
  const headers = lines
    .map((line) => line.split(": ", 2))
    .filter(([name]) => name !== "host" && name !== "content-length");
  const answer = await product.served.fetch(first.split(" ")[1] ?? "", {
    method: "POST",
    headers: headers.map(([name = "", value = ""]): [string, string] => [name, value]),
    body,
  });
  return { status: answer.status, replayed: answer.headers.get("idempotent-replayed"), body: await answer.text() };
}

export async function get(context: Context): Promise<Outcome> {
  const floor = await context.floor();
  const product = await context.product();
  const plain = await merchantWithTwoWallets(product);
  const withMethod = await context.xpubMerchant(merchantWithXpub);
  const byKey = await getTarget(context, product, "GET invoice", plain);
  const targets = [
    byKey,
    target("SELECT 1", floor, { method: "GET", path: "/select1" }, { pattern: '"row":({)' }),
    await getTarget(context, product, "GET invoice with a method", withMethod),
    await asMember(product, byKey, plain),
  ] as const;
  const figures: Figure[] = [];
  for (const connections of context.plan.connections.filter((each) => each <= 16)) {
    const [ours, bare, method, member] = await interleave(context, targets, { ...context.plan, connections });
    const baseline = "a bare D1 SELECT 1 call";
    const target = { atMost: 1.5 };
    figures.push(
      latency({ what: `GET invoice with relations, c = ${connections}`, ours, baseline, theirs: bare, target }),
    );
    figures.push(
      latency({ what: `the same with an active method, c = ${connections}`, ours: method, baseline, theirs: bare }),
    );
    const what = `GET invoice by a member's session, c = ${connections}`;
    figures.push(latency({ what, ours: member, baseline: "the same by an API key", theirs: ours }));
  }
  return { figures };
}

/**
 * The same reads with a session instead of a key. The service then also reads the user, their membership, their factors and the team's requirements.
 */
async function asMember(product: Product, byKey: Target, { merchantId, headers }: Merchant): Promise<Target> {
  const { cookie } = await memberHeaders(product.database, merchantId);
  const withCookie = (text: string) => text.replace(`x-api-key: ${headers["x-api-key"]}`, `cookie: ${cookie}`);
  return { ...byKey, label: "GET invoice in a session", templates: byKey.templates.map(withCookie) };
}

/** Reads some invoices of a merchant in turn; each must come with its customer and its timeline. */
export async function getTarget(
  context: Context,
  product: Product,
  label: string,
  merchant: Merchant,
): Promise<Target> {
  await createOnce(context, createTarget(label, product, merchant), {
    from: context.freshNumbers().from,
    count: INVOICES,
  });
  const { results } = await product.database
    .prepare("SELECT id FROM invoices WHERE merchant_id = ? ORDER BY created_at_ms DESC LIMIT ?")
    .bind(merchant.merchantId, INVOICES)
    .all<{ id: string }>();
  const shape = { method: "GET", headers: merchant.headers } as const;
  return {
    ...target(label, product.served, { ...shape, path: "/" }),
    templates: results.map((row) => requestText({ ...shape, path: merchant.path(`/invoices/${row.id}`) })),
    pattern: '"customer":{"id":"cus_.*"invoiceTimeline":\\[{"id":"(itl_[0-9A-Z]{26})"',
  };
}
