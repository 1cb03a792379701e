// Whether a search is slower with many invoices. Each kind of text is searched for in the global search and in the list, and compared with the same
// search among 1,000 invoices.
import type { Context } from "../context.ts";
import { interleave, type Target, target } from "../interleave.ts";
import type { Figure, Outcome } from "../report.ts";
import { latency, worst } from "./figures.ts";
import { type Filled, SMALL_ROWS, tables } from "./rows.ts";

/** The number of a seeded invoice that both tables have. */
const SOUGHT = 777;
const ORDER = `SHOP-2026-${String(SOUGHT).padStart(7, "0")}`;
/**
 * The limit for the size of the word index, in bytes per invoice: five words of the invoice and a tenth of the four words of its customer, 70 to 80
 * bytes each before page overhead (docs/design/records/search-index.md).
 */
const WORD_BYTES_AN_INVOICE = 512;
/** The typed text, and the number of seeded invoices that it finds; undefined if it finds more than an answer can hold. */
const TEXTS: readonly { readonly kind: string; readonly text: string; readonly finds?: number }[] = [
  { kind: "an order number in another case", text: ORDER.toLowerCase(), finds: 1 },
  { kind: "the end of an order number", text: ORDER.slice(-7), finds: 1 },
  { kind: "a word that all names have", text: "ORDER" },
  { kind: "the beginning of a word that all have", text: "or" },
  { kind: "two words of one invoice", text: `order ${SOUGHT}` },
  { kind: "two words that all have", text: "2026 shop" },
  { kind: "a customer's email", text: "SEED-770@example.com" },
  { kind: "words of a customer that all have", text: "seed example" },
  { kind: "an amount that all have", text: "25.50 USD" },
];

const pathOf = ({ merchant }: Filled, text: string) => merchant.path(`/search?q=${encodeURIComponent(text)}`);
const listPathOf = ({ merchant }: Filled, text: string) =>
  merchant.path(`/invoices?limit=20&cursor=&search=${encodeURIComponent(text)}`);

export async function search(context: Context): Promise<Outcome> {
  const [small, large] = await tables(context);
  const figures: Figure[] = [];
  for (const { kind, text, finds } of TEXTS) {
    for (const table of [small, large]) await assertFinds(table, text, finds);
    figures.push(
      ...(await compared(context, [small, large], { what: `search, ${kind}`, path: (of) => pathOf(of, text) })),
    );
  }
  for (const [kind, text] of [
    ["an order number in another case", ORDER.toLowerCase()],
    ["a word that all names have", "order"],
  ] as const) {
    figures.push(
      ...(await compared(context, [small, large], {
        what: `search of the list, ${kind}`,
        path: (of) => listPathOf(of, text),
      })),
    );
  }
  return { figures: [...figures, indexSize(large)] };
}

async function compared(
  context: Context,
  [small, large]: readonly [Filled, Filled],
  of: { readonly what: string; readonly path: (table: Filled) => string },
): Promise<readonly Figure[]> {
  const targetOf = (table: Filled): Target => {
    const shape = { method: "GET", path: of.path(table), headers: table.merchant.headers } as const;
    return target(`${of.what} at ${table.rows}`, table.product.served, shape);
  };
  const [ours, theirs] = await interleave(context, [targetOf(large), targetOf(small)] as const, {
    ...context.plan,
    connections: 1,
  });
  const what = `${of.what}, ${large.rows.toLocaleString("en")} invoices`;
  const comparison = { what, ours, baseline: `among ${SMALL_ROWS.toLocaleString("en")}`, theirs };
  return [latency({ ...comparison, target: { atMost: 1.5 } }), worst(comparison)];
}

/** Bytes of the word index per invoice, including a share of the words of its customer. */
function indexSize({ range, rows }: Filled): Figure {
  const bytes = range.wordBytes / rows;
  const ratio = bytes / WORD_BYTES_AN_INVOICE;
  return {
    what: `index of words of ${rows.toLocaleString("en")} invoices, bytes an invoice`,
    baseline: `the bound of ${WORD_BYTES_AN_INVOICE}`,
    ratio: { median: ratio, low: ratio, high: ratio },
    target: { atMost: 1 },
    measured: `${bytes.toFixed(0)} bytes, ${(range.wordBytes / 1_048_576).toFixed(0)} MiB in all`,
  };
}

/** Checks, before timing, that the answer has the invoices that the text finds. */
async function assertFinds(table: Filled, text: string, finds: number | undefined): Promise<void> {
  const answer = await table.product.served.fetch(pathOf(table, text), { headers: table.merchant.headers });
  const { invoices }: { invoices?: { id: string }[] } = JSON.parse(await answer.text());
  const isRight = finds === undefined ? (invoices?.length ?? 0) > 0 : invoices?.length === finds;
  if (!isRight)
    throw new Error(`${invoices?.length} invoices were found for ${text} among ${table.rows} (${answer.status})`);
}
