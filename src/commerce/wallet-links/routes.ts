import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { replyTo } from "../../platform/http/reply.ts";
import { walletDependencies } from "../wallets/dependencies.ts";
import { disabledWalletBody, disableWalletBody } from "./contract.ts";
import { disableWallet } from "./disable-wallet.ts";

export const walletAlertRoutes = routesOf({
  tag: "Wallets",
  callers: "ANYBODY",
  dependencies: walletDependencies,
}).post("/api/v1/wallets/disable", {
  operationId: "disableWalletByLink",
  summary: "Disable a wallet with the link in a mail about its change",
  description:
    "Needs only the token, which works once, within 7 days, while its recipient is an OWNER or ADMIN. Once the wallet is disabled, no new invoice uses it.",
  body: disableWalletBody,
  answers: [{ status: 200, description: "The wallet is disabled", schema: disabledWalletBody }],
  refusals: ["LINK_INVALID", "CONTENTION"],
  answer: async (call) => {
    const { ip, requestId } = call;
    return replyTo(await disableWallet(call.deps, { token: call.body.token, ip, requestId }), (value) => ({
      walletId: value.id,
      isEnabled: false,
    }));
  },
});
