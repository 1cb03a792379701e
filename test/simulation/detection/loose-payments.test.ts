// One statement ends the recheck of payments without an invoice. It must have the same effect as observing each payment.
import { expect, it } from "vitest";
import type { Transfer } from "../../../src/chains/sources/transfer.ts";
import { type ChainHeights, paymentAfter } from "../../../src/commerce/payments/chain-observation.ts";
import type { Payment } from "../../../src/commerce/payments/payment.ts";
import { listOf } from "../../../src/detection/matching/store.ts";
import { finishLoosePayments } from "../../../src/detection/passes/open-payments/store.ts";
import { payments } from "../../../src/platform/db/schema/payments.ts";
import { network } from "../../support/named-network.ts";
import { randomFrom } from "../../support/random.ts";
import { openPayment } from "../../support/watched.ts";
import { quietLab, START } from "./quiet-lab.ts";

const { db, inLab } = quietLab();
const ETH = network("ETH");
const PROVEN = 1_000;

/** A payment's transfer, as a source shows it in the payment's block. */
function transferOf(payment: Payment): Transfer {
  const { blockHeight: height, blockHash: hash, blockTimeMs: timeMs } = payment;
  const block = height === null || hash === null || timeMs === null ? null : { height, hash, timeMs };
  return { ...payment, block, spends: [], raw: "{}" };
}

it.each([
  ["reports its final block", 960],
  ["reports no final block", null],
])(
  "payments without an invoice that are updated by one statement end in the same state as if each were observed alone, on a chain that %s",
  (_, finalizedHeight) =>
    inLab(async () => {
      const random = randomFrom(finalizedHeight ?? 1);
      const pick = <T>(...of: readonly T[]) => of[Math.floor(random() * of.length)] as T;
      const heights: ChainHeights = { tipHeight: 1_010, finalizedHeight };
      const nowMs = START + 1_000_000;
      const before: Payment[] = [];
      for (let n = 0; n < 300; n++) {
        const blockHeight = pick(null, 1 + Math.floor(random() * 1_020));
        const mined = blockHeight === null ? {} : { blockHash: `h${n}`, blockTimeMs: START + pick(-5_000, 0, 5_000) };
        before.push(
          await openPayment(db, {
            network: pick("ETH", "ETH", "BNB"),
            cryptocurrency: "USDT",
            txHash: `t${n}`,
            toAddress: "A",
            createdAtMs: START,
            updatedAtMs: pick(START, nowMs),
            blockHeight,
            ...mined,
            status: pick("UNMATCHED", "UNMATCHED", "IGNORED", "REORGED", "DETECTED"),
            requiredConfirmations: pick(0, 1, 12, 300),
            invoiceId: pick(null, null, "inv_00000000000000000000000000"),
            confirmations: pick(0, 5),
          }),
        );
      }
      const finalHeight = finalizedHeight ?? heights.tipHeight + 1 - ETH.reorgWindowBlocks;
      const of = { network: "ETH", provenHeight: PROVEN, tipHeight: heights.tipHeight, finalHeight };
      const shown = before.filter((_, n) => n % 3 > 0);
      const list = listOf(shown.map(transferOf));
      await finishLoosePayments(db, { ...of, list, isByDepth: finalizedHeight === null, nowMs, limit: 1_000 });
      const after = new Map((await db.select().from(payments)).map((row) => [row.id, row]));
      let ended = 0;
      for (const payment of before) {
        const { blockHeight: height, blockHash: hash, blockTimeMs: timeMs } = payment;
        const isProven = height !== null && hash !== null && timeMs !== null && height <= PROVEN;
        const isShown = payment.status === "UNMATCHED" && shown.includes(payment);
        const isLoose = payment.invoiceId === null && (payment.status === "IGNORED" || isShown);
        const seen =
          payment.network === "ETH" && isProven && isLoose
            ? paymentAfter(
                payment,
                { kind: "mined", block: { height, hash, timeMs } },
                { network: ETH, heights, nowMs },
              )
            : payment;
        const updatedAtMs = seen === payment ? payment.updatedAtMs : Math.max(nowMs, payment.updatedAtMs + 1);
        expect(after.get(payment.id)).toMatchObject({ ...seen, updatedAtMs });
        ended += seen === payment ? 0 : 1;
      }
      expect(ended).toBeGreaterThan(20);
    }),
);
