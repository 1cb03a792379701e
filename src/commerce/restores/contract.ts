// The wire format of imports after a restore, for operators.
import * as z from "zod";
import { flagParameter, time } from "../../lib/fields.ts";
import { listBody, listQuery } from "../../lib/pagination.ts";

export const listFindingsQuery = () =>
  z.object({
    ...listQuery(),
    isOpen: flagParameter()
      .optional()
      .meta({ type: "boolean", description: "If true, only findings that were not reviewed yet." }),
  });

// ---- responses

const count = () => z.int().min(0);

export const restoreBody = () =>
  z
    .object({
      epoch: z.int().min(0).meta({ description: "The number of RESTORE_EPOCH; 0 if the database was never restored." }),
      restoredTo: time().nullable(),
      state: z.enum(["NONE", "WAITING", "CLOSED", "IMPORTING", "DONE"]).meta({
        description:
          "NONE: RESTORE_EPOCH names no restore. WAITING: the import has not begun. CLOSED: revocations are being repeated, and keys and members are not served yet. IMPORTING: invoices cannot be created yet.",
      }),
      objects: count().meta({ description: "Durable Objects whose contents were read." }),
      revocations: count().meta({ description: "Revocations that were repeated." }),
      recovered: count().meta({ description: "Addresses and amounts that were recovered with their invoices." }),
      findings: count().meta({ description: "What could not be recovered." }),
      beganAt: time().nullable(),
      openedAt: time().nullable().meta({ description: "When keys and members were served again." }),
      endedAt: time().nullable().meta({ description: "When invoices could be created again." }),
    })
    .meta({ title: "Restore" });

export const restoreFindingBody = () =>
  z
    .object({
      id: z.string(),
      epoch: z.int(),
      reason: z.enum(["TERMS_UNKNOWN", "MERCHANT_LOST", "WALLET_LOST", "OWNER_UNCERTAIN", "REFUSED"]),
      merchantId: z.string().meta({ description: "The merchant or user that the finding is about." }),
      invoiceId: z.string().nullable(),
      network: z.string().nullable(),
      cryptocurrency: z.string().nullable(),
      address: z.string().nullable(),
      amountUnits: z
        .string()
        .nullable()
        .meta({ description: "In base units; null if the invoice had its own address." }),
      known: z
        .string()
        .nullable()
        .meta({ description: "What else the Durable Object had stored, as JSON; null if nothing." }),
      createdAt: time(),
      reviewedAt: time().nullable(),
    })
    .meta({ title: "RestoreFinding" });

export const restoreFindingListBody = () => listBody(restoreFindingBody()).meta({ title: "RestoreFindingList" });
