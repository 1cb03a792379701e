import { lazilyLoaded } from "../../lib/lazily.ts";

/** `@modelcontextprotocol/server`, evaluated with the first message to /mcp, so that an isolate starts without it. */
export const mcpLibrary = lazilyLoaded(async () => ({ ...(await import("./library.generated.js")) }));
