// Estimates, for docs/limits.md, what it costs a stranger to delay a network's cursor for an hour with transfers that no rule credits.

/**
 * How many transfers a pass decides, as counted by `test/simulation/detection/floods.test.ts`: one of every possible amount, to an address that 100
 * merchants share.
 */
const DECIDED_A_PASS = 2_000;
/**
 * The duration of a pass that decides about this many transfers on a busy machine, including the pause before the next pass. Not measured in
 * production.
 */
const PASS_SECONDS = 16;
const HOUR_SECONDS = 3_600;

interface Fee {
  readonly network: string;
  /** Fee per transfer in US dollars. */
  readonly perTransfer: number;
  /** How the fee is calculated, with sources. */
  readonly from: string;
}

const FEES: readonly Fee[] = [
  {
    network: "POL",
    perTransfer: 65_000 * 30e-9 * 0.25,
    from: "[65,000 gas](https://usdterc20.org/usdt-erc20-gas-fees.html) at [30 gwei](https://github.com/maticnetwork/matic.js/issues/373), 0.25 USD for a POL (assumed)",
  },
  {
    network: "BNB",
    perTransfer: 65_000 * 0.05e-9 * 900,
    from: "65,000 gas at [0.05 gwei](https://rfq.news/binancecoin/bnb-smart-chain-validators-slash-minimum-gas-price-to-0-05-gwei), 900 USD for a BNB (assumed)",
  },
  { network: "ETH", perTransfer: 0.0306, from: "[as observed in March 2026](https://gaspeek.com/ethereum)" },
  {
    network: "TRX",
    perTransfer: 13.4 * 0.3,
    from: "[13.4 TRX](https://www.roedsa.com/12013.html) without staked energy, 0.30 USD for a TRX (assumed)",
  },
  {
    network: "BTC",
    perTransfer: 31e-8 * 100_000,
    from: "an output of 31 vB at 1 satoshi a vB, the least that nodes relay by default, 100,000 USD for a BTC (assumed)",
  },
  {
    network: "LTC",
    perTransfer: 31e-8 * 100,
    from: "the same, 100 USD for an LTC (assumed); 14 full blocks, 35 minutes",
  },
];

export function floodCost(): string {
  const transfers = (HOUR_SECONDS / PASS_SECONDS) * DECIDED_A_PASS;
  const number = (value: number) => Math.round(value).toLocaleString("en");
  const rows = FEES.map(
    ({ network, perTransfer, from }) =>
      `| ${network} | ${perTransfer.toPrecision(2)} USD | ${number(transfers * perTransfer)} USD | ${from} |`,
  );
  return `## What an hour's delay costs a stranger

A model, not a measurement. Transfers to an address of the stranger's own cost him the network's fees alone. They delay nobody whose payment is of an exact amount or
comes to an invoice's own address: such payments are credited first, whatever else a look shows. What a flood can hold up is the network's cursor, on which expiry and the
last confirmations wait, and payments of inexact amounts, which take turns by address. A pass decides ${number(DECIDED_A_PASS)} transfers of distinct amounts, of equal ones more, however many merchants
hold the address, and with the pause takes ${PASS_SECONDS} s. So an hour takes ${number(HOUR_SECONDS / PASS_SECONDS)} x ${number(DECIDED_A_PASS)} = ${number(transfers)} transfers:

| network | a transfer | an hour | fee |
|---|---|---|---|
${rows.join("\n")}

CRO and the rollups are not computed: no figure for their fees was found. Fees and prices are low ones: blocks that are full of transfers raise the fee with each block. A contract that makes many transfers in one transaction pays perhaps half the gas for each.
Operators who do not want strangers' addresses at all close the sign-up (\`SIGN_UP\`).
`;
}
