// Worker tests send to loopback only: a request to any other address ends here. Files share a process; a fetch with this name is already wrapped.
const NAME = "loopbackOnly";
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];
const open = globalThis.fetch;

const wrapped: typeof fetch = async (input, init) => {
  const { hostname } = new URL(input instanceof Request ? input.url : String(input));
  if (!LOOPBACK.includes(hostname)) throw new TypeError("tests send to loopback only");
  return open(input, init);
};

if (open.name !== NAME) globalThis.fetch = Object.defineProperty(wrapped, "name", { value: NAME });
