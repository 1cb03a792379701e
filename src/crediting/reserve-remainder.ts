// After a credited partial payment to a shared address, what is still due gets an amount of its own, so that the rest is told apart like the
// first part was (decisions 5); the old amount stays reserved.
import type { BatchItem } from "drizzle-orm/batch";
import type { Invoice, InvoiceFile, PaymentMethod } from "../invoices/invoice.ts";
import { pairOf } from "../invoices/payment-method.ts";
import { type AmountEffects, reserveAmount } from "../invoices/reserve-amount.ts";
import { type InvoiceStatus, isActive } from "../invoices/status.ts";
import { putMethod } from "../invoices/store.ts";
import { amountDueUnits } from "../invoices/value.ts";
import { roundUpTo } from "../lib/money.ts";
import { selectHeldAmounts } from "../reservations/store.ts";

export interface Remainders {
  readonly methods: readonly PaymentMethod[];
  readonly statements: readonly BatchItem<"sqlite">[];
  /** Numbers of the new amounts, for the next try after a collision. */
  readonly tried: readonly number[];
}

/** The invoice's state after the change that the remainders are a part of. */
export interface After {
  readonly status: InvoiceStatus;
  readonly receivedMicros: bigint;
}

/** Of nobody else's amounts anything is known here: they are looked up. */
const NOTHING_KNOWN = { takenSalts: [], maxSalt: null, isPriceTaken: true, ownHeld: null } as const;

/** What changes of the direct methods; nothing where the sum received is as it was. */
export async function reserveRemainders(
  fx: AmountEffects,
  { invoice, methods }: Pick<InvoiceFile, "invoice" | "methods">,
  after: After,
  of: { readonly operationId: string; readonly lostSalts: readonly number[] },
): Promise<Remainders> {
  const isSame = after.receivedMicros === invoice.receivedMicros && after.status === invoice.status;
  const direct = isSame
    ? []
    : methods.filter((each) => each.walletType === "DIRECT_WALLET" && each.status === "ACTIVE");
  const changed: PaymentMethod[] = [];
  const statements: BatchItem<"sqlite">[] = [];
  const tried: number[] = [];
  for (const method of direct) {
    const due = isActive(after.status) ? dueUnits(method, invoice, after.receivedMicros) : null;
    const reserved = due === null ? undefined : await reserve(fx, invoice, method, { dueUnits: due, ...of });
    const remainderUnits = reserved?.units ?? null;
    if (reserved?.salt !== undefined) tried.push(reserved.salt);
    if (remainderUnits === method.remainderUnits) continue;
    const renewed = { ...method, remainderUnits };
    changed.push(renewed);
    statements.push(...(reserved?.statements ?? []), putMethod(fx.db, renewed));
  }
  return { methods: changed, statements, tried };
}

/** Null where nothing was received, or enough. */
function dueUnits(method: PaymentMethod, invoice: Invoice, receivedMicros: bigint): bigint | null {
  const { amountMicros: expectedMicros, underpaidToleranceMicros } = invoice;
  if (receivedMicros === 0n || receivedMicros >= expectedMicros - underpaidToleranceMicros) return null;
  const due = amountDueUnits({ amountUnits: method.amountUnits, expectedMicros, receivedMicros });
  return due === null || due === 0n ? null : roundUpTo(due, pairOf(method).asset.grainUnits);
}

async function reserve(
  fx: AmountEffects,
  invoice: InvoiceFile["invoice"],
  { network, cryptocurrency, address, walletId }: PaymentMethod,
  of: { readonly dueUnits: bigint; readonly operationId: string; readonly lostSalts: readonly number[] },
) {
  if (address === null) throw new Error(`an active method without an address: ${invoice.id}`);
  const at = { network, cryptocurrency, address };
  const held = (await selectHeldAmounts(fx.db, invoice.id)).filter(
    (each) => each.network === network && each.cryptocurrency === cryptocurrency && each.address === address,
  );
  const { operationId, lostSalts } = of;
  const taken = NOTHING_KNOWN;
  return reserveAmount(fx, { invoice, walletId, operationId, at, priceUnits: of.dueUnits, taken, held, lostSalts });
}
