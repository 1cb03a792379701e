// Worker tests may send to loopback only: a request to any other address fails here. Test files share a process, so an earlier file may already have
// wrapped `fetch`.
const NAME = "loopbackOnly";
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];
const open = globalThis.fetch;

const wrapped: typeof fetch = async (input, init) => {
  const { hostname } = new URL(input instanceof Request ? input.url : String(input));
  if (!LOOPBACK.includes(hostname)) throw new TypeError("tests send to loopback only");
  return open(input, init);
};

if (open.name !== NAME) globalThis.fetch = Object.defineProperty(wrapped, "name", { value: NAME });
