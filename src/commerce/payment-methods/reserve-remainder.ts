// After a credited partial payment to a shared address, the amount still due gets its own unique amount, so that its payment can be matched like the
// first (decisions 5). The old amount stays reserved.

import type { InvoiceStatus } from "../../platform/column-values.ts";
import { faultKind } from "../../platform/db/retry.ts";
import type { Write } from "../../platform/db/statement.ts";
import type { InvoiceFile, PaymentMethod } from "../invoice-records/invoice.ts";
import { putMethod } from "../invoice-records/store.ts";
import { selectSharing } from "../ranks/store.ts";
import { isActive } from "../settlement/status.ts";
import { usedBy } from "../settlement/weighing.ts";
import { withRemainder } from "./payment-method.ts";
import type { AmountDependencies } from "./reserve-amount.ts";
import { reserveRest } from "./reserve-rest.ts";
import { lacksRest, restUnits } from "./rest.ts";

interface Remainders {
  readonly methods: readonly PaymentMethod[];
  readonly statements: readonly Write[];
}

/** The invoice's state after the change in whose batch the amounts are reserved. */
interface After {
  readonly status: InvoiceStatus;
  readonly receivedMicros: bigint;
}

type Paid = Pick<InvoiceFile, "invoice" | "methods" | "payments">;

/**
 * The changed methods of direct wallets. Empty if the status and the sum received are unchanged and every method already has its amount for the rest.
 */
export async function reserveRemainders(deps: AmountDependencies, file: Paid, after: After): Promise<Remainders> {
  const { invoice, payments } = file;
  const isUsed = usedBy(payments);
  const changed: PaymentMethod[] = [];
  const statements: Write[] = [];
  for (const { method, dueUnits } of restsOf(file, after)) {
    const reserved = dueUnits === null ? undefined : await reserve(deps, invoice, method, dueUnits);
    const remainderUnits = reserved?.units ?? null;
    if (remainderUnits === method.remainderUnits) continue;
    const forMicros = invoice.amountMicros - after.receivedMicros;
    const renewed = withRemainder(method, { remainderUnits, forMicros, nowMs: deps.nowMs, isUsed });
    changed.push(renewed);
    statements.push(...(reserved?.statements ?? []), putMethod(deps.db, renewed));
  }
  return { methods: changed, statements };
}

/** Whether `reserveRemainders` will have to reserve an amount, which requires reads. */
export function needsAmount(file: Paid, after: After): boolean {
  return restsOf(file, after).some(({ dueUnits }) => dueUnits !== null);
}

/** The methods of direct wallets for which the rest may change, and the amount to reserve; null if none is needed. */
function restsOf({ invoice, methods }: Paid, after: After) {
  const isSame = after.receivedMicros === invoice.receivedMicros && after.status === invoice.status;
  const direct = methods.filter(
    (each) => each.walletType === "DIRECT_WALLET" && each.status === "ACTIVE" && (!isSame || lacksRest(invoice, each)),
  );
  const isOpen = mayBeAdded(after.status);
  return direct.map((method) => ({
    method,
    dueUnits: isOpen ? restUnits(method, invoice, after.receivedMicros) : null,
  }));
}

/** Also true for an UNDERPAID invoice: if late money is accepted, the page still asks for the rest. */
function mayBeAdded(status: InvoiceStatus): boolean {
  return isActive(status) || status === "UNDERPAID";
}

async function reserve(
  deps: AmountDependencies,
  invoice: InvoiceFile["invoice"],
  method: PaymentMethod,
  dueUnits: bigint,
) {
  const { address, network } = method;
  const { merchantId } = invoice;
  if (address === null) throw new Error(`an active method has no address: ${invoice.id}`);
  const [sharing] = await selectSharing(deps.db, { network, address, merchantId });
  if (sharing === undefined) throw new Error("a rank has one row");
  try {
    const reserved = await reserveRest(deps, { invoice, method: { ...method, address }, dueUnits, sharing });
    return reserved.ok ? reserved.value : undefined;
  } catch (error) {
    // The payment is credited even if no amount for the rest can be reserved; the next read of the invoice tries again.
    if (faultKind(error) === "other") throw error;
    return undefined;
  }
}
