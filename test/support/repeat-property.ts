// A property that failed is run again with the seed that the end of the run prints (closing-line.ts): it then fails at the same try.
import fc from "fast-check";

const { PROPERTY_SEED } = process.env;
if (PROPERTY_SEED !== undefined) fc.configureGlobal({ seed: Number(PROPERTY_SEED) });
