// One order in which the facts of a history are read: when each block is read and which blocks are read together, what is read again, who opens the
// invoices meanwhile, when the sweep runs, and where a watcher crashes. In every schedule facts are written at their own times.
import { Dice } from "../../support/dice.ts";
import type { AsOfTill, Sighting } from "./as-of-adapter.ts";
import {
  DAY,
  type History,
  HOUR,
  type InvoiceFact,
  isAhead,
  MINUTE,
  SECOND,
  START_MS,
  type TransferFact,
} from "./as-of-facts.ts";
import { asKnownAt, quotesOf } from "./as-of-oracle.ts";

/** `readMs`: the time up to which the network has been read. */
type Step =
  | { readonly kind: "open" | "cancel"; readonly atMs: number; readonly invoice: InvoiceFact }
  | { readonly kind: "view"; readonly atMs: number; readonly readMs: number; readonly invoice: InvoiceFact }
  | { readonly kind: "ask"; readonly atMs: number; readonly invoice: InvoiceFact; readonly n: number }
  | {
      readonly kind: "look";
      readonly atMs: number;
      readonly sightings: readonly Sighting[];
      readonly dieAt: number | undefined;
    }
  | { readonly kind: "gone"; readonly atMs: number; readonly transfer: TransferFact }
  | { readonly kind: "sweep"; readonly atMs: number; readonly readMs: number };

export type Schedule = readonly Step[];

/** The n-th schedule of a history. The first one reads everything as soon as it exists, and nothing twice. */
export function scheduleOf(history: History, n: number): Schedule {
  const plan = new Plan(history, new Dice(history.seed * 1_000 + n), n === 0);
  return plan.steps();
}

/** The interleaving as text; equal interleavings have equal texts. */
export function orderOf(schedule: Schedule): string {
  return schedule.map(nameOf).join(" ");
}

export function printSchedule(schedule: Schedule): string {
  return schedule.map((step) => `  +${(step.atMs - START_MS) / SECOND}s ${nameOf(step)}`).join("\n");
}

function nameOf(step: Step): string {
  switch (step.kind) {
    case "open":
    case "cancel":
    case "view":
      return `${step.kind}:${step.invoice.id.slice(-2)}`;
    case "ask":
      return `ask:${step.invoice.id.slice(-2)}:${step.n}`;
    case "look": {
      const seen = step.sightings.map(({ transfer, block }) => `${transfer.txHash}@${block?.hash ?? "mempool"}`);
      return `look:${seen.join("+")}${step.dieAt === undefined ? "" : `:dies${step.dieAt}`}`;
    }
    case "gone":
      return `gone:${step.transfer.txHash}`;
    case "sweep":
      return "sweep";
  }
}

export async function runSchedule(till: AsOfTill, history: History, schedule: Schedule): Promise<void> {
  const { kind } = history;
  for (const step of schedule) {
    switch (step.kind) {
      case "open":
        await till.openInvoice(kind, step.invoice);
        break;
      case "ask": {
        const asked = step.invoice.asked[step.n];
        if (asked === undefined) break;
        if (history.isAskedByReaders) await till.requote(kind, step.invoice, asked);
        else await till.addQuote(kind, step.invoice, asked);
        break;
      }
      case "cancel":
        await till.cancel(step.invoice, step.atMs);
        break;
      case "view":
        till.readTo(kind, step);
        await till.view(step.invoice, step.atMs);
        break;
      case "look":
        await till.look(kind, step);
        break;
      case "gone":
        await till.gone(kind, { atMs: step.atMs, txHash: step.transfer.txHash });
        break;
      case "sweep":
        till.readTo(kind, step);
        await till.sweep(step.atMs);
        break;
    }
  }
}

/** How far the network may lag when an invoice is opened. */
const LAGS = [SECOND, MINUTE, MINUTE, HOUR, 7 * HOUR, 3 * DAY];

/** If a fact and a read have the same time, the fact comes first. */
const FACT = 0;
const READ = 1;

class Plan {
  readonly #history: History;
  readonly #dice: Dice;
  readonly #isPlain: boolean;
  readonly #facts: readonly number[];
  readonly #steps: { readonly rank: number; readonly draw: number; readonly step: Step }[] = [];
  readonly #sightings: { readonly atMs: number; readonly sighting: Sighting }[] = [];

  constructor(history: History, dice: Dice, isPlain: boolean) {
    this.#history = history;
    this.#dice = dice;
    this.#isPlain = isPlain;
    this.#facts = history.invoices.flatMap(({ asked, expiresAtMs, cancelledAtMs }) => [
      ...asked.map(({ atMs }) => atMs),
      expiresAtMs + 1,
      ...(cancelledAtMs === null ? [] : [cancelledAtMs]),
    ]);
  }

  steps(): Schedule {
    for (const invoice of this.#history.invoices) this.#happen(invoice);
    for (const transfer of this.#history.transfers) this.#read(transfer);
    for (const look of this.#looks()) this.#add(READ, look);
    if (!this.#isPlain) this.#disturb();
    const endMs = this.#history.endMs + 1;
    this.#add(READ + 1, { kind: "sweep", atMs: endMs, readMs: endMs });
    return this.#steps
      .toSorted((a, b) => a.step.atMs - b.step.atMs || a.rank - b.rank || a.draw - b.draw)
      .map(({ step }) => step);
  }

  #happen(invoice: InvoiceFact): void {
    this.#add(FACT, { kind: "open", atMs: invoice.openedMs, invoice });
    for (const [n, { atMs }] of invoice.asked.entries()) {
      if (n > 0) this.#add(FACT, { kind: "ask", atMs, invoice, n });
    }
    if (invoice.cancelledAtMs !== null) this.#add(FACT, { kind: "cancel", atMs: invoice.cancelledAtMs, invoice });
  }

  /**
   * A history states that a transfer was seen in a mempool, and that an orphaned block was seen while it was on the chain. The schedule decides when
   * that happens.
   */
  #read(transfer: TransferFact): void {
    const { pendingMs, blocks, readFromMs } = transfer;
    const endMs = this.#history.endMs;
    if (pendingMs !== null) this.#observation(pendingMs, { transfer, block: null });
    for (const [n, block] of blocks.entries()) {
      const isFirst = n === 0 && pendingMs === null;
      const fromMs = Math.max(block.visibleMs, readFromMs);
      const byMs = isFirst ? (transfer.readByMs ?? endMs) : endMs;
      const untilMs = block.goneMs === null ? byMs : Math.min(byMs, block.goneMs - 1);
      const atMs = isAhead(block) ? block.visibleMs : this.#momentIn(fromMs, untilMs);
      this.#observation(atMs, { transfer, block });
      if (this.#dice.chance(0.1)) this.#observation(this.#momentIn(atMs, untilMs), { transfer, block });
      const next = blocks[n + 1];
      if (block.goneMs !== null && (next === undefined || this.#dice.chance(0.5))) {
        // The watcher sees that the block left the chain long before the end, because the invoice then waits for a reorg window.
        const goneByMs = next === undefined ? endMs - DAY : next.visibleMs - 1;
        this.#add(READ, { kind: "gone", atMs: this.#momentIn(block.goneMs, goneByMs), transfer });
      }
    }
    const last = blocks.at(-1) ?? null;
    if (last === null || (last.goneMs === null && this.#dice.chance(0.08)))
      this.#observation(endMs, { transfer, block: last });
  }

  #momentIn(fromMs: number, untilMs: number): number {
    const dice = this.#dice;
    if (this.#isPlain) return fromMs;
    const edges = [...this.#facts, ...this.#sightings.map(({ atMs }) => atMs)];
    const moments = edges.flatMap((atMs) => [atMs - 1, atMs]).filter((atMs) => fromMs <= atMs && atMs <= untilMs);
    if (moments.length > 0 && dice.chance(0.6)) return dice.oneOf(moments);
    return dice.oneOf([fromMs, untilMs, dice.between(fromMs, untilMs)]);
  }

  #observation(atMs: number, sighting: Sighting): void {
    this.#sightings.push({ atMs, sighting });
  }

  /** Transfers that are seen at the same time are one observation or several. All transfers of an observation have the same market price. */
  #looks(): readonly Extract<Step, { kind: "look" }>[] {
    const dice = this.#dice;
    const looks: { readonly atMs: number; readonly sightings: Sighting[] }[] = [];
    for (const { atMs, sighting } of dice.shuffled(this.#sightings)) {
      const { txHash, sightRate } = sighting.transfer;
      const other = looks.find(
        (look) =>
          look.atMs === atMs &&
          look.sightings.every(({ transfer }) => transfer.sightRate === sightRate && transfer.txHash !== txHash),
      );
      if (other !== undefined && dice.chance(0.7)) other.sightings.push(sighting);
      else looks.push({ atMs, sightings: [sighting] });
    }
    return looks.map((look) => {
      const isDying = !this.#isPlain && dice.chance(0.08);
      return { kind: "look", ...look, dieAt: isDying ? dice.between(1, 4) : undefined };
    });
  }

  /** The sweep runs, and readers open invoices during a lock or at the end. They settle what they find, and the service makes no new quote. */
  #disturb(): void {
    const dice = this.#dice;
    const { invoices, endMs } = this.#history;
    const lastMs = Math.max(...this.#facts) + 60 * SECOND;
    const lagged = (atMs: number) => ({ atMs, readMs: atMs - dice.oneOf(LAGS) });
    if (dice.chance(0.25))
      this.#add(READ, { kind: "sweep", ...lagged(this.#momentIn(START_MS, dice.oneOf([lastMs, endMs]))) });
    if (!dice.chance(0.3)) return;
    const { id, openedMs } = dice.oneOf(invoices);
    const atMs = this.#momentIn(openedMs, lastMs);
    const invoice = asKnownAt(this.#history, atMs).invoices.find((each) => each.id === id);
    if (invoice === undefined) return;
    const isLocked = (quotesOf(invoice).at(-1)?.endMs ?? 0) >= atMs;
    if (isLocked || atMs > invoice.expiresAtMs) this.#add(READ, { kind: "view", ...lagged(atMs), invoice });
  }

  #add(rank: number, step: Step): void {
    this.#steps.push({ rank, draw: this.#dice.random(), step });
  }
}
