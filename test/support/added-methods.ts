/**
 * Methods of objects that the previous release lacks, as `BINDING.method`. `test/upgrade/objects.test.ts` checks that this list is complete. For some
 * minutes after a deploy they are called on objects that still run the previous release; `test/worker/app/older-objects.test.ts` checks the result.
 */
export const ADDED_METHODS = [
  "ADDRESS_ALLOCATOR.given",
  "AMOUNT_ALLOCATOR.given",
  "DIRECTORY.enter",
  "DIRECTORY.list",
  "MERCHANT_OBJECT.keepRevocations",
  "MERCHANT_OBJECT.knows",
  "MERCHANT_OBJECT.revocationsSince",
  "NETWORK_WATCHER.codeAt",
  "NETWORK_WATCHER.trySources",
] as const;
