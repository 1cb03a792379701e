// Writes docs/guides/errors.md (`npm run docs:errors`) from the map of refusals to answers and the texts in scripts/error-texts.
import { writeFileSync } from "node:fs";
import type { FailureCode } from "../src/platform/failures.ts";
import { failureResponse } from "../src/platform/http/errors.ts";
import { SAMPLES } from "../src/platform/http/refusals.ts";
import { ERROR_GROUPS, ERROR_TEXTS } from "./error-texts.ts";
import { isKeyOf } from "./keys-of.ts";

export const ERRORS_PAGE = "docs/guides/errors.md";

/** The members of every refusal, in order. */
const ENVELOPE = ["statusCode", "message", "error", "code", "requestId"];

export async function errorsPage(): Promise<string> {
  const groups = Object.entries(ERROR_GROUPS).map(([title, texts]) => groupText(title, texts));
  return `${[INTRODUCTION, ...(await Promise.all(groups))].join("\n\n")}\n`;
}

async function groupText(title: string, texts: object): Promise<string> {
  const codes = Object.keys(texts).filter((code) => isKeyOf(ERROR_TEXTS, code));
  const rows = await Promise.all(codes.map(rowOf));
  return [`## ${title}`, ["| status | code | means | what to do |", "|---|---|---|---|", ...rows].join("\n")].join(
    "\n\n",
  );
}

async function rowOf(code: FailureCode): Promise<string> {
  const answer = failureResponse(SAMPLES[code], "");
  const facts = Object.keys(JSON.parse(await answer.text())).filter((name) => !ENVELOPE.includes(name));
  const wait = answer.headers.has("retry-after") ? ["`Retry-After`"] : [];
  const carried = [...facts.map((name) => `\`${name}\``), ...wait];
  const { means, remedy } = ERROR_TEXTS[code];
  const also = carried.length === 0 ? "" : ` Carries ${carried.join(" and ")}.`;
  return `| ${answer.status} | \`${code}\` | ${means}.${also} | ${remedy}. |`;
}

const INTRODUCTION = `<!-- Written by \`npm run docs:errors\` from the code; do not edit. -->
# Errors

Every refusal has the same envelope. Your program compares \`code\`, which never changes its meaning.
\`message\` is for people and may change. \`requestId\`, which is also the header \`x-request-id\`, finds the request in the operator's log.

This guide uses the variables of [README.md](README.md). Ask for an invoice that does not exist:

\`\`\`sh
curl -sS $BASE/invoices/inv_00000000000000000000000000 -H "x-api-key: $KEY"
\`\`\`

\`\`\`json
{ "statusCode": 404, "message": "Invoice not found", "error": "Not Found", "code": "INVOICE_NOT_FOUND", "requestId": "req_…" }
\`\`\`

Some refusals carry more. \`VALIDATION_FAILED\` lists every field that is wrong, so that a form can show all problems at once:

\`\`\`sh
curl -sS $BASE/invoices -H "x-api-key: $KEY" -H 'content-type: application/json' -d '{ "name": "", "rawAmount": -1 }'
\`\`\`

\`\`\`json
{ "statusCode": 400, "code": "VALIDATION_FAILED",
  "details": [ { "path": "name", "message": "…" }, { "path": "rawAmount", "message": "…" } ], … }
\`\`\`

## When to repeat a request

| answer | repeat it? |
|---|---|
| no answer, or the connection broke | yes, a \`GET\` always, a change only with an \`Idempotency-Key\` |
| 429, 503 | yes, after as many seconds as \`Retry-After\` says |
| 500 | likewise; without \`Retry-After\` wait a second, then twice as long each time, and add some chance |
| any other 4xx | no: the same request gets the same answer until you change something |

An \`Idempotency-Key\` makes every \`POST\`, \`PATCH\` and \`DELETE\` safe to repeat, so that work that was done is not answered as refused. For 24 hours the same key with the same body gives the first answer again,
with the header \`idempotent-replayed: true\`. The same key with another body is a mistake:

\`\`\`sh
curl -sSf $BASE/invoices -H "x-api-key: $KEY" -H 'content-type: application/json' -H 'idempotency-key: order-2001' \\
  -d '{ "name": "Order 2001", "rawAmount": 10 }' -o /dev/null
curl -sS $BASE/invoices -H "x-api-key: $KEY" -H 'content-type: application/json' -H 'idempotency-key: order-2001' \\
  -d '{ "name": "Order 2001", "rawAmount": 11 }'
\`\`\`

\`\`\`json
{ "statusCode": 409, "code": "IDEMPOTENCY_KEY_REUSED", … }
\`\`\`

All codes follow by subject. A page of the checkout shows a text instead of a code.`;

if (import.meta.main) writeFileSync(ERRORS_PAGE, await errorsPage());
