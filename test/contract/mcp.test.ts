// The Model Context Protocol over HTTP, with the protocol's own client, as docs/guides/mcp.md describes.
import { readFileSync } from "node:fs";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { service } from "./client.ts";

const GUIDE = readFileSync("docs/guides/mcp.md", "utf8");
const { baseUrl, secretKey } = service;

describe.each([["legacy"], [{ pin: "2026-07-28" }]] as const)("a client with protocol version %j", (mode) => {
  test("lists the tools that the guide names, and can call them", async () => {
    const client = new Client({ name: "assistant", version: "1" }, { versionNegotiation: { mode } });
    const requestInit = { headers: { authorization: `Bearer ${secretKey}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", baseUrl), { requestInit }));
    const { tools } = await client.listTools();
    const table = GUIDE.slice(GUIDE.indexOf("## The tools"))
      .split("\n")
      .filter((line) => line.startsWith("| "));
    expect(
      table
        .join()
        .match(/(?<=`)[a-z_]+(?=`)/g)
        ?.sort(),
    ).toEqual(tools.map(({ name }) => name).sort());
    const made = await client.callTool({
      name: "create_invoice",
      arguments: { name: "Order", rawAmount: 5, paymentMethods: [] },
    });
    expect(made.structuredContent).toMatchObject({ status: "AWAITING_PAYMENT", rawAmount: "5.000000" });
    const { id } = Object(made.structuredContent);
    const cancelled = await client.callTool({ name: "cancel_invoice", arguments: { invoiceId: id } });
    expect(cancelled.structuredContent).toMatchObject({ id, status: "CANCELLED" });
    await client.close();
  });
});
