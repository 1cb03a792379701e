import type { MountedRoute } from "../auth/middleware.ts";
import { jsonReply } from "../http/reply.ts";
import { noQuery } from "../http/route.ts";
import { ok } from "../lib/result.ts";
import { openRoute } from "../sign-in/middleware.ts";
import { walletEffects } from "../wallets/effects.ts";
import { disabledWalletBody, disableWalletBody } from "./contract.ts";
import { disableWallet } from "./disable-wallet.ts";

const disable = openRoute({
  spec: {
    method: "POST",
    path: "/api/v1/wallets/disable",
    operationId: "disableWalletByLink",
    tag: "Wallets",
    summary: "Disable a wallet by the link of a mail about its change",
    description:
      "The token is all that is asked for. It works once and for 7 days; no new invoice uses the wallet then.",
    callers: "ANYBODY",
    permission: null,
    isForPublicKeys: false,
    isIdempotent: false,
    body: disableWalletBody,
    query: noQuery,
    answers: [{ status: 200, description: "The wallet is disabled", schema: disabledWalletBody }],
    refusals: ["LINK_INVALID", "CONTENTION"],
  },
  effects: walletEffects,
  answer: async (call) => {
    const { ip, requestId } = call;
    const disabled = await disableWallet(call.fx, { token: call.body.token, ip, requestId });
    return disabled.ok ? ok(jsonReply(200, { walletId: disabled.value.id, isEnabled: false })) : disabled;
  },
});

export const walletAlertRoutes: readonly MountedRoute[] = [disable];
