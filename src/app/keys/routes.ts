// Reports whether a key may be removed from the settings.
import * as z from "zod";
import { routesOf } from "../../accounts/pipeline/routes-of.ts";
import { accountDependencies } from "../../accounts/sessions/dependencies.ts";
import { time } from "../../lib/fields.ts";
import { isoTime } from "../../lib/time.ts";
import { readWithRetry } from "../../platform/db/retry.ts";
import { replyTo } from "../../platform/http/reply.ts";
import { KEYED_KINDS } from "../../platform/keys/keyed-rows.ts";
import { KEYRING_NAMES } from "../../platform/keys/keyrings.ts";
import { type KeyUse, readKeys } from "../../platform/keys/read-keys.ts";
import { useDependencies } from "./dependencies.ts";

export const keyUseBody = () =>
  z
    .object({
      setting: z.enum(["MASTER_KEY", ...KEYRING_NAMES]).meta({ description: "The setting that contains the key." }),
      keyId: z.string(),
      isNewest: z
        .boolean()
        .meta({ description: "Whether new rows are written with this key. The newest key cannot be retired." }),
      left: z
        .partialRecord(z.enum(KEYED_KINDS), z.int().min(0))
        .meta({ description: "Number of stored rows that depend on it. A job renews them with the newest key." }),
      retirableAt: time().nullable().meta({
        description: "When it may be removed from the setting. `null` while rows depend on it, and for the newest key.",
      }),
    })
    .meta({ title: "KeyUse" });

const keyUseListBody = () => z.object({ data: z.array(keyUseBody()) }).meta({ title: "KeyUseList" });

const bodyOf = ({ retirableAtMs, ...use }: KeyUse) => ({
  ...use,
  retirableAt: retirableAtMs === null ? null : isoTime(retirableAtMs),
});

export const keyRoutes = routesOf({
  tag: "Deployment",
  callers: "USER",
  isOperatorOnly: true,
  dependencies: accountDependencies,
}).get("/api/v1/operator/keys", {
  operationId: "listKeys",
  summary: "List the keys of the deployment, and when each may be removed",
  description:
    "Keys are identified by their ids; no part of a key is returned. For each key, every stored row that depends on it is counted.",
  answers: [{ status: 200, description: "Each setting's keys, newest first", schema: keyUseListBody }],
  answer: async ({ env, deps }) => {
    return replyTo(await readWithRetry(deps.sleep, () => readKeys(useDependencies(env, deps))), (value) => ({
      data: value.map(bodyOf),
    }));
  },
});
