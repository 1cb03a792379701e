// Registers one address for several pairs, one after the other, each in a separate call.
import { useEffect, useRef, useState } from "react";
import { StepUpCancelled } from "../api/errors.ts";
import { useChange } from "../api/queries.ts";
import type { Pair } from "./pairs.ts";

export type Outcome =
  | { readonly kind: "BUSY" | "DONE" }
  /** Why it failed, as a sentence. */
  | { readonly kind: "FAILED"; readonly reason: string };

/**
 * `outcomes` has the label of each attempted pair as its key. After a refusal the next pair is still tried, unless the user cancelled a step-up or
 * left the page.
 */
export function useRegistrations(merchantId: string, address: string) {
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const isShown = useIsShown();
  const { mutateAsync } = useChange("registerWallet", { isShownInPlace: true });
  const register = async (pairs: readonly Pair[]) => {
    for (const { label, cryptocurrency, network, recommendedConfirmations: requiredConfirmations } of pairs) {
      if (!isShown.current) return;
      const note = (outcome: Outcome) => setOutcomes((before) => new Map(before).set(label, outcome));
      note({ kind: "BUSY" });
      const body = { walletType: "DIRECT_WALLET", address, cryptocurrency, network, requiredConfirmations } as const;
      try {
        await mutateAsync({ merchantId, body });
        note({ kind: "DONE" });
      } catch (error) {
        note({ kind: "FAILED", reason: reasonOf(error) });
        if (error instanceof StepUpCancelled) return;
      }
    }
  };
  return { outcomes, isBusy: [...outcomes.values()].some(({ kind }) => kind === "BUSY"), register };
}

function reasonOf(error: unknown): string {
  if (error instanceof StepUpCancelled) return "you did not confirm your identity.";
  return error instanceof Error ? error.message : "the service did not respond.";
}

function useIsShown() {
  const isShown = useRef(false);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return isShown;
}
