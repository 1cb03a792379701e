// The wire format of the set-up.
import * as z from "zod";
import { emailField } from "../../lib/fields.ts";
import { attestationBody } from "../passkeys/contract.ts";
import { updateMeBody } from "../user-account/contract.ts";

const token = () => z.string().min(1).max(200).meta({ description: "The part after `#` in the set-up link." });

export const beginSetUpBody = () => z.strictObject({ token: token(), email: emailField(), ...updateMeBody().shape });

export const redeemBody = () => z.strictObject({ token: token(), credential: attestationBody() });
