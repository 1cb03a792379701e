// The checkout data for a merchant's own payment page. Texts are unchanged from what the merchant wrote: the page that shows them must strip and
// escape them.
import { imageUrl } from "../../accounts/images/image.ts";
import type { Settings } from "../../accounts/merchants/settings.ts";
import { pairOf } from "../../chains/registry/pair.ts";
import type { InvoiceFile } from "../../commerce/invoice-records/invoice.ts";
import {
  type BodyContext,
  invoiceBodyOf,
  type MethodBody,
  publicInvoiceBody,
} from "../../commerce/invoices/invoice-body.ts";
import type { Payment } from "../../commerce/payments/payment.ts";
import { formatUnits } from "../../lib/money.ts";
import { isoTime } from "../../lib/time.ts";
import { coinName } from "./coins.ts";
import type { Estimates } from "./estimates.ts";
import { methodView, offerOf } from "./method-view.ts";

export function checkoutBodyOf(
  of: {
    readonly file: InvoiceFile;
    readonly merchant: { readonly id: string; readonly name: string; readonly settings: Pick<Settings, "brand"> };
    readonly methods: readonly MethodBody[];
    readonly estimates: Estimates;
    /** Uncredited transfers that can only be meant for this invoice. */
    readonly arrived: readonly Payment[];
    readonly hasSource: (network: string) => boolean;
    /** With a signature; null before payment. */
    readonly redirectUrl: string | null;
  },
  context: BodyContext,
) {
  const { file, merchant, methods, estimates, arrived, hasSource, redirectUrl } = of;
  const { brand } = merchant.settings;
  const logo = brand.logo === null ? null : imageUrl(context.publicUrl, { merchantId: merchant.id, name: brand.logo });
  return {
    ...publicInvoiceBody(invoiceBodyOf(file, context)),
    redirectUrl,
    paymentMethods: methods.map((body) => ({
      ...methodBodyFor(file, body, estimates),
      isWatched: hasSource(body.network),
    })),
    undecided: arrived.map(undecidedBody),
    merchant: { name: brand.name ?? merchant.name, color: brand.color, logo, supportUrl: brand.supportUrl },
    monitorUntil: isoTime(file.invoice.monitorUntilMs),
    now: isoTime(context.nowMs),
  };
}

function undecidedBody(payment: Payment) {
  const { asset } = pairOf(payment);
  return {
    network: payment.network,
    cryptocurrency: asset.code,
    txHash: payment.txHash,
    amount: formatUnits(payment.amountUnits, asset.decimals),
    receivedAt: isoTime(payment.receivedAtMs),
  };
}

/** Adds data from the registry and the settings that our own page shows, so that a merchant's page needs no copy of them. */
function methodBodyFor(file: InvoiceFile, body: MethodBody, estimates: Estimates) {
  const { networkName, standard, isTest, estimate, minutes, fee } = offerOf(body, estimates);
  const shown = body.status === "ACTIVE" ? methodView(file, body) : null;
  return {
    ...body,
    coinName: coinName(body.cryptocurrency),
    networkName,
    standard,
    isTest,
    estimatedAmount: estimate,
    confirmationMinutes: minutes,
    usualFee: fee,
    isAddressShared: shown?.isShared ?? null,
    validUntil: shown === null ? null : isoTime(shown.deadlineMs),
  };
}
