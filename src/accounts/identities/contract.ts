// The wire of sign-in with an external provider and of linked identities.
import * as z from "zod";
import { paginationBody } from "../../lib/pagination.ts";
import { signedInBody } from "../sign-in/contract.ts";
import { isReturnPath } from "./attempt.ts";

const returnTo = () =>
  z
    .string()
    .refine(isReturnPath, "must be a path on this origin, beginning with one slash")
    .optional()
    .meta({ description: "Where the browser goes afterwards: a path on this origin; `/` otherwise." });

export const beginQuery = () => z.object({ returnTo: returnTo() });

/** What else a provider adds is ignored. */
export const callbackQuery = () =>
  z.object({
    code: z.string().max(4_096).optional().meta({ description: "What the provider gives for its tokens." }),
    state: z.string().max(200).optional().meta({ description: "Which attempt this ends." }),
    iss: z.string().max(500).optional().meta({ description: "The provider's issuer, where it says so." }),
    error: z.string().max(500).optional().meta({ description: "Why the provider sends nobody." }),
  });

// ---- answers

const provider = () => z.enum(["google", "github"]);

const proofRequiredBody = () =>
  z
    .object({
      state: z.literal("email_proof_required"),
      email: z.string().meta({ description: "Whose mailbox got the code; give both to `/api/v1/auth/email/verify`." }),
    })
    .meta({ title: "EmailProofRequired" });

const linkedBody = () =>
  z
    .object({
      state: z.literal("linked"),
      identity: z.object({ provider: provider(), subject: z.string(), email: z.string() }),
    })
    .meta({ title: "IdentityLinked" });

export const callbackBody = () => z.union([signedInBody(), proofRequiredBody(), linkedBody()]);

export const linkStartBody = () =>
  z
    .object({ url: z.string().meta({ description: "Send the browser there; it must keep the `signin` cookie." }) })
    .meta({ title: "IdentityLinkStart" });

export const identityListBody = () =>
  z
    .object({
      data: z.array(
        z.object({
          provider: provider(),
          subject: z.string().meta({ description: "The provider's own name of the account; never an email." }),
          email: z.string().nullable(),
          createdAt: z.iso.datetime(),
          lastUsedAt: z.iso.datetime().nullable(),
        }),
      ),
      nextCursor: z.null(),
      pagination: paginationBody(),
    })
    .meta({ title: "IdentityList" });
