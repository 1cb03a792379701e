// The wire format of sign-in with an external provider and of linked identities.
import * as z from "zod";
import { paginationBody } from "../../lib/pagination.ts";
import { signedInBody } from "../email-codes/contract.ts";
import { isReturnPath } from "./attempt.ts";

const returnTo = () =>
  z
    .string()
    .refine(isReturnPath, "must be a path on this origin and begin with one slash")
    .optional()
    .meta({ description: "The path on this origin to which the browser returns afterwards; `/` by default." });

export const beginQuery = () => z.object({ returnTo: returnTo() });

/** Other parameters that a provider adds are ignored. */
export const callbackQuery = () =>
  z.object({
    code: z.string().max(4_096).optional().meta({ description: "The provider's authorization code." }),
    state: z.string().max(200).optional().meta({ description: "Identifies the attempt." }),
    iss: z.string().max(500).optional().meta({ description: "The provider's issuer, if it sends one (RFC 9207)." }),
    error: z
      .string()
      .max(500)
      .optional()
      .meta({ description: "The provider's error code, if the sign-in failed there." }),
  });

// ---- responses

const provider = () => z.enum(["google", "github"]);

const proofRequiredBody = () =>
  z
    .object({
      state: z.literal("email_proof_required"),
      email: z.string().meta({
        description: "The address to which a code was mailed. Send address and code to `/api/v1/auth/email/verify`.",
      }),
    })
    .meta({ title: "EmailProofRequired" });

const linkedBody = () =>
  z
    .object({
      state: z.literal("linked"),
      identity: z.object({ provider: provider(), subject: z.string(), email: z.string() }),
    })
    .meta({ title: "IdentityLinked" });

export const methodsBody = () =>
  z
    .object({
      providers: z
        .array(provider())
        .meta({ description: "The providers of this deployment, for `/api/v1/auth/{provider}/start`." }),
      isSignUpOpen: z.boolean().meta({
        description:
          "Whether anyone can create an account by signing in; if false, a first sign-in needs an invitation.",
      }),
    })
    .meta({ title: "SignInMethods" });

export const callbackBody = () => z.union([signedInBody(), proofRequiredBody(), linkedBody()]);

export const linkStartBody = () =>
  z
    .object({
      url: z
        .string()
        .meta({ description: "The page that the browser must open. The browser must keep the `signin` cookie." }),
    })
    .meta({ title: "IdentityLinkStart" });

export const identityListBody = () =>
  z
    .object({
      data: z.array(
        z.object({
          provider: provider(),
          subject: z.string().meta({ description: "The provider's id for the account; never an email address." }),
          email: z.string().nullable(),
          createdAt: z.iso.datetime(),
          lastUsedAt: z.iso.datetime().nullable(),
        }),
      ),
      nextCursor: z.null(),
      pagination: paginationBody(),
    })
    .meta({ title: "IdentityList" });
