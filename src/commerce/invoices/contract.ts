// The wire format of invoices: requests and responses (Interface 2.2, decisions 4).
import * as z from "zod";
import {
  amountText as amount,
  amountField,
  amountParameter,
  emailField,
  flagParameter,
  metadataField as metadata,
  textField as text,
  time,
  timeParameter,
} from "../../lib/fields.ts";
import { listBody, listQuery, MAX_LIMIT } from "../../lib/pagination.ts";
import { isRedirectUrl } from "../../lib/redirect-url.ts";
import { INVOICE_ORIGINS, INVOICE_STATUSES } from "../../platform/column-values.ts";
import { currencyField as currency } from "../../rates/contract.ts";
import { INVOICE_RESOLUTIONS } from "../invoice-records/resolution.ts";
import { networkParameter, paymentBody, recommendationBody } from "../payments/contract.ts";
import { productBody } from "../products/contract.ts";
import { DEFAULT_CURRENCY } from "./product-terms.ts";

const rawAmount = () =>
  amountField().meta({
    description:
      "Expected amount in `currency`. Its shortest decimal text is rounded half up at the sixth fraction digit; a positive amount that would become 0 is refused. 0 asks for any amount. With `productId` it defaults to the product's price.",
    examples: [49.9],
  });

const redirectUrl = () =>
  z
    .string()
    .max(2_048)
    .refine(isRedirectUrl, "must be an http or https URL without a user name or password")
    .meta({ format: "uri", description: "Where the customer is sent after payment; http or https." });

export const pairBody = () => z.strictObject({ cryptocurrency: text(20), network: text(30) });

const customerFields = () => ({
  customerEmail: emailField().optional(),
  customerName: text(200).optional(),
  customerAddress: text(500, 0).optional(),
  customerPhoneNumber: text(50, 0).optional(),
});

const NEEDED = ["name", "rawAmount"] as const;

/** Interface 2.2 requires both fields; a product supplies an omitted one. */
const isNeededMet = (field: (typeof NEEDED)[number]) => ({
  check: (body: { readonly productId?: string | undefined } & { readonly [K in typeof field]?: unknown }) =>
    body.productId !== undefined || body[field] !== undefined,
  /** Runs even if other fields are invalid, so that all problems are reported at once, but not if this field is. */
  params: {
    path: [field],
    message: "is required without a productId",
    when: ({ value, issues }: z.core.ParsePayload) =>
      typeof value === "object" &&
      value !== null &&
      !Array.isArray(value) &&
      !issues.some(({ path }) => path?.[0] === field),
  },
});
const [neededName, neededAmount] = [isNeededMet("name"), isNeededMet("rawAmount")];

export const createInvoiceBody = () =>
  z
    .strictObject({
      name: text(200)
        .meta({
          description: "Display name. With `productId` it defaults to the product's name.",
          examples: ["Order 1001"],
        })
        .optional(),
      rawAmount: rawAmount().optional(),
      currency: currency().optional().meta({
        default: DEFAULT_CURRENCY,
        description: "Currency code. With `productId` it defaults to the product's currency.",
      }),
      productId: z.string().max(40).optional().meta({
        description: "An active product. The invoice embeds it, and omitted fields default to the product's.",
      }),
      ...customerFields(),
      description: text(1_000, 0).optional(),
      redirectUrl: redirectUrl().optional(),
      metadata: metadata().optional(),
      externalId: text(200).optional(),
      expiresInSeconds: z.int().min(60).max(2_592_000).optional(),
      underpaidTolerancePercent: z.number().min(0).max(10).optional().meta({
        description:
          "A tolerance for this invoice that is lower than the merchant's own; a higher one has no effect. It is rounded down to two fraction digits.",
      }),
      paymentMethods: z.array(pairBody()).max(20).optional(),
    })
    .refine(neededName.check, neededName.params)
    .refine(neededAmount.check, neededAmount.params)
    // The interface requires these fields, because a client without products must send them.
    .meta({ required: [...NEEDED] })
    .transform(({ currency, ...body }) => ({
      ...body,
      currency: currency ?? (body.productId === undefined ? DEFAULT_CURRENCY : undefined),
    }));
type CreateInvoiceBody = z.output<ReturnType<typeof createInvoiceBody>>;

/** Whether a browser's create request has fields that only a server may send, or more than one payment method (decisions 7). */
export function asksMoreThanPublic(body: CreateInvoiceBody): boolean {
  const { externalId, metadata, expiresInSeconds, underpaidTolerancePercent, paymentMethods } = body;
  const ofServers = [externalId, metadata, expiresInSeconds, underpaidTolerancePercent];
  return ofServers.some((each) => each !== undefined) || (paymentMethods?.length ?? 0) > 1;
}

export const updateInvoiceBody = () =>
  z.strictObject({
    name: text(200).optional(),
    ...customerFields(),
    description: text(1_000, 0).nullable().optional(),
    redirectUrl: redirectUrl().nullable().optional(),
    metadata: metadata().optional(),
  });

export const resolveInvoiceBody = () =>
  z.strictObject({
    action: z.enum(INVOICE_RESOLUTIONS),
    reason: text(500),
    txHash: text(100).optional().meta({ description: "With RETURNED: the transaction that sent the money back." }),
  });

const idsParameter = () =>
  z
    .string()
    .min(1)
    .max(4_000)
    .transform((text) => text.split(","))
    // As many as fit on one page.
    .refine((ids) => ids.length <= MAX_LIMIT, `must be at most ${MAX_LIMIT} ids`)
    .meta({ type: "string" });

export const listInvoicesQuery = () =>
  z.object({
    ...listQuery(),
    status: z.enum(INVOICE_STATUSES).optional().meta({ description: "Only invoices in this status." }),
    currency: currency().optional().meta({ description: "Only invoices in this currency." }),
    customerId: z.string().max(40).optional().meta({ description: "Only invoices of this customer." }),
    externalId: z.string().max(200).optional().meta({ description: "Only the invoice with your external id." }),
    ids: idsParameter().optional().meta({ description: "Only these invoices: up to 100 ids, separated by commas." }),
    createdFrom: timeParameter().optional().meta({ description: "Only invoices created at or after this time." }),
    createdTo: timeParameter().optional().meta({ description: "Only invoices created at or before this time." }),
    amountFrom: amountParameter().optional().meta({ description: "Only invoices of this amount or more." }),
    amountTo: amountParameter().optional().meta({ description: "Only invoices of this amount or less." }),
    cryptocurrency: z.string().max(20).optional().meta({ description: "Only invoices paid in this cryptocurrency." }),
    network: networkParameter().optional().meta({ description: "Only invoices paid on this network." }),
    needsReview: flagParameter()
      .optional()
      .meta({ description: "Only invoices that need review, or only those that do not." }),
    search: z.string().min(1).max(320).optional().meta({
      description:
        "Finds invoices as the search does: by words of the name or external id, or by customer, amount, address or transaction. At most 1,000 are found.",
    }),
  });

// ---- responses

export const methodBody = () =>
  z
    .object({
      cryptocurrency: z.string(),
      network: z.string(),
      status: z.enum(["AVAILABLE", "ACTIVE", "UNAVAILABLE"]),
      reason: z.string().nullable(),
      address: z.string().nullable(),
      amount: z.string().nullable().meta({ description: "The amount to send, in whole coins." }),
      amountDue: z.string().nullable().meta({ description: "The amount still due, in whole coins." }),
      rate: z.string().nullable().meta({ description: "Price of one coin in the invoice currency." }),
      rateAt: time().nullable(),
      quotedAt: time().nullable(),
      paymentUri: z.string().nullable(),
      requiredConfirmations: z.int(),
    })
    .meta({ title: "PaymentMethod" });

const invoiceFields = () =>
  z.object({
    id: z.string(),
    merchantId: z.string(),
    customerId: z.string().nullable(),
    productId: z.string().nullable(),
    name: z.string(),
    description: z.string().nullable(),
    redirectUrl: z.string().nullable(),
    rawAmount: amount(),
    endAmount: amount(),
    currency: z.string(),
    status: z.enum(INVOICE_STATUSES),
    expiresAt: time(),
    createdAt: time(),
    updatedAt: time(),
    customer: z
      .object({
        id: z.string(),
        merchantId: z.string(),
        email: z.string().nullable(),
        name: z.string().nullable(),
        address: z.string().nullable(),
        phoneNumber: z.string().nullable(),
        createdAt: time(),
        updatedAt: time(),
      })
      .nullable(),
    product: productBody().nullable(),
    payments: z.array(paymentBody()),
    invoiceTimeline: z.array(
      z.object({ id: z.string(), invoiceId: z.string(), paymentStatus: z.enum(INVOICE_STATUSES), time: time() }),
    ),
    metadata: z.record(z.string(), z.string()).nullable(),
    externalId: z.string().nullable(),
    origin: z.enum(INVOICE_ORIGINS).meta({
      description: "Who created it: your server or a member, a browser with a public key, or a product page.",
    }),
    checkoutUrl: z.string(),
    paymentMethods: z.array(methodBody()),
    amountReceived: amount(),
    amountConfirmed: amount(),
    isLate: z.boolean(),
    needsReview: z.boolean(),
    resolution: z
      .object({ action: z.string(), reason: z.string(), actor: z.string(), at: time(), txHash: z.string().nullable() })
      .nullable(),
    warnings: z.array(z.string()),
    lateGraceUntil: time().nullable().meta({
      description:
        "The end of the time in which a late payment still counts, at the locked price; null if there is none.",
    }),
    monitorUntil: time(),
    recommendation: recommendationBody().optional(),
  });

export const invoiceBody = () => invoiceFields().meta({ title: "Invoice" });

/** The invoice for a browser (decisions 7): the customer and the merchant's notes are null, fields about settlement are absent. */
export const invoiceForPublicKeys = () =>
  invoiceFields()
    .omit({
      amountConfirmed: true,
      isLate: true,
      needsReview: true,
      resolution: true,
      warnings: true,
      lateGraceUntil: true,
      monitorUntil: true,
      recommendation: true,
      origin: true,
    })
    .extend({ customerId: z.null(), customer: z.null(), metadata: z.null(), externalId: z.null() })
    .meta({ title: "PublicInvoice" });

/** The full or the public form, depending on the key's kind. */
export const invoiceForAnyKey = () => z.union([invoiceBody(), invoiceForPublicKeys()]);

export const invoiceListBody = () => listBody(invoiceBody()).meta({ title: "InvoiceList" });
export const methodListBody = () => z.object({ data: z.array(methodBody()) });

// ---- activating a payment method, shared by the routes

export const PICK_ANSWERS = [
  { status: 201, description: "The newly activated payment method", schema: methodBody },
  { status: 200, description: "The payment method, already active", schema: methodBody },
] as const;
export const PICK_REFUSALS = [
  "INVOICE_NOT_FOUND",
  "INVOICE_NOT_PAYABLE",
  "MERCHANT_SUSPENDED",
  "UNSUPPORTED_PAIR",
  "NO_ENABLED_WALLET",
  "WALLET_FROZEN",
  "RATE_UNAVAILABLE",
  "AMOUNTS_EXHAUSTED",
  "ANY_AMOUNT_NEEDS_OWN_ADDRESS",
  "LIMIT_REACHED",
  "PUBLIC_ADDRESS_LIMIT",
  "NETWORK_NOT_WATCHED",
] as const;
