// Counts how often each situation occurred over all histories and schedules: one that never occurred was not tested.
import { DAY, type History, type InvoiceFact, isAhead, MINUTE, type TransferFact } from "./as-of-facts.ts";
import { type Expected, type ExpectedTransfer, paymentTimeMs, quotesOf } from "./as-of-oracle.ts";
import type { Schedule } from "./as-of-schedule.ts";

export class Tally {
  readonly #hits = new Map<string, number>();

  get hits(): ReadonlyMap<string, number> {
    return this.#hits;
  }

  history({ kind, isAskedByReaders, invoices, transfers }: History, expected: Expected): void {
    this.#hit(`history: ${kind}, ${isAskedByReaders ? "asked by readers" : "quotes written"}`);
    for (const invoice of invoices) {
      this.#requotes(invoice);
      this.#hit(`ended: ${expected.invoices.get(invoice.id)?.status}`);
    }
    for (const transfer of transfers) {
      const of = expected.transfers.get(transfer.txHash);
      if (of !== undefined) this.#transfer(transfer, of, invoices);
    }
  }

  schedule({ invoices }: History, expected: Expected, schedule: Schedule): void {
    const read = new Map<string, number>();
    for (const step of schedule) {
      if (step.kind === "view") this.#hit("schedule: read by somebody");
      const readMs = "readMs" in step ? step.readMs : step.atMs;
      if (step.atMs - readMs > DAY) this.#hit("schedule: looked at days after its network was read");
      if (invoices.some(({ expiresAtMs }) => readMs <= expiresAtMs && expiresAtMs < step.atMs))
        this.#hit("schedule: over, and its network not read to the end");
      if (step.kind !== "look") continue;
      if (step.dieAt !== undefined) this.#hit("schedule: a watcher dies");
      if (step.sightings.length > 1) this.#hit("schedule: several in one look");
      for (const { transfer } of step.sightings) {
        if (read.has(transfer.txHash)) this.#hit("schedule: read again");
        else read.set(transfer.txHash, step.atMs);
      }
    }
    for (const [txHash, atMs] of read) {
      const of = expected.transfers.get(txHash);
      const between = (ms: number | null) => of !== undefined && ms !== null && of.timeMs < ms && ms <= atMs;
      if (invoices.some(({ id, asked }) => id === of?.invoiceId && asked.some((each) => between(each.atMs)))) {
        this.#hit("schedule: read after its invoice was quoted anew");
      }
      if (invoices.some(({ cancelledAtMs }) => between(cancelledAtMs)))
        this.#hit("schedule: read after a cancellation");
      if (invoices.some(({ expiresAtMs }) => between(expiresAtMs))) this.#hit("schedule: read after an expiry");
    }
  }

  #requotes(invoice: InvoiceFact): void {
    const quotes = quotesOf(invoice);
    if (quotes.length < invoice.asked.length) this.#hit("asked: the same units, lengthened");
    for (const [n, quote] of quotes.entries()) {
      const before = quotes[n - 1];
      if (before === undefined) continue;
      if (quote.forMicros !== before.forMicros) this.#hit("asked: a rest");
      else this.#hit(quote.units === before.units ? "asked: the same units, a new quote" : "asked: at another price");
    }
    if (invoice.cancelledAtMs !== null) this.#hit("cancelled");
  }

  #transfer(transfer: TransferFact, of: ExpectedTransfer, invoices: readonly InvoiceFact[]): void {
    const { rule, weight, timeMs, isLate } = of;
    this.#hit(`rule: ${rule}`);
    if (weight !== null) this.#hit(`weighed: ${weight.by}`);
    if (transfer.sightRate === null)
      this.#hit(weight?.by === "market" ? "paid: with nothing to price it" : "paid: no rate, none needed");
    if (isLate) this.#hit("paid: late");
    for (const block of transfer.blocks) {
      if (isAhead(block)) this.#hit("clock: a block ahead of its time");
      if (isAhead(block) && invoices.some((each) => timeMs <= each.expiresAtMs && each.expiresAtMs < block.timeMs))
        this.#hit("clock: paid in time in a block that says late");
      if (invoices.some((each) => each.id === of.invoiceId && block.timeMs < each.openedMs - 20 * MINUTE))
        this.#hit("clock: a new address paid in a block older than its invoice");
    }
    const invoice = invoices.find(({ id }) => id === of.invoiceId);
    if (invoice !== undefined) this.#credited(transfer, of, invoice);
    if (invoice?.rank === 2 && invoices.some(({ rank }) => rank === 3)) this.#hit(`paid: by rank, ${rule}`);
    const holds = (each: InvoiceFact) => each.asked.some(({ units }) => units === transfer.units);
    if (rule === "unmatched" && [2, 3].every((wanted) => invoices.some((each) => each.rank === wanted && holds(each))))
      this.#hit("paid: an amount that two ranks hold, to nobody");
    const lastBlock = transfer.blocks.at(-1);
    if (transfer.blocks.length > 1) this.#hit("chain: mined again");
    if (lastBlock !== undefined && lastBlock.goneMs !== null) this.#hit("chain: orphaned for good");
    if (lastBlock !== undefined && transfer.blocks.length > 1 && timeMs < lastBlock.timeMs)
      this.#hit("chain: mined again, in a later block");
    if (transfer.pendingMs !== null) this.#hit("chain: seen in a mempool");
    if (transfer.pendingMs !== null && transfer.blocks.length > 0 && timeMs < transfer.pendingMs) {
      this.#hit("chain: in a block older than its first sight");
    }
  }

  #credited(transfer: TransferFact, { weight }: ExpectedTransfer, invoice: InvoiceFact): void {
    const timeMs = paymentTimeMs(transfer);
    if (invoice.cancelledAtMs !== null) this.#hit("paid: a cancelled invoice");
    if (timeMs > invoice.expiresAtMs && invoice.latePaymentPolicy === "ACCEPT")
      this.#hit("paid: late where that is accepted");
    const valid = quotesOf(invoice).find((quote) => quote.askedFromMs <= timeMs && timeMs <= quote.endMs);
    if (weight?.by === "exact ended" && valid !== undefined) this.#hit("paid: an old amount while a new one stands");
    if (weight?.by === "market" && timeMs <= invoice.expiresAtMs) this.#hit("paid: on time when nobody had looked");
    if (weight?.quote != null && weight.quote.forMicros < invoice.expectedMicros) this.#hit("paid: a rest");
  }

  #hit(name: string): void {
    this.#hits.set(name, (this.#hits.get(name) ?? 0) + 1);
  }
}
