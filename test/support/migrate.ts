import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";

// Files share a process, which would otherwise load the same thousand modules for each of them; each file starts with an empty
// store.
await reset();
await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
