// The wire format of operators.
import * as z from "zod";
import { emailField, time } from "../../lib/fields.ts";
import { paginationBody } from "../../lib/pagination.ts";

export const addOperatorBody = () =>
  z.strictObject({ email: emailField().meta({ description: "The address of a user who has an account." }) });

// ---- responses

export const operatorBody = () =>
  z
    .object({
      id: z.string().meta({ description: "The id of the user." }),
      email: z.string(),
      name: z.string().nullable(),
      operatorSince: time(),
    })
    .meta({ title: "Operator" });

export const operatorListBody = () =>
  z
    .object({ data: z.array(operatorBody()), nextCursor: z.null(), pagination: paginationBody() })
    .meta({ title: "OperatorList" });
