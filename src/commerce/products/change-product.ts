// Writes every change to a stored product as one batch with its audit entry. `updated_at_ms` grows with every change, and the batch aborts unless it
// is unchanged since it was read.

import { type Acting, currentRowAndSeat, seatHeld } from "../../accounts/teams/check-seat.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { AuditEntry, Trail } from "../../platform/audit/entry.ts";
import { insertAudit } from "../../platform/audit/store.ts";
import { type CommitDependencies, change } from "../../platform/changes/change.ts";
import type { Write } from "../../platform/db/statement.ts";
import type { Failure } from "../../platform/failures.ts";
import type { Resolution } from "../../platform/resolver/host-resolver-client.ts";
import type { FetchImage } from "./fetch-image.ts";
import type { Product } from "./product.ts";
import { assertProductAsRead, selectLiveProduct, updateLiveProduct } from "./store.ts";

export interface ProductDependencies extends CommitDependencies {
  /** Our own origin, without a trailing slash. */
  readonly publicUrl: string;
  /** Resolves a host, so that its addresses are checked before an image is fetched from it. */
  resolve(host: string): Promise<Resolution>;
  readonly fetch: FetchImage;
}

interface ProductChange {
  readonly columns: Partial<Product>;
  readonly entry: Pick<AuditEntry, "action" | "before" | "after">;
  readonly statements?: readonly Write[];
}

interface ProductChangeOf extends Acting {
  /** The product as it was read together with the caller. */
  readonly read: Product;
  readonly trail: Trail;
  /** Called after an aborted batch: returns the refusal if something that this change added is the cause. */
  readonly recheck?: () => Promise<Result<undefined, Failure>>;
}

/** Returns the product after the change. `decide` returns undefined when there is nothing to change. */
export function changeProduct(
  deps: ProductDependencies,
  of: ProductChangeOf,
  decide: (product: Product) => ProductChange | undefined,
): Promise<Result<Product, Failure>> {
  const { id, merchantId } = of.read;
  const row = {
    again: () => selectLiveProduct(deps.db, merchantId, id),
    missing: { code: "PRODUCT_NOT_FOUND" },
  } as const;
  const read = (tries: number) => currentRowAndSeat(deps, { ...of, ...row }, tries);
  return change(deps, { name: "a change of a product", read }, ({ row: product, seat }, { auditId }) => {
    const decided = decide(product);
    if (decided === undefined) return ok({ value: product });
    const columns = { ...decided.columns, updatedAtMs: Math.max(deps.nowMs, product.updatedAtMs + 1) };
    return ok({
      value: { ...product, ...columns },
      statements: [
        assertProductAsRead(deps.db, product),
        ...seatHeld(deps, seat),
        ...(decided.statements ?? []),
        updateLiveProduct(deps.db, product, columns),
        insertAudit(deps.db, of.trail, { id: auditId, merchantId, target: id, ...decided.entry }, deps.nowMs),
      ],
    });
  });
}
