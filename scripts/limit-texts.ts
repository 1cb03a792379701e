// Documentation texts of the limits. Not part of the Worker. The compiler requires a text for every limit.
import type { LimitName } from "../src/lib/limits.ts";
import { CALLER_LIMIT_TEXTS } from "./limit-texts/callers.ts";
import type { LimitText } from "./limit-texts/limit-text.ts";
import { MERCHANT_LIMIT_TEXTS } from "./limit-texts/merchants.ts";

export const LIMIT_TEXTS: { readonly [N in LimitName]: LimitText } = { ...CALLER_LIMIT_TEXTS, ...MERCHANT_LIMIT_TEXTS };
