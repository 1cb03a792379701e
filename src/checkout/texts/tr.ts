import { en, type Texts } from "./en.ts";

export const tr: Texts = en;
