import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { accountDependencies } from "../../accounts/sessions/dependencies.ts";
import { parseRestoreEpoch } from "../../platform/deployment/restore-epoch.ts";
import { replyTo } from "../../platform/http/reply.ts";
import { listFindingsQuery, restoreBody, restoreFindingBody, restoreFindingListBody } from "./contract.ts";
import { findingReads, listFindings, readRestore } from "./read-restore.ts";
import { resolveFinding } from "./resolve-finding.ts";
import { findingBodyOf } from "./restore-body.ts";

const RESTORE = "/api/v1/operator/restore";
const FINDINGS = `${RESTORE}/findings`;

/** With an invalid RESTORE_EPOCH the deployment serves nothing, so no request reaches these routes. */
export const restoreRoutes = routesOf({
  tag: "Deployment",
  callers: "USER",
  isOperatorOnly: true,
  dependencies: accountDependencies,
})
  .get(RESTORE, {
    operationId: "readRestore",
    summary: "Read the progress of the import after a restore",
    description: "Returns the import of the restore that RESTORE_EPOCH names.",
    answers: [{ status: 200, description: "The import", schema: restoreBody }],
    answer: async ({ env, deps }) => {
      const epoch = parseRestoreEpoch(env.RESTORE_EPOCH);
      return replyTo(await readRestore(deps, epoch.ok ? epoch.value : undefined));
    },
  })
  .get(FINDINGS, {
    operationId: "listRestoreFindings",
    summary: "List what imports could not recover, newest first",
    description:
      "Includes all restores. A finding is a row of a lost merchant or wallet, or an address about which nothing else is known.",
    query: listFindingsQuery,
    answers: [{ status: 200, description: "One page", schema: restoreFindingListBody }],
    reads: ({ db, request }) => findingReads(db, request?.query),
    answer: async (call) => {
      const [rows, counts] = call.read;
      return replyTo(listFindings({ rows, total: counts[0]?.total ?? 0 }, call.query));
    },
  })
  .post(`${FINDINGS}/:findingId/review`, {
    operationId: "reviewRestoreFinding",
    summary: "Mark a finding as reviewed",
    description: "Nothing changes if it is already marked.",
    needsStepUp: true,
    answers: [{ status: 200, description: "The finding", schema: restoreFindingBody }],
    refusals: ["RESTORE_FINDING_NOT_FOUND"],
    answer: async ({ deps, params, principal, trail }) => {
      return replyTo(
        await resolveFinding(deps, { findingId: params.findingId ?? "", actor: principal.user, trail }),
        findingBodyOf,
      );
    },
  });
