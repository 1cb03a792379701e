// The stories of `npm run demo`, step by step.
import { pathOf, type Stage, type Story } from "./story.ts";

const ETHEREUM = "ETH";

const USUAL = ["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "PAID"] as const;

/** The shortest lifetime of an invoice. */
const SHORT_LIFE_SECONDS = 60;

/** All of these stories pay to one address, so that invoices for the same token are distinguished only by their amounts. */
export const EVM_STORIES: readonly Story[] = [
  {
    title: "paid exactly",
    pair: { cryptocurrency: "USDT", network: ETHEREUM },
    usd: 49.9,
    ending: { path: USUAL, payments: 1, receivedPercent: 100 },
    play: async (stage) => {
      await stage.pay();
    },
  },
  {
    title: "paid in two parts",
    pair: { cryptocurrency: "ETH", network: ETHEREUM },
    usd: 70,
    ending: { path: USUAL, payments: 2, receivedPercent: 100 },
    play: async (stage) => {
      await stage.pay(40);
      await stage.until(({ payments }) => payments.some(({ status }) => status === "CONFIRMED"));
      stage.note("40 % arrived; the customer sends the rest");
      await stage.payRest();
      await stage.until(({ status }) => status === "PAID");
      stage.note("");
    },
  },
  {
    title: "overpaid",
    pair: { cryptocurrency: "DAI", network: ETHEREUM },
    usd: 30,
    ending: { path: ["AWAITING_PAYMENT", "PENDING_CONFIRMATION", "OVERPAID"], payments: 1, receivedPercent: 150 },
    play: async (stage) => {
      await stage.pay(150);
    },
  },
  {
    title: "underpaid",
    pair: { cryptocurrency: "USDC", network: ETHEREUM },
    usd: 20,
    expiresInSeconds: SHORT_LIFE_SECONDS,
    ending: { path: ["AWAITING_PAYMENT", "UNDERPAID"], payments: 1, receivedPercent: 50 },
    play: async (stage) => {
      await stage.pay(50);
      await stage.until(({ amountConfirmed }) => Number(amountConfirmed) > 0);
      stage.note("half arrived; the invoice stays open until it expires");
      await stage.until(({ status }) => status === "UNDERPAID");
      stage.note("");
    },
  },
  {
    title: "paid too late",
    pair: { cryptocurrency: "USDT", network: ETHEREUM },
    usd: 15,
    expiresInSeconds: SHORT_LIFE_SECONDS,
    ending: { path: ["AWAITING_PAYMENT", "EXPIRED"], payments: 1, receivedPercent: 0, isLate: true },
    play: async (stage) => {
      stage.note("the customer waits until the invoice has expired");
      await stage.until(({ status }) => status === "EXPIRED");
      await stage.pay();
      stage.note("paid after expiry: kept for review, not PAID");
    },
  },
  {
    title: "taken back by a reorg",
    pair: { cryptocurrency: "USDT", network: ETHEREUM },
    usd: 25,
    ending: { path: [...USUAL, ...USUAL], payments: 1, receivedPercent: 100 },
    play: takenBack,
  },
];

export const LITECOIN_STORY: Story = {
  title: "seen before a block",
  pair: { cryptocurrency: "LTC", network: "LTC_REGTEST" },
  usd: 40,
  ending: { path: USUAL, payments: 1, receivedPercent: 100 },
  play: async (stage) => {
    await stage.pay();
    stage.note("in the mempool, not in a block yet");
    await stage.until(({ payments }) => payments.some(({ confirmations }) => confirmations > 0));
    stage.note("");
  },
};

async function takenBack(stage: Stage): Promise<void> {
  await stage.beginDisturbing();
  const hash = await stage.pay();
  await stage.until(({ status }) => status === "PAID");
  stage.note("the chain drops its newest blocks, with the payment");
  const payment = await stage.takeBack(hash);
  await stage.until((invoice) => pathOf(invoice).length > USUAL.length && invoice.status === "AWAITING_PAYMENT");
  stage.note("the customer's wallet sends the same transaction again");
  await payment.sendAgain();
  await stage.until(({ status }) => status === "PAID");
  stage.note("");
}
