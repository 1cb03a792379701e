// Types of library.generated.js, which scripts/mcp-library.ts makes.
export { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
