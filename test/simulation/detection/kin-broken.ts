// Broken watchers for payments that depend on something else: a block, or another transaction.
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

/** Treats what no source knows as waiting to be mined again. */
function awaited(look: Findings, isAwaited: (hash: string) => boolean): Findings {
  const seen = look.seen.map((each): SeenPayment => {
    const isLeft = each.observation.kind === "unknown" && isAwaited(each.payment.txHash);
    return isLeft ? { ...each, observation: { kind: "pending" } } : each;
  });
  return { ...look, seen };
}

/** It is never in another block or a mempool. */
export const keepsCoinbase = applying("keeps a coinbase whose block has left", ["coinbases"], (look) =>
  awaited(look, isCoinbase),
);

/** Nothing else has spent its inputs: they are gone with its parent, which was replaced. */
export const keepsChild = applying("keeps a child whose parent is gone", ["children"], (look) =>
  awaited(look, isChild),
);

/** Treats a coinbase like any other payment. */
export const creditsImmature = applying("credits an immature coinbase", ["coinbases"], (look) => ({
  ...look,
  transfers: look.transfers.map(({ leastConfirmations: _, ...transfer }): Transfer => transfer),
}));
