// Reruns a failed property with the seed printed at the end of the run (closing-line.ts), so that it fails with the same values.
import fc from "fast-check";

const { PROPERTY_SEED } = process.env;
if (PROPERTY_SEED !== undefined) fc.configureGlobal({ seed: Number(PROPERTY_SEED) });
