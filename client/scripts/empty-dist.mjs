// Before a build: a file of an earlier one, whose source is gone, would be published.
import { rmSync } from "node:fs";

rmSync(new URL("../dist", import.meta.url), { recursive: true, force: true });
