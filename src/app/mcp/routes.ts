// The Model Context Protocol at /mcp: what an assistant with a merchant's key may do. Every request is self-contained, in the 2026-07-28 protocol
// and in the 2025 ones, so no state is kept between requests. A tool call is an API request like any other.
import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { ApiKeyPrincipal } from "../../accounts/auth/principal.ts";
import type { OpenCall } from "../../accounts/pipeline/call.ts";
import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { lazilyLoaded } from "../../lib/lazily.ts";
import { ok } from "../../lib/result.ts";
import { publicUrl } from "../../platform/http/deployment.ts";
import type { Reply } from "../../platform/http/reply.ts";
import { VERSION } from "../configuration/version.ts";
import { madeFile } from "../docs/reference.ts";
import { type Arguments, requestOf, structuredOf, type Tool, type ToolRequest, unknownArguments } from "./tool.ts";
import { mcpLibrary } from "./use-library.ts";

const PATH = "/mcp";

const INSTRUCTIONS = `Edgetill takes crypto payments for a merchant into the merchant's own wallets. Amounts are decimal strings.
An invoice has a price and payment methods; a payment is a transfer seen on chain. Payments with the status UNMATCHED and invoices that need
review wait for a decision: list them, look for the invoice that was meant, and resolve them with a reason. Nothing here can move money.`;

const messageBody = () =>
  z.looseObject({ jsonrpc: z.literal("2.0"), method: z.string().optional() }).meta({
    description: "A message of JSON-RPC 2.0 as the Model Context Protocol defines it.",
  });

/** The parts of the app that the route needs. */
interface Inner {
  readonly fetch: (
    request: Request,
    env: Env,
    background: (work: Promise<unknown>) => void,
  ) => Response | Promise<Response>;
}

export function mcpRoutes(inner: Inner) {
  return routesOf({ tag: "Service", callers: "KEY" }).post(PATH, {
    operationId: "mcp",
    summary: "Work with the merchant's data as an assistant (Model Context Protocol)",
    description:
      "Streamable HTTP without sessions, for the protocol version 2026-07-28 and the versions of 2025. Each tool is a route of this reference that the key's permissions allow.",
    body: messageBody,
    answers: [
      {
        status: 200,
        description: "JSON or server-sent events",
        alsoAs: "text/event-stream",
      },
      { status: 202, description: "A notification was accepted" },
      { status: 406, description: "The Accept header must name both media types" },
    ],
    answer: async (call) => ok(await answerMcp(inner, call)),
  });
}

type Call = OpenCall<unknown, unknown> & { readonly principal: ApiKeyPrincipal };

/** The tools that scripts/build-assets.ts generated from the routes (tools.ts). */
const allTools = lazilyLoaded(async (env: Env): Promise<readonly Tool[]> => {
  const { file } = await madeFile(env, "mcp-tools.json");
  return file.json();
});

async function answerMcp(inner: Inner, call: Call): Promise<Reply> {
  const { createMcpHandler, McpServer } = mcpLibrary();
  const held: ReadonlySet<string> = call.principal.permissions;
  const permitted = (await allTools(call.env)).filter(({ permissions }) => permissions.some((each) => held.has(each)));
  const handler = createMcpHandler(
    () => {
      const server = new McpServer(
        { name: "edgetill", title: "Edgetill", version: VERSION },
        { instructions: INSTRUCTIONS },
      );
      for (const tool of permitted) {
        const { name, title, description, hints, input, output } = tool;
        const said = {
          title,
          description,
          annotations: hints,
          inputSchema: asGiven(input),
          outputSchema: asGiven(output),
        };
        server.registerTool(name, said, (given) => useTool(inner, tool, given, call));
      }
      return server;
    },
    // No subscriptions to changes: the tools of a key do not change while a stream is open.
    { responseMode: "json", maxSubscriptions: 0 },
  );
  const { status, headers, body } = await handler.fetch(
    new Request(`${publicUrl(call.env)}${PATH}`, {
      method: "POST",
      headers: headersOf(call, PROTOCOL_HEADERS),
      body: JSON.stringify(call.json),
    }),
    { parsedBody: call.json },
  );
  const type = headers.get("content-type");
  return { status, body, ...(type === null ? {} : { headers: { "content-type": type } }) };
}

/** The protocol's own headers. */
const PROTOCOL_HEADERS = ["accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"];

/** Headers that identify the caller. */
const CALLER_HEADERS = ["cf-connecting-ip", "user-agent"];

const headersOf = ({ header }: Call, names: readonly string[]) =>
  names.flatMap((name): [string, string][] => {
    const value = header(name);
    return value === undefined ? [] : [[name, value]];
  });

/** A schema that accepts any arguments: the API itself checks them and reports what is wrong. */
function asGiven(input: Tool["input"]): StandardSchemaWithJSON<Arguments> {
  const json = { input: () => ({ ...input }), output: () => ({ ...input }) };
  const validate = (value: unknown): { readonly value: Arguments } => ({ value: Object(value ?? {}) });
  return { "~standard": { version: 1, vendor: "edgetill", validate, jsonSchema: json } };
}

async function useTool(inner: Inner, tool: Tool, given: Arguments, call: Call) {
  const unknown = unknownArguments(tool, given);
  if (unknown.length > 0)
    return failed({ code: "VALIDATION_FAILED", message: `Unknown arguments: ${unknown.join(", ")}` });
  const { merchantId } = call.principal;
  const request = requestOf(tool, given, { merchantId, newKey: () => crypto.randomUUID() });
  const { status, text } = await askApi(inner, request, call);
  const told: unknown = text === "" ? {} : JSON.parse(text);
  if (status >= 400) return failed(told);
  return { content: [{ type: "text" as const, text: text || "Done" }], structuredContent: structuredOf(tool, told) };
}

const failed = (told: unknown) => ({ isError: true, content: [{ type: "text" as const, text: JSON.stringify(told) }] });

/** Passes on the caller's key and address, so that the key's limits, permissions and allowed addresses apply. */
async function askApi(inner: Inner, request: ToolRequest, call: Call) {
  const { path, method, body, idempotencyKey } = request;
  const { env, header, background } = call;
  const apiKey = header("x-api-key") ?? header("authorization")?.replace(/^bearer +/i, "") ?? "";
  const headers = new Headers([...headersOf(call, CALLER_HEADERS), ["x-api-key", apiKey]]);
  if (body !== undefined) headers.set("content-type", "application/json");
  if (idempotencyKey !== undefined) headers.set("idempotency-key", idempotencyKey);
  const sent = new Request(`${publicUrl(env)}${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await inner.fetch(sent, env, background);
  return { status: answer.status, text: await answer.text() };
}
