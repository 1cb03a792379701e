// `/dev/mail`: emails that a development server would have sent, for developers and their programs. The path does not exist in other
// environments, because emails contain codes that sign users in.
import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { routesWhere } from "../../accounts/pipeline/routes-where.ts";
import { ok } from "../../lib/result.ts";
import { isDevelopment } from "../../platform/http/deployment.ts";
import { jsonReply } from "../../platform/http/reply.ts";
import { mailListBody, mailsQuery } from "../../platform/mail/contract.ts";
import { mailboxReader } from "../../platform/mail/dependencies.ts";
import { mailboxPage } from "./page.ts";

const mailbox = routesOf({ tag: "Service", callers: "ANYBODY", dependencies: mailboxReader }).get("/dev/mail", {
  operationId: "developmentMail",
  summary: "List the mails of a development server, newest first",
  description: "Only exists with ENVIRONMENT=development.",
  query: mailsQuery,
  answers: [
    {
      status: 200,
      description: "The newest mails, at most 500; HTML unless JSON is requested",
      schema: mailListBody,
      alsoAs: "text/html",
    },
  ],
  refusals: ["ROUTE_NOT_FOUND", "VALIDATION_FAILED"],
  answer: async (call) => {
    const mails = await call.deps.list(call.query.to);
    return ok(wantsJson(call.accept) ? jsonReply(200, mails) : await mailboxPage(mails, call.query.to));
  },
});

export const mailRoutes = routesWhere(isDevelopment, mailbox);

function wantsJson(accept: string | undefined): boolean {
  return accept !== undefined && /\bapplication\/json\b/i.test(accept) && !/\btext\/html\b/i.test(accept);
}
