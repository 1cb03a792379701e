// Payment methods as a payer sees them: those to choose from, and the chosen one with its address.

import { isSamePair, type Pair, pairKey, pairOf } from "../../chains/registry/pair.ts";
import type { InvoiceFile } from "../../commerce/invoice-records/invoice.ts";
import type { MethodBody } from "../../commerce/invoices/invoice-body.ts";
import { parseUnits } from "../../lib/money.ts";
import { coinName, tokenStandard } from "./coins.ts";
import type { Estimates } from "./estimates.ts";
import type { EvmTransfer } from "./evm-transfer.ts";
import { evmTransfer } from "./evm-transfer.ts";
import { type UsualFee, usualFee } from "./usual-fee.ts";

/** The active method that the URL asks for, else the one that received money, else the newest. */
export function chosenMethod(
  { methods, payments }: InvoiceFile,
  active: readonly MethodBody[],
  asked: string | undefined,
): MethodBody | undefined {
  const named = active.find((method) => pairKey(method) === asked);
  if (named !== undefined) return named;
  const paid = payments.findLast(({ status }) => status === "DETECTED" || status === "CONFIRMED");
  const byMoney = active.find((method) => paid !== undefined && isSamePair(method, paid));
  if (byMoney !== undefined) return byMoney;
  const [newest] = methods
    .toSorted((a, b) => (b.activatedAtMs ?? 0) - (a.activatedAtMs ?? 0))
    .flatMap((row) => active.filter((method) => isSamePair(method, row)));
  return newest;
}

/** `body` with everything a payer needs to send money; null if its address may not be shown. */
export function methodView(file: InvoiceFile, body: MethodBody): MethodView | null {
  const { network, asset } = pairOf(body);
  const row = file.methods.find((method) => isSamePair(method, body));
  if (body.address === null || body.paymentUri === null || row === undefined) return null;
  const { invoice } = file;
  const lockedUntilMs = row.lockedUntilMs ?? invoice.expiresAtMs;
  const isRequoted = lockedUntilMs < invoice.expiresAtMs;
  const due = body.amountDue === null ? undefined : parseUnits(body.amountDue, asset.decimals);
  // No transfer is prepared if nothing is due or any amount may be sent.
  const amountUnits = due?.ok ? due.value : 0n;
  return {
    ...wayOf(body),
    code: asset.code,
    coin: coinName(asset.code),
    address: body.address,
    isShared: row.walletType === "DIRECT_WALLET",
    amount: body.amountDue,
    uri: body.paymentUri,
    rate: body.rate,
    deadlineMs: isRequoted ? lockedUntilMs : invoice.expiresAtMs,
    atDeadline: isRequoted ? "requote" : "expire",
    requiredConfirmations: body.requiredConfirmations,
    minutes: minutesOf(body),
    transfer: amountUnits === 0n ? null : evmTransfer({ network, asset, address: body.address, amountUnits }),
  };
}

/** Coins sorted by code, each with its networks sorted by name. */
export function choicesOf(methods: readonly MethodBody[], estimates: Estimates): readonly Choice[] {
  const codes = [...new Set(methods.map(({ cryptocurrency }) => cryptocurrency))].toSorted();
  return codes.map((code) => ({
    code,
    name: coinName(code),
    ways: methods
      .filter(({ cryptocurrency }) => cryptocurrency === code)
      .map((body) => offerOf(body, estimates))
      .toSorted((a, b) => (a.networkName < b.networkName ? -1 : 1)),
  }));
}

/** A method with its price and the time that a payment takes, as far as they are known. */
export function offerOf(body: MethodBody, estimates: Estimates): Offer {
  const way = wayOf(body);
  return {
    ...way,
    amount: body.status === "ACTIVE" ? body.amountDue : null,
    estimate: body.status === "AVAILABLE" ? (estimates.get(way.key) ?? null) : null,
    minutes: minutesOf(body),
    fee: usualFee(body),
  };
}

function minutesOf(body: MethodBody): number {
  return Math.max(1, Math.ceil((pairOf(body).network.blockSeconds * body.requiredConfirmations) / 60));
}

/** A payment method in the words that payers know. */
function wayOf(pair: Pair): Way {
  const { network, asset } = pairOf(pair);
  return {
    key: pairKey({ cryptocurrency: asset.code, network: network.name }),
    network: network.name,
    networkName: network.displayName,
    standard: asset.contract === null ? null : (tokenStandard(network.name) ?? null),
    isTest: network.isTest,
  };
}

/** A coin with the networks on which it can be paid. */
export interface Choice {
  readonly code: string;
  readonly name: string;
  readonly ways: readonly Offer[];
}

export interface Way {
  /** The value that the form sends, e.g. `USDT_TRX`. */
  readonly key: string;
  readonly network: string;
  /** Display name, e.g. `TRON`. */
  readonly networkName: string;
  /** E.g. `TRC-20`; null for a native coin, or if there is no such name. */
  readonly standard: string | null;
  readonly isTest: boolean;
}

export interface Offer extends Way {
  /** The amount due if the method is already chosen, exact decimal text. */
  readonly amount: string | null;
  /** The approximate amount due if the method were chosen now. */
  readonly estimate: string | null;
  /** Approximate minutes until a payment is confirmed, at least 1. */
  readonly minutes: number;
  /** Null if it is not known. */
  readonly fee: UsualFee | null;
}

export interface MethodView extends Way {
  readonly code: string;
  readonly coin: string;
  readonly address: string;
  /** Whether other invoices are paid to the same address, so that only the amount identifies a payment for this invoice. */
  readonly isShared: boolean;
  /** The amount still due, exact decimal text; null if any amount may be sent. */
  readonly amount: string | null;
  readonly uri: string;
  /** Price of one coin in the invoice's currency, decimal text; null if no rate was needed. */
  readonly rate: string | null;
  /** When the amount stops being valid, and what happens then. */
  readonly deadlineMs: number;
  readonly atDeadline: "requote" | "expire";
  readonly requiredConfirmations: number;
  /** Approximate minutes until a payment is confirmed, at least 1. */
  readonly minutes: number;
  /** The transfer for a browser wallet; null on networks that are not EVM, if nothing is due, and if any amount may be sent. */
  readonly transfer: EvmTransfer | null;
}
