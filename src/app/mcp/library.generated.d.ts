// Types of library.generated.js, which scripts/mcp-library.ts makes.
import type { createMcpHandler, McpServer } from "@modelcontextprotocol/server";

export function makeLibrary(): {
  readonly createMcpHandler: typeof createMcpHandler;
  readonly McpServer: typeof McpServer;
};
