import type { KnownUser } from "../../accounts/pipeline/call.ts";
import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { replyTo } from "../../platform/http/reply.ts";
import { type Act, endRange, requestRange, setPause } from "./change-network.ts";
import { networkStateBody, networkStateListBody, rereadRequestBody } from "./contract.ts";
import { switchDependencies } from "./dependencies.ts";
import { networkBodyOf } from "./network-state.ts";
import { readNetworks } from "./read-networks.ts";

const NETWORKS = "/api/v1/operator/networks";
const PAUSE = `${NETWORKS}/:network/pause`;
const REREAD = `${NETWORKS}/:network/reread`;
const answers = [{ status: 200, description: "The network", schema: networkStateBody }] as const;

export const networkRoutes = routesOf({
  tag: "Deployment",
  callers: "USER",
  isOperatorOnly: true,
  dependencies: switchDependencies,
})
  .get(NETWORKS, {
    operationId: "listNetworks",
    summary: "List the networks of the deployment, with their switches",
    answers: [
      { status: 200, description: "Networks with a source, and those that had one", schema: networkStateListBody },
    ],
    answer: async ({ deps }) => {
      return replyTo(await readNetworks(deps), (value) => ({ data: value.map(networkBodyOf) }));
    },
  })
  .post(PAUSE, {
    operationId: "pauseNetwork",
    summary: "Pause a network: it is not read, and not offered to payers",
    description:
      "For a source that gives false answers. The position up to which the network was read is kept, so no invoice that waits for it expires, however long the pause is. A pass that has started may still finish, within half a minute. Nothing changes if it is already paused.",
    needsStepUp: true,
    answers,
    refusals: ["NETWORK_NOT_FOUND"],
    answer: async (call) => replyTo(await setPause(call.deps, actOf(call), true), networkBodyOf),
  })
  .delete(PAUSE, {
    operationId: "resumeNetwork",
    summary: "End a network's pause",
    description:
      "Reading continues from where it stopped, so payments made in the meantime are found, as of their own time.",
    needsStepUp: true,
    answers,
    refusals: ["NETWORK_NOT_FOUND"],
    answer: async (call) => replyTo(await setPause(call.deps, actOf(call), false), networkBodyOf),
  })
  .post(REREAD, {
    operationId: "rereadNetwork",
    summary: "Read a range of a network's blocks again",
    description:
      "Finds payments that a source had hidden, also those of invoices that have ended. Runs alongside the network's own scan, in steps; a known transfer is not credited twice. At most one range of a network at a time, and no block above the one up to which it was read. Nothing changes for the range that is already being read.",
    needsStepUp: true,
    body: rereadRequestBody,
    answers,
    refusals: ["NETWORK_NOT_FOUND", "NETWORK_NOT_WATCHED", "REREAD_IN_PROGRESS"],
    answer: async (call) => replyTo(await requestRange(call.deps, actOf(call), call.body), networkBodyOf),
  })
  .delete(REREAD, {
    operationId: "endReread",
    summary: "Stop reading a range again",
    description: "Its findings are kept.",
    needsStepUp: true,
    answers,
    refusals: ["NETWORK_NOT_FOUND", "REREAD_NOT_FOUND"],
    answer: async (call) => replyTo(await endRange(call.deps, actOf(call)), networkBodyOf),
  });

function actOf({
  params,
  principal,
  trail,
}: Pick<KnownUser<[]>, "principal" | "trail"> & { readonly params: Readonly<Record<string, string>> }): Act {
  return { network: params.network ?? "", actor: principal.user, trail };
}
