// Broken watchers for payments that depend on a block or on another transaction.
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

/** Treats a transaction that no source knows as waiting to be mined again. */
function awaited(look: Findings, isAwaited: (hash: string) => boolean): Findings {
  const seen = look.seen.map((each): SeenPayment => {
    const isLeft = each.observation.kind === "unknown" && isAwaited(each.payment.txHash);
    return isLeft ? { ...each, observation: { kind: "pending" } } : each;
  });
  return { ...look, seen };
}

/** Broken, because a coinbase is never in another block or a mempool. */
export const keepsCoinbase = applying("keeps a coinbase whose block is gone", ["coinbases"], (look) =>
  awaited(look, isCoinbase),
);

/** Broken, because a child's inputs disappear with its replaced parent, even if nothing else has spent them. */
export const keepsChild = applying("keeps a child whose parent is gone", ["children"], (look) =>
  awaited(look, isChild),
);

/** Treats a coinbase like any other payment. */
export const creditsImmature = applying("credits an immature coinbase", ["coinbases"], (look) => ({
  ...look,
  transfers: look.transfers.map(({ leastConfirmations: _, ...transfer }): Transfer => transfer),
}));
