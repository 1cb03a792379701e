import { lazily } from "../../lib/lazily.ts";
import { makeLibrary } from "./library.generated.js";

/** `@modelcontextprotocol/server`, loaded at the first message to /mcp, so that an isolate starts without it. */
export const mcpLibrary = lazily(makeLibrary);
