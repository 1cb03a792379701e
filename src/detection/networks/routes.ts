import type { KnownUser } from "../../accounts/pipeline/call.ts";
import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { replyTo } from "../../platform/http/reply.ts";
import { type Act, endRange, requestRange, setPause } from "./change-network.ts";
import { networkStateBody, networkStateListBody, networkTrialBody, rereadRequestBody } from "./contract.ts";
import { switchDependencies } from "./dependencies.ts";
import { networkBodyOf } from "./network-state.ts";
import { readNetworks } from "./read-networks.ts";
import { tryNetwork } from "./try-network.ts";

const NETWORKS = "/api/v1/operator/networks";
const PAUSE = `${NETWORKS}/:network/pause`;
const REREAD = `${NETWORKS}/:network/reread`;
const TRIAL = `${NETWORKS}/:network/trial`;
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
      const { error: settingError, freePart: freeSetting } = deps.setting;
      return replyTo(await readNetworks(deps), (value) => ({
        data: value.map(networkBodyOf),
        settingError,
        freeSetting,
      }));
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
      "Reading continues from where it stopped, so payments made in the meantime are found, and count at the time at which they were made.",
    needsStepUp: true,
    answers,
    refusals: ["NETWORK_NOT_FOUND"],
    answer: async (call) => replyTo(await setPause(call.deps, actOf(call), false), networkBodyOf),
  })
  .post(TRIAL, {
    operationId: "tryNetworkSources",
    summary: "Try each source of a network now",
    description:
      "Makes the requests of a pass to each source: for its chain, for its newest block, and for the transfers in a block to an address that belongs to nobody. Test networks and paused networks can be tried too. A source that refuses requests is not asked before its refusal ends. Takes up to 15 seconds. The results also apply to the next pass.",
    needsStepUp: true,
    answers: [{ status: 200, description: "The result for each source", schema: networkTrialBody }],
    refusals: ["NETWORK_NOT_FOUND", "NETWORK_NOT_WATCHED", "CHAIN_UNAVAILABLE"],
    answer: async ({ deps, params }) => replyTo(await tryNetwork(deps, params.network ?? "")),
  })
  .post(REREAD, {
    operationId: "rereadNetwork",
    summary: "Read a range of a network's blocks again",
    description:
      "Finds payments that a source failed to return, including those to invoices that have ended. Runs alongside the network's own scan, in steps; a known transfer is not credited twice. A network can have only one range at a time, which must not go beyond the block up to which the network was read. Nothing changes if this range is already being read.",
    needsStepUp: true,
    body: rereadRequestBody,
    answers,
    refusals: ["NETWORK_NOT_FOUND", "NETWORK_NOT_WATCHED", "REREAD_IN_PROGRESS"],
    answer: async (call) => replyTo(await requestRange(call.deps, actOf(call), call.body), networkBodyOf),
  })
  .delete(REREAD, {
    operationId: "endReread",
    summary: "Stop the repeated reading of a range",
    description: "Payments that it has found are kept.",
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
