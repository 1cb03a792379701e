import { expect, it } from "vitest";
import { isExpectedNoise } from "../support/expected-noise.ts";

const STACK = "stack: /a/workerd@28a3c60 /a/workerd@3ac7580";

it.each([
  `exception = rust/worker/ffi.rs:110: disconnected: Connection refused (os error 111)\n${STACK}\n`,
  "uncaught exception; source = Uncaught (in promise); stack = Error: Network connection lost.\n",
  `uncaught exception; exception = workerd/jsg/value.h:1535: disconnected: jsg.Error: Network connection lost.\n${STACK}\n`,
  `exception = workerd/api/unsafe.c++:229: failed: jsg.Error: Application called deleteAllDurableObjects().\n${STACK}\n`,
  '\u001b[33mSourcemap for "/a/node_modules/b/c.js" points to missing source files\u001b[39m\n',
])("a message that tests cause on purpose is suppressed: %s", (message) => {
  expect(isExpectedNoise(message)).toBe(true);
});

it.each([
  "uncaught exception; source = Uncaught (in promise); stack = Error: Network connection lost.\n    at deliver (src/a.ts:1:2)\n",
  "uncaught exception; source = Uncaught (in promise); stack = TypeError: a is not a function\n",
  `exception = workerd/io/worker.c++:1: failed: jsg.Error: out of memory\n${STACK}\n`,
  "Error: Network connection lost.\n",
  'Sourcemap for "/a/src/b.ts" points to missing source files\n',
])("a message about a defect is not suppressed: %s", (message) => {
  expect(isExpectedNoise(message)).toBe(false);
});
