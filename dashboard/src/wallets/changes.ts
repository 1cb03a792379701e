// Who changed a wallet, from the audit log. Only entries about wallets are requested: there are few, and the log may be long.
import { useQueries } from "@tanstack/react-query";
import type { AuditEvent } from "../api/operations.ts";
import { reading } from "../api/queries.ts";
import { useMay, useMerchant } from "../shell/merchants.ts";

const KINDS = ["wallet.created", "wallet.updated", "wallet.disabled_by_link", "wallet.frozen"] as const;
const NEWEST = 100;

/** The newest changes to the merchant's wallets, newest first; empty for a member who may not see the audit log. */
export function useWalletChanges(): readonly AuditEvent[] {
  const { id: merchantId } = useMerchant();
  const enabled = useMay("audit:view");
  return useQueries({
    queries: KINDS.map((action) => ({
      ...reading("listAuditEvents", { merchantId, query: { action, limit: NEWEST } }),
      enabled,
    })),
    combine: (kinds) =>
      kinds
        .flatMap(({ data }) => data?.data ?? [])
        .toSorted((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt)),
  });
}

/** The change that started a wallet's delay: its registration, or the change that re-enabled it. */
export function beganToWait(changes: readonly AuditEvent[], walletId: string): AuditEvent | undefined {
  return changes.find(
    ({ target, before, after }) => target === walletId && after?.isEnabled === true && before?.isEnabled !== true,
  );
}
