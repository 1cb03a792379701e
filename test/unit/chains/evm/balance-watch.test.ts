import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evmClient } from "../../../../src/chains/evm/evm-client.ts";
import type { Scan } from "../../../../src/chains/sources/chain-client.ts";
import { accountAt, EvmLedger, KINDS, type Kind, type Step } from "../../../support/evm-ledger.ts";
import { network } from "../../../support/named-network.ts";
import { RUNS } from "../../../support/property-runs.ts";

const BNB = network("BNB");
const coin = BNB.assets.filter(({ contract }) => contract === null);

async function scanOf(
  ledger: EvmLedger,
  of: { readonly from: number; readonly to: number; readonly accounts: number },
): Promise<Scan> {
  const client = evmClient({
    fetch: ledger.fetch,
    network: BNB,
    url: "https://node.example",
    headers: {},
    timeoutMs: 1_000,
    nowMs: () => 0,
  });
  const recipients = new Set(Array.from({ length: of.accounts }, (_, place) => accountAt(place)));
  const scan = await client.scan({ from: of.from, to: ledger.ref(of.to), recipients, assets: coin });
  if (!scan.ok) throw new Error(JSON.stringify(scan.error));
  return scan.value;
}

const plain = ({ transfers }: Scan) =>
  transfers.flatMap(({ txHash, amountUnits, growth }) => (growth === undefined ? [`${txHash} ${amountUnits}`] : []));
const isWhole = (methods: readonly string[]) => methods.some((method) => method.endsWith("whole"));

const stepsOf = (accounts: number): fc.Arbitrary<Step> => {
  const place = fc.nat({ max: accounts - 1 });
  const units = fc.bigInt({ min: 1n, max: 5n });
  return fc.oneof(
    fc.record({ kind: fc.constant("pay" as const), to: place, units, isForwarded: fc.boolean() }),
    fc.record({ kind: fc.constant("payInside" as const), to: place, units }),
    fc.record({ kind: fc.constant("sweep" as const), of: place }),
    fc.record({ kind: fc.constant("delegate" as const), of: place, isOn: fc.boolean() }),
  );
};

const chains = fc.array(fc.constantFrom<Kind>(...KINDS), { minLength: 1, maxLength: 4 }).chain((kinds) =>
  fc.record({
    kinds: fc.constant(kinds),
    blocks: fc.array(fc.array(stepsOf(kinds.length), { maxLength: 3 }), { minLength: 2, maxLength: 14 }),
    from: fc.nat(),
    to: fc.nat(),
  }),
);

describe("the search for payments in native coins through balances", () => {
  it("finds every plain payment in a range of blocks, for any kind of recipient and any later use of the coins", async () => {
    await fc.assert(
      fc.asyncProperty(chains, async ({ kinds, blocks, from, to }) => {
        const ledger = new EvmLedger(kinds, blocks);
        const first = 1 + (from % ledger.tip);
        const last = first + (to % (ledger.tip - first + 1));
        const scan = await scanOf(ledger, { from: first, to: last, accounts: kinds.length });
        expect(plain(scan)).toEqual(ledger.payments(first, last).map(({ hash, value }) => `${hash} ${value}`));
      }),
      { numRuns: RUNS },
    );
  });

  const forwarded: Step = { kind: "pay", to: 0, units: 5n, isForwarded: true };

  it.each<Kind>(["CONTRACT", "DELEGATED"])(
    "finds a payment that a recipient (%s) forwards in the same transaction",
    async (kind) => {
      const ledger = new EvmLedger([kind], [[], [forwarded], []]);
      expect(plain(await scanOf(ledger, { from: 2, to: 3, accounts: 1 }))).toHaveLength(1);
    },
  );

  it.each([
    [25, 3],
    [50, 4],
  ])(
    "for %i recipients without code takes at most %i requests if nothing was paid, and requests no whole block",
    async (count, most) => {
      const swept: Step[] = Array.from({ length: count }, (_, to) => [
        { kind: "pay" as const, to, units: 5n, isForwarded: false },
        { kind: "sweep" as const, of: to },
      ]).flat();
      const kinds = Array.from({ length: count }, (): Kind => "KEY");
      const ledger = new EvmLedger(kinds, [swept, ...Array.from({ length: 45 }, () => [])]);
      expect((await scanOf(ledger, { from: 2, to: 46, accounts: count })).transfers).toEqual([]);
      expect(ledger.requests.length).toBeLessThanOrEqual(most);
      expect(ledger.requests.filter(isWhole)).toEqual([]);
    },
  );

  it.each(["eth_getCode", "eth_getTransactionCount"])("reads the blocks if the node refuses %s", async (refused) => {
    const ledger = new EvmLedger(
      ["KEY"],
      [
        [],
        [
          { kind: "pay", to: 0, units: 5n, isForwarded: false },
          { kind: "sweep", of: 0 },
        ],
      ],
    );
    ledger.refuses = refused;
    expect(plain(await scanOf(ledger, { from: 2, to: 2, accounts: 1 }))).toHaveLength(1);
  });

  it("for a recipient with code takes at most two requests if nothing was paid, in addition to the requests for blocks", async () => {
    const ledger = new EvmLedger(
      ["KEY", "CONTRACT"],
      Array.from({ length: 46 }, () => []),
    );
    expect((await scanOf(ledger, { from: 2, to: 46, accounts: 2 })).transfers).toEqual([]);
    expect(ledger.requests.length - ledger.requests.filter(isWhole).length).toBeLessThanOrEqual(2);
    expect(ledger.requests.filter(isWhole)).toHaveLength(5);
  });
});
