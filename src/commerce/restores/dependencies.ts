// Dependencies of an import after a restore, built from the environment once per run.

import { objectOf } from "../../lib/object-of.ts";
import type { Sleep } from "../../lib/sleep.ts";
import type { Db } from "../../platform/db/client.ts";
import type { RestoreEpoch } from "../../platform/deployment/restore-epoch.ts";
import type { DirectoryRpc } from "../../platform/directory/directory-entries.ts";
import type { RevocationsRpc } from "../../platform/revocations/revocation.ts";
import type { AmountAllocatorRpc } from "../amounts/amount-request.ts";
import { invoiceDependencies } from "../invoices/dependencies.ts";
import type { AllocatorRpc } from "../wallets/allocations.ts";
import { readFloor } from "../wallets/read-floor.ts";
import { readAddresses, readAmounts, readRevocations } from "./read-page.ts";
import { recoverPlace } from "./recover-place.ts";
import { replayRevocation } from "./replay-revocation.ts";
import type { RunDependencies } from "./run-restore.ts";

export function restoreDependencies(
  env: Env,
  epoch: RestoreEpoch,
  given: {
    readonly db: Db;
    readonly nowMs: number;
    readonly sleep: Sleep;
    readonly background: (work: Promise<unknown>) => void;
  },
): RunDependencies {
  const { db, sleep } = given;
  const deps = invoiceDependencies(env, given);
  return {
    ...deps,
    epoch,
    clock: () => Date.now(),
    directory: (kind): DirectoryRpc => objectOf(env, env.DIRECTORY, kind),
    read: async (phase, name, page) => {
      if (phase === "REVOCATIONS") {
        const object: Pick<RevocationsRpc, "revocationsSince"> = objectOf(env, env.MERCHANT_OBJECT, name);
        return readRevocations(object, name, page);
      }
      if (phase === "ADDRESSES") {
        const object: Pick<AllocatorRpc, "given"> = objectOf(env, env.ADDRESS_ALLOCATOR, name);
        return readAddresses(object, name, { ...page, floor: await readFloor({ db, sleep }, name) });
      }
      const object: Pick<AmountAllocatorRpc, "given"> = objectOf(env, env.AMOUNT_ALLOCATOR, name);
      return readAmounts(object, name, page);
    },
    apply: (restore, item) =>
      item.kind === "REVOCATION"
        ? replayRevocation(deps, { restore, name: item.name, kept: item.kept })
        : recoverPlace({ ...deps, restoredToMs: restore.fromMs }, item.shown),
  };
}
