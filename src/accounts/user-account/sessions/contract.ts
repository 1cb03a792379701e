// The wire format of a user's sessions.
import * as z from "zod";
import { time } from "../../../lib/fields.ts";
import { listBody, listQuery } from "../../../lib/pagination.ts";

export const listSessionsQuery = () => z.object(listQuery());

// ---- responses

export const stateName = () => z.enum(["active", "pending_2fa"]);
export const methodName = () => z.enum(["email_code", "google", "github", "passkey"]);

const sessionBody = () =>
  z
    .object({
      id: z.string(),
      state: stateName(),
      signedInWith: methodName(),
      isCurrent: z.boolean(),
      ip: z.string().nullable(),
      userAgent: z.string().nullable(),
      createdAt: time(),
      lastSeenAt: time().meta({ description: "Updated at most every 5 minutes." }),
      expiresAt: time().meta({ description: "When the session ends if it is not used again." }),
    })
    .meta({ title: "Session" });

export const sessionListBody = () => listBody(sessionBody()).meta({ title: "SessionList" });
