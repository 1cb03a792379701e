// Recomputes reports from the tables of invoices, timelines, methods and payments, and compares the stored buckets with the result. It shares no code
// with the service: the rules of decisions 13 are written a second time.

export type RecountRow = Readonly<Record<string, string | number | null>>;

/** The rows of each table that a recount reads. */
export const RECOUNT_SQL = {
  invoices: "select id, merchant_id, currency, status, resolution, created_at_ms from invoices",
  timeline: "select invoice_id, payment_status, time_ms from timeline_items order by invoice_id, position",
  methods: "select invoice_id, activated_at_ms from payment_methods where activated_at_ms is not null",
  payments: `select invoice_id, network, cryptocurrency, amount_units, fiat_micros, received_at_ms from payments
    where invoice_id is not null and status in ('DETECTED', 'CONFIRMED')`,
  buckets: "select * from report_buckets",
} as const;

export type RecountTables = Readonly<Record<keyof typeof RECOUNT_SQL, readonly RecountRow[]>>;

export function recountTables(rows: (sql: string) => readonly RecountRow[]): RecountTables {
  const { invoices, timeline, methods, payments, buckets } = RECOUNT_SQL;
  return {
    invoices: rows(invoices),
    timeline: rows(timeline),
    methods: rows(methods),
    payments: rows(payments),
    buckets: rows(buckets),
  };
}

/** Values by merchant, time, currency, coin and the measure's name; zeros are left out. */
export type Counted = Map<string, bigint>;

const QUARTER_MS = 900_000;
const TEN_DIGITS = 10n ** 10n;
const COUNTS = ["created", "paid", "overpaid", "underpaid", "expired", "cancelled", "timed", "payments", "unpriced"];
const PAID: readonly unknown[] = ["PAID", "OVERPAID"];

/**
 * How the buckets differ from a recount; undefined if they do not. `isCreated`: whether the service created an invoice. An invoice that a test
 * inserted is not counted as created.
 */
export function recountProblem(
  tables: RecountTables,
  isCreated: (invoiceId: string) => boolean = () => true,
): string | undefined {
  const recounted = recountOf(tables, (ms) => Math.floor(ms / QUARTER_MS) * QUARTER_MS, isCreated);
  return differenceOf(storedIn(tables), recounted);
}

export function differenceOf(stored: Counted, recounted: Counted): string | undefined {
  for (const key of new Set([...stored.keys(), ...recounted.keys()])) {
    const [has, should] = [stored.get(key) ?? 0n, recounted.get(key) ?? 0n];
    if (has !== should) return `${key} is ${has}, and a recount gives ${should}`;
  }
  return undefined;
}

function storedIn({ buckets }: RecountTables): Counted {
  const counted: Counted = new Map();
  for (const row of buckets) {
    const of = (column: string) => BigInt(row[column] ?? 0);
    const place = [row.merchant_id, row.starts_at_ms, row.currency, row.network, row.cryptocurrency].join(" ");
    for (const name of [...COUNTS, "seconds_to_paid"]) add(counted, `${place} ${name}`, of(name));
    add(counted, `${place} units`, (of("units_high") * TEN_DIGITS + of("units_mid")) * TEN_DIGITS + of("units_low"));
    add(counted, `${place} fiat`, of("fiat_high") * TEN_DIGITS + of("fiat_low"));
  }
  return counted;
}

/** All counts from the tables. `timeOf` maps each time to the time under which it is counted. */
export function recountOf(
  tables: RecountTables,
  timeOf: (ms: number) => number | string,
  isCreated: (invoiceId: string) => boolean = () => true,
): Counted {
  const counted: Counted = new Map();
  const [timelines, methods] = [tables.timeline, tables.methods].map((rows) =>
    Map.groupBy(rows, (row) => row.invoice_id),
  );
  const currencies = new Map<unknown, RecountRow>();
  const count = (invoice: RecountRow, atMs: unknown, of: string, by = 1n, coin = " ") => {
    const place = [invoice.merchant_id, timeOf(Number(atMs)), invoice.currency].join(" ");
    add(counted, `${place} ${coin} ${of}`, by);
  };
  for (const invoice of tables.invoices) {
    currencies.set(invoice.id, invoice);
    if (isCreated(String(invoice.id))) count(invoice, invoice.created_at_ms, "created");
    const items = timelines?.get(invoice.id) ?? [];
    const status = String(invoice.status).toLowerCase();
    if (COUNTS.includes(status)) count(invoice, items.at(-1)?.time_ms, status);
    const picks = (methods?.get(invoice.id) ?? []).map(({ activated_at_ms }) => Number(activated_at_ms));
    const isByHand = /"action":"ACCEPT"|"wasAccepted":true/.test(String(invoice.resolution));
    if (!PAID.includes(invoice.status) || picks.length === 0 || isByHand) continue;
    const unpaid = items.map(({ payment_status }) => !PAID.includes(payment_status)).lastIndexOf(true);
    const paidAtMs = Number(items[unpaid + 1]?.time_ms);
    count(invoice, paidAtMs, "timed");
    const seconds = Math.max(0, Math.floor((paidAtMs - Math.min(...picks)) / 1_000));
    count(invoice, paidAtMs, "seconds_to_paid", BigInt(seconds));
  }
  for (const paid of tables.payments) {
    const invoice = currencies.get(paid.invoice_id);
    if (invoice === undefined) throw new Error(`a payment of no invoice: ${paid.invoice_id}`);
    const coin = `${paid.network} ${paid.cryptocurrency}`;
    count(invoice, paid.received_at_ms, "payments", 1n, coin);
    count(invoice, paid.received_at_ms, "units", BigInt(paid.amount_units ?? 0), coin);
    if (paid.fiat_micros === null) count(invoice, paid.received_at_ms, "unpriced", 1n, coin);
    else count(invoice, paid.received_at_ms, "fiat", BigInt(paid.fiat_micros ?? 0), coin);
  }
  return counted;
}

export function add(counted: Counted, key: string, by: bigint): void {
  const sum = (counted.get(key) ?? 0n) + by;
  if (sum === 0n) counted.delete(key);
  else counted.set(key, sum);
}
