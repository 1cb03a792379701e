// Worker tests send to loopback alone, whatever they set off: a delivery to an endpoint that is no receiver of theirs ends here. Files share a
// process, and what is named so is wrapped already.
const NAME = "loopbackOnly";
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];
const open = globalThis.fetch;

const wrapped: typeof fetch = async (input, init) => {
  const { hostname } = new URL(input instanceof Request ? input.url : String(input));
  if (!LOOPBACK.includes(hostname)) throw new TypeError("tests send to loopback only");
  return open(input, init);
};

if (open.name !== NAME) globalThis.fetch = Object.defineProperty(wrapped, "name", { value: NAME });
