import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";

// Test files share a process, because each would otherwise load the same thousand modules. Each file starts with an empty store.
await reset();
await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
