// Views for payers' pages without a shop: one per stage, for an order of 49.90 EUR paid in USDT on TRON.
import { keysOf } from "../../scripts/keys-of.ts";
import type { Chrome } from "../../src/checkout/pay/chrome.ts";
import type { Choice, MethodView, Offer } from "../../src/checkout/pay/method-view.ts";
import type { CheckoutView, PaymentView, Stage } from "../../src/checkout/pay/view.ts";
import type { Language } from "../../src/platform/texts/languages.ts";
import { textsOf } from "../../src/platform/texts/texts.ts";

export const NOW = Date.UTC(2026, 9, 2, 10);
const INVOICE_ID = "inv_01JAB2C3D4E5F6G7H8J9KMNPQR";

/** Each stage once; a missing one is a compile error. */
export const STAGES: readonly Stage[] = keysOf({
  unavailable: 0,
  choose: 0,
  pay: 0,
  partial: 0,
  checking: 0,
  seen: 0,
  paid: 0,
  overpaid: 0,
  underpaid: 0,
  expired: 0,
  cancelled: 0,
} satisfies Record<Stage, 0>);

export const METHOD: MethodView = {
  key: "USDT_TRX",
  network: "TRX",
  networkName: "TRON",
  standard: "TRC-20",
  isTest: false,
  code: "USDT",
  coin: "Tether USD",
  address: "TXLAQ63Xg1NAzckPwKHvzw7CSEmLMEqcdj",
  amount: "57.281437",
  uri: "tron:TXLAQ63Xg1NAzckPwKHvzw7CSEmLMEqcdj?amount=57.281437",
  isShared: true,
  rate: "0.871137",
  deadlineMs: NOW + 899_000,
  atDeadline: "requote",
  requiredConfirmations: 19,
  minutes: 1,
  transfer: null,
};

export const EVM_METHOD: MethodView = {
  ...METHOD,
  key: "ETH_ETH",
  network: "ETH",
  networkName: "Ethereum",
  standard: null,
  code: "ETH",
  coin: "Ether",
  address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  amount: "0.0123",
  uri: "ethereum:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed@1?value=12300000000000000",
  atDeadline: "expire",
  transfer: { chainId: "0x1", to: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", value: "0x2bb2c8eabcc000", data: "0x" },
};

export const PAYMENT: PaymentView = {
  txHash: "4f0e1c6d29a5b0b9a8e46a4fd2a9c5b3e1f8d7a60b2c4d5e6f708192a3b4c5d6",
  amount: "57.281437",
  code: "USDT",
  networkName: "TRON",
  state: "unconfirmed",
  confirmations: 7,
  requiredConfirmations: 19,
  isLate: false,
  receivedAtMs: NOW,
};

const CHOICES: readonly Choice[] = [
  {
    code: "BTC",
    name: "Bitcoin",
    ways: [wayOf("BTC_BTC", "Bitcoin", null, { estimate: "0.000562", minutes: 20, fee: "VARIES" })],
  },
  { code: "ETH", name: "Ether", ways: [wayOf("ETH_ETH", "Ethereum", null, { estimate: "0.0157", fee: "VARIES" })] },
  {
    code: "USDT",
    name: "Tether USD",
    ways: [
      wayOf("USDT_ETH", "Ethereum", "ERC-20", { estimate: "57.29", minutes: 3, fee: "VARIES" }),
      wayOf("USDT_TRX", "TRON", "TRC-20", { estimate: "57.29", fee: "MEDIUM" }),
    ],
  },
];

export function wayOf(key: string, networkName: string, standard: string | null, of: Partial<Offer> = {}): Offer {
  const network = key.slice(key.indexOf("_") + 1);
  const terms = { amount: null, estimate: null, minutes: 1, fee: "LOW" } as const;
  return { key, network, networkName, standard, isTest: false, ...terms, ...of };
}

export function chromeOf(language: Language = "en"): Chrome {
  return {
    language,
    isLanguageNamed: language !== "en",
    isLanguageKnown: true,
    isModal: false,
    texts: textsOf(language),
    nonce: "nonce-of-the-test",
    path: `/pay/${INVOICE_ID}`,
    nowMs: NOW,
  };
}

export function checkoutViewOf(stage: Stage, changes: Partial<CheckoutView> = {}): CheckoutView {
  const isPaid = stage === "paid" || stage === "overpaid";
  const eur = (micros: bigint) => ({ micros, currency: "EUR" });
  return {
    invoiceId: INVOICE_ID,
    stage,
    shop: { name: "Flowers", color: "#0f766e", logoUrl: "/images/m/logo", supportUrl: "https://flowers.example/help" },
    title: "Order 1042",
    description: "Two ceramic mugs",
    imageUrl: "/images/m/mug",
    total: eur(49_900_000n),
    received: eur(receivedIn(stage)),
    missing: eur(stage === "partial" || stage === "underpaid" ? 29_900_000n : 0n),
    choices: stage === "choose" ? CHOICES : [],
    method: stage === "choose" || stage === "unavailable" ? null : METHOD,
    canChoose: stage === "pay" || stage === "choose",
    payments: paymentsIn(stage),
    createdAtMs: NOW - 60_000,
    expiresAtMs: NOW + 3_540_000,
    paidAtMs: isPaid ? NOW : null,
    canReturn: isPaid,
    claim: null,
    claimNetworks: stage === "choose" || stage === "unavailable" ? [] : [{ network: "TRX", networkName: "TRON" }],
    isMonitored: true,
    monitorUntilMs: NOW + 86_400_000,
    acceptsLate: false,
    isTest: false,
    isUnwatched: false,
    isLive: !isPaid && stage !== "cancelled",
    pollSeconds: isPaid || stage === "cancelled" ? 0 : 5,
    ...changes,
  };
}

function receivedIn(stage: Stage): bigint {
  if (stage === "partial" || stage === "underpaid") return 20_000_000n;
  if (stage === "overpaid") return 59_900_000n;
  return stage === "seen" || stage === "paid" ? 49_900_000n : 0n;
}

function paymentsIn(stage: Stage): readonly PaymentView[] {
  if (stage === "paid" || stage === "overpaid" || stage === "underpaid") {
    return [{ ...PAYMENT, state: "confirmed", confirmations: 19 }];
  }
  return stage === "partial" || stage === "seen" ? [PAYMENT] : [];
}
