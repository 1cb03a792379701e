// The wire format of a user's own account (decisions 10).
import * as z from "zod";
import { time } from "../../lib/fields.ts";
import { methodName, stateName } from "./sessions/contract.ts";

const MAX_NAME = 200;

export const updateMeBody = () =>
  z.strictObject({
    name: z
      .string()
      .min(1, "must not be empty")
      .refine((text) => [...text].length <= MAX_NAME, `must have at most ${MAX_NAME} characters`)
      .meta({ minLength: 1, maxLength: MAX_NAME, examples: ["Ann Example"] }),
  });

// ---- responses

export const meBody = () =>
  z
    .object({
      id: z.string(),
      email: z.string(),
      name: z.string().nullable(),
      emailVerified: z.boolean(),
      isOperator: z.boolean().meta({
        description: "Whether you are an operator of this deployment. This gives no access to a merchant's data.",
      }),
      factors: z.object({
        totp: z.boolean(),
        emailOtp: z.boolean(),
        passkeys: z.int(),
        backupCodesLeft: z.int(),
      }),
      identities: z.array(
        z.object({ provider: z.enum(["google", "github"]), email: z.string().nullable(), linkedAt: time() }),
      ),
      session: z.object({
        id: z.string(),
        state: stateName(),
        signedInWith: methodName(),
        steppedUpUntil: time().nullable(),
      }),
      createdAt: time(),
    })
    .meta({ title: "Me" });
