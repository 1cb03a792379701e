// The wire format of a deployment's networks, for operators.
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

// ---- responses

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
        .meta({ description: "Transfers found to addresses of merchants, including those that were already known." }),
      skippedAddresses: z.int().min(0).meta({ description: "Addresses for which no source answered." }),
      lastOutage: z.string().nullable().meta({ description: "Why the last step failed. The step is repeated." }),
      requestedAt: time(),
      endedAt: time().nullable().meta({ description: "Null while it is running." }),
    })
    .meta({ title: "Reread" });

const sourceMembers = () => ({
  kind: z.string(),
  host: z
    .string()
    .meta({ description: "The host of its URL, with the port. A label that looks like a key is replaced by `…`." }),
  role: z.enum(["FIRST", "SECOND_OPINION"]).meta({
    description:
      "FIRST: the source that is read. SECOND_OPINION: a source that is asked when the first one fails, and before an invoice expires or a large payment is confirmed.",
  }),
});

const failureBody = () =>
  z.object({
    code: z.string().meta({ description: "The kind of failure, such as `TIMEOUT` or `BANNED`." }),
    message: z.string().meta({ description: "The failure in words." }),
    nextStep: z.string().meta({ description: "What to do next." }),
  });

export const networkStateBody = () =>
  z
    .object({
      network: z.string(),
      hasSource: z.boolean().meta({ description: "Whether a source is configured for the network." }),
      isResting: z
        .boolean()
        .meta({ description: "True if nothing on the network is watched, so that it is not read." }),
      cursorHeight: height().nullable().meta({ description: "Everything up to this block has been read." }),
      tipHeight: height()
        .nullable()
        .meta({ description: "The newest block of the network's source, when it was last asked." }),
      pausedAt: time().nullable().meta({ description: "When an operator paused it." }),
      sources: z
        .array(
          z.object({
            ...sourceMembers(),
            failures: z.int().meta({
              description: "Failures in a row; 0 for a source that answered its last request, or was not asked.",
            }),
            lastOutage: z.string().nullable().meta({
              description: "Why it failed. `BANNED` and `RATE_LIMITED` mean that the source refuses further requests.",
            }),
            askedAgainAt: time()
              .nullable()
              .meta({ description: "When it is asked again; null for a source that has not failed." }),
            answeredAt: time()
              .nullable()
              .meta({ description: "When it last answered, to the minute; null if that is not known." }),
            height: height()
              .nullable()
              .meta({ description: "The newest block that it returned when it was last asked." }),
            lastFailure: failureBody()
              .extend({ at: time() })
              .nullable()
              .meta({ description: "Its last failure, even if it has answered since." }),
            mostAddresses: z.int().nullable().meta({
              description:
                "The maximum number of addresses and payments that a pass asks it for, because it failed with more; null if there is no such limit.",
            }),
          }),
        )
        .meta({
          description: "In order of preference. Only the host of a URL is returned, never a path, a query or a key.",
        }),
      reread: rereadBody()
        .nullable()
        .meta({ description: "The range that is being read again, or the last one that was." }),
    })
    .meta({ title: "NetworkState" });

export const networkStateListBody = () =>
  z
    .object({
      data: z.array(networkStateBody()),
      settingError: z.string().nullable().meta({
        description: "Why `CHAIN_SOURCES` is invalid, so that no network is read; null if it is valid.",
      }),
      freeSetting: z.string().nullable().meta({
        description:
          "The first of the settings `CHAIN_SOURCES` and `CHAIN_SOURCES_2` to `CHAIN_SOURCES_9` that has no value. Networks in this setting are added to those in the others. Null if every setting has a value.",
      }),
    })
    .meta({ title: "NetworkStateList" });

export const networkTrialBody = () =>
  z
    .object({
      network: z.string(),
      triedAt: time(),
      data: z
        .array(
          z.object({
            ...sourceMembers(),
            outcome: z.enum(["OK", "BEHIND", "FAILED", "NOT_ASKED"]).meta({
              description:
                "BEHIND: it answers, but lacks blocks. NOT_ASKED: it refuses requests until `askedAgainAt`, and asking it earlier would prolong the refusal.",
            }),
            height: height().nullable().meta({ description: "Its newest block; null if it did not return one." }),
            blockAt: time().nullable().meta({ description: "The time of that block." }),
            latencyMs: z.int().nullable().meta({ description: "How long it took to return its newest block." }),
            failure: failureBody().nullable().meta({ description: "Null if and only if the outcome is OK." }),
            warning: failureBody().nullable().meta({
              description: "`NO_BALANCES`: coins that a contract sends are not seen through this source.",
            }),
            askedAgainAt: time().nullable().meta({ description: "Passes do not ask the source before this time." }),
          }),
        )
        .meta({ description: "The sources, in the order of the setting." }),
    })
    .meta({ title: "NetworkTrial" });
