// The wire format of the networks of a deployment, for operators.
import * as z from "zod";
import { time } from "../../lib/fields.ts";
import { LIMITS } from "../../lib/limits.ts";

const height = () => z.int().min(0).max(Number.MAX_SAFE_INTEGER);

export const rereadRequestBody = () =>
  z
    .strictObject({ fromHeight: height(), toHeight: height() })
    .refine(({ fromHeight, toHeight }) => fromHeight <= toHeight, {
      path: ["toHeight"],
      message: "must not be below fromHeight",
    })
    .refine(({ fromHeight, toHeight }) => toHeight - fromHeight < LIMITS.blocksPerReread, {
      path: ["toHeight"],
      message: `a range has at most ${LIMITS.blocksPerReread} blocks`,
    });

// ---- answers

const rereadBody = () =>
  z
    .object({
      fromHeight: height(),
      toHeight: height(),
      progress: z
        .number()
        .min(0)
        .max(1)
        .meta({ description: "How much has been read. Stays 0 until the end if the source is read by address." }),
      transfers: z
        .int()
        .min(0)
        .meta({ description: "Transfers to addresses of merchants that were found, known ones included." }),
      skippedAddresses: z.int().min(0).meta({ description: "Addresses that no source answered for." }),
      lastOutage: z.string().nullable().meta({ description: "Why the last step failed; it is repeated." }),
      requestedAt: time(),
      endedAt: time().nullable().meta({ description: "Null while it is running." }),
    })
    .meta({ title: "Reread" });

export const networkStateBody = () =>
  z
    .object({
      network: z.string(),
      hasSource: z.boolean().meta({ description: "Whether a source of it is configured." }),
      isResting: z.boolean().meta({ description: "Whether nothing on it is watched, so that it is not read." }),
      cursorHeight: height().nullable().meta({ description: "Everything up to this block has been read." }),
      tipHeight: height().nullable().meta({ description: "The newest block of its source, when last asked." }),
      pausedAt: time().nullable().meta({ description: "Since when an operator has kept it from being read." }),
      sources: z
        .array(
          z.object({
            kind: z.string(),
            failures: z.int().meta({
              description: "Failures in a row; 0 for a source that answered its last request, or was not asked.",
            }),
            lastOutage: z.string().nullable().meta({
              description: "Why it failed: `BANNED` and `RATE_LIMITED` for a source that refuses further requests.",
            }),
            askedAgainAt: time()
              .nullable()
              .meta({ description: "When it is asked again; null for a source that has not failed." }),
          }),
        )
        .meta({ description: "The most preferred first. No part of a URL is returned." }),
      reread: rereadBody()
        .nullable()
        .meta({ description: "The range that is being read again, or the last one that was." }),
    })
    .meta({ title: "NetworkState" });

export const networkStateListBody = () =>
  z.object({ data: z.array(networkStateBody()) }).meta({ title: "NetworkStateList" });
