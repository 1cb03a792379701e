import { en, type Texts } from "./en.ts";

export const ar: Texts = en;
