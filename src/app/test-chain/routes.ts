// `/dev/chain` and `/dev/payments`: a local chain for a first invoice, and a customer who pays it. They only exist under `npm start`, because a
// Worker cannot start a chain.
import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { routesWhere } from "../../accounts/pipeline/routes-where.ts";
import { ok, type Result } from "../../lib/result.ts";
import type { Failure } from "../../platform/failures.ts";
import { jsonReply, type Reply } from "../../platform/http/reply.ts";
import { customerPaymentBody, startChainBody, TEST_NETWORK, testChainBody } from "./contract.ts";
import { controlPort, hasControlPort } from "./dependencies.ts";

const description = "Only exists on a server started with `npm start` that watches no other chain.";
const answers = [{ status: 200, description: "The state of the chain", schema: testChainBody }];

const testChain = routesOf({
  tag: "Service",
  callers: "USER",
  dependencies: controlPort,
  refusals: ["ROUTE_NOT_FOUND", "CHAIN_UNAVAILABLE"],
})
  .get("/dev/chain", {
    operationId: "getTestChain",
    summary: "Read whether a test chain runs on this machine",
    description,
    answers,
    answer: async (call) => {
      const state = await call.deps.ask("/chain");
      const none = { state: "UNAVAILABLE", network: TEST_NETWORK, cryptocurrency: "ETH" };
      return ok(state.ok ? { status: 200, body: state.value } : jsonReply(200, none));
    },
  })
  .patch("/dev/chain", {
    operationId: "startTestChain",
    summary: "Start a test chain on this machine",
    description,
    answers,
    body: startChainBody,
    answer: async (call) => stateReply(await call.deps.ask("/chain", "{}")),
  })
  .post("/dev/payments", {
    operationId: "payAsCustomer",
    summary: "Pay the amount that a payment method of the test chain asks for",
    answers,
    description: `${description} Sends the amount and mines blocks until it is confirmed.`,
    body: customerPaymentBody,
    answer: async (call) => stateReply(await call.deps.ask("/payments", JSON.stringify(call.body))),
  });

export const testChainRoutes = routesWhere(hasControlPort, testChain);

/** The control port's answer, unchanged. */
function stateReply(state: Result<string, Failure>): Result<Reply, Failure> {
  return state.ok ? ok({ status: 200, body: state.value }) : state;
}
