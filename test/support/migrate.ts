import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";

// Files share a process, which would load the same thousand modules for each of them; what one file stored is gone before the next.
await reset();
await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
