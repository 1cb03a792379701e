// Watchers broken on purpose, of payments that exist only together with something else: a block, or another transaction.
import type { Transfer } from "../../../src/chains/sources/transfer.ts";
import type { Findings, SeenPayment } from "../../../src/detection/matching/apply-transfers.ts";
import { isChild, isCoinbase } from "./kin.ts";
import type { Variant } from "./reorgs.ts";

function applying(name: string, hazards: Variant["hazards"], change: (look: Findings) => Findings): Variant {
  return {
    name,
    ...(hazards === undefined ? {} : { hazards }),
    change: (deps) => ({ ...deps, apply: (look) => deps.apply(change(look)) }),
  };
}

/** What no source knows is taken for something that waits to be mined again. */
function awaited(look: Findings, isAwaited: (hash: string) => boolean): Findings {
  const seen = look.seen.map((each): SeenPayment => {
    const isLeft = each.observation.kind === "unknown" && isAwaited(each.payment.txHash);
    return isLeft ? { ...each, observation: { kind: "pending" } } : each;
  });
  return { ...look, seen };
}

/** It is in no other block and in no mempool, ever. */
export const keepsCoinbase = applying("keeps a coinbase whose block has left", ["coinbases"], (look) =>
  awaited(look, isCoinbase),
);

/** Nobody else has spent what it spends: that is gone with its parent, which was replaced. */
export const keepsChild = applying("keeps a child whose parent is gone", ["children"], (look) =>
  awaited(look, isChild),
);

/** A coinbase is a payment like any other. */
export const creditsImmature = applying("credits an immature coinbase", ["coinbases"], (look) => ({
  ...look,
  transfers: look.transfers.map(({ leastConfirmations: _, ...transfer }): Transfer => transfer),
}));
